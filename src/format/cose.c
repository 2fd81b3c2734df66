/* SPDX-License-Identifier: Apache-2.0 */
#include "format/cose.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/limits.h"
#include "format/cbor.h"

#define TAG_SIGN1 18u
#define TAG_SIGN 98u
#define HEADER_ALG 1
#define HEADER_KID 4
#define ALG_ES256 (-7)

/* One signature out of an envelope, not verified yet. */
struct signature {
	struct bytes protected;
	uint8_t kid[KEY_ID_LEN];
	uint8_t value[ES256_LEN];
};

/* What the CBOR reader finds wrong with an envelope has one name. */
static enum reason structure(enum reason r)
{
	return r == R_OK ? R_OK : R_COSE_STRUCTURE;
}

/* {1: alg, 4: kid} and nothing else: no crit, no content type, no x5chain. */
static enum reason header_map(struct bytes in, int64_t *ret_alg, uint8_t kid[KEY_ID_LEN])
{
	struct cursor c = cursor_of(in);
	struct cbor_map map;

	TRY(cbor_map_begin(&c, &map));
	TRY(cbor_key(&map, HEADER_ALG));
	TRY(cbor_int(&c, INT64_MIN, INT64_MAX, ret_alg));
	TRY(cbor_key(&map, HEADER_KID));
	TRY(cbor_copy(&c, kid, KEY_ID_LEN));
	TRY(cbor_map_end(&map));
	return cursor_end(&c);
}

static enum reason header_read(struct bytes in, uint8_t kid[KEY_ID_LEN])
{
	int64_t alg;

	if (header_map(in, &alg, kid) != R_OK)
		return R_COSE_HEADER;
	return alg == ALG_ES256 ? R_OK : R_COSE_ALGORITHM;
}

static enum reason header_write(const uint8_t kid[KEY_ID_LEN], struct blob *ret)
{
	struct cbor_writer w = cbor_write_begin(ret);

	cbor_put_map(&w, 2);
	cbor_put_int(&w, HEADER_ALG);
	cbor_put_int(&w, ALG_ES256);
	cbor_put_int(&w, HEADER_KID);
	cbor_put_copy(&w, kid, KEY_ID_LEN);
	return cbor_write_end(&w, ret->max);
}

/* The unprotected header is empty: what is not signed says nothing. */
static enum reason unprotected_read(struct cursor *c)
{
	struct cbor_map map;

	if (cbor_map_begin(c, &map) != R_OK)
		return R_COSE_STRUCTURE;
	return map.left == 0 ? R_OK : R_COSE_HEADER;
}

/*
 * SHA-256 of the Sig_structure (RFC 9052 section 4.4). `signer` is the
 * protected header of one signer, NULL for COSE_Sign1 that has none.
 */
static enum reason to_be_signed(const char *context, struct bytes body,
				const struct bytes *signer, const char *aad,
				struct bytes payload, uint8_t ret[SHA256_LEN])
{
	_cleanup_(blob_free) struct blob b = BLOB(payload.n + 512);
	struct cbor_writer w = cbor_write_begin(&b);

	cbor_put_array(&w, 4, 5, signer ? 5 : 4);
	cbor_put_text(&w, 1, 16, CHARSET_PRINTABLE, bytes_str(context));
	cbor_put_bytes(&w, 0, SIZE_MAX, body);
	if (signer)
		cbor_put_bytes(&w, 0, SIZE_MAX, *signer);
	cbor_put_bytes(&w, 1, SIZE_MAX, bytes_str(aad));
	cbor_put_bytes(&w, 0, SIZE_MAX, payload);
	TRY(cbor_write_end(&w, b.max));
	return sha256(blob_bytes(&b), ret);
}

static enum reason sign1_digest(struct bytes protected, const char *aad, struct bytes payload,
				uint8_t ret[SHA256_LEN])
{
	return to_be_signed("Signature1", protected, NULL, aad, payload, ret);
}

/* The body of our COSE_Sign has an empty protected header. */
static enum reason sign_digest(struct bytes protected, const char *aad, struct bytes payload,
			       uint8_t ret[SHA256_LEN])
{
	return to_be_signed("Signature", BYTES_NONE, &protected, aad, payload, ret);
}

static bool key_find(const struct pinned_keys *keys, const uint8_t kid[KEY_ID_LEN], size_t *ret)
{
	for (size_t i = 0; i < keys->count && i < COSE_KEYS_MAX; i++) {
		if (memcmp(keys->key[i].id, kid, KEY_ID_LEN) == 0) {
			*ret = i;
			return true;
		}
	}
	return false;
}

