/* SPDX-License-Identifier: Apache-2.0 */
#include "message.h"

#include "base/limits.h"
#include "format/handover.h"

static enum reason again(struct bytes in, struct blob *out)
{
	struct handover h;

	TRY(handover_read(in, &h));
	return handover_write(&h, out);
}

/* Lengths of every remainder by 4. */
static const struct handover sample = {
	{ (const uint8_t *)"firmware", 8 }, { (const uint8_t *)"gate!", 5 },
	{ (const uint8_t *)"evidence..", 10 }, { (const uint8_t *)"verdict", 7 },
	{ NULL, 0 }, { (const uint8_t *)"r", 1 },
};

static void test_round_trip(void **state)
{
	_cleanup_(blob_free) struct blob b = BLOB(LIMIT_HANDOVER);
	struct handover h;

	(void)state;
	assert_ok(handover_write(&sample, &b));
	assert_int_equal(b.n, handover_size(&sample));
	assert_int_equal(b.n % 512, 0);
	assert_ok(handover_read(blob_bytes(&b), &h));
	assert_bytes(h.firmware_log, "firmware", 8);
	assert_bytes(h.gate_log, "gate!", 5);
	assert_bytes(h.evidence, "evidence..", 10);
	assert_bytes(h.verdict, "verdict", 7);
	assert_int_equal(h.manifest.n, 0);
	assert_bytes(h.report, "r", 1);
	seed("handover", "small", blob_bytes(&b));
}

/* What a kernel's unpacker and cpio -t see: folders first, and one header. */
static void test_layout(void **state)
{
	_cleanup_(blob_free) struct blob b = BLOB(LIMIT_HANDOVER);
	static const char first[] = "070701" "00000001" "00004140" "00000000" "00000000"
				    "00000001" "00000000" "00000000" "00000000" "00000000"
				    "00000000" "00000000" "00000007" "00000000" ".extra";
	static const char gate[] = "070701" "00000004" "00008100" "00000000" "00000000"
				   "00000001" "00000000" "00000005" "00000000" "00000000"
				   "00000000" "00000000" "00000019" "00000000"
				   ".extra/bootgate/gate.log";

	(void)state;
	assert_ok(handover_write(&sample, &b));
	assert_memory_equal(b.p, first, sizeof first);
	assert_int_equal((find(&b, gate, sizeof gate) - b.p) % 4, 0);
}

static void test_appends(void **state)
{
	_cleanup_(blob_free) struct blob b = BLOB(LIMIT_HANDOVER), alone = BLOB(LIMIT_HANDOVER);

	(void)state;
	assert_ok(blob_u8(&b, 1));
	assert_ok(handover_write(&sample, &b));
	assert_ok(handover_write(&sample, &alone));
	assert_bytes(bytes_of(b.p + 1, b.n - 1), alone.p, alone.n);
}

/* There is one archive for given members: no byte may be another. */
static void test_any_change(void **state)
{
	_cleanup_(blob_free) struct blob b = BLOB(LIMIT_HANDOVER);
	struct handover h;

	(void)state;
	assert_ok(handover_write(&sample, &b));
	message_check(again, blob_bytes(&b));
	for (size_t n = 0; n < b.n; n++)
		assert_true(handover_read(bytes_of(b.p, n), &h) != R_OK);
	/* a byte between members, in lower case, in the padding, at the end */
	b.p[b.n - 1] = 1;
	assert_reason(R_FORMAT_CANONICAL, handover_read(blob_bytes(&b), &h));
	b.p[b.n - 1] = 0;
	*find(&b, "0000000A", 8) = ' ';
	assert_reason(R_FORMAT_CANONICAL, handover_read(blob_bytes(&b), &h));
	*find(&b, " 000000A", 8) = '0';
	find(&b, "0000000A", 8)[7] = 'a';
	assert_reason(R_FORMAT_CANONICAL, handover_read(blob_bytes(&b), &h));
	find(&b, "0000000a", 8)[7] = 'A';
	assert_ok(handover_read(blob_bytes(&b), &h));
	/* a size that is larger than the archive, and one of 4 GiB */
	memcpy(find(&b, "0000000A", 8), "00000FFF", 8);
	assert_reason(R_FORMAT_TRUNCATED, handover_read(blob_bytes(&b), &h));
	memcpy(find(&b, "00000FFF", 8), "FFFFFFFF", 8);
	assert_reason(R_FORMAT_TRUNCATED, handover_read(blob_bytes(&b), &h));
}

static void test_too_large(void **state)
{
	_cleanup_free_ uint8_t *large = calloc(1, LIMIT_HANDOVER + 1);
	_cleanup_(blob_free) struct blob b = BLOB(LIMIT_HANDOVER), small = BLOB(512);
	struct handover h = sample;

	(void)state;
	assert_reason(R_FORMAT_TOO_LARGE, handover_read(bytes_of(large, LIMIT_HANDOVER + 1), &h));
	h = sample;
	h.firmware_log = bytes_of(large, LIMIT_HANDOVER + 1);
	assert_reason(R_FORMAT_TOO_LARGE, handover_write(&h, &b));
	h.firmware_log = bytes_of(large, LIMIT_HANDOVER - 100);
	assert_reason(R_FORMAT_TOO_LARGE, handover_write(&h, &b));
	/* a room that is too small is left as it was */
	assert_ok(blob_u8(&small, 9));
	assert_reason(R_INTERNAL_TOO_LARGE, handover_write(&sample, &small));
	assert_int_equal(small.n, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_layout),
		cmocka_unit_test(test_appends),
		cmocka_unit_test(test_any_change),
		cmocka_unit_test(test_too_large),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
