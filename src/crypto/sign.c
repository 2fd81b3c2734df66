/* SPDX-License-Identifier: Apache-2.0 */
/* What both bodies share: the one form in which a public key is written down. */
#include "crypto/sign.h"

#include <string.h>

#include "base/cleanup.h"

/* SubjectPublicKeyInfo of an uncompressed P-256 point, up to the point. */
static const uint8_t spki_head[] = {
	0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06,
	0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00, 0x04,
};
enum { SPKI_LEN = sizeof(spki_head) + P256_LEN + P256_LEN };

enum reason ec_public_fingerprint(const struct ec_public *key, uint8_t ret[SHA256_LEN])
{
	const struct bytes pieces[] = { BYTES(spki_head), BYTES(key->x), BYTES(key->y) };
	uint8_t hash[DIGEST_MAX];

	TRY(digest_of(ALG_SHA256, pieces, ARRAY_LEN(pieces), hash));
	memcpy(ret, hash, SHA256_LEN);
	return R_OK;
}

enum reason ec_public_id(const struct ec_public *key, uint8_t ret[KEY_ID_LEN])
{
	uint8_t fingerprint[SHA256_LEN];

	TRY(ec_public_fingerprint(key, fingerprint));
	memcpy(ret, fingerprint, KEY_ID_LEN);
	return R_OK;
}

static bool take_text(struct bytes *in, const char *text)
{
	size_t n = strlen(text);

	if (in->n < n || memcmp(in->p, text, n) != 0)
		return false;
	in->p += n;
	in->n -= n;
	return true;
}

static void skip_line_ends(struct bytes *in)
{
	while (take_text(in, "\n") || take_text(in, "\r\n"))
		;
}

static int sextet(uint8_t c)
{
	static const char alphabet[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *at = c == '\0' ? NULL : strchr(alphabet, c);

	return at == NULL ? -1 : (int)(at - alphabet);
}

/*
 * Takes base64 of exactly SPKI_LEN bytes. That length is one more than a
 * multiple of three: it ends with two digits, four bits of which are zero,
 * and "==".
 */
static bool take_base64(struct bytes *in, uint8_t out[SPKI_LEN])
{
	uint32_t bits = 0;
	unsigned int have = 0;

	for (size_t n = 0; n < SPKI_LEN;) {
		int digit;

		skip_line_ends(in);
		digit = in->n > 0 ? sextet(in->p[0]) : -1;
		if (digit < 0)
			return false;
		in->p++;
		in->n--;
		bits = (bits << 6 | (uint32_t)digit) & 0xffff;
		have += 6;
		if (have >= 8) {
			have -= 8;
			out[n++] = (uint8_t)(bits >> have);
		}
	}
	if (have != 4 || (bits & 15) != 0)
		return false;
	return take_text(in, "==");
}

/*
 * One reader for both bodies, so that gate and server never read different
 * keys out of one file: exactly one block, nothing around it, the one
 * encoding that ec_public_id() hashes.
 */
enum reason ec_public_from_pem(struct bytes pem, struct ec_public *ret)
{
	struct ec_public key;
	uint8_t der[SPKI_LEN];

	if (!take_text(&pem, "-----BEGIN PUBLIC KEY-----") || !take_base64(&pem, der))
		return R_SITE_KEYS;
	skip_line_ends(&pem);
	if (!take_text(&pem, "-----END PUBLIC KEY-----"))
		return R_SITE_KEYS;
	skip_line_ends(&pem);
	if (pem.n != 0 || memcmp(der, spki_head, sizeof(spki_head)) != 0)
		return R_SITE_KEYS;
	memcpy(key.x, der + sizeof(spki_head), P256_LEN);
	memcpy(key.y, der + sizeof(spki_head) + P256_LEN, P256_LEN);
	TRY(ec_public_check(&key));
	*ret = key;
	return R_OK;
}
