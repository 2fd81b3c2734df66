/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SHA-256 is nettle's: it has the CPU's own instructions and is nine times
 * as fast, which decides how long an image takes to verify.
 */
#include "crypto/digest.h"

#include <mbedtls/sha1.h>
#include <mbedtls/sha512.h>
#include <nettle/sha2.h>
#include <stdlib.h>

#include "crypto/mbedtls/sm3.h"
#include "crypto/random.h"

struct digest {
	uint16_t alg;
	union {
		mbedtls_sha1_context sha1;
		struct sha256_ctx sha256;
		mbedtls_sha512_context sha512;	/* and SHA-384 */
		struct sm3 sm3;
	} u;
};

static enum reason outcome(int mbedtls)
{
	return mbedtls == 0 ? R_OK : R_INTERNAL_CRYPTO;
}

static enum reason start(struct digest *d)
{
	switch (d->alg) {
	case ALG_SHA1:
		mbedtls_sha1_init(&d->u.sha1);
		return outcome(mbedtls_sha1_starts(&d->u.sha1));
	case ALG_SHA256:
		sha256_init(&d->u.sha256);
		return R_OK;
	case ALG_SHA384:
	case ALG_SHA512:
		mbedtls_sha512_init(&d->u.sha512);
		return outcome(mbedtls_sha512_starts(&d->u.sha512, d->alg == ALG_SHA384));
	case ALG_SM3:
		sm3_begin(&d->u.sm3);
		return R_OK;
	default:
		return R_INTERNAL_CRYPTO;
	}
}

enum reason digest_begin(uint16_t alg, struct digest **ret)
{
	struct digest *d = calloc(1, sizeof(*d));
	enum reason r;

	if (d == NULL)
		return R_INTERNAL_MEMORY;
	d->alg = alg;
	r = start(d);
	if (r != R_OK) {
		digest_free(&d);
		return r;
	}
	*ret = d;
	return R_OK;
}

enum reason digest_update(struct digest *d, struct bytes in)
{
	if (in.n == 0)
		return R_OK;
	switch (d->alg) {
	case ALG_SHA1:
		return outcome(mbedtls_sha1_update(&d->u.sha1, in.p, in.n));
	case ALG_SHA256:
		sha256_update(&d->u.sha256, in.n, in.p);
		return R_OK;
	case ALG_SHA384:
	case ALG_SHA512:
		return outcome(mbedtls_sha512_update(&d->u.sha512, in.p, in.n));
	default:
		sm3_update(&d->u.sm3, in);
		return R_OK;
	}
}

enum reason digest_end(struct digest *d, uint8_t ret[DIGEST_MAX])
{
	switch (d->alg) {
	case ALG_SHA1:
		return outcome(mbedtls_sha1_finish(&d->u.sha1, ret));
	case ALG_SHA256:
		sha256_digest(&d->u.sha256, SHA256_DIGEST_SIZE, ret);
		return R_OK;
	case ALG_SHA384:
	case ALG_SHA512:
		return outcome(mbedtls_sha512_finish(&d->u.sha512, ret));
	default:
		sm3_end(&d->u.sm3, ret);
		return R_OK;
	}
}

void digest_free(struct digest **d)
{
	if (*d == NULL)
		return;
	/* no context owns memory; what was hashed may have been a key */
	wipe(*d, sizeof(**d));
	free(*d);
	*d = NULL;
}
