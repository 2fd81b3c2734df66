/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <stdio.h>

#include "format/unwrap.h"

static struct {
	char text[4096];
	size_t n;
	enum reason answer;
} got;

/* "b:HEX " or "o:JSON " */
static enum reason binary(void *context, struct bytes in)
{
	got.n++;
	strcat(got.text, "b:");
	if (in.n < 100)
		hex_encode(in, got.text + strlen(got.text));
	strcat(got.text, " ");
	return context ? R_FILE : R_OK;
}

static enum reason object(void *context, struct bytes json)
{
	got.n++;
	snprintf(got.text + strlen(got.text), sizeof(got.text) - strlen(got.text), "o:%.*s ",
		 (int)(json.n < 60 ? json.n : 60), (const char *)json.p);
	return context ? R_FILE : R_OK;
}

static const char *unwrapped(const char *text)
{
	const struct unwrap_sink sink = { binary, object, NULL };

	memset(&got, 0, sizeof(got));
	assert_ok(unwrap(bytes_str(text), &sink));
	return got.text;
}

/* 48 bytes 0x80.. in base64 */
#define B64 "gIGCg4SFhoeIiYqLjI2Oj5CRkpOUlZaXmJmam5ydnp+goaKjpKWmp6ipqqusra6v"
#define HEX "808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9f" \
	    "a0a1a2a3a4a5a6a7a8a9aaabacadaeaf"

static void test_forms(void **state)
{
	char text[1024];

	(void)state;
	assert_string_equal(unwrapped("\x01\x02"), "b:0102 ");
	assert_string_equal(unwrapped(HEX), "b:" HEX " ");
	assert_string_equal(unwrapped("0x80 81\n8A\n"), "b:80818a ");
	assert_string_equal(unwrapped(B64 "\n"), "b:" HEX " ");
	/* the other alphabet, without padding */
	assert_string_equal(unwrapped("_-A"), "b:ffe0 ");
	snprintf(text, sizeof(text), "words\n-----BEGIN X-----\n%.40s\n%s\n-----END X-----\n"
		 "-----BEGIN Y-----\ngIE=\n-----END Y-----\n", B64, B64 + 40);
	assert_string_equal(unwrapped(text), "b:8081 b:" HEX " ");
	assert_string_equal(unwrapped("-----BEGIN%20Y-----%0AgI%45=%0a-----END%20Y-----%"), "b:8081 ");
	assert_string_equal(unwrapped("-----BEGIN X-----\ngIE="), "");
	assert_string_equal(unwrapped("-----BEGIN X"), "");
	assert_string_equal(unwrapped("\x01-----BEGIN X-----\ngIE=\n-----END X-----\n"),
			    "b:012d2d2d2d2d424547494e20582d2d2d2d2d0a6749453d0a2d2d2d2d2d454e4420582d2d2d2d2d0a "
			    "b:8081 ");
	assert_string_equal(unwrapped("just words."), "");
	assert_string_equal(unwrapped(""), "b: ");
}

static void test_json(void **state)
{
	(void)state;
	assert_string_equal(unwrapped("{\"a\":{\"b\":1}}"), "o:{\"a\":{\"b\":1}} o:{\"b\":1} ");
	assert_string_equal(unwrapped("[\"" B64 "\",\"gIE=\"]"), "b:" HEX " ");
	/* JSON in a string of JSON */
	assert_string_equal(unwrapped("[\"{\\\"long enough, to be looked at, as a text of its own\\\":"
				      "  \\\"is\\\"}\"]"),
			    "o:{\"long enough, to be looked at, as a text of its own\":  \"is\" ");
}

/* Base64 of base64 of ... is followed so far and no further. */
static void test_levels(void **state)
{
	char text[4096] = B64, next[4096];
	static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	(void)state;
	for (size_t level = 1; level <= UNWRAP_LEVELS + 1; level++) {
		size_t n = 0;

		assert_string_equal(unwrapped(text), level <= UNWRAP_LEVELS ? "b:" HEX " " : "");
		for (size_t i = 0; i < strlen(text); i += 3) {
			uint32_t v = (uint32_t)(uint8_t)text[i] << 16;

			v |= (uint32_t)(uint8_t)text[i + 1] << 8;
			v |= text[i + 1] ? (uint32_t)(uint8_t)text[i + 2] : 0;
			for (int shift = 18; shift >= 0; shift -= 6)
				next[n++] = digit[v >> shift & 63];
		}
		/* 64 = 21 * 3 + 1: the last of them has two digits */
		if (strlen(text) % 3 == 1)
			memcpy(next + n - 2, "==", 2);
		else if (strlen(text) % 3 == 2)
			next[n - 1] = '=';
		next[n] = '\0';
		memcpy(text, next, n + 1);
	}
}

static void test_errors(void **state)
{
	const struct unwrap_sink sink = { binary, object, &got };
	static const char one[] = "-----BEGIN X-----\ngIE=\n-----END X-----\n";
	_cleanup_(blob_free) struct blob many = BLOB(1u << 20);

	(void)state;
	memset(&got, 0, sizeof(got));
	assert_reason(R_FILE, unwrap(bytes_str("\x01"), &sink));
	assert_reason(R_FILE, unwrap(bytes_str("{}"), &sink));
	assert_reason(R_FILE, unwrap(bytes_str("gIE="), &sink));
	for (size_t i = 0; i <= UNWRAP_ITEMS; i++)
		assert_ok(blob_append(&many, one, strlen(one)));
	assert_reason(R_FORMAT_TOO_LARGE, unwrap(blob_bytes(&many), &sink));
}

static void test_text(void **state)
{
	_cleanup_(blob_free) struct blob out = BLOB(0);

	(void)state;
	assert_reason(R_FORMAT_TEXT, unwrap_text(BYTES_NONE, &out));
	assert_reason(R_FORMAT_TEXT, unwrap_text(bytes_str("0x"), &out));
	assert_reason(R_FORMAT_TEXT, unwrap_text(bytes_str("\x80"), &out));
	assert_ok(unwrap_text(bytes_str("0xAb"), &out));
	assert_bytes(blob_bytes(&out), "\xab", 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_forms), cmocka_unit_test(test_json), cmocka_unit_test(test_levels),
		cmocka_unit_test(test_errors), cmocka_unit_test(test_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
