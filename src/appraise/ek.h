/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Enrolment: is this a real TPM, and does the AK live in it. Uses random
 * bytes, which is why it stands beside the rest.
 */
#ifndef BOOTGATE_APPRAISE_EK_H
#define BOOTGATE_APPRAISE_EK_H

#include "crypto/cert.h"
#include "format/challenge.h"
#include "format/tpm.h"

enum ek_trust {
	EK_TRUST_NONE = 0,
	EK_TRUST_CA = 1,	/* certificate leads to a vendor CA */
	EK_TRUST_LIST = 2,	/* on a list that came another way; decided by the ledger */
};

struct ek_result {
	enum ek_trust trust;
	enum reason reason;		/* why not, where trust is none */
	char detail[200];		/* printable */
	uint8_t name[2 + DIGEST_MAX];
	size_t name_len;
	uint8_t certificate_digest[SHA256_LEN];	/* zero without one of this key */
	uint8_t spki_digest[SHA256_LEN];
	bool has_certificate;
	bool has_origin;		/* with EK_TRUST_CA */
	uint8_t origin[SHA256_LEN];	/* see ek_origin() */
	/* Credential to send, and the proof that must come back. */
	uint8_t id_object[512];
	size_t id_object_len;
	uint8_t secret[LIMIT_TPM_PUBLIC];
	size_t secret_len;
	uint8_t proof[SHA256_LEN];
};

/*
 * AK template and name, each EK: certificate chain, key match, credential.
 * R_NODE_AK, R_EK_NONE, R_ENROL_BANKS. `ak_name` is the session's: a proof for
 * another AK than the one that quotes would prove nothing. `new_nonce` is of
 * the new challenge, `now` in seconds since 1970. An EK that cannot be used is left out of the results.
 */
enum reason enrol_check(const struct enrol_request *m, const uint8_t ak_name[AK_NAME_LEN],
			const uint8_t session_nonce[NONCE_LEN],
			const uint8_t new_nonce[NONCE_LEN], const struct cert_store *cas,
			int64_t now, struct pcr_selection *ret_implemented,
			struct ek_result ret[LIMIT_EKS], size_t *ret_count) must_check;

/*
 * TPM2_MakeCredential in software (TPM 2.0 Part 1 section 24, Part 3
 * section 12.6): RSA and ECC EKs.
 */
enum reason make_credential(const struct tpm_public *ek, struct bytes ak_name,
			    struct bytes secret, struct blob *ret_id_object,
			    struct blob *ret_secret) must_check;

#endif
