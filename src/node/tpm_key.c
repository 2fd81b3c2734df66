/* SPDX-License-Identifier: Apache-2.0 */
/* Keys: the fleet's AK, keys at persistent handles, and what they sign. */
#include "node/tpm_internal.h"

#include <string.h>

#include "base/log.h"

enum reason tpm_area_of_tss(const TPM2B_PUBLIC *in, struct tpm_area *ret)
{
	struct tpm_area a = { .n = 0 };

	if (Tss2_MU_TPMT_PUBLIC_Marshal(&in->publicArea, a.b, sizeof(a.b), &a.n) !=
	    TSS2_RC_SUCCESS)
		return R_TPM_IO;
	*ret = a;
	return R_OK;
}

/* Codes of a TPM that lacks what the template asks for: they name parameter 2. */
static bool template_refused(const struct tpm *t)
{
	const uint32_t mask = TPM2_RC_FMT1 | TPM2_RC_P | TPM2_RC_N_MASK;

	return t->fault == R_OK && (t->rc & mask) == (TPM2_RC_FMT1 | TPM2_RC_P | TPM2_RC_2);
}

enum reason tpm_primary(struct tpm *t, struct bytes template, ESYS_TR *ret,
			struct tpm_area *ret_public)
{
	_cleanup_(cleanup_esys) TPM2B_PUBLIC *out = NULL;
	const TPM2B_SENSITIVE_CREATE sensitive = { 0 };
	const TPML_PCR_SELECTION no_pcr = { 0 };
	const TPM2B_DATA no_data = { 0 };
	TPM2B_PUBLIC in = { 0 };
	ESYS_TR handle = ESYS_TR_NONE;
	size_t offset = 0;
	enum reason r;

	if (Tss2_MU_TPMT_PUBLIC_Unmarshal(template.p, template.n, &offset, &in.publicArea) !=
		    TSS2_RC_SUCCESS ||
	    offset != template.n)
		return R_TPM_AK_TEMPLATE;
	r = tpm_reason(t, Esys_CreatePrimary(t->esys, ESYS_TR_RH_ENDORSEMENT, ESYS_TR_PASSWORD,
					     ESYS_TR_NONE, ESYS_TR_NONE, &sensitive, &in, &no_data,
					     &no_pcr, &handle, &out, NULL, NULL, NULL));
	if (r == R_TPM_RESPONSE && tpm_refused_with(t, TPM2_RC_BAD_AUTH))
		return R_TPM_ENDORSEMENT_AUTH;
	if (r == R_TPM_RESPONSE && tpm_refused_with(t, TPM2_RC_HIERARCHY))
		return R_TPM_ENDORSEMENT_OFF;
	if (r == R_TPM_RESPONSE && template_refused(t))
		return R_TPM_AK_TEMPLATE;
	TRY(r);
	r = tpm_area_of_tss(out, ret_public);
	if (r == R_OK)
		*ret = handle;
	else
		tpm_flush(t, &handle);
	return r;
}

enum reason tpm_key_at(struct tpm *t, uint32_t handle, ESYS_TR *ret, struct tpm_area *ret_public)
{
	_cleanup_(cleanup_esys) TPM2B_PUBLIC *out = NULL;
	ESYS_TR h = ESYS_TR_NONE;
	enum reason r = tpm_reason(t, Esys_TR_FromTPMPublic(t->esys, handle, ESYS_TR_NONE,
							    ESYS_TR_NONE, ESYS_TR_NONE, &h));

	if (r == R_TPM_RESPONSE)
		return R_TPM_KEY_HANDLE;
	TRY(r);
	r = tpm_reason(t, Esys_ReadPublic(t->esys, h, ESYS_TR_NONE, ESYS_TR_NONE, ESYS_TR_NONE,
					  &out, NULL, NULL));
	if (r == R_OK)
		r = tpm_area_of_tss(out, ret_public);
	if (r == R_OK)
		*ret = h;
	else
		(void)Esys_TR_Close(t->esys, &h);
	return r;
}

/* ---- the AK -------------------------------------------------------------------- */

static enum reason ak_check(const struct tpm_area *area, struct tpm_name *ret)
{
	struct tpm_public p;

	if (tpm_public_read(tpm_area_bytes(area), &p) != R_OK ||
	    !tpm_ak_public_matches_template(&p))
		return R_TPM_AK_TEMPLATE;
	TRY(tpm_name_of(&p, ret));
	return ret->n == AK_NAME_LEN ? R_OK : R_INTERNAL;
}

/* Makes the key if it is not loaded. ESYS has checked the TPM's name against the public. */
static enum reason ak_load(struct tpm *t, struct tpm_area *ret_area, struct tpm_name *ret_name)
{
	ESYS_TR h;
	enum reason r;

	tpm_flush(t, &t->ak);
	TRY(tpm_primary(t, tpm_ak_template, &h, ret_area));
	r = ak_check(ret_area, ret_name);
	if (r != R_OK) {
		tpm_flush(t, &h);
		return r;
	}
	t->ak = h;
	t->ak_epoch = tpm_epoch(t);
	return R_OK;
}

enum reason tpm_ak(struct tpm *t, struct tpm_ak *ret)
{
	struct tpm_area area;
	struct tpm_name name;

	TRY(ak_load(t, &area, &name));
	*ret = (struct tpm_ak){ .handle = t->ak, .public_len = area.n };
	memcpy(ret->public_area, area.b, area.n);
	memcpy(ret->name, name.b, AK_NAME_LEN);
	return R_OK;
}

enum reason tpm_ak_handle(struct tpm *t, const struct tpm_ak *ak, ESYS_TR *ret)
{
	struct tpm_area area;
	struct tpm_name name;

