/* SPDX-License-Identifier: Apache-2.0 */
#include "message.h"

#include "format/cbor.h"

/* What a reader under test makes of these bytes, and how many it leaves. */
#define READ(digits, call)                                                    \
	({                                                                    \
		_cleanup_(blob_free) struct blob in_ = unhex(digits);         \
		struct cursor c = cursor_of(blob_bytes(&in_));                \
		size_t before_ = c.n;                                         \
		enum reason r_ = (call);                                      \
		/* a refusal leaves the cursor where it was */                \
		assert_true(r_ == R_OK || c.n == before_);                    \
		left = c.n;                                                   \
		r_;                                                           \
	})

static size_t left;

static void test_uint(void **state)
{
	static const struct {
		const char *digits;
		uint64_t value;
	} good[] = {
		{ "00", 0 }, { "17", 23 }, { "1818", 24 }, { "18ff", 255 },
		{ "190100", 256 }, { "19ffff", 65535 }, { "1a00010000", 65536 },
		{ "1affffffff", UINT32_MAX }, { "1b0000000100000000", 1ull << 32 },
		{ "1bffffffffffffffff", UINT64_MAX },
	};
	uint64_t v = 0;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(good); i++) {
		assert_ok(READ(good[i].digits, cbor_uint(&c, 0, UINT64_MAX, &v)));
		assert_true(v == good[i].value);
		assert_int_equal(left, 0);
	}
	v = 7;
	assert_reason(R_FORMAT_RANGE, READ("0a", cbor_uint(&c, 0, 9, &v)));
	assert_reason(R_FORMAT_RANGE, READ("0a", cbor_uint(&c, 11, 20, &v)));
	assert_true(v == 7);
}

static void test_not_shortest(void **state)
{
	static const char *const bad[] = {
		"1800", "1817", "190000", "1900ff", "1a00000000", "1a0000ffff",
		"1b0000000000000000", "1b00000000ffffffff",
	};
	static const char *const strings[] = { "580101", "59000101", "5a0000000101",
					       "5b000000000000000101" };
	struct bytes b;
	struct cbor_map m;
	uint64_t v;
	int64_t i64;
	size_t n;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		assert_reason(R_FORMAT_CANONICAL, READ(bad[i], cbor_uint(&c, 0, UINT64_MAX, &v)));
	for (size_t i = 0; i < ARRAY_LEN(strings); i++)
		assert_reason(R_FORMAT_CANONICAL, READ(strings[i], cbor_bytes(&c, 0, 99, &b)));
	assert_reason(R_FORMAT_CANONICAL, READ("3800", cbor_int(&c, -99, 99, &i64)));
	assert_reason(R_FORMAT_CANONICAL, READ("780161", cbor_text(&c, 0, 9, CHARSET_NAME, &b)));
	assert_reason(R_FORMAT_CANONICAL, READ("980101", cbor_array(&c, 0, 9, &n)));
	assert_reason(R_FORMAT_CANONICAL, READ("b8010101", cbor_map_begin(&c, &m)));
}

static void test_indefinite(void **state)
{
	struct bytes b;
	struct cbor_map m;
	size_t n;

	(void)state;
	assert_reason(R_FORMAT_CANONICAL, READ("5f4101ff", cbor_bytes(&c, 0, 9, &b)));
	assert_reason(R_FORMAT_CANONICAL, READ("7f6161ff", cbor_text(&c, 0, 9, CHARSET_NAME, &b)));
	assert_reason(R_FORMAT_CANONICAL, READ("9f01ff", cbor_array(&c, 0, 9, &n)));
	assert_reason(R_FORMAT_CANONICAL, READ("bf0101ff", cbor_map_begin(&c, &m)));
}

