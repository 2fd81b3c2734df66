/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SEV-SNP: a conjunction of facts, each with its own setting. No single one
 * of them, nor a line of the kernel's log, says that SNP works.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "check/find.h"
#include "check/iomem.h"
#include "check/models.h"

#define LEAF_SEV 0x8000001fu
#define MSR_VM_CR 0xc0010114u
#define MSR_SYSCFG 0xc0010010u
#define MSR_RMP_BASE 0xc0010132u
#define MSR_RMP_END 0xc0010133u
#define MSR_RMP_CFG 0xc0010136u
#define RMP_ADDRESS 0x000fffffffffe000ull	/* bits 51:13 */
#define RMP_BOOKKEEPING 0x4000u			/* in front of the entries */
#define RMP_ENTRY 16u
#define PAGE 4096u
#define IVHD_MAX 64u

void check_snp_svm(const struct machine *m, struct finding *f)
{
	struct cpuid v;

	if (!cpuid_read(m, 0x80000001u, 0, &v, f))
		return;
	if (!(v.c & BIT(2)))
		found(f, CHECK_FAIL, "the processor has no SVM");
	else
		msr_bits(m, MSR_VM_CR, 0, BIT(4), f);
}

void check_snp_leaf(const struct machine *m, struct finding *f)
{
	struct cpuid v;

	if (cpuid_read(m, 0x80000000u, 0, &v, f))
		found_if(f, v.a >= LEAF_SEV, "0x%x", (unsigned)v.a);
}

static void feature(const struct machine *m, unsigned bit, struct finding *f)
{
	struct cpuid v;

	if (cpuid_read(m, LEAF_SEV, 0, &v, f))
		found_if(f, v.a & BIT(bit), "EAX 0x%x", (unsigned)v.a);
}

void check_snp_sme(const struct machine *m, struct finding *f)
{
	feature(m, 0, f);
}

void check_snp_sev(const struct machine *m, struct finding *f)
{
	feature(m, 1, f);
}

void check_snp_sev_es(const struct machine *m, struct finding *f)
{
	feature(m, 3, f);
}

void check_snp_cpu(const struct machine *m, struct finding *f)
{
	feature(m, 4, f);
}

void check_snp_vmpl(const struct machine *m, struct finding *f)
{
	struct cpuid v;

	if (cpuid_read(m, LEAF_SEV, 0, &v, f))
		found_if(f, (v.a & BIT(5)) && (v.b >> 12 & 0xf) >= 4, "%u levels",
			 v.a & BIT(5) ? (unsigned)(v.b >> 12 & 0xf) : 0);
}

void check_snp_smee(const struct machine *m, struct finding *f)
{
	msr_bits(m, MSR_SYSCFG, BIT(23), 0, f);
}

/* Ids below the smallest of plain SEV are those of SEV-ES and SNP; 0 is the host. */
void check_snp_asids(const struct machine *m, struct finding *f)
{
	struct cpuid v;

	if (cpuid_read(m, LEAF_SEV, 0, &v, f))
		found_if(f, v.d > 1 && v.c > 0, "%u of %u ids for SEV-ES and SNP",
			 v.d > 1 ? (unsigned)(v.d - 1) : 0, (unsigned)v.c);
}

struct rmp {
	bool segmented;			/* then base is that of a table of segments */
	uint64_t base, end;		/* end: its last byte */
};

/* False, and f says why. */
static bool rmp_read(const struct machine *m, struct rmp *ret, struct finding *f)
{
	struct cpuid v;
	uint64_t segmented = 0;

	if (!cpuid_read(m, LEAF_SEV, 0, &v, f))
		return false;
	if ((v.a & BIT(23)) && !msr_everywhere(m, MSR_RMP_CFG, BIT(0), &segmented, f))
		return false;
	ret->segmented = segmented != 0;
	if (!msr_everywhere(m, MSR_RMP_BASE, UINT64_MAX, &ret->base, f) ||
	    !msr_everywhere(m, MSR_RMP_END, UINT64_MAX, &ret->end, f))
		return false;
	return true;
}

void check_snp_rmp(const struct machine *m, struct finding *f)
{
	struct rmp rmp;
	bool good;

	if (!rmp_read(m, &rmp, f))
		return;
	good = (rmp.base & RMP_ADDRESS) != 0;
	if (!rmp.segmented)
		good = good && (rmp.end & RMP_ADDRESS) != 0 && rmp.base < rmp.end;
	found_if(f, good, "%s0x%llx to 0x%llx", rmp.segmented ? "segmented, " : "",
		 (unsigned long long)rmp.base, (unsigned long long)rmp.end);
}

/* The same sum as the kernel's, which refuses SNP when it does not come out. */
void check_snp_rmp_size(const struct machine *m, struct finding *f)
{
	struct rmp rmp;
	uint64_t ram, last, has, needs;
	enum reason r;

	if (!rmp_read(m, &rmp, f))
		return;
	if (rmp.segmented) {
		found(f, CHECK_UNKNOWN, "segmented: its table is not readable from here");
		return;
	}
	r = iomem_ram_end(&m->source, &ram);
	if (r != R_OK) {
		found_unread(f, "/proc/iomem", r);
		return;
	}
	last = ram > rmp.end + 1 ? ram : rmp.end + 1;
	has = rmp.end - rmp.base + 1;
	needs = (last + PAGE - 1) / PAGE * RMP_ENTRY + RMP_BOOKKEEPING;
	found_if(f, has >= needs, "0x%llx bytes, needs 0x%llx", (unsigned long long)has,
		 (unsigned long long)needs);
}

/* `EFR2:EFR` or `EFR`, in hexadecimal. */
static bool efr_snp(const char *line)
{
	const char *colon = strchr(line, ':');

	return strtoull(colon ? colon + 1 : line, NULL, 16) & BIT(63);
}

void check_snp_iommu(const struct machine *m, struct finding *f)
{
	_cleanup_(fd_names_free) struct fd_names names = { NULL, 0 };
	char path[SOURCE_PATH_MAX], line[64];
	unsigned count = 0;
	enum reason r = source_list(&m->source, "/sys/class/iommu", IVHD_MAX, &names);

	if (r != R_OK) {
		found_unread(f, "/sys/class/iommu", r);
		return;
	}
	for (size_t i = 0; i < names.n; i++) {
		if (strncmp(names.v[i], "ivhd", strlen("ivhd")) != 0)
			continue;
		snprintf(path, sizeof(path), "/sys/class/iommu/%s/amd-iommu/features", names.v[i]);
		if (!line_read(m, path, line, sizeof(line), f))
			return;
		if (!efr_snp(line)) {
			found(f, CHECK_FAIL, "%s: features %s", names.v[i], line);
			return;
		}
		count++;
	}
	found_if(f, count > 0, "%u IOMMUs", count);
}

void check_snp_trust(const struct machine *m, struct finding *f)
{
	const struct model *model = model_of(m);
	bool old = model && strcmp(model->name, "Milan") == 0;

	found(f, old ? CHECK_WARN : CHECK_PASS, "%s", model ? model->name : "not Milan");
}

void check_snp_enabled(const struct machine *m, struct finding *f)
{
	msr_bits(m, MSR_SYSCFG, BIT(24) | BIT(25) | BIT(19), 0, f);
}

void check_snp_kvm(const struct machine *m, struct finding *f)
{
	parameter_on(m, "/sys/module/kvm_amd/parameters/sev_snp", f);
}
