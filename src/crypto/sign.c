/* SPDX-License-Identifier: Apache-2.0 */
#include "crypto/sign.h"

#include <string.h>

#include "base/cleanup.h"

/* SubjectPublicKeyInfo of an uncompressed P-256 point, up to the point. */
static const uint8_t p256_spki[] = {
	0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06,
	0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00, 0x04,
};

enum reason ec_public_id(const struct ec_public *key, uint8_t ret[KEY_ID_LEN])
{
	const struct bytes pieces[] = { BYTES(p256_spki), BYTES(key->x), BYTES(key->y) };
	uint8_t hash[DIGEST_MAX];

	TRY(digest_of(ALG_SHA256, pieces, ARRAY_LEN(pieces), hash));
	memcpy(ret, hash, KEY_ID_LEN);
	return R_OK;
}
