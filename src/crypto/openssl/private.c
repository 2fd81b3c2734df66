/* SPDX-License-Identifier: Apache-2.0 */
#include <openssl/pem.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "crypto/openssl/ossl.h"
#include "crypto/sign.h"

enum {
	PEM_MAX = 8192,
	DER_MAX = 80,
};

struct private_key {
	EVP_PKEY *pkey;
};

static bool is_p256(const EVP_PKEY *key)
{
	char group[32];
	size_t n;

	return EVP_PKEY_is_a(key, "EC") == 1 &&
	       EVP_PKEY_get_group_name(key, group, sizeof(group), &n) == 1 &&
	       strcmp(group, "prime256v1") == 0;
}

static enum reason wrap(EVP_PKEY **pkey, struct private_key **ret)
{
	struct private_key *key = calloc(1, sizeof(*key));

	if (key == NULL)
		return R_INTERNAL_MEMORY;
	key->pkey = take_ptr(*pkey);
	*ret = key;
	return R_OK;
}

enum reason private_key_make(struct private_key **ret)
{
	_cleanup_(cleanup_pkey) EVP_PKEY *pkey = EVP_EC_gen("P-256");

	if (pkey == NULL)
		return R_INTERNAL_CRYPTO;
	return wrap(&pkey, ret);
}

/* An encrypted key is refused: there is nobody to ask for its password. */
static int no_password(char *to, int n, int writing, void *data)
{
	(void)to;
	(void)n;
	(void)writing;
	(void)data;
	return -1;
}

enum reason private_key_from_pem(struct bytes pem, struct private_key **ret)
{
	_cleanup_(cleanup_bio) BIO *in = NULL;
	_cleanup_(cleanup_pkey) EVP_PKEY *pkey = NULL;

	if (pem.n == 0 || pem.n > PEM_MAX)
		return R_SITE_KEYS;
	in = BIO_new_mem_buf(pem.p, (int)pem.n);
	if (in == NULL)
		return R_INTERNAL_MEMORY;
	pkey = PEM_read_bio_PrivateKey(in, NULL, no_password, NULL);
	if (pkey == NULL || !is_p256(pkey))
		return R_SITE_KEYS;
	return wrap(&pkey, ret);
}

/* What was written into a memory BIO, appended to ret. */
static enum reason take_text(BIO *out, int written, struct blob *ret)
{
	char *text;
	long n;

	if (written != 1)
		return R_INTERNAL_CRYPTO;
	n = BIO_get_mem_data(out, &text);
	return n > 0 ? blob_append(ret, text, (size_t)n) : R_INTERNAL_CRYPTO;
}

enum reason private_key_to_pem(const struct private_key *key, struct blob *ret)
{
	/* of secure memory: it is wiped when it is freed */
	_cleanup_(cleanup_bio) BIO *out = BIO_new(BIO_s_secmem());

	if (out == NULL)
		return R_INTERNAL_MEMORY;
	return take_text(out, PEM_write_bio_PKCS8PrivateKey(out, key->pkey, NULL, NULL, 0, NULL,
							    NULL),
			 ret);
}

enum reason private_key_public_pem(const struct private_key *key, struct blob *ret)
{
	_cleanup_(cleanup_bio) BIO *out = BIO_new(BIO_s_mem());

	if (out == NULL)
		return R_INTERNAL_MEMORY;
	return take_text(out, PEM_write_bio_PUBKEY(out, key->pkey), ret);
}

enum reason private_key_public(const struct private_key *key, struct ec_public *ret)
{
	return ossl_ec_point(key->pkey, ret->x, ret->y, P256_LEN);
}

/* r || s out of the SEQUENCE that OpenSSL makes. */
static enum reason from_der(const uint8_t *der, size_t n, uint8_t ret[ES256_LEN])
{
	_cleanup_(cleanup_ecdsa_sig) ECDSA_SIG *sig = d2i_ECDSA_SIG(NULL, &der, (long)n);

	if (sig == NULL)
		return R_INTERNAL_CRYPTO;
	if (BN_bn2binpad(ECDSA_SIG_get0_r(sig), ret, P256_LEN) != P256_LEN ||
	    BN_bn2binpad(ECDSA_SIG_get0_s(sig), ret + P256_LEN, P256_LEN) != P256_LEN)
		return R_INTERNAL_CRYPTO;
	return R_OK;
}

enum reason es256_sign(const struct private_key *key, const uint8_t digest[SHA256_LEN],
		       uint8_t ret[ES256_LEN])
{
	_cleanup_(cleanup_pkey_ctx) EVP_PKEY_CTX *c = EVP_PKEY_CTX_new(key->pkey, NULL);
	uint8_t der[DER_MAX];
	size_t n = sizeof(der);

	if (c == NULL || EVP_PKEY_sign_init(c) != 1 ||
	    EVP_PKEY_sign(c, der, &n, digest, SHA256_LEN) != 1)
		return R_INTERNAL_CRYPTO;
	return from_der(der, n, ret);
}

void private_key_free(struct private_key **key)
{
	if (*key == NULL)
		return;
	EVP_PKEY_free((*key)->pkey);
	free(*key);
	*key = NULL;
}
