/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

static void test_equal(void **state)
{
	(void)state;
	assert_true(bytes_equal(bytes_str("abc"), bytes_str("abc")));
	assert_false(bytes_equal(bytes_str("abc"), bytes_str("abd")));
	/* absent is not the same as a prefix (T22, T26) */
	assert_false(bytes_equal(bytes_str("abc"), bytes_str("abcd")));
	assert_false(bytes_equal(BYTES_NONE, bytes_str("a")));
	assert_true(bytes_equal(BYTES_NONE, bytes_str("")));
}

static void test_equal_secret(void **state)
{
	(void)state;
	assert_true(bytes_equal_secret(bytes_str("abc"), bytes_str("abc")));
	assert_false(bytes_equal_secret(bytes_str("abc"), bytes_str("xbc")));
	assert_false(bytes_equal_secret(bytes_str("abc"), bytes_str("abx")));
	assert_false(bytes_equal_secret(bytes_str("abc"), bytes_str("ab")));
	assert_false(bytes_equal_secret(bytes_str("ab"), bytes_str("abc")));
	assert_true(bytes_equal_secret(BYTES_NONE, BYTES_NONE));
}

static void test_append_numbers(void **state)
{
	static const uint8_t want[] = {
		0x01, 0x01, 0x02, 0x01, 0x02, 0x03, 0x04, 1, 2, 3, 4, 5, 6, 7, 8,
		0x02, 0x01, 0x04, 0x03, 0x02, 0x01, 8, 7, 6, 5, 4, 3, 2, 1,
	};
	_cleanup_(blob_free) struct blob b = BLOB(sizeof(want));

	(void)state;
	assert_ok(blob_u8(&b, 1));
	assert_ok(blob_be16(&b, 0x0102));
	assert_ok(blob_be32(&b, 0x01020304));
	assert_ok(blob_be64(&b, 0x0102030405060708));
	assert_ok(blob_le16(&b, 0x0102));
	assert_ok(blob_le32(&b, 0x01020304));
	assert_ok(blob_le64(&b, 0x0102030405060708));
	assert_bytes(blob_bytes(&b), want, sizeof(want));
	assert_reason(R_INTERNAL_TOO_LARGE, blob_u8(&b, 0));
	assert_bytes(blob_bytes(&b), want, sizeof(want));
}

static void test_ceiling(void **state)
{
	_cleanup_(blob_free) struct blob b = BLOB(100);
	uint8_t *to;

	(void)state;
	assert_ok(blob_append(&b, "0123456789", 10));
	assert_reason(R_INTERNAL_TOO_LARGE, blob_extend(&b, 91, &to));
	assert_reason(R_INTERNAL_TOO_LARGE, blob_extend(&b, SIZE_MAX, &to));
	assert_reason(R_INTERNAL_TOO_LARGE, blob_append(&b, "x", SIZE_MAX - 5));
	assert_int_equal(b.n, 10);
	assert_ok(blob_extend(&b, 90, &to));
	assert_ptr_equal(to, b.p + 10);
	memset(to, 'x', 90);
	assert_true(b.cap <= 100);
	assert_ok(blob_append(&b, NULL, 0));
	assert_int_equal(b.n, 100);
}

static void test_no_room_at_all(void **state)
{
	_cleanup_(blob_free) struct blob b = BLOB(0);

	(void)state;
	assert_ok(blob_append(&b, NULL, 0));
	assert_reason(R_INTERNAL_TOO_LARGE, blob_u8(&b, 1));
}

static void test_grows_and_keeps(void **state)
{
	_cleanup_(blob_free) struct blob b = BLOB(10000);

	(void)state;
	for (unsigned int i = 0; i < 10000; i++)
		assert_ok(blob_u8(&b, (uint8_t)i));
	for (unsigned int i = 0; i < 10000; i++)
		assert_int_equal(b.p[i], (uint8_t)i);
}

static void test_no_memory(void **state)
{
	_cleanup_(blob_free) struct blob b = BLOB(1000);
	uint8_t *to;

	(void)state;
	unit_fail_allocation(0);
	assert_reason(R_INTERNAL_MEMORY, blob_extend(&b, 10, &to));
	assert_ok(blob_append(&b, "old", 3));
	unit_fail_allocation(0);
	assert_reason(R_INTERNAL_MEMORY, blob_extend(&b, 500, &to));
	/* as it was */
	assert_bytes(blob_bytes(&b), "old", 3);
	assert_ok(blob_extend(&b, 500, &to));
}

