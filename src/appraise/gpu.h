/* SPDX-License-Identifier: Apache-2.0 */
/* Judgement of the evidence of NVIDIA GPUs and switches. */
#ifndef BOOTGATE_APPRAISE_GPU_H
#define BOOTGATE_APPRAISE_GPU_H

#include "appraise/cvm.h"
#include "format/gpu.h"

/* SHA-256 of the SubjectPublicKeyInfo of NVIDIA's device identity root. */
extern const uint8_t gpu_nvidia_root[1][SHA256_LEN];

struct gpu_result {
	struct gpu_report report;
	bool read;			/* report is filled */
	struct cvm_signer signer;	/* attestation key */
	struct bytes fwid;		/* in the certificate */
	bool nonce_checked;
	struct cvm_notes notes;
};

/*
 * R_OK when an attestation key whose certificate leads to the root signed
 * request and answer, the request holds the nonce, and the device runs the
 * firmware that its certificate names. Measurements are not compared with
 * anything. *ret says how far it came in any case.
 */
enum reason gpu_verify(const struct cvm_evidence *e, const uint8_t (*root)[SHA256_LEN],
		       struct gpu_result *ret) must_check;

#endif
