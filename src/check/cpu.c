/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "check/find.h"
#include "check/models.h"

#define CPUS "/sys/devices/system/cpu"
#define VULNERABILITIES_MAX 256u

void check_cpu_vendor(const struct machine *m, struct finding *f)
{
	if (m->vendor == VENDOR_UNKNOWN)
		found_unread(f, "CPUID", R_FILE);
	else
		found_if(f, m->vendor != VENDOR_OTHER, "%s", m->vendor_text);
}

void check_cpu_bare(const struct machine *m, struct finding *f)
{
	struct cpuid v;

	if (!cpuid_read(m, 1, 0, &v, f))
		return;
	if (v.c & BIT(31))
		found(f, CHECK_WARN, "there is a hypervisor");
	else
		found(f, CHECK_PASS, "none");
}

void check_cpu_model(const struct machine *m, struct finding *f)
{
	const struct model *model = model_of(m);
	enum check_result r;

	if (!m->known) {
		found_unread(f, "CPUID", R_FILE);
		return;
	}
	/* What is not in the list may be newer than it. */
	r = !model ? CHECK_WARN : model->confidential ? CHECK_PASS : CHECK_FAIL;
	found(f, r, "%s, family 0x%x model 0x%x stepping %u", model ? model->name : "not known",
	      (unsigned)m->family, (unsigned)m->model, (unsigned)m->stepping);
}

void check_cpu_brand(const struct machine *m, struct finding *f)
{
	char name[3 * sizeof(struct cpuid) + 1] = "";
	struct cpuid v;

	for (uint32_t i = 0; i < 3; i++) {
		if (!cpuid_read(m, 0x80000002u + i, 0, &v, f))
			return;
		memcpy(name + i * sizeof(v), &v, sizeof(v));
	}
	for (size_t n = strlen(name); n > 0 && name[n - 1] == ' '; n--)
		name[n - 1] = 0;
	found(f, strstr(name, "EPYC") || strstr(name, "Xeon") ? CHECK_PASS : CHECK_WARN,
	      "%s", name);
}

void check_cpu_online(const struct machine *m, struct finding *f)
{
	char present[1024], online[1024];

	if (line_read(m, CPUS "/present", present, sizeof(present), f) &&
	    line_read(m, CPUS "/online", online, sizeof(online), f))
		found_if(f, strcmp(present, online) == 0, "present %.80s, online %.80s", present,
			 online);
}

void check_cpu_microcode(const struct machine *m, struct finding *f)
{
	uint32_t revision;

	if (microcode_everywhere(m, &revision, f))
		found(f, CHECK_PASS, "0x%x", (unsigned)revision);
}

void check_cpu_vulnerable(const struct machine *m, struct finding *f)
{
	_cleanup_(fd_names_free) struct fd_names names = { NULL, 0 };
	char path[SOURCE_PATH_MAX], line[256];
	enum reason r;

	r = source_list(&m->source, CPUS "/vulnerabilities", VULNERABILITIES_MAX, &names);
	if (r == R_OK && names.n == 0)
		r = R_FILE;
	for (size_t i = 0; r == R_OK && i < names.n; i++) {
		snprintf(path, sizeof(path), CPUS "/vulnerabilities/%s", names.v[i]);
		r = source_line(&m->source, path, line, sizeof(line));
		if (r == R_OK && strncmp(line, "Vulnerable", strlen("Vulnerable")) == 0) {
			found(f, CHECK_FAIL, "%s: %s", names.v[i], line);
			return;
		}
	}
	if (r != R_OK)
		found_unread(f, CPUS "/vulnerabilities", r);
	else
		found(f, CHECK_PASS, "%u, none open", (unsigned)names.n);
}

void check_cpu_smt(const struct machine *m, struct finding *f)
{
	char line[8];

	if (line_read(m, CPUS "/smt/active", line, sizeof(line), f))
		found(f, CHECK_PASS, "active=%s", line);
}
