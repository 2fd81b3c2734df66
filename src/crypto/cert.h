/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Certificates of endorsement keys (TCG EK Credential Profile 2.5) and the
 * making of credentials (TPM 2.0 Part 1 section 24). OpenSSL body only.
 */
#ifndef BOOTGATE_CRYPTO_CERT_H
#define BOOTGATE_CRYPTO_CERT_H

#include "base/bytes.h"
#include "crypto/digest.h"

/*
 * A set of CA certificates: the self-signed ones are trusted roots, the others
 * may stand between a root and a leaf.
 */
struct cert_store;
enum reason cert_store_make(struct cert_store **ret) must_check;
/* Adds every certificate of a file's bytes (one DER, or PEM with many). */
enum reason cert_store_add(struct cert_store *s, struct bytes file, size_t *ret_count) must_check;
void cert_store_free(struct cert_store **s);

struct cert;
/* One DER certificate that ends exactly at the end: R_EK_FORMAT. */
enum reason cert_read(struct bytes der, struct cert **ret) must_check;
void cert_free(struct cert **c);
/*
 * Path to a trusted root, dates included: R_EK_UNTRUSTED. `detail` gets the
 * library's own words (printable, cut to n).
 */
enum reason cert_trusted(const struct cert_store *s, const struct cert *c,
			 char *detail, size_t n) must_check;
/* Public key as the TPM shows it: type 0x0001 RSA or 0x0023 ECC. */
struct cert_key {
	uint16_t type;
	uint16_t curve;			/* TPM_ECC_CURVE, ECC only */
	uint8_t modulus[512];		/* RSA: big-endian, modulus_len bytes */
	size_t modulus_len;
	uint32_t exponent;
	uint8_t x[66], y[66];		/* ECC: left-padded to coord_len */
	size_t coord_len;
};
enum reason cert_key(const struct cert *c, struct cert_key *ret) must_check;
/* The same out of a PEM public key, as other tools write them: R_FORMAT_TYPE. */
enum reason cert_key_from_pem(struct bytes pem, struct cert_key *ret) must_check;

/* RSA-OAEP encryption with hash alg for both, label with its NUL. */
enum reason rsa_oaep(struct bytes modulus, uint32_t exponent, uint16_t alg,
		     struct bytes label, struct bytes plain, struct blob *ret) must_check;
/*
 * Ephemeral ECDH on a TPM curve: the x coordinate of the shared point and
 * the ephemeral public point, all left-padded to the field size.
 */
enum reason ecdh_ephemeral(uint16_t tpm_curve, struct bytes x, struct bytes y,
			   struct blob *ret_z, struct blob *ret_ex,
			   struct blob *ret_ey) must_check;
/* AES-128/256-CFB with zero IV, in place of nothing: ret gets plain's length. */
enum reason aes_cfb_zero_iv(struct bytes key, struct bytes plain, struct blob *ret) must_check;

#endif
