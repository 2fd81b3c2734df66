/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TDX: what firmware did for it. Whether the module works only the host's
 * kernel can say; nothing here starts it.
 */
#include <string.h>

#include "base/cleanup.h"
#include "check/find.h"

#define MSR_FEATURE_CONTROL 0x3au
#define MSR_KEYID_PARTITIONING 0x87u
#define MSR_MTRR_CAP 0xfeu
#define MSR_BOOT_GUARD 0x13au
#define MSR_TME_ACTIVATE 0x982u
#define MSR_DEBUG_INTERFACE 0xc80u
#define MSR_SEAMRR_BASE 0x1400u
#define MSR_SEAMRR_MASK 0x1401u

void check_cpu_debug(const struct machine *m, struct finding *f)
{
	struct cpuid v;

	if (!cpuid_read(m, 1, 0, &v, f))
		return;
	if (v.c & BIT(11))
		msr_bits(m, MSR_DEBUG_INTERFACE, BIT(30), BIT(0) | BIT(31), f);
	else
		found(f, CHECK_PASS, "the processor has none");
}

void check_cpu_boot_guard(const struct machine *m, struct finding *f)
{
	msr_bits(m, MSR_BOOT_GUARD, BIT(5) | BIT(6), 0, f);
	/* A choice of the board's maker that no setting changes. */
	if (f->result == CHECK_FAIL)
		f->result = CHECK_WARN;
}

void check_tdx_vmx(const struct machine *m, struct finding *f)
{
	struct cpuid v;

	if (!cpuid_read(m, 1, 0, &v, f))
		return;
	if (!(v.c & BIT(5)))
		found(f, CHECK_FAIL, "the processor has no VMX");
	else
		msr_bits(m, MSR_FEATURE_CONTROL, BIT(0) | BIT(2), 0, f);
}

void check_tdx_tme_cpu(const struct machine *m, struct finding *f)
{
	struct cpuid v;

	if (cpuid_read(m, 7, 0, &v, f))
		found_if(f, v.c & BIT(13), "ECX 0x%x", (unsigned)v.c);
}

void check_tdx_tme(const struct machine *m, struct finding *f)
{
	msr_bits(m, MSR_TME_ACTIVATE, BIT(0) | BIT(1), 0, f);
}

void check_tdx_tme_keys(const struct machine *m, struct finding *f)
{
	uint64_t v;

	if (msr_everywhere(m, MSR_TME_ACTIVATE, 0xfull << 32, &v, f))
		found_if(f, v != 0, "%u bits of key ids", (unsigned)(v >> 32));
}

void check_tdx_key_split(const struct machine *m, struct finding *f)
{
	uint64_t v;

	if (msr_everywhere(m, MSR_KEYID_PARTITIONING, UINT64_MAX, &v, f))
		found_if(f, v >> 32 >= 2, "%u keys for TDX, %u for TME-MT", (unsigned)(v >> 32),
			 (unsigned)(v & UINT32_MAX));
}

void check_tdx_mtrr_cap(const struct machine *m, struct finding *f)
{
	msr_bits(m, MSR_MTRR_CAP, BIT(15), 0, f);
}

void check_tdx_seamrr_base(const struct machine *m, struct finding *f)
{
	msr_bits(m, MSR_SEAMRR_BASE, BIT(3), 0, f);
}

void check_tdx_seamrr_on(const struct machine *m, struct finding *f)
{
	msr_bits(m, MSR_SEAMRR_MASK, BIT(11), 0, f);
}

void check_tdx_seamrr_lock(const struct machine *m, struct finding *f)
{
	msr_bits(m, MSR_SEAMRR_MASK, BIT(10), 0, f);
}

/* A whole word of the first processor's flags. */
void check_tdx_platform(const struct machine *m, struct finding *f)
{
	static const char flag[] = "tdx_host_platform";
	_cleanup_(blob_free) struct blob b = BLOB(SOURCE_FILE_MAX);
	enum reason r = source_read(&m->source, "/proc/cpuinfo", &b);
	char *rest, *line, *word;

	if (r == R_OK)
		r = blob_u8(&b, 0);
	if (r != R_OK) {
		found_unread(f, "/proc/cpuinfo", r);
		return;
	}
	rest = (char *)b.p;
	while ((line = strsep(&rest, "\n"))) {
		if (strncmp(line, "flags", strlen("flags")) != 0)
			continue;
		while ((word = strsep(&line, " ")))
			if (strcmp(word, flag) == 0)
				break;
		found_if(f, word != NULL, "%s", word ? "there" : "not there");
		return;
	}
	found_unread(f, "flags of /proc/cpuinfo", R_FILE);
}

void check_tdx_kvm(const struct machine *m, struct finding *f)
{
	parameter_on(m, "/sys/module/kvm_intel/parameters/tdx", f);
}
