/* SPDX-License-Identifier: Apache-2.0 */
#include "format/evidence.h"

#include <string.h>

#include "base/cleanup.h"
#include "format/wire.h"

#define DEVICE_KIND_MAX 64u

enum reason evidence_read(struct bytes in, struct evidence *ret)
{
	struct cursor c = cursor_of(in);
	struct evidence m;
	size_t parts;

	if (in.n > LIMIT_EVIDENCE)
		return R_FORMAT_TOO_LARGE;
	TRY(cbor_array(&c, 3, 3, &parts));
	TRY(cbor_bytes(&c, 1, LIMIT_CLAIMS, &m.claims));
	TRY(cbor_bytes(&c, 1, LIMIT_TPM_ATTEST, &m.quote));
	TRY(cbor_bytes(&c, 1, LIMIT_TPM_SIGNATURE, &m.signature));
	TRY(cursor_end(&c));
	*ret = m;
	return R_OK;
}

enum reason evidence_write(const struct evidence *m, struct blob *ret)
{
	struct cbor_writer w = cbor_write_begin(ret);

	cbor_put_array(&w, 3, 3, 3);
	cbor_put_bytes(&w, 1, LIMIT_CLAIMS, m->claims);
	cbor_put_bytes(&w, 1, LIMIT_TPM_ATTEST, m->quote);
	cbor_put_bytes(&w, 1, LIMIT_TPM_SIGNATURE, m->signature);
	return cbor_write_end(&w, LIMIT_EVIDENCE);
}

/* [* digest], each once. */
static enum reason ek_digests_read(struct cursor *c, struct claims *ret)
{
	TRY(cbor_array(c, 0, LIMIT_EKS, &ret->ek_digest_count));
	for (size_t i = 0; i < ret->ek_digest_count; i++) {
		TRY(cbor_copy(c, ret->ek_digest[i], SHA256_LEN));
		for (size_t j = 0; j < i; j++)
			if (memcmp(ret->ek_digest[j], ret->ek_digest[i], SHA256_LEN) == 0)
				return R_FORMAT_DUPLICATE;
	}
	return R_OK;
}

/* [* [kind, data]]; a kind may come more than once. */
static enum reason devices_read(struct cursor *c, struct claims *ret)
{
	size_t pair;

	TRY(cbor_array(c, 0, LIMIT_DEVICES, &ret->device_count));
	for (size_t i = 0; i < ret->device_count; i++) {
		TRY(cbor_array(c, 2, 2, &pair));
		TRY(cbor_text(c, 1, DEVICE_KIND_MAX, CHARSET_NAME, &ret->device[i].kind));
		TRY(cbor_bytes(c, 0, LIMIT_CLAIMS, &ret->device[i].data));
	}
	return R_OK;
}

/* [enrolment token, [+ [name, proof]]], each name once. */
static enum reason proofs_read(struct cursor *c, struct claims *ret)
{
	size_t pair;

	TRY(cbor_array(c, 2, 2, &pair));
	TRY(cbor_bytes(c, 1, LIMIT_TOKEN, &ret->enrol_token));
	TRY(cbor_array(c, 1, LIMIT_EKS, &ret->proof_count));
	for (size_t i = 0; i < ret->proof_count; i++) {
		struct enrol_proof_item *one = &ret->proof[i];

		TRY(cbor_array(c, 2, 2, &pair));
		TRY(cbor_bytes(c, EK_NAME_MIN, EK_NAME_MAX, &one->ek_name));
		TRY(cbor_copy(c, one->proof, SHA256_LEN));
		for (size_t j = 0; j < i; j++)
			if (bytes_equal(ret->proof[j].ek_name, one->ek_name))
				return R_FORMAT_DUPLICATE;
	}
	return R_OK;
}

static enum reason cnf_read(struct cursor *c, struct claims *ret)
{
	size_t pair;

	TRY(cbor_array(c, 2, 2, &pair));
	TRY(cbor_copy(c, ret->cnf_x, sizeof ret->cnf_x));
	TRY(cbor_copy(c, ret->cnf_y, sizeof ret->cnf_y));
	return R_OK;
}

static enum reason claims_map_read(struct cursor *c, struct cbor_map *map, struct claims *ret)
{
	bool found;
	uint32_t stage;

