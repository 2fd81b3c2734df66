/* SPDX-License-Identifier: Apache-2.0 */
/* What firmware set on AMD processors, SEV-SNP aside. */
#include "base/cleanup.h"
#include "check/find.h"
#include "check/models.h"

#define MSR_HWCR 0xc0010015u

/* The first revision with AMD's fix; what is not listed needs none. */
static const struct {
	uint32_t family, first, last, stepping, microcode;
} sinkclose[] = {
	{ 0x19, 0x00, 0x0f, 1, 0x0a0011d5 },
	{ 0x19, 0x00, 0x0f, 2, 0x0a001238 },
	{ 0x19, 0x10, 0x1f, 1, 0x0a101148 },
	{ 0x19, 0x10, 0x1f, 2, 0x0a101248 },
	{ 0x19, 0xa0, 0xaf, 2, 0x0aa00215 },
};

void check_cpu_sinkclose(const struct machine *m, struct finding *f)
{
	uint32_t revision;

	if (!microcode_everywhere(m, &revision, f))
		return;
	for (size_t i = 0; i < ARRAY_LEN(sinkclose); i++) {
		if (sinkclose[i].family != m->family || sinkclose[i].stepping != m->stepping ||
		    m->model < sinkclose[i].first || m->model > sinkclose[i].last)
			continue;
		found_if(f, revision >= sinkclose[i].microcode, "0x%x, needs 0x%x",
			 (unsigned)revision, (unsigned)sinkclose[i].microcode);
		return;
	}
	/* Zen 5 came later; of an odd stepping of Zen 3 and 4 nothing is known. */
	if (m->family > 0x19)
		found(f, CHECK_PASS, "a later generation");
	else
		found(f, CHECK_UNKNOWN, "no revision is known for this stepping");
}

void check_amd_smm_lock(const struct machine *m, struct finding *f)
{
	msr_bits(m, MSR_HWCR, BIT(0), 0, f);
}
