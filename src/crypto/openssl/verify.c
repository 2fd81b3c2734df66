/* SPDX-License-Identifier: Apache-2.0 */
#include <openssl/rsa.h>

#include "base/cleanup.h"
#include "crypto/openssl/ossl.h"
#include "crypto/sign.h"

enum { DER_MAX = 160 };	/* SEQUENCE of two P-521 numbers */

static const EVP_MD *method(uint16_t alg)
{
	switch (alg) {
	case ALG_SHA1:
		return EVP_sha1();
	case ALG_SHA256:
		return EVP_sha256();
	case ALG_SHA384:
		return EVP_sha384();
	case ALG_SHA512:
		return EVP_sha512();
	default:
		/* nobody signs SM3 digests with RSA */
		return NULL;
	}
}

/* A signature over a key that is none does not hold either. */
static enum reason no_key(enum reason r)
{
	return r == R_FORMAT_RANGE ? R_COSE_SIGNATURE : r;
}

static enum reason verify_with(EVP_PKEY_CTX *c, struct bytes digest, struct bytes sig)
{
	return EVP_PKEY_verify(c, sig.p, sig.n, digest.p, digest.n) == 1 ? R_OK :
									   R_COSE_SIGNATURE;
}

static enum reason to_der(struct bytes r, struct bytes s, uint8_t der[DER_MAX], size_t *ret_n)
{
	_cleanup_(cleanup_ecdsa_sig) ECDSA_SIG *sig = ECDSA_SIG_new();
	_cleanup_(cleanup_bn) BIGNUM *br = BN_bin2bn(r.p, (int)r.n, NULL);
	_cleanup_(cleanup_bn) BIGNUM *bs = BN_bin2bn(s.p, (int)s.n, NULL);
	int n;

	if (sig == NULL || br == NULL || bs == NULL)
		return R_INTERNAL_MEMORY;
	if (ECDSA_SIG_set0(sig, br, bs) != 1)
		return R_INTERNAL_CRYPTO;
	br = NULL;
	bs = NULL;
	n = i2d_ECDSA_SIG(sig, &der);
	if (n <= 0)
		return R_INTERNAL_CRYPTO;
	*ret_n = (size_t)n;
	return R_OK;
}

enum reason ecdsa_verify(uint16_t tpm_curve, struct bytes x, struct bytes y, struct bytes digest,
			 struct bytes r, struct bytes s)
{
	_cleanup_(cleanup_pkey) EVP_PKEY *key = NULL;
	_cleanup_(cleanup_pkey_ctx) EVP_PKEY_CTX *c = NULL;
	uint8_t der[DER_MAX];
	size_t n;

	if (r.n > EC_COORD_MAX || s.n > EC_COORD_MAX)
		return R_COSE_SIGNATURE;
	TRY(no_key(ossl_ec_public(tpm_curve, x, y, &key)));
	TRY(to_der(r, s, der, &n));
	c = EVP_PKEY_CTX_new(key, NULL);
	if (c == NULL || EVP_PKEY_verify_init(c) != 1)
		return R_INTERNAL_CRYPTO;
	return verify_with(c, digest, bytes_of(der, n));
}

enum reason es256_verify(const struct ec_public *key, const uint8_t digest[SHA256_LEN],
			 const uint8_t sig[ES256_LEN])
{
	return ecdsa_verify(TPM_CURVE_P256, BYTES(key->x), BYTES(key->y),
			    bytes_of(digest, SHA256_LEN), bytes_of(sig, P256_LEN),
			    bytes_of(sig + P256_LEN, P256_LEN));
}

enum reason rsa_verify(struct bytes modulus, uint32_t exponent, bool pss, uint16_t alg,
		       struct bytes digest, struct bytes sig)
{
	_cleanup_(cleanup_pkey) EVP_PKEY *key = NULL;
	_cleanup_(cleanup_pkey_ctx) EVP_PKEY_CTX *c = NULL;
	const EVP_MD *md = method(alg);
	int padding = pss ? RSA_PKCS1_PSS_PADDING : RSA_PKCS1_PADDING;

	if (md == NULL || digest.n != digest_len(alg))
		return R_COSE_SIGNATURE;
	TRY(no_key(ossl_rsa_public(modulus, exponent, &key)));
	if (EVP_PKEY_get_bits(key) < RSA_BITS_MIN)
		return R_COSE_SIGNATURE;
	c = EVP_PKEY_CTX_new(key, NULL);
	if (c == NULL || EVP_PKEY_verify_init(c) != 1 ||
	    EVP_PKEY_CTX_set_rsa_padding(c, padding) != 1 ||
	    EVP_PKEY_CTX_set_signature_md(c, md) != 1)
		return R_INTERNAL_CRYPTO;
	if (pss && EVP_PKEY_CTX_set_rsa_pss_saltlen(c, RSA_PSS_SALTLEN_AUTO) != 1)
		return R_INTERNAL_CRYPTO;
	return verify_with(c, digest, sig);
}
