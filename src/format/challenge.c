/* SPDX-License-Identifier: Apache-2.0 */
#include "format/challenge.h"

#include <string.h>

#include "base/cleanup.h"
#include "format/wire.h"

#define CHALLENGE_LIFETIME_MAX 3600u
/* What a TPM2B_ID_OBJECT and a TPM2B_ENCRYPTED_SECRET may take. */
#define CREDENTIAL_MAX 640u

enum reason challenge_request_read(struct bytes in, struct challenge_request *ret)
{
	struct cursor c = cursor_of(in);
	struct challenge_request m;
	struct cbor_map map;
	uint32_t stage;

	if (in.n > LIMIT_CHALLENGE)
		return R_FORMAT_TOO_LARGE;
	TRY(cbor_map_begin(&c, &map));
	TRY(cbor_key_version(&map, PROTOCOL_VERSION));
	TRY(cbor_key(&map, 2));
	TRY(cbor_u32(&c, 0, STAGE_MAX - 1, &stage));
	m.stage = (enum stage)stage;
	TRY(cbor_key(&map, 3));
	TRY(cbor_copy(&c, m.ak_name, AK_NAME_LEN));
	TRY(cbor_map_end(&map));
	TRY(cursor_end(&c));
	*ret = m;
	return R_OK;
}

enum reason challenge_request_write(const struct challenge_request *m, struct blob *ret)
{
	struct cbor_writer w = cbor_write_begin(ret);

	cbor_put_map(&w, 3);
	cbor_put_version(&w, PROTOCOL_VERSION);
	cbor_put_int(&w, 2);
	cbor_put_uint(&w, 0, STAGE_MAX - 1, m->stage);
	cbor_put_int(&w, 3);
	cbor_put_copy(&w, m->ak_name, AK_NAME_LEN);
	return cbor_write_end(&w, LIMIT_CHALLENGE);
}

enum reason challenge_read(struct bytes in, struct challenge *ret)
{
	struct cursor c = cursor_of(in);
	struct challenge m;
	struct cbor_map map;
	bool offered;

	if (in.n > LIMIT_CHALLENGE)
		return R_FORMAT_TOO_LARGE;
	TRY(cbor_map_begin(&c, &map));
	TRY(cbor_key_version(&map, PROTOCOL_VERSION));
	TRY(cbor_key(&map, 2));
	TRY(cbor_copy(&c, m.nonce, NONCE_LEN));
	TRY(cbor_key(&map, 3));
	TRY(cbor_bytes(&c, 1, LIMIT_TOKEN, &m.token));
	TRY(cbor_key(&map, 4));
	TRY(wire_selection_read(&c, &m.selection));
	TRY(cbor_key(&map, 5));
	TRY(cbor_bool(&c, &m.enrol));
	TRY(cbor_key(&map, 6));
	TRY(cbor_u32(&c, 1, CHALLENGE_LIFETIME_MAX, &m.lifetime));
	m.offer = false;
	TRY(cbor_key_optional(&map, 7, &offered));
	if (offered) {
		TRY(cbor_bool(&c, &m.offer));
		/* Said in one way only, and not of what must enrol anyway. */
		if (!m.offer || m.enrol)
			return R_FORMAT_RANGE;
	}
	TRY(cbor_map_end(&map));
	TRY(cursor_end(&c));
	*ret = m;
	return R_OK;
}

enum reason challenge_write(const struct challenge *m, struct blob *ret)
{
	struct cbor_writer w = cbor_write_begin(ret);

	if (m->enrol && m->offer)
		return R_FORMAT_RANGE;
	cbor_put_map(&w, m->offer ? 7 : 6);
	cbor_put_version(&w, PROTOCOL_VERSION);
	cbor_put_int(&w, 2);
	cbor_put_copy(&w, m->nonce, NONCE_LEN);
	cbor_put_int(&w, 3);
	cbor_put_bytes(&w, 1, LIMIT_TOKEN, m->token);
	cbor_put_int(&w, 4);
	wire_selection_write(&w, &m->selection);
	cbor_put_int(&w, 5);
	cbor_put_bool(&w, m->enrol);
	cbor_put_int(&w, 6);
	cbor_put_uint(&w, 1, CHALLENGE_LIFETIME_MAX, m->lifetime);
	if (m->offer) {
		cbor_put_int(&w, 7);
		cbor_put_bool(&w, true);
	}
	return cbor_write_end(&w, LIMIT_CHALLENGE);
}

