/* SPDX-License-Identifier: Apache-2.0 */
#include "message.h"

#include "crypto/aead.h"
#include "format/token.h"

static enum reason session_again(struct bytes in, struct blob *out)
{
	struct session_token t;

	TRY(session_token_read(in, &t));
	return session_token_write(&t, out);
}

static enum reason enrol_again(struct bytes in, struct blob *out)
{
	struct enrol_token t;

	TRY(enrol_token_read(in, &t));
	return enrol_token_write(&t, out);
}

static void test_session(void **state)
{
	_cleanup_(blob_free) struct blob b = BLOB(LIMIT_TOKEN);
	struct session_token t = {
		.issued = 1767225600,
		.stage = STAGE_HOST,
		.selection = { 1, { { ALG_SHA256, 0xfbff } } },
	}, again;

	(void)state;
	fill(t.nonce, sizeof t.nonce, 1);
	fill(t.ak_name, sizeof t.ak_name, 2);
	assert_ok(session_token_write(&t, &b));
	assert_ok(session_token_read(blob_bytes(&b), &again));
	assert_true(again.issued == t.issued);
	assert_int_equal(again.stage, STAGE_HOST);
	assert_memory_equal(again.nonce, t.nonce, NONCE_LEN);
	assert_memory_equal(again.ak_name, t.ak_name, AK_NAME_LEN);
	assert_int_equal(again.selection.count, 1);
	assert_int_equal(again.selection.bank[0].mask, 0xfbff);
	message_check(session_again, blob_bytes(&b));
	message_map_check(session_again, blob_bytes(&b), 0);
	seed("token", "session", blob_bytes(&b));
	b.p[2] = 2;
	assert_reason(R_FORMAT_VERSION, session_token_read(blob_bytes(&b), &again));
	t.issued = UINT64_MAX;
	assert_reason(R_FORMAT_RANGE, session_token_write(&t, &b));
}

static struct enrol_token enrol_sample(size_t eks)
{
	struct enrol_token t = {
		.issued = 1767225600,
		.implemented = { 2, { { ALG_SHA1, 0 }, { ALG_SHA256, PCR_ALL } } },
		.ek_count = eks,
	};

	fill(t.nonce, sizeof t.nonce, 1);
	fill(t.ak_name, sizeof t.ak_name, 2);
	for (size_t i = 0; i < eks; i++) {
		t.ek[i].name_len = i == 0 ? EK_NAME_MIN : EK_NAME_MAX;
		fill(t.ek[i].name, t.ek[i].name_len, (uint8_t)i);
		t.ek[i].has_certificate = i != 1;
		if (t.ek[i].has_certificate)
			fill(t.ek[i].certificate_digest, SHA256_LEN, 4);
		fill(t.ek[i].spki_digest, SHA256_LEN, 5);
		t.ek[i].has_origin = i != 1;
		if (t.ek[i].has_origin)
			fill(t.ek[i].origin, SHA256_LEN, 7);
		fill(t.ek[i].proof_digest, SHA256_LEN, 6);
	}
	return t;
}

static void test_enrol(void **state)
{
	_cleanup_(blob_free) struct blob b = BLOB(LIMIT_TOKEN);
	struct enrol_token t = enrol_sample(2), again;

	(void)state;
	assert_ok(enrol_token_write(&t, &b));
	assert_ok(enrol_token_read(blob_bytes(&b), &again));
	assert_memory_equal(again.nonce, t.nonce, NONCE_LEN);
	assert_int_equal(again.ek_count, 2);
	assert_int_equal(again.ek[1].name_len, EK_NAME_MAX);
	assert_memory_equal(again.ek[1].name, t.ek[1].name, EK_NAME_MAX);
	assert_true(again.ek[0].has_certificate && !again.ek[1].has_certificate);
	assert_memory_equal(again.ek[0].certificate_digest, t.ek[0].certificate_digest, SHA256_LEN);
	assert_true(again.ek[0].has_origin && !again.ek[1].has_origin);
	assert_memory_equal(again.ek[0].origin, t.ek[0].origin, SHA256_LEN);
	assert_memory_equal(again.ek[1].spki_digest, t.ek[1].spki_digest, SHA256_LEN);
	assert_memory_equal(again.ek[1].proof_digest, t.ek[1].proof_digest, SHA256_LEN);
	assert_int_equal(again.implemented.bank[1].mask, PCR_ALL);
	message_check(enrol_again, blob_bytes(&b));
	message_map_check(enrol_again, blob_bytes(&b), 0);
	seed("token", "enrol", blob_bytes(&b));
	/* one kind of token is never taken for the other */
	assert_reason(R_FORMAT_TYPE, session_token_read(blob_bytes(&b), &(struct session_token){ 0 }));
}

static void test_enrol_refusals(void **state)
{
	_cleanup_(blob_free) struct blob b = BLOB(LIMIT_TOKEN);
	struct enrol_token t = enrol_sample(2);

	(void)state;
	t.ek_count = 0;
	assert_reason(R_FORMAT_RANGE, enrol_token_write(&t, &b));
	t.ek_count = LIMIT_EKS + 1;
	assert_reason(R_FORMAT_RANGE, enrol_token_write(&t, &b));
	t = enrol_sample(2);
	t.ek[0].name_len = EK_NAME_MAX + 1;
	assert_reason(R_FORMAT_RANGE, enrol_token_write(&t, &b));
	t = enrol_sample(1);
	assert_ok(enrol_token_write(&t, &b));
	/* a certificate digest of 31 bytes: the proof takes the one that is over */
	uint8_t *p = find(&b, "\x58\x20\x04\x05", 4);
	p[1] = 0x1f;
	assert_reason(R_FORMAT_RANGE, enrol_token_read(blob_bytes(&b), &t));
}

/* The most EKs that a gate may offer, sealed, are one token still. */
static void test_largest(void **state)
{
	_cleanup_(blob_free) struct blob b = BLOB(LIMIT_TOKEN);
	struct enrol_token t = enrol_sample(LIMIT_EKS);

	(void)state;
	t.ek[0].name_len = EK_NAME_MAX;
	t.ek[1].has_certificate = t.ek[1].has_origin = true;
	t.issued = INT64_MAX;
	t.implemented.count = LIMIT_BANKS;
	for (size_t i = 0; i < LIMIT_BANKS; i++)
		t.implemented.bank[i] = (struct pcr_select){ (uint16_t)(0xff00 + i), PCR_ALL };
	assert_ok(enrol_token_write(&t, &b));
	assert_in_range(b.n + AEAD_OVERHEAD, 0, LIMIT_TOKEN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_session),
		cmocka_unit_test(test_enrol),
		cmocka_unit_test(test_enrol_refusals),
		cmocka_unit_test(test_largest),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
