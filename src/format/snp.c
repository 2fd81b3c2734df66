/* SPDX-License-Identifier: Apache-2.0 */
#include "format/snp.h"

#include <string.h>

#include "base/cleanup.h"
#include "format/der.h"

enum {
	SIGNATURE_PART = 72,		/* r or s: little-endian, zeros behind it */
	ECDSA_P384_SHA384 = 1,
	DRIVER_HEADER = 32,		/* of SNP_GET_REPORT: status, size */
	HCL_HEADER = 32,
	FLAG_AUTHOR_KEY = 1 << 0,
	FLAG_KEY_MASKED = 1 << 1,
};

static const struct {
	const char *name;
	enum snp_product product;
} products[] = {
	{ "unknown", SNP_PRODUCT_UNKNOWN },
	{ "Milan", SNP_MILAN },
	{ "Genoa", SNP_GENOA },
	{ "Turin", SNP_TURIN },
};

const char *snp_product_name(enum snp_product p)
{
	return products[p].name;
}

enum snp_product snp_product_cpuid(uint8_t family, uint8_t model)
{
	if (family == 0x19 && model <= 0x0f)
		return SNP_MILAN;
	if (family == 0x19 && ((model >= 0x10 && model <= 0x1f) || (model >= 0xa0 && model <= 0xaf)))
		return SNP_GENOA;
	if (family == 0x1a && model <= 0x11)
		return SNP_TURIN;
	return SNP_PRODUCT_UNKNOWN;
}

static bool zeros(struct bytes b)
{
	for (size_t i = 0; i < b.n; i++)
		if (b.p[i] != 0)
			return false;
	return true;
}

/* One number of the signature, turned to big-endian. */
static enum reason number_read(struct cursor *c, uint8_t ret[SNP_COORD_LEN])
{
	struct bytes in;

	TRY(cursor_take(c, SIGNATURE_PART, &in));
	if (!zeros(bytes_of(in.p + SNP_COORD_LEN, in.n - SNP_COORD_LEN)))
		return R_SNP_FORMAT;
	for (size_t i = 0; i < SNP_COORD_LEN; i++)
		ret[i] = in.p[SNP_COORD_LEN - 1 - i];
	return R_OK;
}

static enum reason firmware_read(struct cursor *c, struct snp_firmware *ret)
{
	uint8_t reserved;

	TRY(cursor_u8(c, &ret->build));
	TRY(cursor_u8(c, &ret->minor));
	TRY(cursor_u8(c, &ret->major));
	return cursor_u8(c, &reserved);
}

static enum reason flags_read(struct cursor *c, struct snp_report *r)
{
	uint32_t flags;

	TRY(cursor_le32(c, &flags));
	r->author_key = flags & FLAG_AUTHOR_KEY;
	/* then nothing signed it; neither does a key that is neither VCEK nor VLEK */
	if (flags & FLAG_KEY_MASKED || flags >> 2 > SNP_VLEK)
		return R_SNP_FORMAT;
	r->signer = flags >> 2 ? SNP_VLEK : SNP_VCEK;
	return R_OK;
}

/* Offsets 0 to 0x4f. */
static enum reason head_read(struct cursor *c, struct snp_report *r)
{
	uint32_t algorithm;
	struct bytes reserved;

	TRY(cursor_le32(c, &r->version));
	if (r->version != 2 && r->version != 3 && r->version != 5)
		return R_SNP_VERSION;
	TRY(cursor_le32(c, &r->guest_svn));
	TRY(cursor_le64(c, &r->policy));
	TRY(cursor_take(c, 16, &r->family_id));
	TRY(cursor_take(c, 16, &r->image_id));
	TRY(cursor_le32(c, &r->vmpl));
	TRY(cursor_le32(c, &algorithm));
	if (algorithm != ECDSA_P384_SHA384)
		return R_SNP_FORMAT;
	TRY(cursor_take(c, SNP_TCB_LEN, &r->current_tcb));
	TRY(cursor_le64(c, &r->platform_info));
	TRY(flags_read(c, r));
	return cursor_take(c, 4, &reserved);
}

/* Offsets 0x50 to 0x29f. */
static enum reason body_read(struct cursor *c, struct snp_report *r)
{
	struct bytes reserved;

	TRY(cursor_take(c, 64, &r->report_data));
	TRY(cursor_take(c, 48, &r->measurement));
	TRY(cursor_take(c, 32, &r->host_data));
	TRY(cursor_take(c, 48, &r->id_key_digest));
	TRY(cursor_take(c, 48, &r->author_key_digest));
	TRY(cursor_take(c, 32, &r->report_id));
	TRY(cursor_take(c, 32, &r->report_id_ma));
	TRY(cursor_take(c, SNP_TCB_LEN, &r->reported_tcb));
	TRY(cursor_u8(c, &r->cpu_family));
	TRY(cursor_u8(c, &r->cpu_model));
	TRY(cursor_u8(c, &r->cpu_stepping));
	TRY(cursor_take(c, 21, &reserved));
	TRY(cursor_take(c, 64, &r->chip_id));
	r->chip_masked = zeros(r->chip_id);
	TRY(cursor_take(c, SNP_TCB_LEN, &r->committed_tcb));
	TRY(firmware_read(c, &r->current));
	TRY(firmware_read(c, &r->committed));
	TRY(cursor_take(c, SNP_TCB_LEN, &r->launch_tcb));
	TRY(cursor_le64(c, &r->launch_mitigations));
	TRY(cursor_le64(c, &r->current_mitigations));
	return cursor_take(c, SNP_SIGNED_LEN - c->offset, &reserved);
}

