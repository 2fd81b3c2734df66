/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/cleanup.h"
#include "format/der.h"
#include "format/tdx.h"

/* 1.2.840.113741.1.13.1, of which everything here is a part */
static const uint8_t base[] = { 0x2a, 0x86, 0x48, 0x86, 0xf8, 0x4d, 0x01, 0x0d, 0x01 };

enum {
	PART_PPID = 1,
	PART_TCB = 2,
	PART_PCE_ID = 3,
	PART_FMSPC = 4,
	TCB_PCE_SVN = 17,
	TCB_CPU_SVN = 18,
};

/* A pair of OID and value: what stands behind `base` in the OID. */
static enum reason pair_read(struct cursor *c, struct bytes *ret_oid, struct cursor *ret_value)
{
	struct bytes pair, oid;
	struct cursor in;

	TRY(der_take(c, DER_SEQUENCE, &pair));
	in = cursor_of(pair);
	TRY(der_take(&in, DER_OID, &oid));
	if (oid.n <= sizeof(base) || memcmp(oid.p, base, sizeof(base)) != 0)
		return R_TDX_PCK;
	*ret_oid = bytes_of(oid.p + sizeof(base), oid.n - sizeof(base));
	*ret_value = in;
	return R_OK;
}

static enum reason octets(struct cursor value, size_t n, struct bytes *ret)
{
	TRY(der_take(&value, DER_OCTETS, ret));
	TRY(cursor_end(&value));
	return ret->n == n ? R_OK : R_TDX_PCK;
}

static enum reason tcb_part(uint8_t part, struct cursor value, struct tdx_pck *pck)
{
	uint32_t number;

	if (part == TCB_CPU_SVN)
		return octets(value, 16, &pck->cpu_svn);
	TRY(der_u32(&value, DER_INTEGER, part == TCB_PCE_SVN ? UINT16_MAX : UINT8_MAX, &number));
	TRY(cursor_end(&value));
	if (part == TCB_PCE_SVN)
		pck->pce_svn = (uint16_t)number;
	else
		pck->component[part - 1] = (uint8_t)number;
	return R_OK;
}

static enum reason tcb_read(struct cursor value, struct tdx_pck *pck)
{
	struct bytes list, oid;
	struct cursor in, inner;
	uint32_t seen = 0;

	TRY(der_take(&value, DER_SEQUENCE, &list));
	TRY(cursor_end(&value));
	in = cursor_of(list);
	while (in.n > 0) {
		TRY(pair_read(&in, &oid, &inner));
		if (oid.n != 2 || oid.p[0] != PART_TCB || oid.p[1] < 1 || oid.p[1] > TCB_CPU_SVN ||
		    seen & 1u << oid.p[1])
			return R_TDX_PCK;
		seen |= 1u << oid.p[1];
		TRY(tcb_part(oid.p[1], inner, pck));
	}
	/* all 18 of them */
	return seen == (1u << (TCB_CPU_SVN + 1)) - 2 ? R_OK : R_TDX_PCK;
}

static enum reason part_read(struct bytes oid, struct cursor value, struct tdx_pck *pck)
{
	switch (oid.n == 1 ? oid.p[0] : 0) {
	case PART_PPID:
		return octets(value, 16, &pck->ppid);
	case PART_TCB:
		return pck->cpu_svn.p ? R_TDX_PCK : tcb_read(value, pck);
	case PART_PCE_ID:
		return octets(value, 2, &pck->pce_id);
	case PART_FMSPC:
		return octets(value, 6, &pck->fmspc);
	default:
		/* type of SGX, platform instance, configuration: nothing judges by them */
		return R_OK;
	}
}

static enum reason extension_read(struct bytes extension, struct tdx_pck *pck)
{
	struct cursor c = cursor_of(extension), value;
	struct bytes list, oid;

	TRY(der_take(&c, DER_SEQUENCE, &list));
	TRY(cursor_end(&c));
	c = cursor_of(list);
	while (c.n > 0) {
		TRY(pair_read(&c, &oid, &value));
		TRY(part_read(oid, value, pck));
	}
	return pck->fmspc.p && pck->pce_id.p && pck->cpu_svn.p ? R_OK : R_TDX_PCK;
}

enum reason tdx_pck_read(struct bytes extension, struct tdx_pck *ret)
{
	struct tdx_pck pck = { 0 };

	if (extension_read(extension, &pck) != R_OK)
		return R_TDX_PCK;
	*ret = pck;
	return R_OK;
}
