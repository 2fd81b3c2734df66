/* SPDX-License-Identifier: Apache-2.0 */
/* A TPM's public key in the form that every other tool reads. */
#include <string.h>

#include "base/cleanup.h"
#include "gate/by_hand.h"

#define PEM_BEGIN "-----BEGIN PUBLIC KEY-----\n"
#define PEM_END "-----END PUBLIC KEY-----\n"
#define PEM_LINE 48u			/* bytes that make 64 characters */
#define DER_MAX 1024u
#define DER_INTEGER 0x02u
#define DER_BIT_STRING 0x03u
#define DER_SEQUENCE 0x30u

/* AlgorithmIdentifier of each kind of key, whole. */
static const uint8_t alg_rsa[] = { 0x30, 0x0d, 0x06, 0x09, 0x2a, 0x86, 0x48, 0x86,
				   0xf7, 0x0d, 0x01, 0x01, 0x01, 0x05, 0x00 };
static const uint8_t alg_p256[] = { 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48,
				    0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a,
				    0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07 };
static const uint8_t alg_p384[] = { 0x30, 0x10, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d,
				    0x02, 0x01, 0x06, 0x05, 0x2b, 0x81, 0x04, 0x00, 0x22 };
static const uint8_t alg_p521[] = { 0x30, 0x10, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d,
				    0x02, 0x01, 0x06, 0x05, 0x2b, 0x81, 0x04, 0x00, 0x23 };

/* Tag and length in front of n bytes. */
static enum reason der_head(struct blob *b, uint8_t tag, size_t n)
{
	TRY(blob_u8(b, tag));
	if (n < 0x80)
		return blob_u8(b, (uint8_t)n);
	if (n < 0x100) {
		TRY(blob_u8(b, 0x81));
		return blob_u8(b, (uint8_t)n);
	}
	TRY(blob_u8(b, 0x82));
	return blob_be16(b, (uint16_t)n);
}

/* An unsigned number; `in` does not begin with zeros. */
static enum reason der_integer(struct blob *b, struct bytes in)
{
	bool negative = in.n > 0 && (in.p[0] & 0x80) != 0;

	TRY(der_head(b, DER_INTEGER, in.n + negative));
	if (negative)
		TRY(blob_u8(b, 0));
	return blob_append(b, in.p, in.n);
}

static struct bytes strip(struct bytes in)
{
	while (in.n > 1 && in.p[0] == 0)
		in = bytes_of(in.p + 1, in.n - 1);
	return in;
}

static enum reason rsa_key(const struct tpm_public *p, struct blob *ret)
{
	_cleanup_(blob_free) struct blob inner = BLOB(DER_MAX);
	uint8_t e[4] = { (uint8_t)(p->exponent >> 24), (uint8_t)(p->exponent >> 16),
			 (uint8_t)(p->exponent >> 8), (uint8_t)p->exponent };

	TRY(der_integer(&inner, strip(p->modulus)));
	TRY(der_integer(&inner, strip(BYTES(e))));
	TRY(der_head(ret, DER_SEQUENCE, inner.n));
	return blob_append(ret, inner.p, inner.n);
}

static enum reason ecc_coordinate(struct bytes in, size_t n, struct blob *ret)
{
	in = strip(in);
	if (in.n > n)
		return R_FORMAT_RANGE;
	for (size_t i = in.n; i < n; i++)
		TRY(blob_u8(ret, 0));
	return blob_append(ret, in.p, in.n);
}

static enum reason ecc_key(const struct tpm_public *p, size_t n, struct blob *ret)
{
	TRY(blob_u8(ret, 0x04));	/* uncompressed */
	TRY(ecc_coordinate(p->x, n, ret));
	return ecc_coordinate(p->y, n, ret);
}

/* Algorithm and key of SubjectPublicKeyInfo. */
static enum reason key_of(const struct tpm_public *p, struct bytes *ret_alg, struct blob *ret_key)
{
	if (p->type == TPM_ALG_RSA) {
		*ret_alg = BYTES(alg_rsa);
		return rsa_key(p, ret_key);
	}
	switch (p->curve) {
	case TPM_ECC_P256:
		*ret_alg = BYTES(alg_p256);
		return ecc_key(p, 32, ret_key);
	case TPM_ECC_P384:
		*ret_alg = BYTES(alg_p384);
		return ecc_key(p, 48, ret_key);
	case TPM_ECC_P521:
		*ret_alg = BYTES(alg_p521);
		return ecc_key(p, 66, ret_key);
	default:
		return R_FORMAT_TYPE;
	}
}

static enum reason spki(const struct tpm_public *p, struct blob *ret)
{
	_cleanup_(blob_free) struct blob key = BLOB(DER_MAX);
	_cleanup_(blob_free) struct blob body = BLOB(DER_MAX);
	struct bytes alg;

	TRY(key_of(p, &alg, &key));
	TRY(blob_append(&body, alg.p, alg.n));
	TRY(der_head(&body, DER_BIT_STRING, key.n + 1));
	TRY(blob_u8(&body, 0));		/* no unused bits */
	TRY(blob_append(&body, key.p, key.n));
	TRY(der_head(ret, DER_SEQUENCE, body.n));
	return blob_append(ret, body.p, body.n);
}

/* Three bytes, or the last one or two, as four characters. */
static enum reason base64(struct bytes in, struct blob *ret)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				     "0123456789+/";

	for (size_t i = 0; i < in.n; i += 3) {
		size_t left = in.n - i;
		uint32_t v = (uint32_t)in.p[i] << 16 | (left > 1 ? (uint32_t)in.p[i + 1] << 8 : 0) |
			     (left > 2 ? in.p[i + 2] : 0);
		const char *four[4] = {
			&digits[v >> 18],
			&digits[v >> 12 & 63],
			left > 1 ? &digits[v >> 6 & 63] : "=",
			left > 2 ? &digits[v & 63] : "=",
		};

		for (size_t k = 0; k < ARRAY_LEN(four); k++)
			TRY(blob_append(ret, four[k], 1));
	}
	return R_OK;
}

enum reason public_pem(const struct tpm_public *p, struct blob *ret)
{
	_cleanup_(blob_free) struct blob der = BLOB(DER_MAX);

	TRY(spki(p, &der));
	TRY(blob_append(ret, PEM_BEGIN, strlen(PEM_BEGIN)));
	for (size_t i = 0; i < der.n; i += PEM_LINE) {
		size_t n = der.n - i < PEM_LINE ? der.n - i : PEM_LINE;

		TRY(base64(bytes_of(der.p + i, n), ret));
		TRY(blob_u8(ret, '\n'));
	}
	return blob_append(ret, PEM_END, strlen(PEM_END));
}
