/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

static void test_hex(void **state)
{
	static const uint8_t in[] = { 0x00, 0x0f, 0xa5, 0xff };
	char text[9];
	uint8_t out[4];

	(void)state;
	hex_encode(BYTES(in), text);
	assert_string_equal(text, "000fa5ff");
	assert_ok(hex_decode(bytes_str(text), out, 4));
	assert_memory_equal(out, in, 4);
	hex_encode(BYTES_NONE, text);
	assert_string_equal(text, "");
	assert_ok(hex_decode(bytes_str(""), out, 0));
}

static void test_hex_refusals(void **state)
{
	/* one canonical form only (T27) */
	static const char *const bad[] = {
		"0x0fa5", "000FA5FF", "000fa5f", "000fa5ff0", "000fa5f ", " 00fa5ff",
		"000fa5", "000fa5ff00", "000fa5fg", "", "00:f:5ff",
	};
	uint8_t out[4] = { 7, 7, 7, 7 };
	size_t n = 99;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		assert_reason(R_FORMAT_TEXT, hex_decode(bytes_str(bad[i]), out, 4));
	assert_reason(R_FORMAT_TEXT, hex_decode_upto(bytes_str("abc"), out, 4, &n));
	assert_reason(R_FORMAT_TEXT, hex_decode_upto(bytes_str("ab0G"), out, 4, &n));
	assert_reason(R_FORMAT_TOO_LARGE, hex_decode_upto(bytes_str("0011223344"), out, 4, &n));
	/* written only on success */
	assert_int_equal(out[0], 7);
	assert_int_equal(n, 99);
	assert_ok(hex_decode_upto(bytes_str("0a0b"), out, 4, &n));
	assert_int_equal(n, 2);
	assert_int_equal(out[1], 0x0b);
	assert_int_equal(out[2], 7);
}

static void test_printable(void **state)
{
	(void)state;
	assert_true(text_printable(bytes_str("")));
	assert_true(text_printable(bytes_str(" ~azAZ09\\\"")));
	assert_false(text_printable(bytes_str("a\nb")));
	assert_false(text_printable(bytes_str("\x1b[2J")));
	assert_false(text_printable(bytes_str("caf\xc3\xa9")));
	assert_false(text_printable(bytes_str("\x7f")));
	assert_false(text_printable(bytes_of("a\0b", 3)));
}

static void test_escape(void **state)
{
	char out[64];

	(void)state;
	assert_true(text_escape(bytes_str("plain text"), out, sizeof(out)));
	assert_string_equal(out, "plain text");
	assert_true(text_escape(bytes_of("\x1b[2J\\\n\0\xff~", 9), out, sizeof(out)));
	assert_string_equal(out, "\\x1b[2J\\x5c\\x0a\\x00\\xff~");
	assert_true(text_escape(BYTES_NONE, out, 1));
	assert_string_equal(out, "");
}

static void test_escape_cut(void **state)
{
	char out[8];

	(void)state;
	assert_true(text_escape(bytes_str("1234567"), out, sizeof(out)));
	assert_false(text_escape(bytes_str("12345678"), out, sizeof(out)));
	assert_string_equal(out, "1234567");
	/* never half an escape */
	assert_false(text_escape(bytes_str("1234\n"), out, sizeof(out)));
	assert_string_equal(out, "1234");
	assert_true(text_escape(bytes_str("123\n"), out, sizeof(out)));
	assert_string_equal(out, "123\\x0a");
	assert_false(text_escape(bytes_str("x"), out, 1));
	assert_string_equal(out, "");
}

static void test_u64(void **state)
{
	uint64_t v = 5;

	(void)state;
	assert_ok(text_u64(bytes_str("0"), 10, &v));
	assert_int_equal(v, 0);
	assert_ok(text_u64(bytes_str("10"), 10, &v));
	assert_int_equal(v, 10);
	assert_ok(text_u64(bytes_str("18446744073709551615"), UINT64_MAX, &v));
	assert_true(v == UINT64_MAX);
	assert_reason(R_FORMAT_RANGE, text_u64(bytes_str("18446744073709551616"), UINT64_MAX, &v));
	assert_reason(R_FORMAT_RANGE, text_u64(bytes_str("99999999999999999999"), UINT64_MAX, &v));
	assert_reason(R_FORMAT_RANGE, text_u64(bytes_str("11"), 10, &v));
	assert_reason(R_FORMAT_TEXT, text_u64(bytes_str(""), 10, &v));
	assert_reason(R_FORMAT_TEXT, text_u64(bytes_str("01"), 10, &v));
	assert_reason(R_FORMAT_TEXT, text_u64(bytes_str("-1"), 10, &v));
	assert_reason(R_FORMAT_TEXT, text_u64(bytes_str("+1"), 10, &v));
	assert_reason(R_FORMAT_TEXT, text_u64(bytes_str("1 "), 10, &v));
	assert_reason(R_FORMAT_TEXT, text_u64(bytes_str("0x1"), 10, &v));
	assert_true(v == UINT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hex),
		cmocka_unit_test(test_hex_refusals),
		cmocka_unit_test(test_printable),
		cmocka_unit_test(test_escape),
		cmocka_unit_test(test_escape_cut),
		cmocka_unit_test(test_u64),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
