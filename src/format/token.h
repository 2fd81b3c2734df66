/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What stands inside the two sealed tokens that a gate carries for the
 * server. Sealing is the ledger's (crypto/aead.h); these are the plaintexts,
 * in CBOR. They never leave a replica unsealed.
 */
#ifndef BOOTGATE_FORMAT_TOKEN_H
#define BOOTGATE_FORMAT_TOKEN_H

#include "format/pcr.h"
#include "format/protocol.h"

#define TOKEN_AAD_SESSION "bootgate-session-v1"
#define TOKEN_AAD_ENROL "bootgate-enrol-token-v1"

/* Makes a challenge stateless: all that the server must know of it again. */
struct session_token {
	uint64_t issued;		/* server's clock, seconds */
	enum stage stage;
	uint8_t nonce[NONCE_LEN];
	uint8_t ak_name[AK_NAME_LEN];
	struct pcr_selection selection;
};

enum reason session_token_read(struct bytes in, struct session_token *ret) must_check;
enum reason session_token_write(const struct session_token *t, struct blob *ret) must_check;

/* One EK whose credential is under way. */
struct enrol_token_ek {
	uint8_t name[2 + DIGEST_MAX];
	uint32_t name_len;
	bool has_certificate;
	uint8_t certificate_digest[SHA256_LEN];
	uint8_t spki_digest[SHA256_LEN];
	/* Of its certificate, where that leads to a vendor CA; see ek_origin(). */
	bool has_origin;
	uint8_t origin[SHA256_LEN];
	/* SHA-256 of the proof that must come back: even a reader of the token cannot make the proof. */
	uint8_t proof_digest[SHA256_LEN];
};

struct enrol_token {
	uint64_t issued;
	uint8_t nonce[NONCE_LEN];	/* of the challenge that goes with it */
	uint8_t ak_name[AK_NAME_LEN];
	struct pcr_selection implemented;
	size_t ek_count;
	struct enrol_token_ek ek[LIMIT_EKS];
};

enum reason enrol_token_read(struct bytes in, struct enrol_token *ret) must_check;
enum reason enrol_token_write(const struct enrol_token *t, struct blob *ret) must_check;

#endif