static void test_truncated(void **state)
{
	static const char *const bad[] = { "", "18", "19ff", "1a000100", "1b00000001000000" };
	struct bytes b;
	uint64_t v;
	uint8_t four[4];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		assert_reason(R_FORMAT_TRUNCATED, READ(bad[i], cbor_uint(&c, 0, UINT64_MAX, &v)));
	assert_reason(R_FORMAT_TRUNCATED, READ("44010203", cbor_bytes(&c, 0, 9, &b)));
	assert_reason(R_FORMAT_TRUNCATED, READ("44010203", cbor_copy(&c, four, 4)));
	assert_reason(R_FORMAT_TRUNCATED, READ("6461", cbor_text(&c, 0, 9, CHARSET_NAME, &b)));
	/* a length near 2^64 is refused for its bound, before it is added to anything */
	assert_reason(R_FORMAT_RANGE, READ("5bffffffffffffffff00", cbor_bytes(&c, 0, 99, &b)));
	assert_reason(R_FORMAT_TRUNCATED,
		      READ("5bffffffffffffffff00", cbor_bytes(&c, 0, SIZE_MAX, &b)));
}

static void test_types(void **state)
{
	/* float16, float32, float64, null, undefined, simple(99), tag, reserved, break */
	static const char *const never[] = { "f93c00", "fa3f800000", "fb3ff0000000000000", "f6",
					     "f7", "f863", "c101", "1c", "3d", "5e", "7c", "9d",
					     "bc", "dc", "fc", "ff", "1f", "3f", "df", "f800",
					     "f818" };
	struct bytes b;
	struct cbor_map m;
	uint32_t u32;
	uint64_t v;
	int64_t i64;
	size_t n;
	bool t;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(never); i++) {
		assert_reason(R_FORMAT_TYPE, READ(never[i], cbor_uint(&c, 0, UINT64_MAX, &v)));
		assert_reason(R_FORMAT_TYPE, READ(never[i], cbor_bytes(&c, 0, 9, &b)));
		assert_reason(R_FORMAT_TYPE, READ(never[i], cbor_map_begin(&c, &m)));
		assert_reason(R_FORMAT_TYPE, READ(never[i], cbor_bool(&c, &t)));
	}
	assert_reason(R_FORMAT_TYPE, READ("20", cbor_uint(&c, 0, 9, &v)));
	assert_reason(R_FORMAT_TYPE, READ("40", cbor_u32(&c, 0, 9, &u32)));
	assert_reason(R_FORMAT_TYPE, READ("40", cbor_int(&c, 0, 9, &i64)));
	assert_reason(R_FORMAT_TYPE, READ("60", cbor_bytes(&c, 0, 9, &b)));
	assert_reason(R_FORMAT_TYPE, READ("40", cbor_text(&c, 0, 9, CHARSET_NAME, &b)));
	assert_reason(R_FORMAT_TYPE, READ("a0", cbor_array(&c, 0, 9, &n)));
	assert_reason(R_FORMAT_TYPE, READ("80", cbor_map_begin(&c, &m)));
	assert_reason(R_FORMAT_TYPE, READ("01", cbor_bool(&c, &t)));
	assert_reason(R_FORMAT_TYPE, READ("12", cbor_tag(&c, 18)));
	assert_reason(R_FORMAT_RANGE, READ("d3", cbor_tag(&c, 18)));
	assert_ok(READ("d2", cbor_tag(&c, 18)));
	assert_ok(READ("d862", cbor_tag(&c, 98)));
	assert_reason(R_FORMAT_CANONICAL, READ("d812", cbor_tag(&c, 18)));
}

static void test_int(void **state)
{
	int64_t v = 0;

	(void)state;
	assert_ok(READ("20", cbor_int(&c, -1, 0, &v)));
	assert_int_equal(v, -1);
	assert_ok(READ("3a00011170", cbor_int(&c, INT64_MIN, INT64_MAX, &v)));
	assert_int_equal(v, -70001);
	assert_ok(READ("3b7fffffffffffffff", cbor_int(&c, INT64_MIN, INT64_MAX, &v)));
	assert_true(v == INT64_MIN);
	assert_ok(READ("1b7fffffffffffffff", cbor_int(&c, INT64_MIN, INT64_MAX, &v)));
	assert_true(v == INT64_MAX);
	assert_reason(R_FORMAT_RANGE,
		      READ("3b8000000000000000", cbor_int(&c, INT64_MIN, INT64_MAX, &v)));
	assert_reason(R_FORMAT_RANGE,
		      READ("1b8000000000000000", cbor_int(&c, INT64_MIN, INT64_MAX, &v)));
	assert_reason(R_FORMAT_RANGE, READ("21", cbor_int(&c, -1, 5, &v)));
	assert_reason(R_FORMAT_RANGE, READ("06", cbor_int(&c, -1, 5, &v)));
}

