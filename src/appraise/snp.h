/* SPDX-License-Identifier: Apache-2.0 */
/* Judgement of an SEV-SNP report: who signed it, for which chip and TCB. */
#ifndef BOOTGATE_APPRAISE_SNP_H
#define BOOTGATE_APPRAISE_SNP_H

#include "appraise/cvm.h"
#include "format/snp.h"

/* AMD's root keys (ARK), one a product, as SHA-256 of SubjectPublicKeyInfo. */
struct snp_roots {
	const uint8_t (*pin)[SHA256_LEN];
	const enum snp_product *product;
	size_t count;
};
const struct snp_roots *snp_amd_roots(void);

struct snp_result {
	struct snp_report report;
	bool read;			/* report is filled */
	enum snp_product product;
	struct cvm_signer signer;	/* VCEK or VLEK */
	struct snp_key key;
	bool has_tcb;			/* the four below are filled */
	struct snp_tcb current, reported, committed, launch;
	bool nonce_checked, minimum_checked;
	struct cvm_notes notes;
};

/*
 * R_OK when a certificate of the pool made the signature, leads to one of the
 * roots, is for the reported TCB and chip, and the report data is the nonce.
 * `minimum` (SNP_TCB_LEN bytes, or p NULL) is in the report's own layout. *ret
 * says how far it came in any case, and holds the notes.
 */
enum reason snp_verify(const struct cvm_evidence *e, const struct snp_roots *roots,
		       struct bytes minimum, struct snp_result *ret) must_check;

#endif
