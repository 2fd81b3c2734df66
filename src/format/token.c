/* SPDX-License-Identifier: Apache-2.0 */
#include "format/token.h"

#include <string.h>

#include "base/cleanup.h"
#include "crypto/aead.h"
#include "format/wire.h"

/* What may be sealed: with the overhead it must not pass LIMIT_TOKEN. */
#define PLAIN_MAX (LIMIT_TOKEN - AEAD_OVERHEAD)
/* A replica of another release refuses the token, and the gate starts again. */
#define TOKEN_VERSION 1u

enum reason session_token_read(struct bytes in, struct session_token *ret)
{
	struct cursor c = cursor_of(in);
	struct session_token t;
	struct cbor_map map;
	uint32_t stage;

	TRY(cbor_map_begin(&c, &map));
	TRY(cbor_key_version(&map, TOKEN_VERSION));
	TRY(cbor_key(&map, 2));
	TRY(cbor_uint(&c, 0, INT64_MAX, &t.issued));
	TRY(cbor_key(&map, 3));
	TRY(cbor_u32(&c, 0, STAGE_MAX - 1, &stage));
	t.stage = (enum stage)stage;
	TRY(cbor_key(&map, 4));
	TRY(cbor_copy(&c, t.nonce, NONCE_LEN));
	TRY(cbor_key(&map, 5));
	TRY(cbor_copy(&c, t.ak_name, AK_NAME_LEN));
	TRY(cbor_key(&map, 6));
	TRY(wire_selection_read(&c, &t.selection));
	TRY(cbor_map_end(&map));
	TRY(cursor_end(&c));
	*ret = t;
	return R_OK;
}

enum reason session_token_write(const struct session_token *t, struct blob *ret)
{
	struct cbor_writer w = cbor_write_begin(ret);

	cbor_put_map(&w, 6);
	cbor_put_version(&w, TOKEN_VERSION);
	cbor_put_int(&w, 2);
	cbor_put_uint(&w, 0, INT64_MAX, t->issued);
	cbor_put_int(&w, 3);
	cbor_put_uint(&w, 0, STAGE_MAX - 1, t->stage);
	cbor_put_int(&w, 4);
	cbor_put_copy(&w, t->nonce, NONCE_LEN);
	cbor_put_int(&w, 5);
	cbor_put_copy(&w, t->ak_name, AK_NAME_LEN);
	cbor_put_int(&w, 6);
	wire_selection_write(&w, &t->selection);
	return cbor_write_end(&w, PLAIN_MAX);
}

/* SHA-256 of something that need not be there: then it is empty. */
static enum reason digest_read(struct cursor *c, uint8_t ret[SHA256_LEN], bool *ret_has)
{
	struct bytes digest;

	TRY(cbor_bytes(c, 0, SHA256_LEN, &digest));
	*ret_has = digest.n != 0;
	if (!*ret_has)
		return R_OK;
	if (digest.n != SHA256_LEN)
		return R_FORMAT_RANGE;
	memcpy(ret, digest.p, SHA256_LEN);
	return R_OK;
}

/* [name, certificate digest or empty, SPKI digest, origin or empty, proof digest] */
static enum reason ek_read(struct cursor *c, struct enrol_token_ek *ret)
{
	struct bytes name;
	size_t parts;

	TRY(cbor_array(c, 5, 5, &parts));
	TRY(cbor_bytes(c, EK_NAME_MIN, EK_NAME_MAX, &name));
	memcpy(ret->name, name.p, name.n);
	ret->name_len = (uint32_t)name.n;
	TRY(digest_read(c, ret->certificate_digest, &ret->has_certificate));
	TRY(cbor_copy(c, ret->spki_digest, SHA256_LEN));
	TRY(digest_read(c, ret->origin, &ret->has_origin));
	return cbor_copy(c, ret->proof_digest, SHA256_LEN);
}

static void ek_write(struct cbor_writer *w, const struct enrol_token_ek *ek)
{
	size_t len = ek->name_len <= sizeof ek->name ? ek->name_len : 0;

	cbor_put_array(w, 5, 5, 5);
	cbor_put_bytes(w, EK_NAME_MIN, EK_NAME_MAX, bytes_of(ek->name, len));
	cbor_put_copy(w, ek->certificate_digest, ek->has_certificate ? SHA256_LEN : 0);
	cbor_put_copy(w, ek->spki_digest, SHA256_LEN);
	cbor_put_copy(w, ek->origin, ek->has_origin ? SHA256_LEN : 0);
	cbor_put_copy(w, ek->proof_digest, SHA256_LEN);
}

enum reason enrol_token_read(struct bytes in, struct enrol_token *ret)
{
	struct cursor c = cursor_of(in);
	struct enrol_token t;
	struct cbor_map map;

	memset(&t, 0, sizeof t);
	TRY(cbor_map_begin(&c, &map));
	TRY(cbor_key_version(&map, TOKEN_VERSION));
	TRY(cbor_key(&map, 2));
	TRY(cbor_uint(&c, 0, INT64_MAX, &t.issued));
	TRY(cbor_key(&map, 3));
	TRY(cbor_copy(&c, t.nonce, NONCE_LEN));
	TRY(cbor_key(&map, 4));
	TRY(cbor_copy(&c, t.ak_name, AK_NAME_LEN));
	TRY(cbor_key(&map, 5));
	TRY(wire_selection_read(&c, &t.implemented));
	TRY(cbor_key(&map, 6));
	TRY(cbor_array(&c, 1, LIMIT_EKS, &t.ek_count));
	for (size_t i = 0; i < t.ek_count; i++)
		TRY(ek_read(&c, &t.ek[i]));
	TRY(cbor_map_end(&map));
	TRY(cursor_end(&c));
	*ret = t;
	return R_OK;
}

enum reason enrol_token_write(const struct enrol_token *t, struct blob *ret)
{
	struct cbor_writer w = cbor_write_begin(ret);

	cbor_put_map(&w, 6);
	cbor_put_version(&w, TOKEN_VERSION);
	cbor_put_int(&w, 2);
	cbor_put_uint(&w, 0, INT64_MAX, t->issued);
	cbor_put_int(&w, 3);
	cbor_put_copy(&w, t->nonce, NONCE_LEN);
	cbor_put_int(&w, 4);
	cbor_put_copy(&w, t->ak_name, AK_NAME_LEN);
	cbor_put_int(&w, 5);
	wire_selection_write(&w, &t->implemented);
	cbor_put_int(&w, 6);
	cbor_put_array(&w, 1, LIMIT_EKS, t->ek_count);
	for (size_t i = 0; i < t->ek_count && i < LIMIT_EKS; i++)
		ek_write(&w, &t->ek[i]);
	return cbor_write_end(&w, PLAIN_MAX);
}