static void test_strings(void **state)
{
	struct bytes b = BYTES_NONE;
	char text[5] = "....";
	uint8_t two[2] = { 0, 0 };
	bool t = false;
	uint32_t u32 = 0;
	size_t n = 0;

	(void)state;
	assert_ok(READ("43010203ff", cbor_bytes(&c, 3, 3, &b)));
	assert_int_equal(left, 1);
	assert_int_equal(b.n, 3);
	assert_reason(R_FORMAT_RANGE, READ("43010203", cbor_bytes(&c, 4, 9, &b)));
	assert_reason(R_FORMAT_RANGE, READ("43010203", cbor_bytes(&c, 0, 2, &b)));
	assert_ok(READ("420102", cbor_copy(&c, two, 2)));
	assert_int_equal(two[1], 2);
	assert_ok(READ("40", cbor_copy(&c, two, 0)));
	assert_reason(R_FORMAT_RANGE, READ("4101", cbor_copy(&c, two, 2)));
	assert_ok(READ("6461626364", cbor_string(&c, 1, sizeof text, CHARSET_LABEL, text)));
	assert_string_equal(text, "abcd");
	assert_reason(R_FORMAT_RANGE,
		      READ("656162636465", cbor_string(&c, 1, sizeof text, CHARSET_LABEL, text)));
	assert_reason(R_FORMAT_RANGE, READ("60", cbor_string(&c, 1, sizeof text, CHARSET_LABEL, text)));
	assert_ok(READ("60", cbor_string(&c, 0, sizeof text, CHARSET_LABEL, text)));
	assert_string_equal(text, "");
	assert_ok(READ("f4", cbor_bool(&c, &t)));
	assert_false(t);
	assert_ok(READ("f5", cbor_bool(&c, &t)));
	assert_true(t);
	assert_ok(READ("1affffffff", cbor_u32(&c, 1, UINT32_MAX, &u32)));
	assert_int_equal(u32, UINT32_MAX);
	assert_ok(READ("83", cbor_array(&c, 3, 3, &n)));
	assert_int_equal(n, 3);
	assert_reason(R_FORMAT_RANGE, READ("84", cbor_array(&c, 3, 3, &n)));
	assert_reason(R_FORMAT_RANGE, READ("82", cbor_array(&c, 3, 3, &n)));
}

static void test_charsets(void **state)
{
	struct bytes b;

	(void)state;
	assert_ok(READ("63612e2d", cbor_text(&c, 0, 9, CHARSET_NAME, &b)));
	assert_reason(R_FORMAT_TEXT, READ("63612e2d", cbor_text(&c, 0, 9, CHARSET_LABEL, &b)));
	assert_reason(R_FORMAT_TEXT, READ("6141", cbor_text(&c, 0, 9, CHARSET_NAME, &b)));
	assert_reason(R_FORMAT_TEXT, READ("6120", cbor_text(&c, 0, 9, CHARSET_NAME, &b)));
	assert_ok(READ("62207e", cbor_text(&c, 0, 9, CHARSET_PRINTABLE, &b)));
	assert_reason(R_FORMAT_TEXT, READ("6100", cbor_text(&c, 0, 9, CHARSET_PRINTABLE, &b)));
	assert_reason(R_FORMAT_TEXT, READ("611b", cbor_text(&c, 0, 9, CHARSET_PRINTABLE, &b)));
	assert_reason(R_FORMAT_TEXT, READ("617f", cbor_text(&c, 0, 9, CHARSET_PRINTABLE, &b)));
	/* not even correct UTF-8 */
	assert_reason(R_FORMAT_TEXT, READ("62c3a9", cbor_text(&c, 0, 9, CHARSET_PRINTABLE, &b)));
}

/* {1: 5, ? 2: uint, -1: bool} */
static enum reason map_read(struct cursor *c, bool *ret_two)
{
	struct cbor_map m;
	uint64_t v;
	bool t;

	TRY(cbor_map_begin(c, &m));
	TRY(cbor_key(&m, 1));
	TRY(cbor_uint(c, 5, 5, &v));
	TRY(cbor_key_optional(&m, 2, ret_two));
	if (*ret_two)
		TRY(cbor_uint(c, 0, 9, &v));
	TRY(cbor_key(&m, -1));
	TRY(cbor_bool(c, &t));
	TRY(cbor_map_end(&m));
	return cursor_end(c);
}

