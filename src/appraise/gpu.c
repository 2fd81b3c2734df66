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

static bool is_attestation_key(const struct chain_cert *c, const void *context)
{
	struct bytes fwid;

	(void)context;
	return !c->ca && fwid_of(c, &fwid) == R_OK;
}

static enum reason find_signer(const struct cvm_evidence *e, const uint8_t (*root)[SHA256_LEN],
			       struct gpu_result *v)
{
	uint8_t digest[DIGEST_MAX];
	const struct cvm_signed s = {
		.digest = bytes_of(digest, digest_len(ALG_SHA384)),
		.signature = v->report.signature,
		.curve = CHAIN_CURVE_P384,
		.kind = is_attestation_key,
	};
	enum reason r;

	TRY(digest_of(ALG_SHA384, &v->report.signed_part, 1, digest));
	r = cvm_find_signer(e, &s, root, 1, &v->signer);
	if (!v->signer.cert)
		return v->signer.candidates ? R_GPU_SIGNATURE : R_GPU_NO_KEY;
	TRY(fwid_of(v->signer.cert, &v->fwid));
	return r;
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
	TRY(find_signer(e, root, ret));
	for (size_t i = 0; i + 1 < ret->signer.path.count; i++)
		cvm_note_revocation(&ret->notes, &ret->signer.path, i);
	if (e->nonce.p) {
		if (!bytes_equal_secret(e->nonce, ret->report.nonce))
			return R_GPU_NONCE;
		ret->nonce_checked = true;
	}
	TRY(check_fwid(ret));
	cvm_note(&ret->notes, R_GPU_REFERENCE_UNKNOWN);
	return R_OK;
}
