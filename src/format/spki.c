/* SPDX-License-Identifier: Apache-2.0 */
#include "format/spki.h"

#include "base/cleanup.h"
#include "format/der.h"

static const uint8_t rsa_algorithm[] = {	/* rsaEncryption, NULL */
	0x30, 0x0d, 0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01, 0x05, 0x00,
};
static const uint8_t p256_algorithm[] = {	/* ecPublicKey, prime256v1 */
	0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01,
	0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07,
};
static const uint8_t p384_algorithm[] = {	/* ecPublicKey, secp384r1 */
	0x30, 0x10, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01,
	0x06, 0x05, 0x2b, 0x81, 0x04, 0x00, 0x22,
};
static const uint8_t p521_algorithm[] = {	/* ecPublicKey, secp521r1 */
	0x30, 0x10, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01,
	0x06, 0x05, 0x2b, 0x81, 0x04, 0x00, 0x23,
};

static enum reason put(struct blob *b, uint8_t tag, struct bytes value)
{
	TRY(blob_u8(b, tag));
	if (value.n < 0x80) {
		TRY(blob_u8(b, (uint8_t)value.n));
	} else if (value.n <= 0xff) {
		TRY(blob_u8(b, 0x81));
		TRY(blob_u8(b, (uint8_t)value.n));
	} else {
		TRY(blob_u8(b, 0x82));
		TRY(blob_be16(b, (uint16_t)value.n));
	}
	return blob_append(b, value.p, value.n);
}

static enum reason put_unsigned(struct blob *b, struct bytes number)
{
	_cleanup_(blob_free) struct blob value = BLOB(SPKI_MAX);

	while (number.n > 1 && number.p[0] == 0) {
		number.p++;
		number.n--;
	}
	if (number.n > 0 && number.p[0] & 0x80)
		TRY(blob_u8(&value, 0));
	TRY(blob_append(&value, number.p, number.n));
	return put(b, DER_INTEGER, blob_bytes(&value));
}

static enum reason rsa_key(const struct tpm_public *key, struct blob *ret)
{
	_cleanup_(blob_free) struct blob pair = BLOB(SPKI_MAX);
	const uint8_t e[4] = {
		(uint8_t)(key->exponent >> 24), (uint8_t)(key->exponent >> 16),
		(uint8_t)(key->exponent >> 8), (uint8_t)key->exponent,
	};

	TRY(put_unsigned(&pair, key->modulus));
	TRY(put_unsigned(&pair, BYTES(e)));
	return put(ret, DER_SEQUENCE, blob_bytes(&pair));
}

static enum reason put_coordinate(struct blob *b, struct bytes v, size_t len)
{
	if (v.n > len)
		return R_FORMAT_RANGE;
	for (size_t i = v.n; i < len; i++)
		TRY(blob_u8(b, 0));
	return blob_append(b, v.p, v.n);
}

static enum reason ecc_key(const struct tpm_public *key, size_t len, struct blob *ret)
{
	TRY(blob_u8(ret, 0x04));	/* uncompressed */
	TRY(put_coordinate(ret, key->x, len));
	return put_coordinate(ret, key->y, len);
}

static enum reason algorithm_of(const struct tpm_public *key, struct bytes *ret, size_t *ret_len)
{
	if (key->type == TPM_ALG_RSA) {
		*ret = BYTES(rsa_algorithm);
		return R_OK;
	}
	switch (key->curve) {
	case TPM_ECC_P256:
		*ret = BYTES(p256_algorithm);
		*ret_len = 32;
		return R_OK;
	case TPM_ECC_P384:
		*ret = BYTES(p384_algorithm);
		*ret_len = 48;
		return R_OK;
	case TPM_ECC_P521:
		*ret = BYTES(p521_algorithm);
		*ret_len = 66;
		return R_OK;
	default:
		return R_FORMAT_TYPE;
	}
}

enum reason spki_write(const struct tpm_public *key, struct blob *ret)
{
	_cleanup_(blob_free) struct blob bits = BLOB(SPKI_MAX);
	_cleanup_(blob_free) struct blob body = BLOB(SPKI_MAX);
	struct bytes algorithm;
	size_t len = 0;

	TRY(algorithm_of(key, &algorithm, &len));
	TRY(blob_u8(&bits, 0));		/* no unused bits */
	if (key->type == TPM_ALG_RSA)
		TRY(rsa_key(key, &bits));
	else
		TRY(ecc_key(key, len, &bits));
	TRY(blob_append(&body, algorithm.p, algorithm.n));
	TRY(put(&body, DER_BITS, blob_bytes(&bits)));
	return put(ret, DER_SEQUENCE, blob_bytes(&body));
}
