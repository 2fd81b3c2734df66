/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The list of banks, proved: TPM2_GetCapability in an audit session, whose
 * digest the AK signs. The session needs no secret: what counts is computed
 * and signed inside the TPM.
 */
#include "node/tpm_internal.h"

#include <string.h>

#define CAPABILITY_MAX 256u

static enum reason begin(struct tpm *t, ESYS_TR *ret)
{
	const TPMT_SYM_DEF none = { .algorithm = TPM2_ALG_NULL };

	TRY(tpm_reason(t, Esys_StartAuthSession(t->esys, ESYS_TR_NONE, ESYS_TR_NONE, ESYS_TR_NONE,
						ESYS_TR_NONE, ESYS_TR_NONE, NULL, TPM2_SE_HMAC,
						&none, TPM2_ALG_SHA256, ret)));
	return tpm_reason(t, Esys_TRSess_SetAttributes(
				     t->esys, *ret,
				     TPMA_SESSION_AUDIT | TPMA_SESSION_CONTINUESESSION, 0xff));
}

static enum reason ask(struct tpm *t, ESYS_TR session, struct blob *ret)
{
	_cleanup_(cleanup_esys) TPMS_CAPABILITY_DATA *data = NULL;
	uint8_t b[CAPABILITY_MAX];
	TPMI_YES_NO more;
	size_t n = 0;

	TRY(tpm_reason(t, Esys_GetCapability(t->esys, session, ESYS_TR_NONE, ESYS_TR_NONE,
					     TPM2_CAP_PCRS, TPM_BANKS_PROPERTY, TPM_BANKS_COUNT,
					     &more, &data)));
	if (Tss2_MU_TPMS_CAPABILITY_DATA_Marshal(data, b, sizeof(b), &n) != TSS2_RC_SUCCESS)
		return R_TPM_IO;
	blob_reset(ret);
	return blob_append(ret, b, n);
}

static enum reason sign(struct tpm *t, ESYS_TR session, ESYS_TR ak,
			const uint8_t qualifying[SHA256_LEN], struct blob *ret_attest,
			struct blob *ret_signature)
{
	_cleanup_(cleanup_esys) TPM2B_ATTEST *attest = NULL;
	_cleanup_(cleanup_esys) TPMT_SIGNATURE *signature = NULL;
	const TPMT_SIG_SCHEME own = { .scheme = TPM2_ALG_NULL };
	TPM2B_DATA data = { .size = SHA256_LEN };
	enum reason r;

	memcpy(data.buffer, qualifying, SHA256_LEN);
	r = tpm_reason(t, Esys_GetSessionAuditDigest(t->esys, ESYS_TR_RH_ENDORSEMENT, ak, session,
						     ESYS_TR_PASSWORD, ESYS_TR_PASSWORD,
						     ESYS_TR_NONE, &data, &own, &attest,
						     &signature));
	if (r == R_TPM_RESPONSE && tpm_refused_with(t, TPM2_RC_BAD_AUTH))
		return R_TPM_ENDORSEMENT_AUTH;
	TRY(r);
	return tpm_signed_out(attest, signature, ret_attest, ret_signature);
}

enum reason tpm_banks_proof(struct tpm *t, const struct tpm_ak *ak,
			    enum reason (*qualifying)(void *ctx, struct bytes capability,
						      uint8_t ret[SHA256_LEN]),
			    void *ctx, struct blob *ret_capability, struct blob *ret_attest,
			    struct blob *ret_signature)
{
	ESYS_TR session = ESYS_TR_NONE, key;
	uint8_t data[SHA256_LEN];
	enum reason r;

	TRY(tpm_ak_handle(t, ak, &key));
	r = begin(t, &session);
	if (r == R_OK)
		r = ask(t, session, ret_capability);
	if (r == R_OK)
		r = qualifying(ctx, blob_bytes(ret_capability), data);
	if (r == R_OK)
		r = sign(t, session, key, data, ret_attest, ret_signature);
	tpm_flush(t, &session);
	return r;
}
