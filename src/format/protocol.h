/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names and numbers of the wire protocol that several messages share.
 * docs/protocol.md has the CDDL of every message.
 */
#ifndef BOOTGATE_FORMAT_PROTOCOL_H
#define BOOTGATE_FORMAT_PROTOCOL_H

#include "base/bytes.h"
#include "base/limits.h"
#include "crypto/digest.h"

#define PROTOCOL_VERSION 1u

#define NONCE_LEN 32u
/* TPM2B_NAME of a SHA-256 object: algorithm and digest. */
#define AK_NAME_LEN 34u
/* TPM2B_NAME of an EK: SHA-256 or a longer hash. */
#define EK_NAME_MIN AK_NAME_LEN
#define EK_NAME_MAX (2u + DIGEST_MAX)

enum stage {
	STAGE_GATE = 0,
	STAGE_HOST = 1,
	STAGE_CVM = 2,
	STAGE_MAX,
};

enum directive {
	DIRECTIVE_ADMIT = 0,
	DIRECTIVE_UPDATE = 1,
	DIRECTIVE_HOLD = 2,
	DIRECTIVE_REFUSE = 3,
	DIRECTIVE_MAX,
};

enum purpose {
	PURPOSE_HOST = 0,
	PURPOSE_MAINTENANCE = 1,
	PURPOSE_CVM = 2,
	PURPOSE_MAX,
};

const char *stage_name(enum stage s);		/* "gate" "host" "cvm" */
const char *directive_name(enum directive d);	/* "admit" ... */
const char *purpose_name(enum purpose p);	/* "host" "maintenance" "cvm" */
bool purpose_find(const char *name, enum purpose *ret);

/* What a TPM signature is about: first piece of the qualifying data. */
enum quote_domain {
	QUOTE_EVIDENCE,		/* "bootgate-evidence-v1" */
	QUOTE_RECEIPT,		/* "bootgate-receipt-v1" */
	QUOTE_CONTINUITY,	/* "bootgate-continuity-v1" */
	QUOTE_BANKS,		/* "bootgate-banks-v1": session audit at enrolment */
};

/*
 * SHA-256(tag || bound || SHA-256(claims)). `bound` is the server nonce, for
 * a receipt the verdict digest. For QUOTE_BANKS claims is the capability data.
 */
enum reason quote_qualifying(enum quote_domain d, const uint8_t bound[SHA256_LEN],
			     struct bytes claims, uint8_t ret[SHA256_LEN]) must_check;
/* Same for one who has only the digest of the claims. */
enum reason quote_qualifying_digest(enum quote_domain d, const uint8_t bound[SHA256_LEN],
				    const uint8_t claims_digest[SHA256_LEN],
				    uint8_t ret[SHA256_LEN]) must_check;

/*
 * Answer to one credential of the enrolment:
 * SHA-256("bootgate-enrol-v1" || secret || server nonce).
 */
enum reason enrol_proof(struct bytes secret, const uint8_t nonce[NONCE_LEN],
			uint8_t ret[SHA256_LEN]) must_check;

#endif