static enum reason eks_read(struct cursor *c, struct enrol_request *ret)
{
	size_t pair;

	TRY(cbor_array(c, 1, LIMIT_EKS, &ret->ek_count));
	for (size_t i = 0; i < ret->ek_count; i++) {
		TRY(cbor_array(c, 2, 2, &pair));
		TRY(cbor_bytes(c, 1, LIMIT_TPM_PUBLIC, &ret->ek[i].public_area));
		TRY(cbor_bytes(c, 0, LIMIT_EK_CERT, &ret->ek[i].certificate));
	}
	return R_OK;
}

static enum reason banks_read(struct cursor *c, struct enrol_banks *ret)
{
	size_t parts;

	TRY(cbor_array(c, 3, 3, &parts));
	TRY(cbor_bytes(c, 1, LIMIT_TPM_ATTEST, &ret->capability));
	TRY(cbor_bytes(c, 1, LIMIT_TPM_ATTEST, &ret->attest));
	TRY(cbor_bytes(c, 1, LIMIT_TPM_SIGNATURE, &ret->signature));
	return R_OK;
}

enum reason enrol_request_read(struct bytes in, struct enrol_request *ret)
{
	struct cursor c = cursor_of(in);
	struct enrol_request m;
	struct cbor_map map;

	if (in.n > LIMIT_ENROL)
		return R_FORMAT_TOO_LARGE;
	memset(&m, 0, sizeof m);
	TRY(cbor_map_begin(&c, &map));
	TRY(cbor_key_version(&map, PROTOCOL_VERSION));
	TRY(cbor_key(&map, 2));
	TRY(cbor_bytes(&c, 1, LIMIT_TOKEN, &m.token));
	TRY(cbor_key(&map, 3));
	TRY(cbor_bytes(&c, 1, LIMIT_TPM_PUBLIC, &m.ak_public));
	TRY(cbor_key(&map, 4));
	TRY(eks_read(&c, &m));
	TRY(cbor_key(&map, 5));
	TRY(banks_read(&c, &m.banks));
	TRY(cbor_key(&map, 6));
	TRY(cbor_bytes(&c, 0, LIMIT_EK_CHAIN, &m.chain));
	TRY(cbor_map_end(&map));
	TRY(cursor_end(&c));
	*ret = m;
	return R_OK;
}

enum reason enrol_request_write(const struct enrol_request *m, struct blob *ret)
{
	struct cbor_writer w = cbor_write_begin(ret);

	cbor_put_map(&w, 6);
	cbor_put_version(&w, PROTOCOL_VERSION);
	cbor_put_int(&w, 2);
	cbor_put_bytes(&w, 1, LIMIT_TOKEN, m->token);
	cbor_put_int(&w, 3);
	cbor_put_bytes(&w, 1, LIMIT_TPM_PUBLIC, m->ak_public);
	cbor_put_int(&w, 4);
	cbor_put_array(&w, 1, LIMIT_EKS, m->ek_count);
	for (size_t i = 0; i < m->ek_count && i < LIMIT_EKS; i++) {
		cbor_put_array(&w, 2, 2, 2);
		cbor_put_bytes(&w, 1, LIMIT_TPM_PUBLIC, m->ek[i].public_area);
		cbor_put_bytes(&w, 0, LIMIT_EK_CERT, m->ek[i].certificate);
	}
	cbor_put_int(&w, 5);
	cbor_put_array(&w, 3, 3, 3);
	cbor_put_bytes(&w, 1, LIMIT_TPM_ATTEST, m->banks.capability);
	cbor_put_bytes(&w, 1, LIMIT_TPM_ATTEST, m->banks.attest);
	cbor_put_bytes(&w, 1, LIMIT_TPM_SIGNATURE, m->banks.signature);
	cbor_put_int(&w, 6);
	cbor_put_bytes(&w, 0, LIMIT_EK_CHAIN, m->chain);
	return cbor_write_end(&w, LIMIT_ENROL);
}