/* protected, unprotected: how both the body of a Sign1 and a signer begin. */
static enum reason headers_read(struct cursor *c, struct signature *ret)
{
	TRY(structure(cbor_bytes(c, 0, 256, &ret->protected)));
	TRY(header_read(ret->protected, ret->kid));
	return unprotected_read(c);
}

static enum reason sign1_read(struct bytes in, struct signature *ret, struct bytes *ret_payload)
{
	struct cursor c = cursor_of(in);
	size_t parts;

	TRY(structure(cbor_tag(&c, TAG_SIGN1)));
	TRY(structure(cbor_array(&c, 4, 4, &parts)));
	TRY(headers_read(&c, ret));
	TRY(structure(cbor_bytes(&c, 1, LIMIT_VERDICT, ret_payload)));
	TRY(structure(cbor_copy(&c, ret->value, ES256_LEN)));
	return structure(cursor_end(&c));
}

enum reason cose_sign1_verify(struct bytes in, const char *aad, const struct pinned_keys *keys,
			      struct bytes *ret_payload, size_t *ret_key)
{
	struct signature sig;
	struct bytes payload;
	uint8_t digest[SHA256_LEN];
	size_t key;

	if (in.n > LIMIT_VERDICT)
		return R_FORMAT_TOO_LARGE;
	TRY(sign1_read(in, &sig, &payload));
	if (!key_find(keys, sig.kid, &key))
		return R_COSE_KEY_UNKNOWN;
	TRY(sign1_digest(sig.protected, aad, payload, digest));
	TRY(es256_verify(&keys->key[key].key, digest, sig.value));
	*ret_payload = payload;
	*ret_key = key;
	return R_OK;
}

enum reason cose_sign1_write(struct bytes payload, const char *aad,
			     const struct cose_signer *signer, struct blob *ret)
{
	_cleanup_(blob_free) struct blob protected = BLOB(64);
	struct cbor_writer w = cbor_write_begin(ret);
	uint8_t digest[SHA256_LEN], value[ES256_LEN];

	TRY(header_write(signer->id, &protected));
	TRY(sign1_digest(blob_bytes(&protected), aad, payload, digest));
	TRY(signer->sign(signer->ctx, digest, value));
	cbor_put_tag(&w, TAG_SIGN1);
	cbor_put_array(&w, 4, 4, 4);
	cbor_put_bytes(&w, 0, SIZE_MAX, blob_bytes(&protected));
	cbor_put_map(&w, 0);
	cbor_put_bytes(&w, 1, LIMIT_VERDICT, payload);
	cbor_put_copy(&w, value, ES256_LEN);
	return cbor_write_end(&w, LIMIT_VERDICT);
}

/* The body of a COSE_Sign; `count` signers follow in the cursor. */
static enum reason sign_begin(struct cursor *c, struct bytes *ret_payload, size_t *ret_count)
{
	struct bytes protected;
	size_t parts;

	TRY(structure(cbor_tag(c, TAG_SIGN)));
	TRY(structure(cbor_array(c, 4, 4, &parts)));
	TRY(structure(cbor_bytes(c, 0, 256, &protected)));
	if (protected.n != 0)
		return R_COSE_HEADER;
	TRY(unprotected_read(c));
	TRY(structure(cbor_bytes(c, 1, LIMIT_MANIFEST, ret_payload)));
	return structure(cbor_array(c, 1, COSE_KEYS_MAX, ret_count));
}

static enum reason signer_read(struct cursor *c, struct signature *ret)
{
	size_t parts;

	TRY(structure(cbor_array(c, 3, 3, &parts)));
	TRY(headers_read(c, ret));
	return structure(cbor_copy(c, ret->value, ES256_LEN));
}

/* One key counts once, also when it signed twice or is pinned under two names. */
static bool counts(const struct pinned_keys *keys, const bool *valid, size_t key)
{
	for (size_t i = 0; i < keys->count && i < COSE_KEYS_MAX; i++)
		if (valid[i] && memcmp(&keys->key[i].key, &keys->key[key].key,
				       sizeof keys->key[key].key) == 0)
			return false;
	return true;
}

