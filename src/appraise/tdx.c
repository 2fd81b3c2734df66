/* SPDX-License-Identifier: Apache-2.0 */
#include "appraise/tdx.h"

#include <string.h>

#include "appraise/tdx_tcb.h"
#include "base/cleanup.h"

enum {
	SGX_DEBUG = 1 << 1,		/* ATTRIBUTES.DEBUG */
};

const uint8_t tdx_intel_root[1][SHA256_LEN] = { {
	0xa0, 0xaf, 0x03, 0x12, 0x89, 0xf5, 0xd5, 0xd4, 0x13, 0x2f, 0x91, 0x86, 0x06, 0x8a, 0x7f, 0xc1,
	0x36, 0x28, 0x63, 0x3b, 0xa2, 0x35, 0x77, 0x74, 0x72, 0xe2, 0x9b, 0x6b, 0x6c, 0x67, 0xa4, 0x9e,
} };

/* Of Intel's sandbox: known, so that the refusal can say so. */
static const uint8_t sandbox_root[SHA256_LEN] = {
	0xab, 0xcb, 0xd1, 0xf4, 0xda, 0x01, 0x7d, 0x68, 0xac, 0x75, 0xb4, 0x9f, 0xcd, 0x7d, 0x12, 0xfd,
	0xdc, 0xd9, 0x49, 0xd3, 0xcb, 0x5d, 0x9a, 0xfa, 0x78, 0xf2, 0xcf, 0x44, 0xd4, 0x89, 0x63, 0x0b,
};

/* MRSIGNER and ISVPRODID, as Intel's signed identities of the two name them. */
const struct tdx_qe_pin tdx_intel_qe[TDX_QES] = {
	[TDX_QE_SGX] = {
		{ 0x8c, 0x4f, 0x57, 0x75, 0xd7, 0x96, 0x50, 0x3e, 0x96, 0x13, 0x7f, 0x77, 0xc6, 0x8a, 0x82, 0x9a,
		  0x00, 0x56, 0xac, 0x8d, 0xed, 0x70, 0x14, 0x0b, 0x08, 0x1b, 0x09, 0x44, 0x90, 0xc5, 0x7b, 0xff },
		1,
	},
	[TDX_QE_TD] = {
		{ 0xdc, 0x9e, 0x2a, 0x7c, 0x6f, 0x94, 0x8f, 0x17, 0x47, 0x4e, 0x34, 0xa7, 0xfc, 0x43, 0xed, 0x03,
		  0x0f, 0x7c, 0x15, 0x63, 0xf1, 0xba, 0xbd, 0xdf, 0x63, 0x40, 0xc8, 0x2e, 0x0e, 0x54, 0xa8, 0xc5 },
		2,
	},
};

void tdx_result_free(struct tdx_result *v)
{
	blob_free(&v->tcb.text);
	blob_free(&v->identity.text);
}

/* The quote by its attestation key. */
static enum reason check_signature(const struct tdx_quote *q)
{
	uint8_t digest[SHA256_LEN];
	enum reason r;

	TRY(sha256(q->signed_part, digest));
	r = ecdsa_verify(CHAIN_CURVE_P256, bytes_of(q->attest_key.p, 32),
			 bytes_of(q->attest_key.p + 32, 32), BYTES(digest),
			 bytes_of(q->signature.p, 32), bytes_of(q->signature.p + 32, 32));
	return r == R_COSE_SIGNATURE ? R_TDX_SIGNATURE : r;
}

/* The attestation key by the quoting enclave, in its report data. */
static enum reason check_binding(const struct tdx_quote *q)
{
	const struct bytes pieces[] = { q->attest_key, q->qe_auth };
	uint8_t digest[DIGEST_MAX];

	TRY(digest_of(ALG_SHA256, pieces, ARRAY_LEN(pieces), digest));
	return cvm_nonce_equal(bytes_of(digest, SHA256_LEN), q->qe.report_data) ? R_OK : R_TDX_BINDING;
}