static void test_reset_wipes(void **state)
{
	struct blob b = BLOB(64);
	const uint8_t zeros[6] = { 0 };

	(void)state;
	assert_ok(blob_append(&b, "secret", 6));
	blob_reset(&b);
	assert_int_equal(b.n, 0);
	assert_memory_equal(b.p, zeros, 6);
	blob_free(&b);
	assert_null(b.p);
	assert_int_equal(b.cap, 0);
	blob_free(&b);
}

static void test_cursor_numbers(void **state)
{
	static const uint8_t in[] = {
		9, 1, 2, 1, 2, 3, 4, 1, 2, 3, 4, 5, 6, 7, 8,
		1, 2, 1, 2, 3, 4, 1, 2, 3, 4, 5, 6, 7, 8,
	};
	struct cursor c = cursor_of(BYTES(in));
	uint8_t u8;
	uint16_t u16;
	uint32_t u32;
	uint64_t u64;

	(void)state;
	assert_ok(cursor_u8(&c, &u8));
	assert_int_equal(u8, 9);
	assert_ok(cursor_be16(&c, &u16));
	assert_int_equal(u16, 0x0102);
	assert_ok(cursor_be32(&c, &u32));
	assert_int_equal(u32, 0x01020304);
	assert_ok(cursor_be64(&c, &u64));
	assert_int_equal(u64, 0x0102030405060708);
	assert_int_equal(c.offset, 15);
	assert_ok(cursor_le16(&c, &u16));
	assert_int_equal(u16, 0x0201);
	assert_ok(cursor_le32(&c, &u32));
	assert_int_equal(u32, 0x04030201);
	assert_reason(R_FORMAT_TRAILING, cursor_end(&c));
	assert_ok(cursor_le64(&c, &u64));
	assert_int_equal(u64, 0x0807060504030201);
	assert_ok(cursor_end(&c));
	assert_int_equal(c.offset, sizeof(in));
}

static void test_cursor_truncated(void **state)
{
	static const uint8_t in[] = { 1, 2, 3, 4, 5, 6, 7 };
	struct cursor c = cursor_of(BYTES(in));
	struct bytes b = BYTES_NONE;
	uint8_t copy[8];
	uint8_t u8;
	uint16_t u16;
	uint32_t u32;
	uint64_t u64;

	(void)state;
	assert_reason(R_FORMAT_TRUNCATED, cursor_be64(&c, &u64));
	assert_reason(R_FORMAT_TRUNCATED, cursor_le64(&c, &u64));
	assert_reason(R_FORMAT_TRUNCATED, cursor_take(&c, 8, &b));
	assert_reason(R_FORMAT_TRUNCATED, cursor_take(&c, SIZE_MAX, &b));
	assert_reason(R_FORMAT_TRUNCATED, cursor_copy(&c, copy, 8));
	/* where it was */
	assert_ptr_equal(c.p, in);
	assert_int_equal(c.n, 7);
	assert_int_equal(c.offset, 0);
	assert_ok(cursor_take(&c, 4, &b));
	assert_bytes(b, in, 4);
	assert_reason(R_FORMAT_TRUNCATED, cursor_be32(&c, &u32));
	assert_reason(R_FORMAT_TRUNCATED, cursor_le32(&c, &u32));
	assert_ok(cursor_copy(&c, copy, 2));
	assert_reason(R_FORMAT_TRUNCATED, cursor_be16(&c, &u16));
	assert_reason(R_FORMAT_TRUNCATED, cursor_le16(&c, &u16));
	assert_reason(R_FORMAT_TRAILING, cursor_end(&c));
	assert_ok(cursor_u8(&c, &u8));
	assert_reason(R_FORMAT_TRUNCATED, cursor_u8(&c, &u8));
	assert_ok(cursor_take(&c, 0, &b));
	assert_int_equal(b.n, 0);
}

static void test_cursor_of_nothing(void **state)
{
	struct cursor c = cursor_of(BYTES_NONE);
	struct bytes b;
	uint8_t u8;

	(void)state;
	assert_ok(cursor_end(&c));
	assert_ok(cursor_take(&c, 0, &b));
	assert_ok(cursor_copy(&c, &u8, 0));
	assert_reason(R_FORMAT_TRUNCATED, cursor_u8(&c, &u8));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_equal),
		cmocka_unit_test(test_equal_secret),
		cmocka_unit_test(test_append_numbers),
		cmocka_unit_test(test_ceiling),
		cmocka_unit_test(test_no_room_at_all),
		cmocka_unit_test(test_grows_and_keeps),
		cmocka_unit_test(test_no_memory),
		cmocka_unit_test(test_reset_wipes),
		cmocka_unit_test(test_cursor_numbers),
		cmocka_unit_test(test_cursor_truncated),
		cmocka_unit_test(test_cursor_of_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
