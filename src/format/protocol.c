/* SPDX-License-Identifier: Apache-2.0 */
#include "format/protocol.h"

#include <string.h>

#include "base/cleanup.h"

static const char *const stages[STAGE_MAX] = { "gate", "host", "cvm" };
static const char *const directives[DIRECTIVE_MAX] = { "admit", "update", "hold", "refuse" };
static const char *const purposes[PURPOSE_MAX] = { "host", "maintenance", "cvm" };

const char *stage_name(enum stage s)
{
	return s < STAGE_MAX ? stages[s] : "unknown";
}

const char *directive_name(enum directive d)
{
	return d < DIRECTIVE_MAX ? directives[d] : "unknown";
}

const char *purpose_name(enum purpose p)
{
	return p < PURPOSE_MAX ? purposes[p] : "unknown";
}

bool purpose_find(const char *name, enum purpose *ret)
{
	for (unsigned i = 0; i < PURPOSE_MAX; i++) {
		if (strcmp(name, purposes[i]) == 0) {
			*ret = (enum purpose)i;
			return true;
		}
	}
	return false;
}

/* Tags of hashes that a TPM signs or proves: one for each meaning, for ever. */
static const char *const domains[] = {
	[QUOTE_EVIDENCE] = "bootgate-evidence-v1",
	[QUOTE_RECEIPT] = "bootgate-receipt-v1",
	[QUOTE_CONTINUITY] = "bootgate-continuity-v1",
	[QUOTE_BANKS] = "bootgate-banks-v1",
};
#define ENROL_TAG "bootgate-enrol-v1"

static enum reason tagged(const char *tag, struct bytes a, struct bytes b,
			  uint8_t ret[SHA256_LEN])
{
	const struct bytes pieces[] = { bytes_str(tag), a, b };
	uint8_t digest[DIGEST_MAX];

	TRY(digest_of(ALG_SHA256, pieces, ARRAY_LEN(pieces), digest));
	memcpy(ret, digest, SHA256_LEN);
	return R_OK;
}

enum reason quote_qualifying(enum quote_domain d, const uint8_t bound[SHA256_LEN],
			     struct bytes claims, uint8_t ret[SHA256_LEN])
{
	uint8_t claims_digest[SHA256_LEN];

	TRY(sha256(claims, claims_digest));
	return quote_qualifying_digest(d, bound, claims_digest, ret);
}

enum reason quote_qualifying_digest(enum quote_domain d, const uint8_t bound[SHA256_LEN],
				    const uint8_t claims_digest[SHA256_LEN], uint8_t ret[SHA256_LEN])
{
	return tagged(domains[d], bytes_of(bound, SHA256_LEN), bytes_of(claims_digest, SHA256_LEN), ret);
}

enum reason enrol_proof(struct bytes secret, const uint8_t nonce[NONCE_LEN],
			uint8_t ret[SHA256_LEN])
{
	return tagged(ENROL_TAG, secret, bytes_of(nonce, NONCE_LEN), ret);
}
