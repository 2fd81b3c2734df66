/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "format/der.h"

static enum reason next(const char *hex, uint8_t *tag, struct bytes *value)
{
	struct blob in = unhex(hex);
	struct cursor c = cursor_of(blob_bytes(&in));
	enum reason r = der_next(&c, tag, value);

	assert_true(r == R_OK || c.n == in.n);
	blob_free(&in);
	return r;
}

static void test_next(void **state)
{
	struct bytes value;
	uint8_t tag;

	(void)state;
	assert_ok(next("0203010203", &tag, &value));
	assert_int_equal(tag, DER_INTEGER);
	assert_int_equal(value.n, 3);
	assert_ok(next("3000", &tag, &value));
	assert_reason(R_FORMAT_TRUNCATED, next("", &tag, &value));
	assert_reason(R_FORMAT_TRUNCATED, next("02", &tag, &value));
	assert_reason(R_FORMAT_TRUNCATED, next("020301", &tag, &value));
	assert_reason(R_FORMAT_TRUNCATED, next("0482", &tag, &value));
	assert_reason(R_FORMAT_TYPE, next("1f0100", &tag, &value));
	/* indefinite, too long, leading zero, not shortest */
	assert_reason(R_FORMAT_CANONICAL, next("30800000", &tag, &value));
	assert_reason(R_FORMAT_CANONICAL, next("0484000000010a", &tag, &value));
	assert_reason(R_FORMAT_CANONICAL, next("0482000101", &tag, &value));
	assert_reason(R_FORMAT_CANONICAL, next("04810101", &tag, &value));
}

static void test_long(void **state)
{
	static uint8_t in[4 + 300] = { DER_OCTETS, 0x82, 0x01, 0x2c };
	struct cursor c = cursor_of(BYTES(in));
	struct bytes value;

	(void)state;
	assert_reason(R_FORMAT_TYPE, der_take(&c, DER_SEQUENCE, &value));
	assert_ok(der_take(&c, DER_OCTETS, &value));
	assert_int_equal(value.n, 300);
	assert_ok(cursor_end(&c));
}

static void test_numbers(void **state)
{
	static const struct {
		const char *hex;
		enum reason want;
		uint32_t value;
	} cases[] = {
		{ "020100", R_OK, 0 },		   { "02017f", R_OK, 127 },
		{ "02020080", R_OK, 128 },	   { "020500ffffffff", R_OK, UINT32_MAX },
		{ "020180", R_FORMAT_RANGE, 0 },   { "0200", R_FORMAT_RANGE, 0 },
		{ "0206000000000001", R_FORMAT_RANGE, 0 }, { "02050100000000", R_FORMAT_RANGE, 0 },
		{ "02020001", R_FORMAT_CANONICAL, 0 }, { "0a0101", R_FORMAT_TYPE, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct blob in = unhex(cases[i].hex);
		struct cursor c = cursor_of(blob_bytes(&in));
		uint32_t v = 0;

		assert_reason(cases[i].want, der_u32(&c, DER_INTEGER, UINT32_MAX, &v));
		assert_int_equal(v, cases[i].value);
		blob_free(&in);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_next),
		cmocka_unit_test(test_long),
		cmocka_unit_test(test_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
