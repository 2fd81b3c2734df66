/* SPDX-License-Identifier: Apache-2.0 */
/* CBOR written: in its one form, or refused. */
#include "message.h"

#include "format/cbor.h"

static void test_writer(void **state)
{
	_cleanup_(blob_free) struct blob out = BLOB(256);
	struct cbor_writer w = cbor_write_begin(&out);

	(void)state;
	cbor_put_tag(&w, 98);
	cbor_put_array(&w, 0, 9, 3);
	cbor_put_map(&w, 2);
	cbor_put_version(&w, 1);
	cbor_put_int(&w, -70001);
	cbor_put_bool(&w, true);
	cbor_put_bytes(&w, 0, 9, BYTES_NONE);
	cbor_put_string(&w, 1, 9, CHARSET_NAME, "a.b");
	cbor_put_uint(&w, 0, UINT64_MAX, UINT64_MAX);
	cbor_put_copy(&w, "\x01\x02", 2);
	cbor_put_text(&w, 0, 0, CHARSET_NAME, BYTES_NONE);
	assert_ok(cbor_write_end(&w, 64));
	static const uint8_t want[] = {
		0xd8, 0x62, 0x83, 0xa2, 0x01, 0x01, 0x3a, 0x00, 0x01, 0x11, 0x70, 0xf5,
		0x40, 0x63, 'a', '.', 'b', 0x1b, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
		0xff, 0xff, 0x42, 0x01, 0x02, 0x60,
	};
	assert_bytes(blob_bytes(&out), want, sizeof want);
	seed("cbor", "items", blob_bytes(&out));
}

static void test_writer_refusals(void **state)
{
	_cleanup_(blob_free) struct blob out = BLOB(16);
	struct cbor_writer w;

	(void)state;
	assert_ok(blob_u8(&out, 0xaa));
#define REFUSED(want, call)                                                   \
	do {                                                                  \
		w = cbor_write_begin(&out);                                   \
		cbor_put_bool(&w, true);                                      \
		call;                                                         \
		cbor_put_bool(&w, false);                                     \
		assert_reason(want, cbor_write_end(&w, 64));                  \
		assert_int_equal(out.n, 1);                                   \
	} while (0)
	REFUSED(R_FORMAT_RANGE, cbor_put_uint(&w, 0, 9, 10));
	REFUSED(R_FORMAT_RANGE, cbor_put_uint(&w, 2, 9, 1));
	REFUSED(R_FORMAT_RANGE, cbor_put_bytes(&w, 1, 2, BYTES_NONE));
	REFUSED(R_FORMAT_RANGE, cbor_put_copy(&w, "abc", 3); cbor_put_array(&w, 0, 1, 2));
	REFUSED(R_FORMAT_RANGE, cbor_put_string(&w, 0, 3, CHARSET_NAME, "abc"));
	REFUSED(R_FORMAT_TEXT, cbor_put_string(&w, 0, 9, CHARSET_NAME, "A"));
	REFUSED(R_FORMAT_DUPLICATE, cbor_put_refuse(&w, R_FORMAT_DUPLICATE));
	/* the first one sticks */
	REFUSED(R_FORMAT_RANGE, cbor_put_uint(&w, 0, 9, 10);
		cbor_put_refuse(&w, R_FORMAT_DUPLICATE));
	REFUSED(R_INTERNAL_TOO_LARGE, cbor_put_copy(&w, "0123456789abcdef", 16));
	w = cbor_write_begin(&out);
	cbor_put_copy(&w, "0123", 4);
	assert_reason(R_FORMAT_TOO_LARGE, cbor_write_end(&w, 4));
	assert_int_equal(out.n, 1);
	assert_int_equal(out.p[0], 0xaa);
	unit_fail_allocation(0);
	struct blob none = BLOB(64);
	w = cbor_write_begin(&none);
	cbor_put_bool(&w, true);
	assert_reason(R_INTERNAL_MEMORY, cbor_write_end(&w, 64));
	unit_fail_allocation(-1);
}

static void test_key_order(void **state)
{
	static const char *const names[] = { "gpu1", "tpm", "gate", "gpu0", "firmware", "a" };
	static const size_t want[] = { 5, 1, 2, 3, 0, 4 };
	static const char *const twice[] = { "b", "a", "b" };
	size_t order[6];

	(void)state;
	assert_true(cbor_key_order(names, 6, order));
	assert_memory_equal(order, want, sizeof want);
	assert_false(cbor_key_order(twice, 3, order));
	assert_true(cbor_key_order(twice, 2, order));
	assert_true(cbor_key_order(names, 0, order));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_writer),
		cmocka_unit_test(test_writer_refusals),
		cmocka_unit_test(test_key_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
