/* SPDX-License-Identifier: Apache-2.0 */
#include "crypto/random.h"
#include "unit.h"

enum { NONCES = 1000000, NONCE = 16 };

static int compare(const void *a, const void *b)
{
	return memcmp(a, b, NONCE);
}

/* A constant or a counter of few bits would repeat (T6). */
static void test_no_repetition(void **state)
{
	static uint8_t nonces[NONCES][NONCE];

	(void)state;
	for (size_t i = 0; i < NONCES; i++)
		assert_ok(random_bytes(nonces[i], NONCE));
	qsort(nonces, NONCES, NONCE, compare);
	for (size_t i = 1; i < NONCES; i++)
		assert_memory_not_equal(nonces[i - 1], nonces[i], NONCE);
}

/* More than one getrandom() gives at once; the whole of it is filled. */
static void test_large(void **state)
{
	static uint8_t big[1 << 20];
	size_t zeros = 0;

	(void)state;
	assert_ok(random_bytes(big, sizeof(big)));
	for (size_t i = 0; i < sizeof(big); i++)
		zeros += big[i] == 0;
	/* 4096 expected */
	assert_in_range(zeros, 3500, 4700);
	for (size_t i = 0; i < sizeof(big); i += 4096) {
		static const uint8_t none[64];

		assert_memory_not_equal(big + i, none, sizeof(none));
	}
}

static void test_nothing(void **state)
{
	uint8_t one = 7;

	(void)state;
	assert_ok(random_bytes(&one, 0));
	assert_int_equal(one, 7);
}

static void test_wipe(void **state)
{
	uint8_t secret[3] = { 1, 2, 3 };
	const uint8_t want[3] = { 0, 0, 3 };

	(void)state;
	wipe(secret, 2);
	assert_memory_equal(secret, want, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_repetition),
		cmocka_unit_test(test_large),
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_wipe),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
