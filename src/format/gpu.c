/* SPDX-License-Identifier: Apache-2.0 */
#include "format/gpu.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "format/der.h"

enum {
	SPDM_1_1 = 0x11,
	GET_MEASUREMENTS = 0xe0,
	MEASUREMENTS = 0x60,
	WANTS_SIGNATURE = 0x01,
	ALL = 0xff,
	DMTF = 1,
	NONCE = 32,
	DER_FWIDS = 0xa6,		/* [6] of a DiceTcbInfo */
};

static const uint8_t oid_sha384[] = { 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x02 };

/* A request for every measurement, signed; anything less could leave some out. */
static enum reason request_read(struct cursor *c, struct gpu_report *r)
{
	uint8_t version, code, attributes, operation;

	TRY(cursor_u8(c, &version));
	TRY(cursor_u8(c, &code));
	if (version != SPDM_1_1 || code != GET_MEASUREMENTS)
		return R_CVM_EVIDENCE;
	TRY(cursor_u8(c, &attributes));
	TRY(cursor_u8(c, &operation));
	if (!(attributes & WANTS_SIGNATURE) || operation != ALL)
		return R_GPU_FORMAT;
	TRY(cursor_take(c, NONCE, &r->nonce));
	return cursor_u8(c, &r->slot);
}

static enum reason block_read(struct cursor *c, struct gpu_block *ret)
{
	uint8_t specification;
	uint16_t size, n;

	TRY(cursor_u8(c, &ret->index));
	TRY(cursor_u8(c, &specification));
	TRY(cursor_le16(c, &size));
	TRY(cursor_u8(c, &ret->type));
	TRY(cursor_le16(c, &n));
	if (specification != DMTF || size != n + 3u)
		return R_GPU_FORMAT;
	return cursor_take(c, n, &ret->value);
}

static enum reason blocks_read(struct bytes record, size_t count, struct gpu_report *r)
{
	struct cursor c = cursor_of(record);

	if (count == 0 || count > GPU_BLOCKS_MAX)
		return R_GPU_FORMAT;
	for (size_t i = 0; i < count; i++) {
		TRY(block_read(&c, &r->block[i]));
		/* 0 and 255 mean something else in requests */
		if (r->block[i].index == 0 || r->block[i].index == ALL ||
		    (i > 0 && r->block[i].index <= r->block[i - 1].index))
			return R_GPU_FORMAT;
	}
	r->blocks = count;
	return cursor_end(&c);
}

static enum reason fields_read(struct bytes opaque, struct gpu_report *r)
{
	struct cursor c = cursor_of(opaque);

	while (c.n > 0) {
		struct gpu_opaque f;
		uint16_t n;

		TRY(cursor_le16(&c, &f.type));
		TRY(cursor_le16(&c, &n));
		TRY(cursor_take(&c, n, &f.value));
		if (r->fields == GPU_OPAQUE_MAX || gpu_field(r, f.type).p)
			return R_GPU_FORMAT;
		r->field[r->fields++] = f;
	}
	return R_OK;
}

static enum reason answer_read(struct cursor *c, struct gpu_report *r)
{
	uint8_t version, code, blocks, len[3];
	struct bytes record, opaque, param;
	uint16_t n;

	TRY(cursor_u8(c, &version));
	TRY(cursor_u8(c, &code));
	if (version != SPDM_1_1 || code != MEASUREMENTS)
		return R_GPU_FORMAT;
	TRY(cursor_take(c, 2, &param));
	TRY(cursor_u8(c, &blocks));
	TRY(cursor_copy(c, len, sizeof(len)));
	TRY(cursor_take(c, (size_t)len[0] | (size_t)len[1] << 8 | (size_t)len[2] << 16, &record));
	TRY(cursor_take(c, NONCE, &r->responder_nonce));
	TRY(cursor_le16(c, &n));
	TRY(cursor_take(c, n, &opaque));
	/* what is inside has lengths of its own that must fit */
	if (blocks_read(record, blocks, r) != R_OK || fields_read(opaque, r) != R_OK)
		return R_GPU_FORMAT;
	return R_OK;
}

enum reason gpu_report_read(struct bytes in, struct gpu_report *ret)
{
	struct cursor c = cursor_of(in);

