/* SPDX-License-Identifier: Apache-2.0 */
/* Certificates that the vendor left in NV. Nothing is ever written there. */
#include "node/tpm_internal.h"

#include "base/log.h"
#include "crypto/cert_der.h"

#define CHUNK_DEFAULT 512u		/* where the TPM does not say */

/*
 * Who authorises the read, with an empty authorisation. The index itself only
 * where a wrong one would not count towards lockout.
 */
static ESYS_TR reader(const TPMS_NV_PUBLIC *p, ESYS_TR index)
{
	if ((p->attributes & TPMA_NV_WRITTEN) == 0)
		return ESYS_TR_NONE;
	if ((p->attributes & TPMA_NV_AUTHREAD) != 0 && (p->attributes & TPMA_NV_NO_DA) != 0)
		return index;
	return (p->attributes & TPMA_NV_OWNERREAD) != 0 ? ESYS_TR_RH_OWNER : ESYS_TR_NONE;
}

static enum reason read_chunks(struct tpm *t, ESYS_TR auth, ESYS_TR index, size_t size,
			       struct blob *ret)
{
	uint32_t chunk;

	TRY(tpm_property(t, TPM2_PT_NV_BUFFER_MAX, &chunk));
	if (chunk == 0 || chunk > TPM2_MAX_NV_BUFFER_SIZE)
		chunk = CHUNK_DEFAULT;
	while (ret->n < size) {
		_cleanup_(cleanup_esys) TPM2B_MAX_NV_BUFFER *data = NULL;
		size_t want = size - ret->n < chunk ? size - ret->n : chunk;

		TRY(tpm_reason(t, Esys_NV_Read(t->esys, auth, index, ESYS_TR_PASSWORD,
					       ESYS_TR_NONE, ESYS_TR_NONE, (UINT16)want,
					       (UINT16)ret->n, &data)));
		if (data->size != want)
			return R_TPM_IO;
		TRY(blob_append(ret, data->buffer, data->size));
	}
	return R_OK;
}

static enum reason read_index(struct tpm *t, ESYS_TR index, size_t max, struct blob *ret)
{
	_cleanup_(cleanup_esys) TPM2B_NV_PUBLIC *public = NULL;
	ESYS_TR auth;

	TRY(tpm_reason(t, Esys_NV_ReadPublic(t->esys, index, ESYS_TR_NONE, ESYS_TR_NONE,
					     ESYS_TR_NONE, &public, NULL)));
	auth = reader(&public->nvPublic, index);
	if (auth == ESYS_TR_NONE)
		return R_OK;
	if (public->nvPublic.dataSize > max)
		return R_FORMAT_TOO_LARGE;
	return read_chunks(t, auth, index, public->nvPublic.dataSize, ret);
}

enum reason tpm_nv_read(struct tpm *t, uint32_t index, size_t max, struct blob *ret)
{
	ESYS_TR h = ESYS_TR_NONE;
	enum reason r;

	blob_reset(ret);
	r = tpm_reason(t, Esys_TR_FromTPMPublic(t->esys, index, ESYS_TR_NONE, ESYS_TR_NONE,
						ESYS_TR_NONE, &h));
	if (r == R_OK) {
		r = read_index(t, h, max, ret);
		(void)Esys_TR_Close(t->esys, &h);
	}
	if (r == R_TPM_RESPONSE) {
		log_info("tpm: NV index %#010x cannot be read", index);
		blob_reset(ret);
		return R_OK;
	}
	return r;
}

enum reason tpm_certificate_cut(struct bytes nv, struct bytes *ret)
{
	if (der_is_padding(nv)) {
		*ret = BYTES_NONE;
		return R_OK;
	}
	return der_cut(nv, ret);
}
