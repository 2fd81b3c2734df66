/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "format/charset.h"
#include "format/protocol.h"

static void test_names(void **state)
{
	enum purpose p = PURPOSE_MAX;

	(void)state;
	assert_string_equal(stage_name(STAGE_GATE), "gate");
	assert_string_equal(stage_name(STAGE_HOST), "host");
	assert_string_equal(stage_name(STAGE_CVM), "cvm");
	assert_string_equal(stage_name(STAGE_MAX), "unknown");
	assert_string_equal(directive_name(DIRECTIVE_ADMIT), "admit");
	assert_string_equal(directive_name(DIRECTIVE_UPDATE), "update");
	assert_string_equal(directive_name(DIRECTIVE_HOLD), "hold");
	assert_string_equal(directive_name(DIRECTIVE_REFUSE), "refuse");
	assert_string_equal(directive_name(DIRECTIVE_MAX), "unknown");
	assert_string_equal(purpose_name(PURPOSE_MAX), "unknown");
	for (unsigned i = 0; i < PURPOSE_MAX; i++) {
		assert_true(purpose_find(purpose_name((enum purpose)i), &p));
		assert_int_equal(p, i);
	}
	assert_false(purpose_find("unknown", &p));
	assert_false(purpose_find("", &p));
}

/* Independent of the code: printf TAG | cat - bound digest | sha256sum. */
static void test_qualifying(void **state)
{
	_cleanup_(blob_free) struct blob want = unhex(
		"c5411cd50d4bb1336041a8097eaf8f450d0c5a035034298962ecab45f3f80907");
	uint8_t bound[SHA256_LEN], got[SHA256_LEN], other[SHA256_LEN];

	(void)state;
	memset(bound, 0x11, sizeof bound);
	assert_ok(quote_qualifying(QUOTE_EVIDENCE, bound, bytes_of("claims", 6), got));
	assert_memory_equal(got, want.p, SHA256_LEN);

	/* no two domains, nonces or claims give the same */
	static const enum quote_domain domains[] = { QUOTE_RECEIPT, QUOTE_CONTINUITY, QUOTE_BANKS };
	for (size_t i = 0; i < ARRAY_LEN(domains); i++) {
		assert_ok(quote_qualifying(domains[i], bound, bytes_of("claims", 6), other));
		assert_memory_not_equal(got, other, SHA256_LEN);
	}
	assert_ok(quote_qualifying(QUOTE_EVIDENCE, bound, bytes_of("claimt", 6), other));
	assert_memory_not_equal(got, other, SHA256_LEN);
	bound[31] ^= 1;
	assert_ok(quote_qualifying(QUOTE_EVIDENCE, bound, bytes_of("claims", 6), other));
	assert_memory_not_equal(got, other, SHA256_LEN);
}

static void test_proof(void **state)
{
	_cleanup_(blob_free) struct blob want = unhex(
		"94657a6408f1f0414aa3332c93838868e1c83529324975d76bace0a054f3f639");
	uint8_t nonce[NONCE_LEN], got[SHA256_LEN];

	(void)state;
	memset(nonce, 0x22, sizeof nonce);
	assert_ok(enrol_proof(bytes_of("secret", 6), nonce, got));
	assert_memory_equal(got, want.p, SHA256_LEN);
}

static void test_charset(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 256; i++) {
		uint8_t c = (uint8_t)i;
		struct bytes b = { &c, 1 };
		bool label = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';

		assert_int_equal(charset_has(CHARSET_PRINTABLE, b), c >= ' ' && c <= '~');
		assert_int_equal(charset_has(CHARSET_LABEL, b), label);
		assert_int_equal(charset_has(CHARSET_NAME, b), label || c == '.');
	}
	assert_true(charset_has(CHARSET_LABEL, BYTES_NONE));
	assert_false(charset_has(CHARSET_LABEL, bytes_of("ab.c", 4)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_qualifying),
		cmocka_unit_test(test_proof),
		cmocka_unit_test(test_charset),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
