/* SPDX-License-Identifier: Apache-2.0 */
#include "format/tpm.h"
#include "format/tpm_wire.h"

#include <string.h>

#define RSA_MAX 512u			/* bytes of a 4096-bit modulus */
#define RSA_EXPONENT 65537u

/* Block ciphers that an object may name (TPMI_ALG_SYM_OBJECT). */
#define ALG_SM4 0x0013u
#define ALG_CAMELLIA 0x0026u

/* Schemes beside those of tpm.h. */
#define ALG_MGF1 0x0007u
#define ALG_RSAES 0x0015u
#define ALG_OAEP 0x0017u
#define ALG_ECDH 0x0019u
#define ALG_ECDAA 0x001au
#define ALG_SM2 0x001bu
#define ALG_ECSCHNORR 0x001cu
#define ALG_ECMQV 0x001du
#define ALG_KDF1_SP800_56A 0x0020u
#define ALG_KDF2 0x0021u
#define ALG_KDF1_SP800_108 0x0022u

static enum reason read_symmetric(struct cursor *c, struct tpm_public *p)
{
	TRY(cursor_be16(c, &p->symmetric.alg));
	switch (p->symmetric.alg) {
	case TPM_ALG_NULL:
		return R_OK;
	case TPM_ALG_AES:
	case ALG_SM4:
	case ALG_CAMELLIA:
		TRY(cursor_be16(c, &p->symmetric.bits));
		return cursor_be16(c, &p->symmetric.mode);
	default:
		return R_FORMAT_RANGE;
	}
}

/*
 * TPMT_RSA_SCHEME, TPMT_ECC_SCHEME and TPMT_KDF_SCHEME differ only in which
 * algorithms they allow; whether one of them fits the key is not this
 * reader's question.
 */
static enum reason read_scheme(struct cursor *c, struct tpm_scheme *s)
{
	TRY(cursor_be16(c, &s->alg));
	switch (s->alg) {
	case TPM_ALG_NULL:
	case ALG_RSAES:
		return R_OK;
	case ALG_MGF1:
	case TPM_ALG_RSASSA:
	case TPM_ALG_RSAPSS:
	case ALG_OAEP:
	case TPM_ALG_ECDSA:
	case ALG_ECDH:
	case ALG_SM2:
	case ALG_ECSCHNORR:
	case ALG_ECMQV:
	case ALG_KDF1_SP800_56A:
	case ALG_KDF2:
	case ALG_KDF1_SP800_108:
		return cursor_be16(c, &s->hash);
	case ALG_ECDAA:
		TRY(cursor_be16(c, &s->hash));
		return cursor_be16(c, &s->count);
	default:
		return R_FORMAT_RANGE;
	}
}

static enum reason read_rsa(struct cursor *c, struct tpm_public *p)
{
	TRY(cursor_be16(c, &p->rsa_bits));
	TRY(cursor_be32(c, &p->exponent));
	if (p->rsa_bits == 0 || p->rsa_bits % 8 || p->rsa_bits > RSA_MAX * 8)
		return R_FORMAT_RANGE;
	if (p->exponent == 0)
		p->exponent = RSA_EXPONENT;
	return R_OK;
}

static enum reason read_ecc(struct cursor *c, struct tpm_public *p)
{
	TRY(cursor_be16(c, &p->curve));
	return read_scheme(c, &p->kdf);
}

static enum reason read_unique(struct cursor *c, struct tpm_public *p)
{
	if (p->type == TPM_ALG_RSA)
		return tpm2b_read(c, p->rsa_bits / 8, &p->modulus);
	TRY(tpm2b_read(c, TPM_COORD_MAX, &p->x));
	return tpm2b_read(c, TPM_COORD_MAX, &p->y);
}

static enum reason read_public(struct bytes in, struct tpm_public *p)
{
	struct cursor c = cursor_of(in);

	if (in.n > LIMIT_TPM_PUBLIC)
		return R_FORMAT_TOO_LARGE;
	TRY(cursor_be16(&c, &p->type));
	if (p->type != TPM_ALG_RSA && p->type != TPM_ALG_ECC)
		return R_FORMAT_TYPE;
	TRY(cursor_be16(&c, &p->name_alg));
	TRY(cursor_be32(&c, &p->attributes));
	TRY(tpm2b_read(&c, DIGEST_MAX, &p->policy));
	TRY(read_symmetric(&c, p));
	TRY(read_scheme(&c, &p->scheme));
	TRY(p->type == TPM_ALG_RSA ? read_rsa(&c, p) : read_ecc(&c, p));
	p->whole = in;
	p->before_unique = bytes_of(in.p, c.offset);
	TRY(read_unique(&c, p));
	return cursor_end(&c);
}

