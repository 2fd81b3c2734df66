/* SPDX-License-Identifier: Apache-2.0 */
/* Judgement of TDX and SGX quotes: who signed, on which platform, how current. */
#ifndef BOOTGATE_APPRAISE_TDX_H
#define BOOTGATE_APPRAISE_TDX_H

#include "appraise/cvm.h"
#include "format/tdx.h"

#define TDX_TEXT_MAX (1u << 20)

/* SHA-256 of the SubjectPublicKeyInfo of Intel's SGX root. */
extern const uint8_t tdx_intel_root[1][SHA256_LEN];

/* Intel's quoting enclaves, whatever collateral says: of SGX quotes, of TDX quotes. */
enum { TDX_QE_SGX, TDX_QE_TD, TDX_QES };
struct tdx_qe_pin {
	uint8_t mr_signer[32];
	uint16_t isv_prod_id;
};
extern const struct tdx_qe_pin tdx_intel_qe[TDX_QES];

/* Collateral that verified; the views of `head` are into `text`. */
struct tdx_statement {
	struct blob text;
	struct chain_path path;		/* of the key that signed it */
	union {
		struct tdx_tcb_info tcb;
		struct tdx_identity identity;
	};
};

struct tdx_result {
	struct tdx_quote quote;
	bool read;			/* quote is filled */
	struct cvm_signer signer;	/* PCK */
	struct tdx_pck pck;
	bool has_pck, nonce_checked;
	bool has_tcb, has_identity;	/* the two are filled */
	struct tdx_statement tcb, identity;
	/* levels that fit; status unknown where none was looked for */
	struct tdx_level platform, module, qe;
	enum tdx_status status;		/* of all three together */
	struct cvm_notes notes;
};
void tdx_result_free(struct tdx_result *v);

/*
 * R_OK when the quote's signature leads through attestation key, quoting
 * enclave (Intel's) and PCK certificate to the root, neither it nor the guest
 * is in debug mode, its report data are the nonce, and no collateral speaks against it. `object`: JSON objects, any. *ret says how
 * far it came in any case; it is the caller's to free.
 */
enum reason tdx_verify(const struct cvm_evidence *e, const uint8_t (*root)[SHA256_LEN],
		       const struct blob *object, size_t objects, struct tdx_result *ret) must_check;

#endif