	memset(ret, 0, sizeof(*ret));
	TRY(request_read(&c, ret));
	TRY(answer_read(&c, ret));
	ret->signed_part = bytes_of(in.p, c.offset);
	TRY(cursor_take(&c, GPU_SIGNATURE_LEN, &ret->signature));
	return cursor_end(&c) == R_OK ? R_OK : R_GPU_FORMAT;
}

struct bytes gpu_field(const struct gpu_report *r, uint16_t type)
{
	for (size_t i = 0; i < r->fields; i++)
		if (r->field[i].type == type)
			return r->field[i].value;
	return BYTES_NONE;
}

const char *gpu_field_name(uint16_t type)
{
	static const char *const names[] = {
		[1] = "certificate_issuer", [2] = "authority_key_id", [3] = "driver_version",
		[4] = "gpu_info", [5] = "sku", [6] = "vbios_version", [7] = "manufacturer",
		[8] = "tamper_detection", [9] = "smc", [10] = "vpr", [11] = "nvdec0_status",
		[12] = "msr_counts", [13] = "cpr_info", [14] = "board_id", [15] = "chip_sku",
		[16] = "chip_sku_mod", [17] = "project", [18] = "project_sku", [19] = "project_sku_mod",
		[20] = "fwid", [21] = "protected_pcie_status", [22] = "switch_ids", [23] = "disabled_ports",
		[24] = "switch_position", [25] = "lock_status", [26] = "gpu_ids", [34] = "opaque_version",
		[35] = "chip_info", [36] = "feature_flag",
	};

	return type < ARRAY_LEN(names) ? names[type] : NULL;
}

void gpu_vbios_text(struct bytes value, char ret[GPU_VBIOS_TEXT])
{
	const uint8_t *p = value.p;

	ret[0] = '\0';
	/* GPUs: numbers, the lowest four turned around */
	if (value.n == 8)
		snprintf(ret, GPU_VBIOS_TEXT, "%02X.%02X.%02X.%02X.%02X", p[3], p[2], p[1], p[0], p[4]);
	else if (value.n < GPU_VBIOS_TEXT && text_printable(value))
		(void)text_escape(value, ret, GPU_VBIOS_TEXT);
}

/* SEQUENCE of hash algorithm and digest */
static enum reason digest_read(struct cursor *c, struct bytes *ret)
{
	struct bytes pair, oid;
	struct cursor in;

	TRY(der_take(c, DER_SEQUENCE, &pair));
	in = cursor_of(pair);
	TRY(der_take(&in, DER_OID, &oid));
	TRY(der_take(&in, DER_OCTETS, ret));
	TRY(cursor_end(&in));
	return bytes_equal(oid, BYTES(oid_sha384)) && ret->n == GPU_FWID_LEN ? R_OK : R_GPU_FWID;
}

/* Version, the key of the layer below, digest */
static enum reason composite_read(struct cursor c, struct bytes *ret)
{
	struct bytes key;
	uint32_t version;

	TRY(der_u32(&c, DER_INTEGER, UINT8_MAX, &version));
	TRY(der_take(&c, DER_SEQUENCE, &key));
	TRY(digest_read(&c, ret));
	return cursor_end(&c);
}

/* Of a DiceTcbInfo the first of its digests: that of the firmware. */
static enum reason tcb_info_read(struct cursor c, struct bytes *ret)
{
	struct bytes value;
	struct cursor in;
	uint8_t tag;

	while (c.n > 0) {
		TRY(der_next(&c, &tag, &value));
		if (tag != DER_FWIDS)
			continue;
		in = cursor_of(value);
		return digest_read(&in, ret);
	}
	return R_GPU_FWID;
}

enum reason gpu_fwid_read(struct bytes extension, bool tcb_info, struct bytes *ret)
{
	struct cursor c = cursor_of(extension);
	struct bytes outer, found;

	if (der_take(&c, DER_SEQUENCE, &outer) != R_OK || cursor_end(&c) != R_OK)
		return R_GPU_FWID;
	if ((tcb_info ? tcb_info_read : composite_read)(cursor_of(outer), &found) != R_OK)
		return R_GPU_FWID;
	*ret = found;
	return R_OK;
}