static enum reason map_of(const char *digits)
{
	_cleanup_(blob_free) struct blob in = unhex(digits);
	struct cursor c = cursor_of(blob_bytes(&in));
	bool two;

	return map_read(&c, &two);
}

static void test_map(void **state)
{
	(void)state;
	assert_ok(map_of("a2010520f5"));
	assert_ok(map_of("a30105020320f5"));
	assert_reason(R_FORMAT_TRAILING, map_of("a2010520f500"));
	assert_reason(R_FORMAT_TRUNCATED, map_of("a20105"));
	assert_reason(R_FORMAT_TRUNCATED, map_of("a2010562"));
	assert_reason(R_FORMAT_MISSING_KEY, map_of("a0"));
	assert_reason(R_FORMAT_MISSING_KEY, map_of("a10105"));
	assert_reason(R_FORMAT_MISSING_KEY, map_of("a120f5"));
	assert_reason(R_FORMAT_MISSING_KEY, map_of("a201050203"));
	assert_reason(R_FORMAT_UNKNOWN_KEY, map_of("a20001010520f5"));
	assert_reason(R_FORMAT_UNKNOWN_KEY, map_of("a3010503ff20f5"));
	assert_reason(R_FORMAT_UNKNOWN_KEY, map_of("a3010520f52100"));
	assert_reason(R_FORMAT_UNKNOWN_KEY, map_of("a3010520f5616100"));
	assert_reason(R_FORMAT_DUPLICATE, map_of("a30105010520f5"));
	assert_reason(R_FORMAT_DUPLICATE, map_of("a3010520f520f5"));
	assert_reason(R_FORMAT_CANONICAL, map_of("a30105000020f5"));
	assert_reason(R_FORMAT_CANONICAL, map_of("a3010520f50203"));
	assert_reason(R_FORMAT_CANONICAL, map_of("a218010520f5"));
	/* keys of other types */
	assert_reason(R_FORMAT_TYPE, map_of("a241010520f5"));
	assert_reason(R_FORMAT_TYPE, map_of("a280010520f5"));
	assert_reason(R_FORMAT_TYPE, map_of("a2f5010520f5"));
	/* a map that claims 2^64 - 1 pairs reads no further than the input */
	assert_reason(R_FORMAT_TRUNCATED, map_of("bbffffffffffffffff010520f5"));
}

static void test_map_of_names(void **state)
{
	static const char in[] = "\xa2\x61" "a\x01\x62" "aa\x02\x00";
	struct cursor c = cursor_of(bytes_of(in, 9));
	struct cbor_map m;
	char name[4];
	uint64_t v = 0;

	(void)state;
	assert_ok(cbor_map_begin(&c, &m));
	assert_ok(cbor_key_text(&m, 1, sizeof name, CHARSET_LABEL, name));
	assert_string_equal(name, "a");
	assert_ok(cbor_uint(&c, 1, 1, &v));
	assert_ok(cbor_key_text(&m, 1, sizeof name, CHARSET_LABEL, name));
	assert_string_equal(name, "aa");
	assert_ok(cbor_uint(&c, 2, 2, &v));
	assert_ok(cbor_map_end(&m));
	assert_reason(R_FORMAT_MISSING_KEY,
		      cbor_key_text(&m, 1, sizeof name, CHARSET_LABEL, name));
	assert_reason(R_FORMAT_MISSING_KEY, cbor_key_uint(&m, 9, &v));
	assert_int_equal(c.n, 1);
}

static enum reason one_name(const char *digits)
{
	_cleanup_(blob_free) struct blob in = unhex(digits);
	struct cursor c = cursor_of(blob_bytes(&in));
	struct cbor_map m;
	char name[4];

	TRY(cbor_map_begin(&c, &m));
	return cbor_key_text(&m, 1, sizeof name, CHARSET_LABEL, name);
}

static enum reason one_number(const char *digits)
{
	_cleanup_(blob_free) struct blob in = unhex(digits);
	struct cursor c = cursor_of(blob_bytes(&in));
	struct cbor_map m;
	uint64_t v;

