/* SPDX-License-Identifier: Apache-2.0 */
/*
 * COSE_Sign1 (tag 18) and COSE_Sign (tag 98) of RFC 9052, ES256 only.
 * The algorithm belongs to the pinned key; kid selects among pinned keys and
 * proves nothing. Protected header: {1: -7, 4: kid}; unprotected: empty;
 * anything else is refused.
 */
#ifndef BOOTGATE_FORMAT_COSE_H
#define BOOTGATE_FORMAT_COSE_H

#include "base/bytes.h"
#include "crypto/sign.h"

#define COSE_KEYS_MAX 16u
struct pinned_key {
	uint8_t id[KEY_ID_LEN];
	struct ec_public key;
	char name[64];			/* file name, for messages */
};
struct pinned_keys {
	size_t count;
	struct pinned_key key[COSE_KEYS_MAX];
};

/* Each signed type has its own external_aad. */
#define COSE_AAD_VERDICT "bootgate-verdict-v1"
#define COSE_AAD_MANIFEST "bootgate-manifest-v1"

/* Signs the SHA-256 digest that it is given: a private key or a process. */
struct cose_signer {
	uint8_t id[KEY_ID_LEN];
	enum reason (*sign)(void *ctx, const uint8_t digest[SHA256_LEN], uint8_t ret[ES256_LEN]);
	void *ctx;
};

/* The payload, once a pinned key verified it. */
enum reason cose_sign1_verify(struct bytes in, const char *aad,
			      const struct pinned_keys *keys,
			      struct bytes *ret_payload, size_t *ret_key) must_check;
enum reason cose_sign1_write(struct bytes payload, const char *aad,
			     const struct cose_signer *signer, struct blob *ret) must_check;

/*
 * The payload, once at least `threshold` different pinned keys verified it:
 * R_MANIFEST_THRESHOLD with fewer. A signature by a pinned key that does not
 * verify refuses the whole; one by an unknown key does not count.
 */
enum reason cose_sign_verify(struct bytes in, const char *aad,
			     const struct pinned_keys *keys, size_t threshold,
			     struct bytes *ret_payload, size_t *ret_valid) must_check;
/* R_COSE_KEY_TWICE when two of the signers have the same key. */
enum reason cose_sign_write(struct bytes payload, const char *aad,
			    const struct cose_signer *signers, size_t count,
			    struct blob *ret) must_check;
/*
 * The same envelope with one signature more: payload and the signers before
 * stay byte for byte, and are not verified here. R_COSE_KEY_TWICE when this
 * key is among them.
 */
enum reason cose_sign_add(struct bytes in, const char *aad, const struct cose_signer *signer,
			  struct blob *ret) must_check;
/* Payload without any check, for tools that show what a file says. */
enum reason cose_payload(struct bytes in, struct bytes *ret_payload) must_check;

#endif