	if (t->ak == ESYS_TR_NONE || t->ak_epoch != tpm_epoch(t)) {
		TRY(ak_load(t, &area, &name));
		if (memcmp(name.b, ak->name, AK_NAME_LEN) != 0)
			return R_TPM_AK_TEMPLATE;
	}
	*ret = t->ak;
	return R_OK;
}

/* ---- quotes -------------------------------------------------------------------- */

enum reason tpm_signed_out(const TPM2B_ATTEST *attest, const TPMT_SIGNATURE *signature,
			   struct blob *ret_attest, struct blob *ret_signature)
{
	uint8_t b[LIMIT_TPM_SIGNATURE];
	size_t n = 0;

	if (Tss2_MU_TPMT_SIGNATURE_Marshal(signature, b, sizeof(b), &n) != TSS2_RC_SUCCESS)
		return R_TPM_IO;
	blob_reset(ret_attest);
	blob_reset(ret_signature);
	TRY(blob_append(ret_attest, attest->attestationData, attest->size));
	return blob_append(ret_signature, b, n);
}

static enum reason quote(struct tpm *t, ESYS_TR key, const TPMT_SIG_SCHEME *scheme,
			 const struct pcr_selection *sel, struct bytes qualifying,
			 struct blob *ret_attest, struct blob *ret_signature)
{
	_cleanup_(cleanup_esys) TPM2B_ATTEST *attest = NULL;
	_cleanup_(cleanup_esys) TPMT_SIGNATURE *signature = NULL;
	TPM2B_DATA data = { .size = (UINT16)qualifying.n };
	TPML_PCR_SELECTION in;

	if (qualifying.n > sizeof(data.buffer))
		return R_INTERNAL_TOO_LARGE;
	if (qualifying.n > 0)
		memcpy(data.buffer, qualifying.p, qualifying.n);
	TRY(tpm_selection_to_tss(sel, &in));
	TRY(tpm_reason(t, Esys_Quote(t->esys, key, ESYS_TR_PASSWORD, ESYS_TR_NONE, ESYS_TR_NONE,
				     &data, scheme, &in, &attest, &signature)));
	return tpm_signed_out(attest, signature, ret_attest, ret_signature);
}

enum reason tpm_quote(struct tpm *t, const struct tpm_ak *ak, const struct pcr_selection *sel,
		      struct bytes qualifying, struct blob *ret_attest, struct blob *ret_signature)
{
	const TPMT_SIG_SCHEME own = { .scheme = TPM2_ALG_NULL };
	ESYS_TR h;

	TRY(tpm_ak_handle(t, ak, &h));
	return quote(t, h, &own, sel, qualifying, ret_attest, ret_signature);
}

/* The key's own scheme; for a key without one what tpm2-tools choose. */
static enum reason scheme_for(const struct tpm_area *area, TPMT_SIG_SCHEME *ret)
{
	struct tpm_public p;

	if (tpm_public_read(tpm_area_bytes(area), &p) != R_OK ||
	    (p.attributes & TPMA_SIGN) == 0 || (p.attributes & TPMA_DECRYPT) != 0)
		return R_TPM_KEY_CANNOT_SIGN;
	*ret = (TPMT_SIG_SCHEME){ .scheme = TPM2_ALG_NULL };
	if (p.scheme.alg != TPM_ALG_NULL)
		return R_OK;
	ret->scheme = p.type == TPM_ALG_RSA ? TPM2_ALG_RSASSA : TPM2_ALG_ECDSA;
	ret->details.any.hashAlg = TPM2_ALG_SHA256;
	return R_OK;
}

enum reason tpm_quote_handle(struct tpm *t, uint32_t persistent, const struct pcr_selection *sel,
			     struct bytes qualifying, struct blob *ret_attest,
			     struct blob *ret_signature, struct blob *ret_public)
{
	struct tpm_area area;
	TPMT_SIG_SCHEME scheme;
	ESYS_TR h;
	enum reason r;

	if (persistent < HANDLE_PERSISTENT || persistent > HANDLE_PERSISTENT_LAST)
		return R_TPM_KEY_HANDLE;
	TRY(tpm_key_at(t, persistent, &h, &area));
	r = scheme_for(&area, &scheme);
	if (r == R_OK)
		r = quote(t, h, &scheme, sel, qualifying, ret_attest, ret_signature);
	if (r == R_TPM_RESPONSE &&
	    (tpm_refused_with(t, TPM2_RC_BAD_AUTH) || tpm_refused_with(t, TPM2_RC_AUTH_FAIL) ||
	     tpm_refused_with(t, TPM2_RC_AUTH_UNAVAILABLE)))
		r = R_TPM_KEY_AUTH;
	(void)Esys_TR_Close(t->esys, &h);
	TRY(r);
	blob_reset(ret_public);
	return blob_append(ret_public, area.b, area.n);
}

enum reason tpm_quote_covers(struct bytes attest, uint16_t hash, const struct pcr_values *values)
{
	struct tpm_attest a;
	uint8_t digest[DIGEST_MAX];

	TRY(tpm_quote_read(attest, &a));
	TRY(pcr_composite(&a.selection, values, hash, digest));
	if (!bytes_equal(a.pcr_digest, bytes_of(digest, digest_len(hash))))
		return log_reason(R_QUOTE_DIGEST, "a register moved around the quote");
	return R_OK;
}

enum reason tpm_quoted_values(struct tpm *t, const struct pcr_selection *sel, struct bytes attest,
			      uint16_t hash, struct pcr_values *ret)
{
	struct pcr_values v;

	TRY(tpm_pcr_read(t, sel, &v));
	TRY(tpm_quote_covers(attest, hash, &v));
	*ret = v;
	return R_OK;
}
