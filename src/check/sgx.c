/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cleanup.h"
#include "check/find.h"

#define LEAF_SGX 0x12u
#define EPC_FIRST 2u			/* subleaf of the first section */
#define EPC_SECTIONS_MAX 32u
#define MSR_FEATURE_CONTROL 0x3au
#define MSR_SGX_MCHECK 0xa0u
#define MSR_PLATFORM_INFO 0xceu
#define MSR_SGX_DEBUG 0x503u
#define REGISTRATION "SgxRegistrationStatus-f236c5dc-a491-4bbe-bcdd-88885770df45"

void check_sgx_cpu(const struct machine *m, struct finding *f)
{
	struct cpuid v;

	if (cpuid_read(m, 7, 0, &v, f))
		found_if(f, (v.b & BIT(2)) && (v.c & BIT(30)), "EBX 0x%x, ECX 0x%x",
			 (unsigned)v.b, (unsigned)v.c);
}

void check_sgx_epc(const struct machine *m, struct finding *f)
{
	uint64_t size = 0;
	struct cpuid v;

	for (uint32_t i = 0; i < EPC_SECTIONS_MAX; i++) {
		if (!cpuid_read(m, LEAF_SGX, EPC_FIRST + i, &v, f))
			return;
		if ((v.a & 0xf) != 1)
			break;
		size += (uint64_t)(v.d & 0xfffff) << 32 | (v.c & 0xfffff000);
	}
	found_if(f, size > 0, "%llu MiB", (unsigned long long)(size >> 20));
}

void check_sgx_control(const struct machine *m, struct finding *f)
{
	msr_bits(m, MSR_FEATURE_CONTROL, BIT(0) | BIT(17) | BIT(18), 0, f);
}

void check_sgx_mcheck(const struct machine *m, struct finding *f)
{
	uint64_t v;

	if (msr_everywhere(m, MSR_SGX_MCHECK, UINT64_MAX, &v, f))
		found_if(f, v == 0, "0x%llx", (unsigned long long)v);
}

void check_sgx_production(const struct machine *m, struct finding *f)
{
	msr_bits(m, MSR_PLATFORM_INFO, 0, BIT(27), f);
	if (f->result == CHECK_PASS)
		msr_bits(m, MSR_SGX_DEBUG, 0, UINT64_MAX, f);
}

/* u16 version, u16 size, u16 status (bit 0: complete), u8 error */
void check_sgx_registered(const struct machine *m, struct finding *f)
{
	_cleanup_(blob_free) struct blob b = BLOB(4096);
	struct cursor c;
	struct bytes head;
	uint16_t status = 0;
	uint8_t error = 0;
	enum reason r;

	if (!efi_read(m, REGISTRATION, CHECK_WARN, &b, f))
		return;
	c = cursor_of(blob_bytes(&b));
	r = cursor_take(&c, 4, &head);
	if (r == R_OK)
		r = cursor_le16(&c, &status);
	if (r == R_OK)
		r = cursor_u8(&c, &error);
	if (r != R_OK)
		found_unread(f, "SgxRegistrationStatus", r);
	else if (error != 0)
		found(f, CHECK_FAIL, "error 0x%x", error);
	else
		found(f, status & 1 ? CHECK_PASS : CHECK_WARN, "%scomplete",
		      status & 1 ? "" : "not ");
}
