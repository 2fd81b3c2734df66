/* SPDX-License-Identifier: Apache-2.0 */
#include "crypto/digest.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "crypto/init.h"

struct digest {
	EVP_MD_CTX *context;
};

/* In the order of index_of(). To look one up anew for each hash costs as much as the hash. */
static EVP_MD *methods[5];
static CRYPTO_ONCE methods_once = CRYPTO_ONCE_STATIC_INIT;

static void fetch_methods(void)
{
	static const char *const names[] = { "SHA1", "SHA2-256", "SHA2-384", "SHA2-512", "SM3" };

	/* what the machine's openssl.cnf says must not change a judgement */
	if (OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG, NULL) != 1)
		return;
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		methods[i] = EVP_MD_fetch(NULL, names[i], NULL);
}

static int index_of(uint16_t alg)
{
	switch (alg) {
	case ALG_SHA1:
		return 0;
	case ALG_SHA256:
		return 1;
	case ALG_SHA384:
		return 2;
	case ALG_SHA512:
		return 3;
	case ALG_SM3:
		return 4;
	default:
		return -1;
	}
}

enum reason crypto_init(void)
{
	if (CRYPTO_THREAD_run_once(&methods_once, fetch_methods) != 1)
		return R_INTERNAL_CRYPTO;
	for (size_t i = 0; i < ARRAY_LEN(methods); i++) {
		if (methods[i] == NULL)
			return R_INTERNAL_CRYPTO;
	}
	return R_OK;
}

enum reason digest_begin(uint16_t alg, struct digest **ret)
{
	_cleanup_(digest_free) struct digest *d = NULL;
	int i = index_of(alg);

	if (i < 0)
		return R_INTERNAL_CRYPTO;
	TRY(crypto_init());
	d = calloc(1, sizeof(*d));
	if (d == NULL)
		return R_INTERNAL_MEMORY;
	d->context = EVP_MD_CTX_new();
	if (d->context == NULL)
		return R_INTERNAL_MEMORY;
	if (EVP_DigestInit_ex2(d->context, methods[i], /* params= */ NULL) != 1)
		return R_INTERNAL_CRYPTO;
	*ret = take_ptr(d);
	return R_OK;
}

enum reason digest_update(struct digest *d, struct bytes in)
{
	return EVP_DigestUpdate(d->context, in.p, in.n) == 1 ? R_OK : R_INTERNAL_CRYPTO;
}

enum reason digest_end(struct digest *d, uint8_t ret[DIGEST_MAX])
{
	return EVP_DigestFinal_ex(d->context, ret, NULL) == 1 ? R_OK : R_INTERNAL_CRYPTO;
}

void digest_free(struct digest **d)
{
	if (*d == NULL)
		return;
	EVP_MD_CTX_free((*d)->context);
	free(*d);
	*d = NULL;
}
