/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <stdio.h>

#include "format/jview.h"

static struct bytes doc(const char *text)
{
	struct bytes v;

	assert_ok(jview_read(bytes_str(text), &v));
	return v;
}

static void test_documents(void **state)
{
	static const struct {
		const char *text;
		enum reason want;
	} cases[] = {
		{ "{}", R_OK },			    { " [ ] \r\n\t", R_OK },
		{ "{\"a\":1,\"b\":[1,2,{}]}", R_OK }, { "[[],[[]],\"\\\"]\"]", R_OK },
		{ "true", R_OK },		    { "\"x\"", R_OK },
		{ "", R_FORMAT_TRUNCATED },	    { "{", R_FORMAT_TRUNCATED },
		{ "[1", R_FORMAT_TRUNCATED },	    { "\"a", R_FORMAT_TRUNCATED },
		{ "\"a\\\"", R_FORMAT_TRUNCATED },  { "[1,", R_FORMAT_TRUNCATED },
		{ "[1 2]", R_FORMAT_TEXT },	    { "{\"a\" 1}", R_FORMAT_TEXT },
		{ "{a:1}", R_FORMAT_TEXT },	    { "[1,]", R_FORMAT_TEXT },
		{ "[1}", R_FORMAT_TEXT },	    { "\"\n\"", R_FORMAT_TEXT },
		{ "{\"a\":}", R_FORMAT_TEXT },	    { "1 1", R_FORMAT_TRAILING },
		{ "{}{}", R_FORMAT_TRAILING },	    { "{\"a\":1,}", R_FORMAT_TEXT },
	};
	char deep[2 * JVIEW_DEPTH_MAX + 3] = "";
	struct bytes v;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		assert_reason(cases[i].want, jview_read(bytes_str(cases[i].text), &v));
	memset(deep, '[', JVIEW_DEPTH_MAX + 1);
	memset(deep + JVIEW_DEPTH_MAX + 1, ']', JVIEW_DEPTH_MAX + 1);
	assert_reason(R_FORMAT_TOO_LARGE, jview_read(bytes_str(deep), &v));
	assert_ok(jview_read(bytes_of(deep + 1, 2 * JVIEW_DEPTH_MAX), &v));
}

static void test_members(void **state)
{
	struct bytes o = doc(" {\"a\" : {\"b\":[ ] , \"c\":\"x\"} , \"n\":12, \"a2\":1, \"a2\":2}"), v, in;
	struct jview_iterator it;
	size_t n = 0;

	(void)state;
	assert_ok(jview_member(o, "a", &v));
	/* exactly the bytes that it stands in */
	assert_bytes(v, "{\"b\":[ ] , \"c\":\"x\"}", 19);
	assert_true(jview_is_object(v));
	assert_ok(jview_member(v, "b", &in));
	assert_true(jview_is_array(in));
	assert_false(jview_first(in, &it));
	assert_reason(R_FORMAT_MISSING_KEY, jview_member(o, "b", &v));
	assert_reason(R_FORMAT_DUPLICATE, jview_member(o, "a2", &v));
	assert_reason(R_FORMAT_TYPE, jview_member(in, "a", &v));
	assert_ok(jview_member(o, "n", &v));
	assert_false(jview_first(v, &it));
	for (bool more = jview_first(o, &it); more; more = jview_next(&it))
		n++;
	assert_int_equal(n, 4);
	assert_false(jview_first(doc("{}"), &it));
}

static void test_values(void **state)
{
	_cleanup_(blob_free) struct blob text = BLOB(64);
	struct bytes v;
	uint8_t two[2];
	uint32_t u;

	(void)state;
	assert_ok(jview_string(doc("\"a\\n\\t\\\"\\\\\\/\\b\\f\\r\\u0041\""), &text));
	assert_bytes(blob_bytes(&text), "a\n\t\"\\/\b\f\rA", 10);
	assert_reason(R_FORMAT_TEXT, jview_string(doc("\"\\x\""), &text));
	assert_reason(R_FORMAT_TEXT, jview_string(doc("\"\\u00e4\""), &text));
	assert_reason(R_FORMAT_TEXT, jview_string(doc("\"\\u0g00\""), &text));
	assert_reason(R_FORMAT_TRUNCATED, jview_string(doc("\"\\u00\""), &text));
	assert_reason(R_FORMAT_TYPE, jview_string(doc("1"), &text));
	assert_ok(jview_plain(doc("\"x\""), &v));
	assert_bytes(v, "x", 1);
	assert_reason(R_FORMAT_TYPE, jview_plain(doc("\"\\n\""), &v));
	assert_reason(R_FORMAT_TYPE, jview_plain(doc("1"), &v));
	assert_ok(jview_u32(doc("12"), 12, &u));
	assert_int_equal(u, 12);
	assert_reason(R_FORMAT_RANGE, jview_u32(doc("13"), 12, &u));
	assert_reason(R_FORMAT_TYPE, jview_u32(doc("-1"), 12, &u));
	assert_reason(R_FORMAT_TEXT, jview_u32(doc("1.5"), 12, &u));
	assert_reason(R_FORMAT_TYPE, jview_u32(doc("\"1\""), 12, &u));
	assert_ok(jview_hex(doc("\"aBcD\""), two, 2));
	assert_memory_equal(two, "\xab\xcd", 2);
	assert_reason(R_FORMAT_TEXT, jview_hex(doc("\"aBc\""), two, 2));
	assert_reason(R_FORMAT_TEXT, jview_hex(doc("\"aBcg\""), two, 2));
	assert_reason(R_FORMAT_TYPE, jview_hex(doc("7"), two, 2));
}

static void test_scan(void **state)
{
	struct bytes rest = doc("[1,{\"k\":{\"s\":\"v\"}},\"{}\",[{}]]"), v;
	char seen[128] = "";

	(void)state;
	while (jview_scan(&rest, &v))
		snprintf(seen + strlen(seen), sizeof(seen) - strlen(seen), "%.*s|", (int)v.n, (const char *)v.p);
	assert_string_equal(seen, "{\"k\":{\"s\":\"v\"}}|\"k\"|{\"s\":\"v\"}|\"s\"|\"v\"|\"{}\"|{}|");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_documents),
		cmocka_unit_test(test_members),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_scan),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
