/* SPDX-License-Identifier: Apache-2.0 */
#include "appraise/snp.h"

#include <string.h>

#include "base/cleanup.h"

static const uint8_t ark_pins[][SHA256_LEN] = {
	/* ARK-Milan */
	{
		0x9f, 0x05, 0x6b, 0xee, 0x44, 0x37, 0x7e, 0x29,
		0x30, 0x8c, 0xb5, 0xff, 0xa8, 0x95, 0xbd, 0xfb,
		0x62, 0xd1, 0x88, 0x81, 0xfa, 0x6b, 0xed, 0x8d,
		0x6f, 0x07, 0x5b, 0x02, 0x04, 0x08, 0x9c, 0xb9,
	},
	/* ARK-Genoa */
	{
		0x42, 0x9a, 0x69, 0xc9, 0x42, 0x2a, 0xa2, 0x58,
		0xee, 0x4d, 0x8d, 0xb5, 0xfc, 0xda, 0x9c, 0x64,
		0x70, 0xef, 0x15, 0xf8, 0xcd, 0x5a, 0x9c, 0xeb,
		0xd6, 0xcb, 0xc7, 0xd9, 0x0b, 0x86, 0x38, 0x31,
	},
	/* ARK-Turin */
	{
		0x4f, 0x12, 0x54, 0x10, 0x56, 0x3a, 0x2a, 0xb9,
		0xa5, 0x03, 0x56, 0xf9, 0x24, 0x3f, 0x6f, 0xe0,
		0xb6, 0xf7, 0x3d, 0xe9, 0x86, 0x03, 0xf5, 0x3f,
		0x90, 0x33, 0x9c, 0x70, 0xe9, 0xd7, 0xad, 0x08,
	},
};
static const enum snp_product ark_products[] = { SNP_MILAN, SNP_GENOA, SNP_TURIN };
static const struct snp_roots amd_roots = { ark_pins, ark_products, ARRAY_LEN(ark_pins) };

const struct snp_roots *snp_amd_roots(void)
{
	return &amd_roots;
}

/* The certificate of AMD's that names itself so signs reports and nothing else. */
static bool is_signing_key(const struct chain_cert *c, const void *context)
{
	const struct snp_report *r = context;

	return strcmp(c->name, r->signer == SNP_VLEK ? "SEV-VLEK" : "SEV-VCEK") == 0;
}

static enum reason key_extensions(const struct chain_cert *c, struct snp_key *ret)
{
	struct snp_key_extensions e;
	const struct {
		const char *oid;
		struct bytes *to;
	} wanted[] = {
		{ "1.3.6.1.4.1.3704.1.2", &e.product },
		{ "1.3.6.1.4.1.3704.1.3.1", &e.bootloader },
		{ "1.3.6.1.4.1.3704.1.3.2", &e.tee },
		{ "1.3.6.1.4.1.3704.1.3.3", &e.snp },
		{ "1.3.6.1.4.1.3704.1.3.8", &e.microcode },
		{ "1.3.6.1.4.1.3704.1.3.9", &e.fmc },
		{ "1.3.6.1.4.1.3704.1.4", &e.chip },
		{ "1.3.6.1.4.1.3704.1.5", &e.provider },
	};

	for (size_t i = 0; i < ARRAY_LEN(wanted); i++)
		TRY(chain_extension(c, wanted[i].oid, wanted[i].to));
	return snp_key_read(&e, ret);
}

/* Which certificate made the signature; several may be there for one chip. */
static enum reason find_signer(const struct cvm_evidence *e, const struct snp_roots *roots,
			       struct snp_result *v)
{
	uint8_t digest[DIGEST_MAX];
	const struct cvm_signed s = {
		.digest = bytes_of(digest, digest_len(ALG_SHA384)),
		.signature = BYTES(v->report.signature),
		.curve = CHAIN_CURVE_P384,
		.kind = is_signing_key,
		.context = &v->report,
	};
	enum reason r;

