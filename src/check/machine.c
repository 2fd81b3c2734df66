/* SPDX-License-Identifier: Apache-2.0 */
#include "check/machine.h"

#include <string.h>

#include "base/cleanup.h"

/* A decimal number from the front. */
static bool take_number(const char **s, unsigned *ret)
{
	unsigned v = 0;
	const char *at = *s;

	for (; *at >= '0' && *at <= '9'; at++) {
		v = v * 10 + (unsigned)(*at - '0');
		if (v >= MACHINE_CPUS_MAX)
			return false;
	}
	if (at == *s)
		return false;
	*s = at;
	*ret = v;
	return true;
}

enum reason cpu_list_read(const char *text, uint16_t ret[MACHINE_CPUS_MAX], unsigned *ret_n)
{
	unsigned n = 0;

	for (;;) {
		unsigned first, last;

		if (!take_number(&text, &first))
			return R_FORMAT_TEXT;
		last = first;
		if (*text == '-') {
			text++;
			if (!take_number(&text, &last))
				return R_FORMAT_TEXT;
		}
		if (last < first || (n > 0 && first <= ret[n - 1]))
			return R_FORMAT_RANGE;
		for (unsigned i = first; i <= last; i++)
			ret[n++] = (uint16_t)i;
		if (*text == 0)
			break;
		if (*text++ != ',')
			return R_FORMAT_TEXT;
	}
	*ret_n = n;
	return R_OK;
}

static void identify_vendor(struct machine *m)
{
	struct cpuid v;

	m->vendor = VENDOR_UNKNOWN;
	if (source_cpuid(&m->source, 0, 0, &v))
		return;
	memcpy(m->vendor_text, &v.b, 4);
	memcpy(m->vendor_text + 4, &v.d, 4);
	memcpy(m->vendor_text + 8, &v.c, 4);
	if (strcmp(m->vendor_text, "AuthenticAMD") == 0)
		m->vendor = VENDOR_AMD;
	else if (strcmp(m->vendor_text, "GenuineIntel") == 0)
		m->vendor = VENDOR_INTEL;
	else
		m->vendor = VENDOR_OTHER;
}

static void identify_model(struct machine *m)
{
	struct cpuid v;

	m->known = source_cpuid(&m->source, 1, 0, &v) == R_OK;
	if (!m->known)
		return;
	m->family = v.a >> 8 & 0xf;
	m->model = v.a >> 4 & 0xf;
	m->stepping = v.a & 0xf;
	if (m->family == 6 || m->family == 0xf)
		m->model |= (v.a >> 16 & 0xf) << 4;
	if (m->family == 0xf)
		m->family += v.a >> 20 & 0xff;
}

void machine_identify(struct machine *m)
{
	char line[1024];

	identify_vendor(m);
	identify_model(m);
	if (source_line(&m->source, "/sys/devices/system/cpu/online", line, sizeof(line)) ||
	    cpu_list_read(line, m->cpu, &m->cpus))
		m->cpus = 0;
}

enum reason machine_open(const char *folder, struct machine *ret)
{
	memset(ret, 0, sizeof(*ret));
	TRY(source_open(folder, &ret->source));
	machine_identify(ret);
	return R_OK;
}

void machine_close(struct machine *m)
{
	source_close(&m->source);
}
