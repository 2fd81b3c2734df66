/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "base/base64.h"

static const struct {
	const char *plain, *text;
} vectors[] = {
	/* RFC 4648 section 10 */
	{ "", "" }, { "f", "Zg==" }, { "fo", "Zm8=" }, { "foo", "Zm9v" },
	{ "foob", "Zm9vYg==" }, { "fooba", "Zm9vYmE=" }, { "foobar", "Zm9vYmFy" },
};

static void test_vectors(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(vectors); i++) {
		_cleanup_(blob_free) struct blob text = BLOB(64), plain = BLOB(64);

		assert_int_equal(base64_encode(bytes_str(vectors[i].plain), &text), R_OK);
		assert_true(bytes_equal(blob_bytes(&text), bytes_str(vectors[i].text)));
		assert_int_equal(base64_decode(blob_bytes(&text), &plain), R_OK);
		assert_true(bytes_equal(blob_bytes(&plain), bytes_str(vectors[i].plain)));
	}
}

static void test_refused(void **state)
{
	static const char *const bad[] = { "Zg", "Zg=", "Zg===", "Zh==", "Zm9=", "Zm 9v", "====", "=Zg=", "Zg==Zg==",
					   "Zm9v\n", "Zm9_" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		_cleanup_(blob_free) struct blob plain = BLOB(64);

		assert_int_equal(base64_decode(bytes_str(bad[i]), &plain), R_FORMAT_TEXT);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_vectors),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
