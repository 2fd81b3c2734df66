/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hash functions, numbered as the TPM numbers them (TCG Algorithm Registry).
 * Two link-time bodies: src/crypto/mbedtls (gate, host, guest; SHA-256 by
 * nettle) and src/crypto/openssl (server, bootgatectl).
 */
#ifndef BOOTGATE_CRYPTO_DIGEST_H
#define BOOTGATE_CRYPTO_DIGEST_H

#include "base/bytes.h"

#define ALG_SHA1 0x0004u
#define ALG_SHA256 0x000bu
#define ALG_SHA384 0x000cu
#define ALG_SHA512 0x000du
#define ALG_SM3 0x0012u

#define DIGEST_MAX 64u
#define SHA256_LEN 32u

/* Length in bytes; 0 for an algorithm that is not known. */
size_t digest_len(uint16_t alg);
/* "sha1" "sha256" "sha384" "sha512" "sm3"; NULL for one not known. */
const char *digest_name(uint16_t alg);
/* The algorithm with this name; 0 where there is none. */
uint16_t digest_find(const char *name);

/* Hash of the concatenation of `count` pieces; ret holds digest_len(alg). */
enum reason digest_of(uint16_t alg, const struct bytes *pieces, size_t count,
		      uint8_t ret[DIGEST_MAX]) must_check;
enum reason sha256(struct bytes in, uint8_t ret[SHA256_LEN]) must_check;

/* Streaming, for images and logs. */
struct digest;
enum reason digest_begin(uint16_t alg, struct digest **ret) must_check;
enum reason digest_update(struct digest *d, struct bytes in) must_check;
/* Ends the computation; the object is freed by digest_free alone. */
enum reason digest_end(struct digest *d, uint8_t ret[DIGEST_MAX]) must_check;
void digest_free(struct digest **d);

enum reason hmac_of(uint16_t alg, struct bytes key, const struct bytes *pieces,
		    size_t count, uint8_t ret[DIGEST_MAX]) must_check;

#endif
