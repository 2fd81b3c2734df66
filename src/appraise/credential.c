/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TPM2_MakeCredential without a TPM (TPM 2.0 Part 1, section 24 and annexes
 * B.10.4 and C.6.4): a secret that only the TPM with this EK can open, and
 * only for an object with this name.
 */
#include "appraise/credential.h"

#include <string.h>

#include "appraise/ek.h"
#include "base/cleanup.h"
#include "crypto/random.h"

static uint8_t *put_be32(uint8_t to[4], uint32_t v)
{
	to[0] = (uint8_t)(v >> 24);
	to[1] = (uint8_t)(v >> 16);
	to[2] = (uint8_t)(v >> 8);
	to[3] = (uint8_t)v;
	return to;
}

/* A label counts with its NUL. */
static struct bytes label_bytes(const char *label)
{
	return bytes_of(label, strlen(label) + 1);
}

/* Bits that were not asked for are zero: they stand first, as in a number. */
static void mask_bits(uint8_t *first, uint32_t bits)
{
	if (bits % 8)
		*first = (uint8_t)(*first & ((1u << (bits % 8)) - 1));
}

enum reason tpm_kdfa(uint16_t alg, struct bytes key, const char *label, struct bytes u,
		     struct bytes v, uint32_t bits, uint8_t ret[DIGEST_MAX])
{
	size_t want = (bits + 7u) / 8u;
	size_t len = digest_len(alg);
	uint8_t counter[4];
	uint8_t size[4];

	if (len == 0 || bits == 0 || want > DIGEST_MAX)
		return R_FORMAT_RANGE;
	memset(ret, 0, want);
	put_be32(size, bits);
	for (uint32_t i = 1, done = 0; done < want; i++, done += (uint32_t)len) {
		const struct bytes pieces[] = {
			bytes_of(put_be32(counter, i), 4), label_bytes(label), u, v, BYTES(size),
		};
		uint8_t block[DIGEST_MAX];

		TRY(hmac_of(alg, key, pieces, ARRAY_LEN(pieces), block));
		memcpy(ret + done, block, want - done < len ? want - done : len);
		wipe(block, sizeof block);
	}
	mask_bits(ret, bits);
	return R_OK;
}

enum reason tpm_kdfe(uint16_t alg, struct bytes z, const char *label, struct bytes u,
		     struct bytes v, uint32_t bits, uint8_t ret[DIGEST_MAX])
{
	size_t want = (bits + 7u) / 8u;
	size_t len = digest_len(alg);
	uint8_t counter[4];

	if (len == 0 || bits == 0 || want > DIGEST_MAX)
		return R_FORMAT_RANGE;
	memset(ret, 0, want);
	for (uint32_t i = 1, done = 0; done < want; i++, done += (uint32_t)len) {
		const struct bytes pieces[] = {
			bytes_of(put_be32(counter, i), 4), z, label_bytes(label), u, v,
		};
		uint8_t block[DIGEST_MAX];

		TRY(digest_of(alg, pieces, ARRAY_LEN(pieces), block));
		memcpy(ret + done, block, want - done < len ? want - done : len);
		wipe(block, sizeof block);
	}
	mask_bits(ret, bits);
	return R_OK;
}

/* Seed of |nameAlg| bytes, and how the TPM gets it. */
struct seed {
	uint8_t b[DIGEST_MAX];
	size_t n;
};

static void seed_wipe(struct seed *s)
{
	wipe(s, sizeof *s);
}

static enum reason seed_rsa(const struct tpm_public *ek, struct seed *seed, struct blob *secret)
{
	_cleanup_(blob_free) struct blob block = BLOB(TPM_SECRET_MAX);

	TRY(random_bytes(seed->b, seed->n));
	TRY(rsa_oaep(ek->modulus, ek->exponent, ek->name_alg, label_bytes("IDENTITY"),
		     bytes_of(seed->b, seed->n), &block));
	return tpm_secret_write(blob_bytes(&block), secret);
}

static enum reason pad_left(struct bytes in, size_t len, uint8_t ret[TPM_COORD_MAX])
{
	if (in.n > len)
		return R_FORMAT_RANGE;
	memset(ret, 0, len - in.n);
	memcpy(ret + len - in.n, in.p, in.n);
	return R_OK;
}

