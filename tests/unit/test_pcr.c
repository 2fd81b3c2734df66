/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "format/pcr.h"

static const struct pcr_selection three = {
	.count = 3,
	.bank = { { ALG_SHA256, 0x0000c3ff }, { ALG_SHA1, 0 }, { ALG_SHA512, PCR_ALL } },
};

static void test_selection_wire(void **state)
{
	static const uint8_t wire[] = {
		0, 0, 0, 3,
		0, 0x0b, 3, 0xff, 0xc3, 0x00,
		0, 0x04, 3, 0x00, 0x00, 0x00,
		0, 0x0d, 3, 0xff, 0xff, 0xff,
		0xaa,
	};
	_cleanup_(blob_free) struct blob b = BLOB(64);
	struct cursor c = cursor_of(BYTES(wire));
	struct pcr_selection s;

	(void)state;
	assert_ok(pcr_selection_read(&c, &s));
	assert_int_equal(c.n, 1);
	assert_true(pcr_selection_equal(&s, &three));
	assert_ok(pcr_selection_write(&s, &b));
	assert_bytes(blob_bytes(&b), wire, sizeof(wire) - 1);
	for (size_t n = 0; n < sizeof(wire) - 1; n++) {
		c = cursor_of(bytes_of(wire, n));
		assert_reason(R_FORMAT_TRUNCATED, pcr_selection_read(&c, &s));
		assert_int_equal(c.n, n);
	}
}

static void test_selection_refused(void **state)
{
	static const struct {
		uint8_t wire[20];
		enum reason reason;
	} bad[] = {
		{ { 0, 0, 0, 1, 0, 0x0b, 2, 0, 0 }, R_FORMAT_RANGE },
		{ { 0, 0, 0, 1, 0, 0x0b, 5, 0, 0, 0, 0, 0 }, R_FORMAT_RANGE },
		{ { 0, 0, 0, 1, 0, 0x0b, 4, 1, 0, 0, 1 }, R_FORMAT_RANGE },
		{ { 0, 0, 0, 9 }, R_FORMAT_TOO_LARGE },
		{ { 0xff, 0xff, 0xff, 0xff }, R_FORMAT_TOO_LARGE },
		{ { 0, 0, 0, 2, 0, 4, 3, 1, 0, 0, 0, 4, 3, 2, 0, 0 }, R_FORMAT_DUPLICATE },
	};
	static const uint8_t four[] = { 0, 0, 0, 1, 0x7f, 0xff, 4, 1, 0, 0x80, 0 };
	struct pcr_selection s = { .count = 7 };
	struct cursor c;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		c = cursor_of(BYTES(bad[i].wire));
		assert_reason(bad[i].reason, pcr_selection_read(&c, &s));
		assert_int_equal(s.count, 7);
	}
	/* a fourth byte without bits, and an algorithm that nobody knows */
	c = cursor_of(BYTES(four));
	assert_ok(pcr_selection_read(&c, &s));
	assert_int_equal(s.bank[0].alg, 0x7fff);
	assert_int_equal(s.bank[0].mask, 0x00800001);
}

static void test_selection_helpers(void **state)
{
	struct pcr_selection s = three;

	(void)state;
	assert_int_equal(pcr_selection_bank(&s, ALG_SHA512)->mask, PCR_ALL);
	assert_null(pcr_selection_bank(&s, ALG_SM3));
	assert_reason(R_FORMAT_DUPLICATE, pcr_selection_add(&s, ALG_SHA1, 1));
	assert_reason(R_FORMAT_RANGE, pcr_selection_add(&s, ALG_SM3, 1u << 24));
	assert_ok(pcr_selection_add(&s, ALG_SM3, 1));
	assert_false(pcr_selection_equal(&s, &three));
	s = three;
	s.bank[1].mask = 1;
	assert_false(pcr_selection_equal(&s, &three));
	s = three;
	s.bank[1].alg = ALG_SM3;
	assert_false(pcr_selection_equal(&s, &three));
	s = three;
	s.bank[0] = three.bank[1];
	s.bank[1] = three.bank[0];
	assert_false(pcr_selection_equal(&s, &three));
	for (uint16_t alg = 100; s.count < LIMIT_BANKS; alg++)
		assert_ok(pcr_selection_add(&s, alg, 0));
	assert_reason(R_FORMAT_TOO_LARGE, pcr_selection_add(&s, 99, 0));
	assert_false(pcr_selection_empty(&s));
	s = (struct pcr_selection){ 0 };
	assert_true(pcr_selection_empty(&s));
	assert_ok(pcr_selection_add(&s, ALG_SHA1, 0));
	assert_true(pcr_selection_empty(&s));
}

