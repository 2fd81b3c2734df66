/* SPDX-License-Identifier: Apache-2.0 */
#include "crypto/aead.h"

#include "base/cleanup.h"
#include "crypto/openssl/ossl.h"
#include "crypto/random.h"

enum {
	NONCE = 12,
	TAG = 16,
	SEALED_MAX = 1 << 20,
};

static enum reason start(const uint8_t *key, const uint8_t *nonce, struct bytes aad, int encrypt,
			 EVP_CIPHER_CTX **ret)
{
	_cleanup_(cleanup_cipher_ctx) EVP_CIPHER_CTX *c = EVP_CIPHER_CTX_new();
	int n;

	if (c == NULL)
		return R_INTERNAL_MEMORY;
	/* 12 bytes are the default length of the nonce */
	if (EVP_CipherInit_ex2(c, EVP_aes_256_gcm(), key, nonce, encrypt, NULL) != 1)
		return R_INTERNAL_CRYPTO;
	if (aad.n > SEALED_MAX)
		return R_INTERNAL_TOO_LARGE;
	if (aad.n > 0 && EVP_CipherUpdate(c, NULL, &n, aad.p, (int)aad.n) != 1)
		return R_INTERNAL_CRYPTO;
	*ret = take_ptr(c);
	return R_OK;
}

static enum reason seal_into(const uint8_t *key, struct bytes aad, struct bytes plain, uint8_t *to)
{
	_cleanup_(cleanup_cipher_ctx) EVP_CIPHER_CTX *c = NULL;
	uint8_t *tag = to + NONCE + plain.n;
	int n = 0;

	TRY(random_bytes(to, NONCE));
	TRY(start(key, to, aad, /* encrypt= */ 1, &c));
	if (plain.n > 0 && EVP_CipherUpdate(c, to + NONCE, &n, plain.p, (int)plain.n) != 1)
		return R_INTERNAL_CRYPTO;
	if (EVP_CipherFinal_ex(c, tag, &n) != 1)
		return R_INTERNAL_CRYPTO;
	if (EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_AEAD_GET_TAG, TAG, tag) != 1)
		return R_INTERNAL_CRYPTO;
	return R_OK;
}

enum reason aead_seal(const uint8_t key[AEAD_KEY_LEN], struct bytes aad, struct bytes plain,
		      struct blob *ret)
{
	size_t before = ret->n;
	uint8_t *to;
	enum reason r;

	if (plain.n > SEALED_MAX - AEAD_OVERHEAD)
		return R_INTERNAL_TOO_LARGE;
	TRY(blob_extend(ret, AEAD_OVERHEAD + plain.n, &to));
	r = seal_into(key, aad, plain, to);
	if (r != R_OK)
		ret->n = before;
	return r;
}

static enum reason open_into(EVP_CIPHER_CTX *c, struct bytes sealed, uint8_t *to, size_t len)
{
	uint8_t *tag = (uint8_t *)(sealed.p + NONCE + len);
	uint8_t rest[TAG];
	int n = 0;

	if (EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_AEAD_SET_TAG, TAG, tag) != 1)
		return R_INTERNAL_CRYPTO;
	if (len > 0 && EVP_CipherUpdate(c, to, &n, sealed.p + NONCE, (int)len) != 1)
		return R_INTERNAL_CRYPTO;
	return EVP_CipherFinal_ex(c, rest, &n) == 1 ? R_OK : R_SESSION_TOKEN;
}

enum reason aead_open(const uint8_t key[AEAD_KEY_LEN], struct bytes aad, struct bytes sealed,
		      struct blob *ret)
{
	_cleanup_(cleanup_cipher_ctx) EVP_CIPHER_CTX *c = NULL;
	size_t before = ret->n;
	uint8_t *to;
	size_t len;
	enum reason r;

	if (sealed.n < AEAD_OVERHEAD || sealed.n > SEALED_MAX)
		return R_SESSION_TOKEN;
	len = sealed.n - AEAD_OVERHEAD;
	TRY(start(key, sealed.p, aad, /* encrypt= */ 0, &c));
	TRY(blob_extend(ret, len, &to));
	r = open_into(c, sealed, to, len);
	if (r != R_OK) {
		/* nothing of it may be seen before the tag was right */
		wipe(to, len);
		ret->n = before;
	}
	return r;
}
