/* SPDX-License-Identifier: Apache-2.0 */
#include "appraise/gpu.h"

#include "base/cleanup.h"

const uint8_t gpu_nvidia_root[1][SHA256_LEN] = { {
	0xa9, 0x0c, 0x4e, 0xb5, 0xac, 0xfd, 0x3e, 0x3d, 0x03, 0xa2, 0x5d, 0xb6, 0xa2, 0x6b, 0x84, 0xf7,
	0x20, 0xad, 0x05, 0x03, 0x19, 0x6c, 0x62, 0x7c, 0x21, 0xdd, 0xd4, 0x8d, 0xd8, 0x5b, 0x06, 0xa4,
} };

/* Only certificates of attestation keys name the firmware they are made for. */
static enum reason fwid_of(const struct chain_cert *c, struct bytes *ret)
{
	struct bytes extension;

	TRY(chain_extension(c, "2.23.133.5.4.1", &extension));
	if (extension.n > 0)
		return gpu_fwid_read(extension, /* tcb_info= */ false, ret);
	TRY(chain_extension(c, "2.23.133.5.4.1.1", &extension));
	if (extension.n > 0)
		return gpu_fwid_read(extension, /* tcb_info= */ true, ret);
	return R_GPU_NO_KEY;
}

static enum reason find_signer(const struct cvm_evidence *e, struct gpu_result *v)
{
	uint8_t digest[DIGEST_MAX];

	TRY(digest_of(ALG_SHA384, &v->report.signed_part, 1, digest));
	for (size_t i = 0; i < chain_pool_certs(e->pool); i++) {
		const struct chain_cert *c = chain_pool_cert(e->pool, i);

		if (c->curve != CHAIN_CURVE_P384 || c->ca || fwid_of(c, &v->fwid) != R_OK)
			continue;
		v->candidates++;
		if (chain_ecdsa_verify(c, bytes_of(digest, digest_len(ALG_SHA384)),
				       v->report.signature) == R_OK) {
			v->cert = c;
			return R_OK;
		}
	}
	return v->candidates ? R_GPU_SIGNATURE : R_GPU_NO_KEY;
}

static enum reason check_fwid(struct gpu_result *v)
{
	struct bytes runs = gpu_field(&v->report, GPU_OPAQUE_FWID);

	if (!runs.p) {
		cvm_note(&v->notes, R_GPU_FWID_UNKNOWN);
		return R_OK;
	}
	return bytes_equal(runs, v->fwid) ? R_OK : R_GPU_FWID;
}

enum reason gpu_verify(const struct cvm_evidence *e, const uint8_t (*root)[SHA256_LEN],
		       struct gpu_result *ret)
{
	*ret = (struct gpu_result){ 0 };
	TRY(gpu_report_read(e->bytes, &ret->report));
	ret->read = true;
	TRY(find_signer(e, ret));
	TRY(chain_find(e->pool, ret->cert, root, 1, e->now, &ret->path));
	for (size_t i = 0; i + 1 < ret->path.count; i++)
		cvm_note_revocation(&ret->notes, &ret->path, i);
	if (e->nonce.p) {
		if (!bytes_equal_secret(e->nonce, ret->report.nonce))
			return R_GPU_NONCE;
		ret->nonce_checked = true;
	}
	TRY(check_fwid(ret));
	cvm_note(&ret->notes, R_GPU_REFERENCE_UNKNOWN);
	return R_OK;
}