static void test_selection_text(void **state)
{
	static const struct {
		const char *in, *out;	/* out: when it is written otherwise */
	} good[] = {
		{ "sha256:0,1,2,7", NULL },
		{ "sha256:7,0,23", "sha256:0,7,23" },
		{ "sha1:all+sha256:none+sm3:10,11", NULL },
		{ "sha384:0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23",
		  "sha384:all" },
	};
	static const char *const bad[] = {
		"", "sha256", "sha256:", ":0", "sha256:24", "sha256:00", "sha256:07", "sha256:-1",
		"sha256:0,", "sha256:,0", "sha256:0,0", "sha256:0+", "+sha256:0", "md5:0",
		"sha256:0 ", "sha256:0+sha256:1", "sha256:100", "sha256:allx", "SHA256:0",
		"sha2567890123456789:0", "sha256:0;sha1:0",
	};
	struct pcr_selection s = { .count = 7 };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		assert_reason(R_FORMAT_TEXT, pcr_selection_parse(bad[i], &s));
		assert_int_equal(s.count, 7);
	}
	for (size_t i = 0; i < ARRAY_LEN(good); i++) {
		_cleanup_(blob_free) struct blob b = BLOB(256);
		const char *want = good[i].out ? good[i].out : good[i].in;

		assert_ok(pcr_selection_parse(good[i].in, &s));
		assert_ok(pcr_selection_text(&s, &b));
		assert_bytes(blob_bytes(&b), want, strlen(want));
	}
	s.bank[0].alg = 0x7fff;
	{
		_cleanup_(blob_free) struct blob b = BLOB(256);

		assert_reason(R_FORMAT_TYPE, pcr_selection_text(&s, &b));
	}
}

static void test_values(void **state)
{
	uint8_t value[DIGEST_MAX];
	struct pcr_values a = { 0 }, b = { 0 };

	(void)state;
	memset(value, 0x11, sizeof(value));
	assert_ok(pcr_values_set(&a, ALG_SHA256, 3, value));
	assert_ok(pcr_values_set(&a, ALG_SHA1, 4, value));
	assert_bytes(pcr_value(&a, ALG_SHA256, 3), value, 32);
	assert_bytes(pcr_value(&a, ALG_SHA1, 4), value, 20);
	assert_int_equal(pcr_value(&a, ALG_SHA1, 3).n, 0);
	assert_int_equal(pcr_value(&a, ALG_SM3, 3).n, 0);
	assert_int_equal(pcr_value(&a, ALG_SHA1, 24).n, 0);
	assert_null(pcr_values_bank(&a, ALG_SM3));

	/* another order of banks is the same */
	assert_ok(pcr_values_set(&b, ALG_SHA1, 4, value));
	assert_false(pcr_values_equal(&a, &b));
	assert_ok(pcr_values_set(&b, ALG_SHA256, 3, value));
	assert_true(pcr_values_equal(&a, &b));
	assert_ok(pcr_values_set(&b, ALG_SHA256, 2, value));
	assert_false(pcr_values_equal(&a, &b));
	assert_ok(pcr_values_set(&a, ALG_SHA256, 2, value));
	value[31] = 0;
	assert_ok(pcr_values_set(&b, ALG_SHA256, 2, value));
	assert_false(pcr_values_equal(&a, &b));
	b.bank[0].alg = ALG_SM3;
	assert_false(pcr_values_equal(&a, &b));

	assert_reason(R_FORMAT_TYPE, pcr_values_set(&a, 0x7fff, 0, value));
	assert_reason(R_FORMAT_RANGE, pcr_values_set(&a, ALG_SHA1, 24, value));
	a.count = LIMIT_BANKS;
	assert_reason(R_FORMAT_TOO_LARGE, pcr_values_set(&a, ALG_SM3, 0, value));
}

static void test_reset_and_extend(void **state)
{
	/* SHA-256 of 32 zero bytes and 32 bytes of 0x01, from sha256sum */
	static const char want[] =
		"5c85955f709283ecce2b74f1b1552918819f390911816e7bb466805a38ab87f3";
	_cleanup_(blob_free) struct blob w = unhex(want);
	uint8_t value[DIGEST_MAX], ones[DIGEST_MAX];
	struct pcr_values v = { 0 };

	(void)state;
	memset(ones, 1, sizeof(ones));
	pcr_reset_value(0, value);
	assert_ok(pcr_values_set(&v, ALG_SHA256, 0, value));
	assert_true(pcr_is_reset(&v, ALG_SHA256, 0));
	assert_false(pcr_is_reset(&v, ALG_SHA256, 1));
	assert_false(pcr_is_reset(&v, ALG_SHA1, 0));
	assert_ok(pcr_extend(ALG_SHA256, value, bytes_of(ones, 32)));
	assert_memory_equal(value, w.p, 32);
	assert_ok(pcr_values_set(&v, ALG_SHA256, 0, value));
	assert_false(pcr_is_reset(&v, ALG_SHA256, 0));
	assert_reason(R_FORMAT_RANGE, pcr_extend(ALG_SHA256, value, bytes_of(ones, 20)));
	assert_reason(R_FORMAT_TYPE, pcr_extend(0x7fff, value, bytes_of(ones, 32)));
	for (uint32_t pcr = 0; pcr < PCR_COUNT; pcr++) {
		pcr_reset_value(pcr, value);
		assert_int_equal(value[0], pcr >= 17 && pcr <= 22 ? 0xff : 0);
		assert_int_equal(value[DIGEST_MAX - 1], value[0]);
	}
}