	TRY(cbor_map_begin(&c, &m));
	return cbor_key_uint(&m, 9, &v);
}

static void test_open_keys(void **state)
{
	(void)state;
	assert_ok(one_name("a1616100"));
	assert_reason(R_FORMAT_RANGE, one_name("a16461616161"));
	assert_reason(R_FORMAT_RANGE, one_name("a160"));
	assert_reason(R_FORMAT_TEXT, one_name("a16141"));
	assert_reason(R_FORMAT_TYPE, one_name("a101"));
	assert_reason(R_FORMAT_TRUNCATED, one_name("a16361"));
	assert_reason(R_FORMAT_TRUNCATED, one_name("a1"));
	assert_ok(one_number("a109"));
	assert_reason(R_FORMAT_RANGE, one_number("a10a"));
	assert_reason(R_FORMAT_TYPE, one_number("a16161"));
	assert_reason(R_FORMAT_TYPE, one_number("a120"));
}

static void test_named_key(void **state)
{
	static const char in[] = "\xa1\x64name\x01";
	struct cursor c = cursor_of(bytes_of(in, 7));
	char too_long[80];
	struct cbor_map m;

	(void)state;
	memset(too_long, 'a', sizeof too_long);
	too_long[79] = '\0';
	assert_ok(cbor_map_begin(&c, &m));
	assert_reason(R_INTERNAL, cbor_key_named(&m, too_long));
	assert_reason(R_FORMAT_MISSING_KEY, cbor_key_named(&m, "namd"));
	assert_reason(R_FORMAT_UNKNOWN_KEY, cbor_key_named(&m, "namf"));
	assert_ok(cbor_key_named(&m, "name"));
	assert_reason(R_FORMAT_MISSING_KEY, cbor_key_named(&m, "name"));
}

static enum reason version_of(const char *digits)
{
	_cleanup_(blob_free) struct blob in = unhex(digits);
	struct cursor c = cursor_of(blob_bytes(&in));
	struct cbor_map m;

	TRY(cbor_map_begin(&c, &m));
	return cbor_key_version(&m, 1);
}

static void test_version(void **state)
{
	(void)state;
	assert_ok(version_of("a10101"));
	assert_reason(R_FORMAT_VERSION, version_of("a10102"));
	assert_reason(R_FORMAT_VERSION, version_of("a10100"));
	assert_reason(R_FORMAT_TYPE, version_of("a1016131"));
	assert_reason(R_FORMAT_MISSING_KEY, version_of("a10202"));
}

/* Shapes that the fuzzer starts from. */
static void test_seeds(void **state)
{
	static const struct {
		const char *name, *digits;
	} seeds[] = {
		{ "message", "a201010209" },
		{ "keys", "a6016161182a20203a00011170f56161012063746167f463746168ff" },
		{ "map", "a50101182a213a0001117043010203637461674401020304626161f4" },
		{ "nested", "d28381820102a10180a16161d28100f5" },
		{ "deep", "81818181818181818100" },
		{ "numbers", "8a0018181903e81a000f42401b000000e8d4a510001bffffffffffffffff"
			     "201903e93903e73bffffffffffffffff" },
		{ "strings", "86404401020304456162636465606361622d782020202020202020202020"
			     "20202020202020202020202020202020202020202020" },
		{ "indefinite", "9f01ff" },
		{ "floats", "83f93c00fa3f800000fb3ff0000000000000" },
		{ "long", "1817" },
		{ "names", "676174747075636e31" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(seeds); i++) {
		_cleanup_(blob_free) struct blob b = unhex(seeds[i].digits);

		seed("cbor", seeds[i].name, blob_bytes(&b));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_uint),
		cmocka_unit_test(test_not_shortest),
		cmocka_unit_test(test_indefinite),
		cmocka_unit_test(test_truncated),
		cmocka_unit_test(test_types),
		cmocka_unit_test(test_int),
		cmocka_unit_test(test_strings),
		cmocka_unit_test(test_charsets),
		cmocka_unit_test(test_map),
		cmocka_unit_test(test_map_of_names),
		cmocka_unit_test(test_open_keys),
		cmocka_unit_test(test_named_key),
		cmocka_unit_test(test_version),
		cmocka_unit_test(test_seeds),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