	TRY(cbor_key_version(map, PROTOCOL_VERSION));
	TRY(cbor_key(map, 2));
	TRY(cbor_u32(c, 0, STAGE_MAX - 1, &stage));
	ret->stage = (enum stage)stage;
	TRY(cbor_key(map, 3));
	TRY(cbor_bytes(c, 1, LIMIT_TOKEN, &ret->token));
	TRY(cbor_key(map, 4));
	TRY(cbor_copy(c, ret->nonce, NONCE_LEN));
	TRY(cbor_key(map, 5));
	TRY(cbor_bytes(c, 1, LIMIT_TPM_PUBLIC, &ret->ak_public));
	TRY(cbor_key(map, 6));
	TRY(ek_digests_read(c, ret));
	TRY(cbor_key(map, 7));
	TRY(cbor_bytes(c, 0, LIMIT_FIRMWARE_LOG, &ret->firmware_log));
	TRY(cbor_key(map, 8));
	TRY(cbor_bytes(c, 0, LIMIT_GATE_LOG, &ret->gate_log));
	TRY(cbor_key(map, 9));
	TRY(wire_values_read(c, &ret->values));
	TRY(cbor_key(map, 10));
	TRY(cbor_bytes(c, 0, LIMIT_REPORT, &ret->report));
	TRY(cbor_key(map, 11));
	TRY(devices_read(c, ret));
	TRY(cbor_key_optional(map, 12, &found));
	if (found)
		TRY(proofs_read(c, ret));
	TRY(cbor_key_optional(map, 13, &ret->has_cnf));
	if (ret->has_cnf)
		TRY(cnf_read(c, ret));
	return R_OK;
}

/* Fills *ret in place, for it is large: what it holds after a refusal is void. */
enum reason claims_read(struct bytes in, struct claims *ret)
{
	struct cursor c = cursor_of(in);
	struct cbor_map map;

	if (in.n > LIMIT_CLAIMS)
		return R_FORMAT_TOO_LARGE;
	memset(ret, 0, sizeof *ret);
	TRY(cbor_map_begin(&c, &map));
	TRY(claims_map_read(&c, &map, ret));
	TRY(cbor_map_end(&map));
	return cursor_end(&c);
}

static void ek_digests_write(struct cbor_writer *w, const struct claims *m)
{
	cbor_put_array(w, 0, LIMIT_EKS, m->ek_digest_count);
	for (size_t i = 0; i < m->ek_digest_count && i < LIMIT_EKS; i++)
		cbor_put_copy(w, m->ek_digest[i], SHA256_LEN);
}

static void devices_write(struct cbor_writer *w, const struct claims *m)
{
	cbor_put_array(w, 0, LIMIT_DEVICES, m->device_count);
	for (size_t i = 0; i < m->device_count && i < LIMIT_DEVICES; i++) {
		cbor_put_array(w, 2, 2, 2);
		cbor_put_text(w, 1, DEVICE_KIND_MAX, CHARSET_NAME, m->device[i].kind);
		cbor_put_bytes(w, 0, LIMIT_CLAIMS, m->device[i].data);
	}
}

static void proofs_write(struct cbor_writer *w, const struct claims *m)
{
	cbor_put_array(w, 2, 2, 2);
	cbor_put_bytes(w, 1, LIMIT_TOKEN, m->enrol_token);
	cbor_put_array(w, 1, LIMIT_EKS, m->proof_count);
	for (size_t i = 0; i < m->proof_count && i < LIMIT_EKS; i++) {
		cbor_put_array(w, 2, 2, 2);
		cbor_put_bytes(w, EK_NAME_MIN, EK_NAME_MAX, m->proof[i].ek_name);
		cbor_put_copy(w, m->proof[i].proof, SHA256_LEN);
	}
}

enum reason claims_write(const struct claims *m, struct blob *ret)
{
	struct cbor_writer w = cbor_write_begin(ret);
	bool enrolling = m->enrol_token.n > 0;