static enum reason pck_extension(const struct chain_cert *c, struct bytes *ret)
{
	return chain_extension(c, "1.2.840.113741.1.13.1", ret);
}

static bool is_pck(const struct chain_cert *c, const void *context)
{
	struct bytes extension;

	(void)context;
	return !c->ca && pck_extension(c, &extension) == R_OK && extension.n > 0;
}

/* The quoting enclave's report by a PCK certificate. */
static enum reason find_pck(const struct cvm_evidence *e, const uint8_t (*root)[SHA256_LEN],
			    struct tdx_result *v)
{
	uint8_t digest[SHA256_LEN];
	const struct cvm_signed s = {
		.digest = BYTES(digest),
		.signature = v->quote.qe_signature,
		.curve = CHAIN_CURVE_P256,
		.kind = is_pck,
	};
	const struct chain_path *path = &v->signer.path;
	struct bytes extension;
	enum reason r;

	TRY(sha256(v->quote.qe_report, digest));
	r = cvm_find_signer(e, &s, root, 1, &v->signer);
	if (!v->signer.cert)
		return v->signer.candidates ? R_TDX_QE_SIGNATURE : R_TDX_NO_PCK;
	TRY(pck_extension(v->signer.cert, &extension));
	TRY(tdx_pck_read(extension, &v->pck));
	v->has_pck = true;
	if (r == R_CHAIN_ROOT &&
	    memcmp(path->cert[path->count - 1]->spki, sandbox_root, SHA256_LEN) == 0)
		return R_TDX_SANDBOX;
	TRY(r);
	for (size_t i = 0; i + 1 < path->count; i++)
		cvm_note_revocation(&v->notes, path, i);
	return R_OK;
}

/*
 * A PCK signs for every enclave that may ask the provisioning enclave, whoever
 * wrote it: only Intel's own make it a quote. In debug mode its key is the
 * host's.
 */
static enum reason check_qe(const struct tdx_quote *q)
{
	const struct tdx_qe_pin *pin = &tdx_intel_qe[q->body == TDX_BODY_SGX ? TDX_QE_SGX : TDX_QE_TD];

	if (!bytes_equal(q->qe.mr_signer, BYTES(pin->mr_signer)) || q->qe.isv_prod_id != pin->isv_prod_id)
		return R_TDX_QE_IDENTITY;
	return q->qe.attributes.p[0] & SGX_DEBUG ? R_TDX_QE_DEBUG : R_OK;
}

/* Buffers are filled up with zeros; anything else does not belong there. */
static void note_rest(struct tdx_result *v)
{
	for (size_t i = 0; i < v->quote.rest.n; i++)
		if (v->quote.rest.p[i] != 0)
			cvm_note(&v->notes, R_FORMAT_TRAILING);
}

/* The first byte of TDATTRIBUTES (TUD) is of what takes the trust from a TD. */
static enum reason check_debug(const struct tdx_quote *q)
{
	bool debug = q->body == TDX_BODY_SGX ? q->enclave.attributes.p[0] & SGX_DEBUG :
					       q->td.td_attributes.p[0] != 0;

	return debug ? R_TDX_DEBUG : R_OK;
}

enum reason tdx_verify(const struct cvm_evidence *e, const uint8_t (*root)[SHA256_LEN],
		       const struct blob *object, size_t objects, struct tdx_result *ret)
{
	*ret = (struct tdx_result){ 0 };
	TRY(tdx_quote_read(e->bytes, &ret->quote));
	ret->read = true;
	TRY(check_signature(&ret->quote));
	TRY(check_binding(&ret->quote));
	TRY(find_pck(e, root, ret));
	TRY(check_qe(&ret->quote));
	TRY(check_debug(&ret->quote));
	if (e->nonce.p) {
		if (!cvm_nonce_equal(e->nonce, ret->quote.report_data))
			return R_TDX_NONCE;
		ret->nonce_checked = true;
	}
	TRY(tdx_tcb_judge(e, root, object, objects, ret));
	note_rest(ret);
	return R_OK;
}
