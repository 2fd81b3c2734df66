/* SPDX-License-Identifier: Apache-2.0 */
/* The three operations of TPM2_MakeCredential that are the library's. */
#include <openssl/rsa.h>
#include <string.h>

#include "base/cleanup.h"
#include "crypto/cert.h"
#include "crypto/openssl/ossl.h"

enum {
	LABEL_MAX = 64,
	CFB_MAX = 1 << 16,
};

static const char *method_name(uint16_t alg)
{
	switch (alg) {
	case ALG_SHA1:
		return "SHA1";
	case ALG_SHA256:
		return "SHA256";
	case ALG_SHA384:
		return "SHA384";
	case ALG_SHA512:
		return "SHA512";
	case ALG_SM3:
		return "SM3";
	default:
		return NULL;
	}
}

static enum reason no_key(enum reason r)
{
	return r == R_FORMAT_RANGE ? R_EK_FORMAT : r;
}

enum reason rsa_oaep(struct bytes modulus, uint32_t exponent, uint16_t alg, struct bytes label,
		     struct bytes plain, struct blob *ret)
{
	_cleanup_(cleanup_pkey) EVP_PKEY *key = NULL;
	_cleanup_(cleanup_pkey_ctx) EVP_PKEY_CTX *c = NULL;
	const char *method = method_name(alg);
	uint8_t text[LABEL_MAX];
	uint8_t out[1024];
	size_t n = sizeof(out);

	if (method == NULL || label.n > sizeof(text))
		return R_INTERNAL_CRYPTO;
	if (label.n > 0)
		memcpy(text, label.p, label.n);

	OSSL_PARAM params[] = {
		OSSL_PARAM_construct_utf8_string(OSSL_ASYM_CIPHER_PARAM_PAD_MODE,
						 (char *)OSSL_PKEY_RSA_PAD_MODE_OAEP, 0),
		OSSL_PARAM_construct_utf8_string(OSSL_ASYM_CIPHER_PARAM_OAEP_DIGEST,
						 (char *)method, 0),
		OSSL_PARAM_construct_utf8_string(OSSL_ASYM_CIPHER_PARAM_MGF1_DIGEST,
						 (char *)method, 0),
		OSSL_PARAM_construct_octet_string(OSSL_ASYM_CIPHER_PARAM_OAEP_LABEL, text,
						  label.n),
		OSSL_PARAM_construct_end(),
	};
	TRY(no_key(ossl_rsa_public(modulus, exponent, &key)));
	c = EVP_PKEY_CTX_new(key, NULL);
	if (c == NULL || EVP_PKEY_encrypt_init_ex(c, params) != 1)
		return R_INTERNAL_CRYPTO;
	/* fails for an even modulus, a tiny one and the like */
	if (EVP_PKEY_encrypt(c, out, &n, plain.p, plain.n) != 1)
		return R_EK_FORMAT;
	return blob_append(ret, out, n);
}

static enum reason derive(EVP_PKEY *mine, EVP_PKEY *theirs, size_t len, uint8_t *ret)
{
	_cleanup_(cleanup_pkey_ctx) EVP_PKEY_CTX *c = EVP_PKEY_CTX_new(mine, NULL);
	size_t n = len;

	if (c == NULL || EVP_PKEY_derive_init(c) != 1 ||
	    EVP_PKEY_derive_set_peer(c, theirs) != 1 || EVP_PKEY_derive(c, ret, &n) != 1)
		return R_INTERNAL_CRYPTO;
	return n == len ? R_OK : R_INTERNAL_CRYPTO;
}

enum reason ecdh_ephemeral(uint16_t tpm_curve, struct bytes x, struct bytes y,
			   struct blob *ret_z, struct blob *ret_ex, struct blob *ret_ey)
{
	_cleanup_(cleanup_pkey) EVP_PKEY *theirs = NULL;
	_cleanup_(cleanup_pkey) EVP_PKEY *mine = NULL;
	uint8_t z[EC_COORD_MAX], ex[EC_COORD_MAX], ey[EC_COORD_MAX];
	const char *group;
	size_t len;
	enum reason r;

	TRY(no_key(ossl_ec_public(tpm_curve, x, y, &theirs)));
	if (!ossl_curve(tpm_curve, &group, &len))
		return R_EK_FORMAT;
	mine = EVP_EC_gen(group);
	if (mine == NULL)
		return R_INTERNAL_CRYPTO;
	TRY(ossl_ec_point(mine, ex, ey, len));
	r = derive(mine, theirs, len, z);
	if (r == R_OK)
		r = blob_append(ret_z, z, len);
	OPENSSL_cleanse(z, sizeof(z));
	TRY(r);
	TRY(blob_append(ret_ex, ex, len));
	return blob_append(ret_ey, ey, len);
}

enum reason aes_cfb_zero_iv(struct bytes key, struct bytes plain, struct blob *ret)
{
	_cleanup_(cleanup_cipher_ctx) EVP_CIPHER_CTX *c = EVP_CIPHER_CTX_new();
	const EVP_CIPHER *cipher = key.n == 16 ? EVP_aes_128_cfb128() : EVP_aes_256_cfb128();
	const uint8_t iv[16] = { 0 };
	size_t before = ret->n;
	uint8_t *to;
	int n = 0;

	if (c == NULL)
		return R_INTERNAL_MEMORY;
	if ((key.n != 16 && key.n != 32) || plain.n > CFB_MAX)
		return R_INTERNAL_CRYPTO;
	if (EVP_EncryptInit_ex2(c, cipher, key.p, iv, NULL) != 1)
		return R_INTERNAL_CRYPTO;
	TRY(blob_extend(ret, plain.n, &to));
	if (plain.n > 0 && EVP_EncryptUpdate(c, to, &n, plain.p, (int)plain.n) != 1) {
		ret->n = before;
		return R_INTERNAL_CRYPTO;
	}
	return R_OK;
}