static enum reason seed_ecc(const struct tpm_public *ek, struct seed *seed, struct blob *secret)
{
	_cleanup_(blob_free) struct blob z = BLOB(TPM_COORD_MAX);
	_cleanup_(blob_free) struct blob ex = BLOB(TPM_COORD_MAX);
	_cleanup_(blob_free) struct blob ey = BLOB(TPM_COORD_MAX);
	_cleanup_(blob_free) struct blob point = BLOB(TPM_SECRET_MAX);
	struct tpm_point p;
	uint8_t x[TPM_COORD_MAX];

	TRY(ecdh_ephemeral(ek->curve, ek->x, ek->y, &z, &ex, &ey));
	/* The TPM hashes whole coordinates, whatever their leading bytes are. */
	TRY(pad_left(ek->x, ex.n, x));
	TRY(tpm_kdfe(ek->name_alg, blob_bytes(&z), "IDENTITY", blob_bytes(&ex),
		     bytes_of(x, ex.n), (uint32_t)(8 * seed->n), seed->b));
	p = (struct tpm_point){ blob_bytes(&ex), blob_bytes(&ey) };
	TRY(tpm_point_write(&p, &point));
	return tpm_secret_write(blob_bytes(&point), secret);
}

/* The secret, encrypted and bound to the name of the object. */
static enum reason wrap(const struct tpm_public *ek, const struct seed *seed,
			struct bytes name, struct bytes secret, struct blob *ret)
{
	_cleanup_(blob_free) struct blob plain = BLOB(2 + DIGEST_MAX);
	_cleanup_(blob_free) struct blob identity = BLOB(2 + DIGEST_MAX);
	const struct bytes s = bytes_of(seed->b, seed->n);
	uint8_t sym[DIGEST_MAX];
	uint8_t mac_key[DIGEST_MAX];
	uint8_t mac[DIGEST_MAX];
	struct tpm_id_object o;
	enum reason r;

	TRY(blob_be16(&plain, (uint16_t)secret.n));
	TRY(blob_append(&plain, secret.p, secret.n));
	TRY(tpm_kdfa(ek->name_alg, s, "STORAGE", name, BYTES_NONE, ek->symmetric.bits, sym));
	r = aes_cfb_zero_iv(bytes_of(sym, ek->symmetric.bits / 8u), blob_bytes(&plain),
			    &identity);
	wipe(sym, sizeof sym);
	if (r != R_OK)
		return r;
	TRY(tpm_kdfa(ek->name_alg, s, "INTEGRITY", BYTES_NONE, BYTES_NONE,
		     (uint32_t)(8 * seed->n), mac_key));
	const struct bytes pieces[] = { blob_bytes(&identity), name };
	r = hmac_of(ek->name_alg, bytes_of(mac_key, seed->n), pieces, ARRAY_LEN(pieces), mac);
	wipe(mac_key, sizeof mac_key);
	if (r != R_OK)
		return r;
	o = (struct tpm_id_object){ bytes_of(mac, seed->n), blob_bytes(&identity) };
	return tpm_id_object_write(&o, ret);
}

enum reason make_credential(const struct tpm_public *ek, struct bytes ak_name,
			    struct bytes secret, struct blob *ret_id_object,
			    struct blob *ret_secret)
{
	_cleanup_(seed_wipe) struct seed seed = { .n = digest_len(ek->name_alg) };

	if (seed.n == 0 || secret.n == 0 || secret.n > seed.n)
		return R_FORMAT_RANGE;
	/* All templates of the profile that we have protect with AES in CFB. */
	if (ek->symmetric.alg != TPM_ALG_AES || ek->symmetric.mode != TPM_ALG_CFB ||
	    (ek->symmetric.bits != 128 && ek->symmetric.bits != 256))
		return R_FORMAT_TYPE;
	if (ek->type == TPM_ALG_RSA)
		TRY(seed_rsa(ek, &seed, ret_secret));
	else if (ek->type == TPM_ALG_ECC)
		TRY(seed_ecc(ek, &seed, ret_secret));
	else
		return R_FORMAT_TYPE;
	return wrap(ek, &seed, ak_name, secret, ret_id_object);
}