static enum reason credentials_read(struct cursor *c, struct enrol_answer *ret)
{
	size_t parts;

	TRY(cbor_array(c, 1, LIMIT_EKS, &ret->credential_count));
	for (size_t i = 0; i < ret->credential_count; i++) {
		struct enrol_credential *one = &ret->credential[i];

		TRY(cbor_array(c, 3, 3, &parts));
		TRY(cbor_bytes(c, EK_NAME_MIN, EK_NAME_MAX, &one->ek_name));
		TRY(cbor_bytes(c, 2, CREDENTIAL_MAX, &one->id_object));
		TRY(cbor_bytes(c, 2, CREDENTIAL_MAX, &one->secret));
		for (size_t j = 0; j < i; j++)
			if (bytes_equal(ret->credential[j].ek_name, one->ek_name))
				return R_FORMAT_DUPLICATE;
	}
	return R_OK;
}

enum reason enrol_answer_read(struct bytes in, struct enrol_answer *ret)
{
	struct cursor c = cursor_of(in);
	struct enrol_answer m;
	struct cbor_map map;
	struct bytes challenge;

	if (in.n > LIMIT_ENROL)
		return R_FORMAT_TOO_LARGE;
	memset(&m, 0, sizeof m);
	TRY(cbor_map_begin(&c, &map));
	TRY(cbor_key_version(&map, PROTOCOL_VERSION));
	TRY(cbor_key(&map, 2));
	TRY(cbor_bytes(&c, 1, LIMIT_CHALLENGE, &challenge));
	TRY(challenge_read(challenge, &m.challenge));
	/* One that says "enrol first" again would make the gate go round. */
	if (m.challenge.enrol || m.challenge.offer)
		return R_FORMAT_RANGE;
	TRY(cbor_key(&map, 3));
	TRY(cbor_bytes(&c, 1, LIMIT_TOKEN, &m.token));
	TRY(cbor_key(&map, 4));
	TRY(credentials_read(&c, &m));
	TRY(cbor_map_end(&map));
	TRY(cursor_end(&c));
	*ret = m;
	return R_OK;
}

enum reason enrol_answer_write(const struct enrol_answer *m, struct blob *ret)
{
	_cleanup_(blob_free) struct blob challenge = BLOB(LIMIT_CHALLENGE);
	struct cbor_writer w = cbor_write_begin(ret);

	if (m->challenge.enrol || m->challenge.offer)
		return R_FORMAT_RANGE;
	TRY(challenge_write(&m->challenge, &challenge));
	cbor_put_map(&w, 4);
	cbor_put_version(&w, PROTOCOL_VERSION);
	cbor_put_int(&w, 2);
	cbor_put_bytes(&w, 1, LIMIT_CHALLENGE, blob_bytes(&challenge));
	cbor_put_int(&w, 3);
	cbor_put_bytes(&w, 1, LIMIT_TOKEN, m->token);
	cbor_put_int(&w, 4);
	cbor_put_array(&w, 1, LIMIT_EKS, m->credential_count);
	for (size_t i = 0; i < m->credential_count && i < LIMIT_EKS; i++) {
		const struct enrol_credential *one = &m->credential[i];

		cbor_put_array(&w, 3, 3, 3);
		cbor_put_bytes(&w, EK_NAME_MIN, EK_NAME_MAX, one->ek_name);
		cbor_put_bytes(&w, 2, CREDENTIAL_MAX, one->id_object);
		cbor_put_bytes(&w, 2, CREDENTIAL_MAX, one->secret);
	}
	return cbor_write_end(&w, LIMIT_ENROL);
}
