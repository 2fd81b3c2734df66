/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of the OpenSSL body: ownership of its objects, and public keys. */
#ifndef BOOTGATE_CRYPTO_OPENSSL_OSSL_H
#define BOOTGATE_CRYPTO_OPENSSL_OSSL_H

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/params.h>

#include "base/bytes.h"
#include "base/cleanup.h"

#define OSSL_CLEANUP(type, name, free_it)              \
	static inline void cleanup_##name(type **p)    \
	{                                              \
		free_it(*p);                           \
	}
OSSL_CLEANUP(BIO, bio, BIO_free_all)
OSSL_CLEANUP(BIGNUM, bn, BN_free)
OSSL_CLEANUP(EVP_PKEY, pkey, EVP_PKEY_free)
OSSL_CLEANUP(EVP_PKEY_CTX, pkey_ctx, EVP_PKEY_CTX_free)
OSSL_CLEANUP(EVP_CIPHER_CTX, cipher_ctx, EVP_CIPHER_CTX_free)
OSSL_CLEANUP(EVP_MD_CTX, md_ctx, EVP_MD_CTX_free)
OSSL_CLEANUP(ECDSA_SIG, ecdsa_sig, ECDSA_SIG_free)
OSSL_CLEANUP(OSSL_PARAM, params, OSSL_PARAM_free)
OSSL_CLEANUP(OSSL_PARAM_BLD, param_bld, OSSL_PARAM_BLD_free)

#define EC_COORD_MAX 66u
#define TPM_CURVE_P256 0x0003u

/* Of TPM_ECC_CURVE: OpenSSL's group name and the length of a coordinate. */
bool ossl_curve(uint16_t tpm_curve, const char **ret_group, size_t *ret_len);
/* TPM_ECC_CURVE of a group name; 0 for any other. */
uint16_t ossl_curve_find(const char *group);
/*
 * Public keys from numbers. R_FORMAT_RANGE when it is not a key: a point off
 * the curve, a coordinate that is too long, an unknown curve.
 */
enum reason ossl_ec_public(uint16_t tpm_curve, struct bytes x, struct bytes y,
			   EVP_PKEY **ret) must_check;
enum reason ossl_rsa_public(struct bytes modulus, uint32_t exponent, EVP_PKEY **ret) must_check;
/* Coordinates of an EC key, left-padded to `len`. */
enum reason ossl_ec_point(const EVP_PKEY *key, uint8_t *x, uint8_t *y, size_t len) must_check;

#endif