enum reason tpm_public_read(struct bytes in, struct tpm_public *ret)
{
	struct tpm_public p = { 0 };

	TRY(read_public(in, &p));
	*ret = p;
	return R_OK;
}

enum reason tpm_public_read_file(struct bytes in, struct tpm_public *ret)
{
	struct cursor c = cursor_of(in);
	struct bytes inner;
	enum reason r = tpm_public_read(in, ret);

	if (r == R_OK)
		return R_OK;
	/* Not TPMT_PUBLIC: perhaps TPM2B_PUBLIC, if its size fits exactly. */
	if (tpm2b_read(&c, LIMIT_TPM_PUBLIC, &inner) != R_OK || cursor_end(&c) != R_OK)
		return r;
	return tpm_public_read(inner, ret);
}

static enum reason write_scheme(const struct tpm_scheme *s, struct blob *ret)
{
	TRY(blob_be16(ret, s->alg));
	if (s->alg == TPM_ALG_NULL || s->alg == ALG_RSAES)
		return R_OK;
	TRY(blob_be16(ret, s->hash));
	return s->alg == ALG_ECDAA ? blob_be16(ret, s->count) : R_OK;
}

static enum reason write_parameters(const struct tpm_public *p, struct blob *ret)
{
	TRY(blob_be16(ret, p->symmetric.alg));
	if (p->symmetric.alg != TPM_ALG_NULL) {
		TRY(blob_be16(ret, p->symmetric.bits));
		TRY(blob_be16(ret, p->symmetric.mode));
	}
	TRY(write_scheme(&p->scheme, ret));
	if (p->type == TPM_ALG_RSA) {
		TRY(blob_be16(ret, p->rsa_bits));
		return blob_be32(ret, p->exponent == RSA_EXPONENT ? 0 : p->exponent);
	}
	TRY(blob_be16(ret, p->curve));
	return write_scheme(&p->kdf, ret);
}

enum reason tpm_public_write(const struct tpm_public *p, struct blob *ret)
{
	if (p->type != TPM_ALG_RSA && p->type != TPM_ALG_ECC)
		return R_FORMAT_TYPE;
	TRY(blob_be16(ret, p->type));
	TRY(blob_be16(ret, p->name_alg));
	TRY(blob_be32(ret, p->attributes));
	TRY(tpm2b_write(p->policy, ret));
	TRY(write_parameters(p, ret));
	if (p->type == TPM_ALG_RSA)
		return tpm2b_write(p->modulus, ret);
	TRY(tpm2b_write(p->x, ret));
	return tpm2b_write(p->y, ret);
}

/* alg || H(piece || piece) */
static enum reason make_name(uint16_t alg, const struct bytes *pieces, size_t count,
			     struct tpm_name *ret)
{
	struct tpm_name name = { .n = 2 + digest_len(alg) };
	uint8_t digest[DIGEST_MAX];

	if (digest_len(alg) == 0)
		return R_FORMAT_TYPE;
	TRY(digest_of(alg, pieces, count, digest));
	name.b[0] = (uint8_t)(alg >> 8);
	name.b[1] = (uint8_t)alg;
	memcpy(name.b + 2, digest, digest_len(alg));
	*ret = name;
	return R_OK;
}

enum reason tpm_name_of(const struct tpm_public *p, struct tpm_name *ret)
{
	return make_name(p->name_alg, &p->whole, 1, ret);
}

enum reason tpm_qualified_name(uint32_t hierarchy, const struct tpm_name *name,
			       struct tpm_name *ret)
{
	uint8_t handle[4] = { (uint8_t)(hierarchy >> 24), (uint8_t)(hierarchy >> 16),
			      (uint8_t)(hierarchy >> 8), (uint8_t)hierarchy };
	struct bytes pieces[] = { BYTES(handle), tpm_name_bytes(name) };
	struct cursor c = cursor_of(tpm_name_bytes(name));
	uint16_t alg;

	TRY(cursor_be16(&c, &alg));
	if (digest_len(alg) == 0)
		return R_FORMAT_TYPE;
	if (c.n != digest_len(alg))
		return R_FORMAT_RANGE;
	return make_name(alg, pieces, ARRAY_LEN(pieces), ret);
}