enum reason cose_sign_verify(struct bytes in, const char *aad, const struct pinned_keys *keys,
			     size_t threshold, struct bytes *ret_payload, size_t *ret_valid)
{
	struct cursor c = cursor_of(in);
	bool valid[COSE_KEYS_MAX] = { false };
	struct bytes payload;
	size_t signers, key, good = 0;

	if (in.n > LIMIT_MANIFEST)
		return R_FORMAT_TOO_LARGE;
	TRY(sign_begin(&c, &payload, &signers));
	for (size_t i = 0; i < signers; i++) {
		struct signature sig;
		uint8_t digest[SHA256_LEN];

		TRY(signer_read(&c, &sig));
		if (!key_find(keys, sig.kid, &key))
			continue;
		TRY(sign_digest(sig.protected, aad, payload, digest));
		TRY(es256_verify(&keys->key[key].key, digest, sig.value));
		if (counts(keys, valid, key)) {
			valid[key] = true;
			good++;
		}
	}
	TRY(structure(cursor_end(&c)));
	/* A threshold of 0 is a mistake somewhere, and never means "unsigned". */
	if (good == 0 || good < threshold)
		return R_MANIFEST_THRESHOLD;
	*ret_payload = payload;
	*ret_valid = good;
	return R_OK;
}

static enum reason signer_write(struct cbor_writer *w, const struct cose_signer *signer,
				const char *aad, struct bytes payload)
{
	_cleanup_(blob_free) struct blob protected = BLOB(64);
	uint8_t digest[SHA256_LEN], value[ES256_LEN];

	TRY(header_write(signer->id, &protected));
	TRY(sign_digest(blob_bytes(&protected), aad, payload, digest));
	TRY(signer->sign(signer->ctx, digest, value));
	cbor_put_array(w, 3, 3, 3);
	cbor_put_bytes(w, 0, SIZE_MAX, blob_bytes(&protected));
	cbor_put_map(w, 0);
	cbor_put_copy(w, value, ES256_LEN);
	return R_OK;
}

/* All before the first of `count` signers. */
static void body_write(struct cbor_writer *w, struct bytes payload, size_t count)
{
	cbor_put_tag(w, TAG_SIGN);
	cbor_put_array(w, 4, 4, 4);
	cbor_put_bytes(w, 0, 0, BYTES_NONE);
	cbor_put_map(w, 0);
	cbor_put_bytes(w, 1, LIMIT_MANIFEST, payload);
	cbor_put_array(w, 1, COSE_KEYS_MAX, count);
}

/* A second signature by one key looks like a second signer, and counts for nothing. */
static enum reason signers_differ(const struct cose_signer *signers, size_t count)
{
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < i; k++)
			if (memcmp(signers[i].id, signers[k].id, KEY_ID_LEN) == 0)
				return R_COSE_KEY_TWICE;
	return R_OK;
}

enum reason cose_sign_write(struct bytes payload, const char *aad,
			    const struct cose_signer *signers, size_t count, struct blob *ret)
{
	struct cbor_writer w = cbor_write_begin(ret);

	TRY(signers_differ(signers, count));
	body_write(&w, payload, count);
	for (size_t i = 0; i < count && w.reason == R_OK; i++)
		cbor_put_refuse(&w, signer_write(&w, &signers[i], aad, payload));
	return cbor_write_end(&w, LIMIT_MANIFEST);
}

enum reason cose_sign_add(struct bytes in, const char *aad, const struct cose_signer *signer,
			  struct blob *ret)
{
	struct cursor c = cursor_of(in);
	struct cbor_writer w;
	struct bytes payload, signers;
	size_t count;

	if (in.n > LIMIT_MANIFEST)
		return R_FORMAT_TOO_LARGE;
	TRY(sign_begin(&c, &payload, &count));
	signers = bytes_of(c.p, c.n);
	for (size_t i = 0; i < count; i++) {
		struct signature sig;

		TRY(signer_read(&c, &sig));
		if (memcmp(sig.kid, signer->id, KEY_ID_LEN) == 0)
			return R_COSE_KEY_TWICE;
	}
	TRY(structure(cursor_end(&c)));

	w = cbor_write_begin(ret);
	body_write(&w, payload, count + 1);
	if (w.reason == R_OK)
		cbor_put_refuse(&w, blob_append(ret, signers.p, signers.n));
	if (w.reason == R_OK)
		cbor_put_refuse(&w, signer_write(&w, signer, aad, payload));
	return cbor_write_end(&w, LIMIT_MANIFEST);
}

enum reason cose_payload(struct bytes in, struct bytes *ret_payload)
{
	struct cursor c = cursor_of(in);
	struct signature sig;
	struct bytes payload;
	size_t signers;

	if (in.n > LIMIT_MANIFEST)
		return R_FORMAT_TOO_LARGE;
	if (sign1_read(in, &sig, &payload) == R_OK) {
		*ret_payload = payload;
		return R_OK;
	}
	TRY(sign_begin(&c, &payload, &signers));
	for (size_t i = 0; i < signers; i++)
		TRY(signer_read(&c, &sig));
	TRY(structure(cursor_end(&c)));
	*ret_payload = payload;
	return R_OK;
}
