/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signature keys. Our own signatures (verdict, manifest) are ES256: ECDSA on
 * P-256 over SHA-256, 64 bytes r || s (RFC 9053 section 2.1). The TPM's may
 * also be RSA, offline.
 */
#ifndef BOOTGATE_CRYPTO_SIGN_H
#define BOOTGATE_CRYPTO_SIGN_H

#include "base/bytes.h"
#include "crypto/digest.h"

#define P256_LEN 32u
#define ES256_LEN 64u
#define KEY_ID_LEN 8u

/* A P-256 public point, coordinates big-endian and left-padded. */
struct ec_public {
	uint8_t x[P256_LEN];
	uint8_t y[P256_LEN];
};

/*
 * Verifies r || s over the SHA-256 digest. R_COSE_SIGNATURE when it does not
 * hold (also for r or s outside 1..n-1, or a point off the curve).
 */
enum reason es256_verify(const struct ec_public *key,
			 const uint8_t digest[SHA256_LEN],
			 const uint8_t sig[ES256_LEN]) must_check;

#define RSA_BITS_MIN 2048

/*
 * Verifies an RSA signature with the digest's own algorithm. `pss` chooses
 * RSASSA-PSS (salt length as found), else PKCS#1 v1.5. OpenSSL body only.
 * R_COSE_SIGNATURE when it does not hold, also for a key below RSA_BITS_MIN.
 */
enum reason rsa_verify(struct bytes modulus, uint32_t exponent, bool pss,
		       uint16_t alg, struct bytes digest,
		       struct bytes sig) must_check;
/*
 * ECDSA on NIST P-256/384/521 with any digest; OpenSSL body only.
 * R_COSE_SIGNATURE as with es256_verify.
 */
enum reason ecdsa_verify(uint16_t tpm_curve, struct bytes x, struct bytes y,
			 struct bytes digest, struct bytes r,
			 struct bytes s) must_check;

/*
 * Public key out of PEM: one block, SubjectPublicKeyInfo of an uncompressed
 * P-256 point, nothing before or after it. R_SITE_KEYS for anything else.
 */
enum reason ec_public_from_pem(struct bytes pem, struct ec_public *ret) must_check;
/* R_SITE_KEYS unless it is a point on the curve. */
enum reason ec_public_check(const struct ec_public *key) must_check;
/* SHA-256 over the SubjectPublicKeyInfo DER; kid is the first 8 bytes of it. */
enum reason ec_public_fingerprint(const struct ec_public *key, uint8_t ret[SHA256_LEN]) must_check;
enum reason ec_public_id(const struct ec_public *key, uint8_t ret[KEY_ID_LEN]) must_check;

/* Private keys: OpenSSL body only. */
struct private_key;
enum reason private_key_make(struct private_key **ret) must_check;
enum reason private_key_from_pem(struct bytes pem, struct private_key **ret) must_check;
enum reason private_key_to_pem(const struct private_key *key, struct blob *ret) must_check;
enum reason private_key_public_pem(const struct private_key *key, struct blob *ret) must_check;
enum reason private_key_public(const struct private_key *key, struct ec_public *ret) must_check;
enum reason es256_sign(const struct private_key *key, const uint8_t digest[SHA256_LEN],
		       uint8_t ret[ES256_LEN]) must_check;
void private_key_free(struct private_key **key);

#endif