enum reason snp_report_read(struct bytes in, struct snp_report *ret)
{
	struct cursor c = cursor_of(in);
	struct snp_report r = { 0 };
	struct bytes rest;

	TRY(head_read(&c, &r));
	TRY(body_read(&c, &r));
	r.signed_part = bytes_of(in.p, SNP_SIGNED_LEN);
	TRY(number_read(&c, r.signature));
	TRY(number_read(&c, r.signature + SNP_COORD_LEN));
	TRY(cursor_take(&c, SNP_REPORT_LEN - c.offset, &rest));
	if (!zeros(rest))
		return R_SNP_FORMAT;
	TRY(cursor_end(&c));
	*ret = r;
	return R_OK;
}

/* As far as one can tell before reading it. */
static bool report_at(struct bytes in, size_t at)
{
	return in.n >= at + SNP_REPORT_LEN && in.p[at] > 0 && in.p[at] < 16 &&
	       zeros(bytes_of(in.p + at + 1, 3));
}

enum reason snp_report_locate(struct bytes in, struct bytes *ret)
{
	static const uint8_t hcl[] = { 'H', 'C', 'L', 'A' };
	/* status 0 and the report's length */
	static const uint8_t driver[] = { 0, 0, 0, 0, 0xa0, 0x04, 0, 0 };
	size_t at = 0;

	if (in.n >= sizeof(hcl) && memcmp(in.p, hcl, sizeof(hcl)) == 0)
		at = HCL_HEADER;
	else if (in.n >= sizeof(driver) && memcmp(in.p, driver, sizeof(driver)) == 0)
		at = DRIVER_HEADER;
	if (!report_at(in, at))
		return R_CVM_EVIDENCE;
	*ret = bytes_of(in.p + at, SNP_REPORT_LEN);
	return R_OK;
}

enum reason snp_tcb_read(struct bytes in, enum snp_product product, struct snp_tcb *ret)
{
	const uint8_t *p = in.p;

	if (in.n != SNP_TCB_LEN)
		return R_SNP_FORMAT;
	if (product == SNP_TURIN)
		*ret = (struct snp_tcb){ .has_fmc = true, .fmc = p[0], .bootloader = p[1],
					 .tee = p[2], .snp = p[3], .microcode = p[7] };
	else
		*ret = (struct snp_tcb){ .bootloader = p[0], .tee = p[1], .snp = p[6],
					 .microcode = p[7] };
	return R_OK;
}

bool snp_tcb_at_least(const struct snp_tcb *a, const struct snp_tcb *b)
{
	return a->fmc >= b->fmc && a->bootloader >= b->bootloader && a->tee >= b->tee &&
	       a->snp >= b->snp && a->microcode >= b->microcode;
}

bool snp_tcb_equal(const struct snp_tcb *a, const struct snp_tcb *b)
{
	return snp_tcb_at_least(a, b) && snp_tcb_at_least(b, a);
}

/* "Milan-B0" is Milan */
static enum reason product_read(struct bytes in, enum snp_product *ret)
{
	struct cursor c = cursor_of(in);
	struct bytes text;

	if (der_take(&c, DER_IA5, &text) != R_OK || cursor_end(&c) != R_OK)
		return R_SNP_FORMAT;
	for (size_t i = 1; i < ARRAY_LEN(products); i++) {
		size_t n = strlen(products[i].name);

		if (text.n >= n && memcmp(text.p, products[i].name, n) == 0 &&
		    (text.n == n || text.p[n] == '-')) {
			*ret = products[i].product;
			return R_OK;
		}
	}
	return R_SNP_FORMAT;
}

static enum reason spl_read(struct bytes in, uint8_t *ret)
{
	struct cursor c = cursor_of(in);
	uint32_t v;

	if (der_u32(&c, DER_INTEGER, UINT8_MAX, &v) != R_OK || cursor_end(&c) != R_OK)
		return R_SNP_FORMAT;
	*ret = (uint8_t)v;
	return R_OK;
}

/* The bytes themselves, or as an OCTET STRING: AMD has issued both. */
static enum reason chip_read(struct bytes in, size_t n, struct bytes *ret)
{
	struct cursor c = cursor_of(in);
	struct bytes value;

	if (in.n == n) {
		*ret = in;
		return R_OK;
	}
	if (der_take(&c, DER_OCTETS, &value) != R_OK || cursor_end(&c) != R_OK || value.n != n)
		return R_SNP_FORMAT;
	*ret = value;
	return R_OK;
}

enum reason snp_key_read(const struct snp_key_extensions *in, struct snp_key *ret)
{
	struct snp_key key = { 0 };
	struct cursor c = cursor_of(in->provider);

	TRY(product_read(in->product, &key.product));
	TRY(spl_read(in->bootloader, &key.tcb.bootloader));
	TRY(spl_read(in->tee, &key.tcb.tee));
	TRY(spl_read(in->snp, &key.tcb.snp));
	TRY(spl_read(in->microcode, &key.tcb.microcode));
	key.tcb.has_fmc = key.product == SNP_TURIN;
	if (key.tcb.has_fmc)
		TRY(spl_read(in->fmc, &key.tcb.fmc));
	if (in->chip.n > 0)
		TRY(chip_read(in->chip, key.product == SNP_TURIN ? 8 : 64, &key.chip));
	if (in->provider.n > 0 &&
	    (der_take(&c, DER_IA5, &key.provider) != R_OK || cursor_end(&c) != R_OK))
		return R_SNP_FORMAT;
	*ret = key;
	return R_OK;
}
