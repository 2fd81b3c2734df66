/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "check/find.h"

#define COMMAND_LINE "/proc/cmdline"
#define COMMAND_LINE_MAX 4096u
#define TAINT_FIRMWARE_WORKAROUND BIT(11)

void check_kernel_taint(const struct machine *m, struct finding *f)
{
	char line[32];
	uint64_t taint;
	enum reason r;

	if (!line_read(m, "/proc/sys/kernel/tainted", line, sizeof(line), f))
		return;
	r = text_u64(bytes_str(line), UINT64_MAX, &taint);
	if (r != R_OK)
		found_unread(f, "/proc/sys/kernel/tainted", r);
	else if (taint == TAINT_FIRMWARE_WORKAROUND)
		found(f, CHECK_WARN, "%s", line);
	else
		found_if(f, taint == 0, "%s", line);
}

/*
 * The first word of the command line that is one of `bad`; one that ends in
 * `=` stands for all its values. Unknown when it cannot be read.
 */
static void no_words(const struct machine *m, const char *const *bad, size_t count,
		     struct finding *f)
{
	char line[COMMAND_LINE_MAX], *rest = line, *word;

	if (!line_read(m, COMMAND_LINE, line, sizeof(line), f))
		return;
	while ((word = strsep(&rest, " "))) {
		for (size_t i = 0; i < count; i++) {
			size_t n = strlen(bad[i]);
			bool any = bad[i][n - 1] == '=';

			if (any ? strncmp(word, bad[i], n) == 0 : strcmp(word, bad[i]) == 0) {
				found(f, CHECK_FAIL, "%s", word);
				return;
			}
		}
	}
	found(f, CHECK_PASS, "none of these");
}

void check_kernel_cmdline(const struct machine *m, struct finding *f)
{
	static const char *const bad[] = {
		"iommu=off", "intel_iommu=off", "amd_iommu=off", "mem=", "maxcpus=", "nr_cpus=",
		"nosmp", "mitigations=off",
	};

	no_words(m, bad, ARRAY_LEN(bad), f);
}

void check_snp_passthrough(const struct machine *m, struct finding *f)
{
	static const char *const bad[] = { "iommu=pt", "iommu.passthrough=1" };

	no_words(m, bad, ARRAY_LEN(bad), f);
}

void check_kernel_lockdown(const struct machine *m, struct finding *f)
{
	char line[64];

	if (line_read(m, "/sys/kernel/security/lockdown", line, sizeof(line), f))
		found(f, CHECK_PASS, "%s", line);
}