static void test_extend_all(void **state)
{
	static const uint16_t banks[] = { ALG_SHA1, ALG_SHA256, ALG_SHA384, ALG_SHA512, ALG_SM3 };
	struct pcr_values v = { 0 };
	struct pcr_digests d, few;
	uint8_t value[DIGEST_MAX];
	uint8_t want[DIGEST_MAX];

	(void)state;
	pcr_reset_value(8, value);
	for (size_t i = 0; i < ARRAY_LEN(banks); i++)
		assert_ok(pcr_values_set(&v, banks[i], 8, value));
	assert_ok(pcr_digests_of(banks, ARRAY_LEN(banks), bytes_str("fact"), &d));
	assert_ok(pcr_values_extend(&v, 8, &d));
	for (size_t i = 0; i < ARRAY_LEN(banks); i++) {
		pcr_reset_value(8, want);
		assert_ok(pcr_extend(banks[i], want,
				     bytes_of(d.bank[i].value, digest_len(banks[i]))));
		assert_bytes(pcr_value(&v, banks[i], 8), want, digest_len(banks[i]));
	}
	/* a bank too few, a register that is not there, another bank */
	few = d;
	few.count--;
	assert_reason(R_FORMAT_RANGE, pcr_values_extend(&v, 8, &few));
	assert_reason(R_FORMAT_RANGE, pcr_values_extend(&v, 24, &d));
	assert_reason(R_FORMAT_TYPE, pcr_values_extend(&v, 9, &d));
	d.bank[0].alg = 0x7fff;
	assert_reason(R_FORMAT_TYPE, pcr_values_extend(&v, 8, &d));
	assert_reason(R_FORMAT_TYPE, pcr_digests_of((uint16_t[]){ 9 }, 1, BYTES_NONE, &d));
	assert_reason(R_FORMAT_TOO_LARGE, pcr_digests_of(banks, 9, BYTES_NONE, &d));
}

static void test_composite(void **state)
{
	struct pcr_selection s = {
		.count = 3,
		.bank = { { ALG_SHA256, 0x81 }, { ALG_SHA384, 0 }, { ALG_SHA1, 2 } },
	};
	uint8_t value[3][DIGEST_MAX], got[DIGEST_MAX], want[DIGEST_MAX], other[DIGEST_MAX];
	struct bytes pieces[] = { { value[0], 32 }, { value[1], 32 }, { value[2], 20 } };
	struct pcr_values v = { 0 };

	(void)state;
	for (int i = 0; i < 3; i++)
		memset(value[i], i + 1, DIGEST_MAX);
	assert_ok(pcr_values_set(&v, ALG_SHA1, 1, value[2]));
	assert_ok(pcr_values_set(&v, ALG_SHA256, 7, value[1]));
	assert_reason(R_QUOTE_SELECTION, pcr_composite(&s, &v, ALG_SHA256, got));
	assert_ok(pcr_values_set(&v, ALG_SHA256, 0, value[0]));
	assert_ok(pcr_composite(&s, &v, ALG_SHA256, got));
	assert_ok(digest_of(ALG_SHA256, pieces, 3, want));
	assert_memory_equal(got, want, 32);
	/* order of the banks counts, and the hash is the scheme's */
	s.bank[0] = (struct pcr_select){ ALG_SHA1, 2 };
	s.bank[2] = (struct pcr_select){ ALG_SHA256, 0x81 };
	assert_ok(pcr_composite(&s, &v, ALG_SHA256, other));
	assert_memory_not_equal(other, want, 32);
	assert_ok(pcr_composite(&s, &v, ALG_SHA384, got));
	assert_memory_not_equal(got, other, 32);
	assert_reason(R_FORMAT_TYPE, pcr_composite(&s, &v, 0x7fff, got));
	/* a bank that the values do not have at all */
	assert_ok(pcr_selection_add(&s, ALG_SM3, 1));
	assert_reason(R_QUOTE_SELECTION, pcr_composite(&s, &v, ALG_SHA256, got));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_selection_wire),
		cmocka_unit_test(test_selection_refused),
		cmocka_unit_test(test_selection_helpers),
		cmocka_unit_test(test_selection_text),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_reset_and_extend),
		cmocka_unit_test(test_extend_all),
		cmocka_unit_test(test_composite),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
