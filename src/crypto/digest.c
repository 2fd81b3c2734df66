/* SPDX-License-Identifier: Apache-2.0 */
/* What both bodies share: the table of algorithms, and what is built on them. */
#include "crypto/digest.h"

#include <string.h>

#include "base/cleanup.h"
#include "crypto/random.h"

enum { BLOCK_MAX = 128 };

static const struct {
	uint16_t alg;
	uint8_t len;
	uint8_t block;		/* of HMAC */
	const char *name;
} algs[] = {
	{ ALG_SHA1, 20, 64, "sha1" },
	{ ALG_SHA256, 32, 64, "sha256" },
	{ ALG_SHA384, 48, 128, "sha384" },
	{ ALG_SHA512, 64, 128, "sha512" },
	{ ALG_SM3, 32, 64, "sm3" },
};

size_t digest_len(uint16_t alg)
{
	for (size_t i = 0; i < ARRAY_LEN(algs); i++) {
		if (algs[i].alg == alg)
			return algs[i].len;
	}
	return 0;
}

const char *digest_name(uint16_t alg)
{
	for (size_t i = 0; i < ARRAY_LEN(algs); i++) {
		if (algs[i].alg == alg)
			return algs[i].name;
	}
	return NULL;
}

uint16_t digest_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(algs); i++) {
		if (strcmp(algs[i].name, name) == 0)
			return algs[i].alg;
	}
	return 0;
}

static size_t block_len(uint16_t alg)
{
	for (size_t i = 0; i < ARRAY_LEN(algs); i++) {
		if (algs[i].alg == alg)
			return algs[i].block;
	}
	return 0;
}

static enum reason update_all(struct digest *d, const struct bytes *pieces, size_t count)
{
	for (size_t i = 0; i < count; i++)
		TRY(digest_update(d, pieces[i]));
	return R_OK;
}

enum reason digest_of(uint16_t alg, const struct bytes *pieces, size_t count,
		      uint8_t ret[DIGEST_MAX])
{
	_cleanup_(digest_free) struct digest *d = NULL;

	TRY(digest_begin(alg, &d));
	TRY(update_all(d, pieces, count));
	return digest_end(d, ret);
}

enum reason sha256(struct bytes in, uint8_t ret[SHA256_LEN])
{
	uint8_t hash[DIGEST_MAX];

	TRY(digest_of(ALG_SHA256, &in, 1, hash));
	memcpy(ret, hash, SHA256_LEN);
	return R_OK;
}

/* RFC 2104: the key's block XORed with a pad, hashed in front. */
static enum reason begin_padded(uint16_t alg, const uint8_t key[BLOCK_MAX], uint8_t pad,
				struct digest **ret)
{
	uint8_t block[BLOCK_MAX];
	size_t n = block_len(alg);
	enum reason r;

	for (size_t i = 0; i < n; i++)
		block[i] = key[i] ^ pad;
	r = digest_begin(alg, ret);
	if (r == R_OK)
		r = digest_update(*ret, bytes_of(block, n));
	wipe(block, sizeof(block));
	return r;
}

static enum reason hmac_padded(uint16_t alg, const uint8_t key[BLOCK_MAX],
			       const struct bytes *pieces, size_t count, uint8_t ret[DIGEST_MAX])
{
	_cleanup_(digest_free) struct digest *inner = NULL;
	_cleanup_(digest_free) struct digest *outer = NULL;
	uint8_t hash[DIGEST_MAX];

	TRY(begin_padded(alg, key, 0x36, &inner));
	TRY(update_all(inner, pieces, count));
	TRY(digest_end(inner, hash));
	TRY(begin_padded(alg, key, 0x5c, &outer));
	TRY(digest_update(outer, bytes_of(hash, digest_len(alg))));
	return digest_end(outer, ret);
}

enum reason hmac_of(uint16_t alg, struct bytes key, const struct bytes *pieces, size_t count,
		    uint8_t ret[DIGEST_MAX])
{
	uint8_t block[BLOCK_MAX] = { 0 };
	enum reason r = R_OK;

	if (key.n > block_len(alg))
		r = digest_of(alg, &key, 1, block);
	else if (key.n > 0)
		memcpy(block, key.p, key.n);
	if (r == R_OK)
		r = hmac_padded(alg, block, pieces, count, ret);
	wipe(block, sizeof(block));
	return r;
}
