/* SPDX-License-Identifier: Apache-2.0 */
#include "message.h"

#include "format/challenge.h"

static const uint8_t token[100] = { 1, 2, 3 };
static uint8_t area[3000];

#define REWRITE(name, type)                                                   \
	static enum reason name(struct bytes in, struct blob *out)            \
	{                                                                     \
		struct type m;                                                \
		TRY(type##_read(in, &m));                                     \
		return type##_write(&m, out);                                 \
	}
REWRITE(request_again, challenge_request)
REWRITE(challenge_again, challenge)
REWRITE(enrol_again, enrol_request)
REWRITE(answer_again, enrol_answer)

static struct challenge challenge_sample(void)
{
	struct challenge m = {
		.token = BYTES(token),
		.selection = { 2, { { ALG_SHA256, 0xfbff }, { ALG_SHA1, 0 } } },
		.enrol = true,
		.lifetime = 120,
	};

	fill(m.nonce, sizeof m.nonce, 7);
	return m;
}

static void test_request(void **state)
{
	_cleanup_(blob_free) struct blob b = BLOB(LIMIT_CHALLENGE);
	struct challenge_request m = { .stage = STAGE_CVM }, again;

	(void)state;
	fill(m.ak_name, sizeof m.ak_name, 1);
	assert_ok(challenge_request_write(&m, &b));
	assert_ok(challenge_request_read(blob_bytes(&b), &again));
	assert_int_equal(again.stage, STAGE_CVM);
	assert_memory_equal(again.ak_name, m.ak_name, AK_NAME_LEN);
	message_check(request_again, blob_bytes(&b));
	message_map_check(request_again, blob_bytes(&b), 0);
	seed("challenge", "request", blob_bytes(&b));

	/* a version of later days */
	b.p[2] = PROTOCOL_VERSION + 1;
	assert_reason(R_FORMAT_VERSION, challenge_request_read(blob_bytes(&b), &again));
	b.p[2] = PROTOCOL_VERSION;
	b.p[4] = STAGE_MAX;
	assert_reason(R_FORMAT_RANGE, challenge_request_read(blob_bytes(&b), &again));
	m.stage = STAGE_MAX;
	assert_reason(R_FORMAT_RANGE, challenge_request_write(&m, &b));
}

static void test_challenge(void **state)
{
	_cleanup_(blob_free) struct blob b = BLOB(LIMIT_CHALLENGE);
	struct challenge m = challenge_sample(), again;

	(void)state;
	assert_ok(challenge_write(&m, &b));
	assert_ok(challenge_read(blob_bytes(&b), &again));
	assert_memory_equal(again.nonce, m.nonce, NONCE_LEN);
	assert_bytes(again.token, token, sizeof token);
	assert_int_equal(again.selection.count, 2);
	assert_int_equal(again.selection.bank[0].alg, ALG_SHA256);
	assert_int_equal(again.selection.bank[0].mask, 0xfbff);
	assert_int_equal(again.selection.bank[1].alg, ALG_SHA1);
	assert_int_equal(again.selection.bank[1].mask, 0);
	assert_true(again.enrol);
	assert_int_equal(again.lifetime, 120);
	message_check(challenge_again, blob_bytes(&b));
	message_map_check(challenge_again, blob_bytes(&b), 0);
	seed("challenge", "challenge", blob_bytes(&b));
	struct bytes pair[PAIRS_MAX];
	assert_int_equal(pairs_of(blob_bytes(&b), pair), 6);
	seed("wire", "selection", bytes_of(pair[3].p + 1, pair[3].n - 1));
}

/* A key that is there for an offer only, and for one that is meant. */
static void test_challenge_offer(void **state)
{
	_cleanup_(blob_free) struct blob b = BLOB(LIMIT_CHALLENGE);
	struct challenge m = challenge_sample(), again;

	(void)state;
	m.offer = true;
	assert_reason(R_FORMAT_RANGE, challenge_write(&m, &b));
	m.enrol = false;
	assert_ok(challenge_write(&m, &b));
	assert_ok(challenge_read(blob_bytes(&b), &again));
	assert_true(again.offer);
	assert_false(again.enrol);
	message_check(challenge_again, blob_bytes(&b));
	message_map_check(challenge_again, blob_bytes(&b), 1u << 6);
	seed("challenge", "challenge-offer", blob_bytes(&b));
	b.p[b.n - 1] = 0xf4;
	assert_reason(R_FORMAT_RANGE, challenge_read(blob_bytes(&b), &again));
	b.p[b.n - 1] = 0xf5;
	find(&b, "\x05\xf4\x06\x18\x78", 5)[1] = 0xf5;
	assert_reason(R_FORMAT_RANGE, challenge_read(blob_bytes(&b), &again));
}

/* Writers refuse what readers would; both have the same bounds. */
static void test_challenge_bounds(void **state)
{
	_cleanup_(blob_free) struct blob b = BLOB(LIMIT_CHALLENGE + 1);
	struct challenge m = challenge_sample();

	(void)state;
	m.lifetime = 0;
	assert_reason(R_FORMAT_RANGE, challenge_write(&m, &b));
	m.lifetime = 3601;
	assert_reason(R_FORMAT_RANGE, challenge_write(&m, &b));
	m = challenge_sample();
	m.token.n = 0;
	assert_reason(R_FORMAT_RANGE, challenge_write(&m, &b));
	m.token = bytes_of(area, LIMIT_TOKEN + 1);
	assert_reason(R_FORMAT_RANGE, challenge_write(&m, &b));
	m = challenge_sample();
	m.selection.count = 0;
	assert_reason(R_FORMAT_RANGE, challenge_write(&m, &b));
	m.selection.count = LIMIT_BANKS + 1;
	assert_reason(R_FORMAT_RANGE, challenge_write(&m, &b));
	m = challenge_sample();
	m.selection.bank[0].mask = PCR_ALL + 1;
	assert_reason(R_FORMAT_RANGE, challenge_write(&m, &b));
	m = challenge_sample();
	m.selection.bank[0].alg = 0;
	assert_reason(R_FORMAT_RANGE, challenge_write(&m, &b));
	assert_int_equal(b.n, 0);
}

static void test_selection_refusals(void **state)
{
	_cleanup_(blob_free) struct blob b = BLOB(LIMIT_CHALLENGE);
	struct challenge m = challenge_sample();

	(void)state;
	m.selection.bank[1].alg = ALG_SHA256;
	assert_ok(challenge_write(&m, &b));
	assert_reason(R_FORMAT_DUPLICATE, challenge_read(blob_bytes(&b), &m));

	/* 24 bits are all there are */
	blob_reset(&b);
	m = challenge_sample();
	m.selection.bank[0].mask = PCR_ALL;
	assert_ok(challenge_write(&m, &b));
	find(&b, "\x1a\x00\xff\xff\xff", 5)[1] = 0x01;
	assert_reason(R_FORMAT_RANGE, challenge_read(blob_bytes(&b), &m));
}

static void test_too_large(void **state)
{
	_cleanup_(blob_free) struct blob b = BLOB(LIMIT_ENROL + 1);
	struct challenge_request request;
	struct challenge challenge;
	struct enrol_request enrol;
	struct enrol_answer answer;
	uint8_t *p;

	(void)state;
	assert_ok(blob_extend(&b, LIMIT_ENROL + 1, &p));
	memset(p, 0, b.n);
	assert_reason(R_FORMAT_TOO_LARGE, enrol_request_read(blob_bytes(&b), &enrol));
	assert_reason(R_FORMAT_TOO_LARGE, enrol_answer_read(blob_bytes(&b), &answer));
	b.n = LIMIT_CHALLENGE + 1;
	assert_reason(R_FORMAT_TOO_LARGE, challenge_request_read(blob_bytes(&b), &request));
	assert_reason(R_FORMAT_TOO_LARGE, challenge_read(blob_bytes(&b), &challenge));
}

static struct enrol_request enrol_sample(void)
{
	return (struct enrol_request){
		.token = BYTES(token),
		.ak_public = bytes_of("public", 6),
		.ek_count = 2,
		.ek = { { bytes_of("ek-rsa", 6), bytes_of("certificate", 11) },
			{ bytes_of("ek-ecc", 6), BYTES_NONE } },
		.banks = { bytes_of("capability", 10), bytes_of("attest", 6),
			   bytes_of("signature", 9) },
		.chain = bytes_of("chain", 5),
	};
}

static void test_enrol_request(void **state)
{
	_cleanup_(blob_free) struct blob b = BLOB(LIMIT_ENROL);
	struct enrol_request m = enrol_sample(), again;

	(void)state;
	assert_ok(enrol_request_write(&m, &b));
	assert_ok(enrol_request_read(blob_bytes(&b), &again));
	assert_int_equal(again.ek_count, 2);
	assert_bytes(again.ek[0].certificate, "certificate", 11);
	assert_bytes(again.ek[1].public_area, "ek-ecc", 6);
	assert_int_equal(again.ek[1].certificate.n, 0);
	assert_bytes(again.banks.capability, "capability", 10);
	assert_bytes(again.banks.attest, "attest", 6);
	assert_bytes(again.banks.signature, "signature", 9);
	assert_bytes(again.chain, "chain", 5);
	assert_bytes(again.ak_public, "public", 6);
	message_check(enrol_again, blob_bytes(&b));
	message_map_check(enrol_again, blob_bytes(&b), 0);
	seed("challenge", "enrol-request", blob_bytes(&b));
}

static void test_enrol_bounds(void **state)
{
	_cleanup_(blob_free) struct blob b = BLOB(2 * LIMIT_ENROL);
	static uint8_t large[LIMIT_EK_CERT + 1];
	struct enrol_request m = enrol_sample();

	(void)state;
	m.ek_count = 0;
	assert_reason(R_FORMAT_RANGE, enrol_request_write(&m, &b));
	m.ek_count = LIMIT_EKS + 1;
	assert_reason(R_FORMAT_RANGE, enrol_request_write(&m, &b));
	m = enrol_sample();
	m.ek[0].certificate = BYTES(large);
	assert_reason(R_FORMAT_RANGE, enrol_request_write(&m, &b));
	/* each part within its bounds, the whole not */
	m.ek_count = LIMIT_EKS;
	for (size_t i = 0; i < LIMIT_EKS; i++)
		m.ek[i] = (struct enrol_ek){ bytes_of("public", 6),
					     bytes_of(large, LIMIT_EK_CERT) };
	assert_reason(R_FORMAT_TOO_LARGE, enrol_request_write(&m, &b));
	assert_int_equal(b.n, 0);
}

static struct enrol_answer answer_sample(void)
{
	static uint8_t rsa[34], ecc[50];
	struct enrol_answer m = {
		.challenge = challenge_sample(),
		.token = BYTES(token),
		.credential_count = 2,
		.credential = { { BYTES(rsa), bytes_of("id", 2), bytes_of("secret", 6) },
				{ BYTES(ecc), bytes_of("id2", 3), bytes_of("secret2", 7) } },
	};

	m.challenge.enrol = false;
	fill(rsa, sizeof rsa, 1);
	fill(ecc, sizeof ecc, 2);
	return m;
}

static void test_enrol_answer(void **state)
{
	_cleanup_(blob_free) struct blob b = BLOB(LIMIT_ENROL);
	struct enrol_answer m = answer_sample(), again;

	(void)state;
	assert_ok(enrol_answer_write(&m, &b));
	assert_ok(enrol_answer_read(blob_bytes(&b), &again));
	assert_int_equal(again.challenge.lifetime, 120);
	assert_int_equal(again.credential_count, 2);
	assert_int_equal(again.credential[1].ek_name.n, 50);
	assert_bytes(again.credential[1].id_object, "id2", 3);
	assert_bytes(again.credential[0].secret, "secret", 6);
	assert_bytes(again.token, token, sizeof token);
	message_check(answer_again, blob_bytes(&b));
	message_map_check(answer_again, blob_bytes(&b), 0);
	seed("challenge", "enrol-answer", blob_bytes(&b));
}

static void test_answer_refusals(void **state)
{
	_cleanup_(blob_free) struct blob b = BLOB(LIMIT_ENROL), bad = BLOB(LIMIT_ENROL);
	struct enrol_answer m = answer_sample();

	(void)state;
	m.credential[1].ek_name = m.credential[0].ek_name;
	assert_ok(enrol_answer_write(&m, &b));
	assert_reason(R_FORMAT_DUPLICATE, enrol_answer_read(blob_bytes(&b), &m));
	seed("challenge", "enrol-answer-twice", blob_bytes(&b));

	/* "enrol first" once more would send the gate round in a circle */
	m = answer_sample();
	m.challenge.enrol = true;
	assert_reason(R_FORMAT_RANGE, enrol_answer_write(&m, &b));
	m.challenge.enrol = false;
	m.challenge.offer = true;
	assert_reason(R_FORMAT_RANGE, enrol_answer_write(&m, &b));
	m.challenge.offer = false;
	blob_reset(&b);
	assert_ok(enrol_answer_write(&m, &b));
	find(&b, "\x05\xf4\x06\x18\x78", 5)[1] = 0xf5;
	assert_reason(R_FORMAT_RANGE, enrol_answer_read(blob_bytes(&b), &m));
	seed("challenge", "enrol-answer-again", blob_bytes(&b));

	/* what is wrong inside is told as what it is */
	find(&b, "\x05\xf5\x06\x18\x78", 5)[1] = 0xf6;
	assert_reason(R_FORMAT_TYPE, enrol_answer_read(blob_bytes(&b), &m));
	m = answer_sample();
	m.challenge.lifetime = 0;
	assert_reason(R_FORMAT_RANGE, enrol_answer_write(&m, &bad));
	m = answer_sample();
	m.credential[0].ek_name.n = EK_NAME_MIN - 1;
	assert_reason(R_FORMAT_RANGE, enrol_answer_write(&m, &bad));
	assert_int_equal(bad.n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_request),
		cmocka_unit_test(test_challenge),
		cmocka_unit_test(test_challenge_offer),
		cmocka_unit_test(test_challenge_bounds),
		cmocka_unit_test(test_selection_refusals),
		cmocka_unit_test(test_too_large),
		cmocka_unit_test(test_enrol_request),
		cmocka_unit_test(test_enrol_bounds),
		cmocka_unit_test(test_enrol_answer),
		cmocka_unit_test(test_answer_refusals),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