	cbor_put_map(&w, 11u + enrolling + m->has_cnf);
	cbor_put_version(&w, PROTOCOL_VERSION);
	cbor_put_int(&w, 2);
	cbor_put_uint(&w, 0, STAGE_MAX - 1, m->stage);
	cbor_put_int(&w, 3);
	cbor_put_bytes(&w, 1, LIMIT_TOKEN, m->token);
	cbor_put_int(&w, 4);
	cbor_put_copy(&w, m->nonce, NONCE_LEN);
	cbor_put_int(&w, 5);
	cbor_put_bytes(&w, 1, LIMIT_TPM_PUBLIC, m->ak_public);
	cbor_put_int(&w, 6);
	ek_digests_write(&w, m);
	cbor_put_int(&w, 7);
	cbor_put_bytes(&w, 0, LIMIT_FIRMWARE_LOG, m->firmware_log);
	cbor_put_int(&w, 8);
	cbor_put_bytes(&w, 0, LIMIT_GATE_LOG, m->gate_log);
	cbor_put_int(&w, 9);
	wire_values_write(&w, &m->values);
	cbor_put_int(&w, 10);
	cbor_put_bytes(&w, 0, LIMIT_REPORT, m->report);
	cbor_put_int(&w, 11);
	devices_write(&w, m);
	if (enrolling) {
		cbor_put_int(&w, 12);
		proofs_write(&w, m);
	}
	if (m->has_cnf) {
		cbor_put_int(&w, 13);
		cbor_put_array(&w, 2, 2, 2);
		cbor_put_copy(&w, m->cnf_x, sizeof m->cnf_x);
		cbor_put_copy(&w, m->cnf_y, sizeof m->cnf_y);
	}
	return cbor_write_end(&w, LIMIT_CLAIMS);
}

/* Fills *ret in place, for it is large: what it holds after a refusal is void. */
enum reason receipt_read(struct bytes in, struct receipt *ret)
{
	struct cursor c = cursor_of(in);
	struct cbor_map map;

	if (in.n > LIMIT_RECEIPT)
		return R_FORMAT_TOO_LARGE;
	memset(ret, 0, sizeof *ret);
	TRY(cbor_map_begin(&c, &map));
	TRY(cbor_key_version(&map, PROTOCOL_VERSION));
	TRY(cbor_key(&map, 2));
	TRY(cbor_copy(&c, ret->verdict_digest, SHA256_LEN));
	TRY(cbor_key(&map, 3));
	TRY(cbor_copy(&c, ret->ak_name, AK_NAME_LEN));
	TRY(cbor_key(&map, 4));
	TRY(cbor_bytes(&c, 0, LIMIT_GATE_LOG, &ret->gate_log));
	TRY(cbor_key(&map, 5));
	TRY(wire_values_read(&c, &ret->values));
	TRY(cbor_map_end(&map));
	return cursor_end(&c);
}

enum reason receipt_write(const struct receipt *m, struct blob *ret)
{
	struct cbor_writer w = cbor_write_begin(ret);

	cbor_put_map(&w, 5);
	cbor_put_version(&w, PROTOCOL_VERSION);
	cbor_put_int(&w, 2);
	cbor_put_copy(&w, m->verdict_digest, SHA256_LEN);
	cbor_put_int(&w, 3);
	cbor_put_copy(&w, m->ak_name, AK_NAME_LEN);
	cbor_put_int(&w, 4);
	cbor_put_bytes(&w, 0, LIMIT_GATE_LOG, m->gate_log);
	cbor_put_int(&w, 5);
	wire_values_write(&w, &m->values);
	return cbor_write_end(&w, LIMIT_RECEIPT);
}

enum reason receipt_ack_read(struct bytes in, uint8_t ret[SHA256_LEN])
{
	struct cursor c = cursor_of(in);
	struct cbor_map map;
	uint8_t digest[SHA256_LEN];

	TRY(cbor_map_begin(&c, &map));
	TRY(cbor_key_version(&map, PROTOCOL_VERSION));
	TRY(cbor_key(&map, 2));
	TRY(cbor_copy(&c, digest, SHA256_LEN));
	TRY(cbor_map_end(&map));
	TRY(cursor_end(&c));
	memcpy(ret, digest, SHA256_LEN);
	return R_OK;
}

enum reason receipt_ack_write(const uint8_t verdict_digest[SHA256_LEN], struct blob *ret)
{
	struct cbor_writer w = cbor_write_begin(ret);

	cbor_put_map(&w, 2);
	cbor_put_version(&w, PROTOCOL_VERSION);
	cbor_put_int(&w, 2);
	cbor_put_copy(&w, verdict_digest, SHA256_LEN);
	return cbor_write_end(&w, LIMIT_CHALLENGE);
}