	TRY(digest_of(ALG_SHA384, &v->report.signed_part, 1, digest));
	r = cvm_find_signer(e, &s, roots->pin, roots->count, &v->signer);
	if (!v->signer.cert)
		return v->signer.candidates ? R_SNP_SIGNATURE : R_SNP_KEY;
	return r;
}

/* Root, certificate and, where it says so, report are of one product. */
static enum reason check_product(const struct snp_roots *roots, struct snp_result *v)
{
	const struct snp_report *r = &v->report;

	TRY(key_extensions(v->signer.cert, &v->key));
	v->product = roots->product[v->signer.path.pin];
	if (v->key.product != v->product)
		return R_SNP_PRODUCT;
	if (r->version >= 3 && snp_product_cpuid(r->cpu_family, r->cpu_model) != v->product)
		return R_SNP_PRODUCT;
	return R_OK;
}

static enum reason check_tcb(struct snp_result *v)
{
	const struct snp_report *r = &v->report;

	TRY(snp_tcb_read(r->current_tcb, v->product, &v->current));
	TRY(snp_tcb_read(r->reported_tcb, v->product, &v->reported));
	TRY(snp_tcb_read(r->committed_tcb, v->product, &v->committed));
	TRY(snp_tcb_read(r->launch_tcb, v->product, &v->launch));
	v->has_tcb = true;
	return snp_tcb_equal(&v->key.tcb, &v->reported) ? R_OK : R_SNP_TCB;
}

/* hwID of Turin is short: zeros stand behind it in the report. */
static enum reason check_chip(struct snp_result *v)
{
	if (v->report.signer == SNP_VLEK)
		return R_OK;
	if (v->report.chip_masked) {
		cvm_note(&v->notes, R_SNP_CHIP_MASKED);
		return R_OK;
	}
	return cvm_nonce_equal(v->key.chip, v->report.chip_id) ? R_OK : R_SNP_CHIP;
}

static enum reason check_minimum(struct bytes minimum, struct snp_result *v)
{
	struct snp_tcb least;

	if (!minimum.p) {
		cvm_note(&v->notes, R_SNP_TCB_UNKNOWN);
		return R_OK;
	}
	TRY(snp_tcb_read(minimum, v->product, &least));
	if (!snp_tcb_at_least(&v->reported, &least) || !snp_tcb_at_least(&v->committed, &least))
		return R_SNP_TCB_MINIMUM;
	v->minimum_checked = true;
	return R_OK;
}

/*
 * AMD lists revoked ASKs only. Above it is the root, below it a key that ends
 * with its TCB.
 */
static void add_notes(struct snp_result *v)
{
	for (size_t i = 1; i + 1 < v->signer.path.count; i++)
		cvm_note_revocation(&v->notes, &v->signer.path, i);
	if (v->report.policy & SNP_POLICY_DEBUG)
		cvm_note(&v->notes, R_SNP_DEBUG);
	if (!snp_tcb_at_least(&v->committed, &v->reported) ||
	    !snp_tcb_at_least(&v->current, &v->committed))
		cvm_note(&v->notes, R_SNP_TCB_ORDER);
	if (v->product == SNP_MILAN)
		cvm_note(&v->notes, R_SNP_MILAN);
}

enum reason snp_verify(const struct cvm_evidence *e, const struct snp_roots *roots,
		       struct bytes minimum, struct snp_result *ret)
{
	struct bytes report;

	*ret = (struct snp_result){ 0 };
	TRY(snp_report_locate(e->bytes, &report));
	TRY(snp_report_read(report, &ret->report));
	ret->read = true;
	TRY(find_signer(e, roots, ret));
	TRY(check_product(roots, ret));
	TRY(check_tcb(ret));
	TRY(check_chip(ret));
	TRY(check_minimum(minimum, ret));
	if (e->nonce.p) {
		if (!cvm_nonce_equal(e->nonce, ret->report.report_data))
			return R_SNP_NONCE;
		ret->nonce_checked = true;
	}
	add_notes(ret);
	return R_OK;
}
