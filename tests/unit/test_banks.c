/* SPDX-License-Identifier: Apache-2.0 */
/* Banks of one log, each of which says something else about the same event. */
#include "appraise/appraise.h"
#include "appraise_kit.h"

/* Another digest in one bank, logged and extended for real. */
static void spoil_bank(size_t column, size_t at, struct bytes digest)
{
	size_t offset = 0;
	uint8_t value[DIGEST_MAX];
	struct eventlog log;
	struct event e;

	kit_make(k);
	assert_ok(eventlog_open(blob_bytes(&k->firmware_log), &log));
	do
		assert_ok(eventlog_next(&log, &e));
	while (e.number <= at);
	offset = (size_t)(e.digest[column].p - k->firmware_log.p);
	memcpy(k->firmware_log.p + offset, digest.p, digest.n);
	/* the registers that this log leads to */
	pcr_reset_value(e.pcr, value);
	assert_ok(eventlog_open(blob_bytes(&k->firmware_log), &log));
	for (uint32_t pcr = e.pcr; eventlog_next(&log, &e) == R_OK;)
		if (e.pcr == pcr && e.type != EV_NO_ACTION)
			assert_ok(pcr_extend(log.bank[column], value, e.digest[column]));
	assert_ok(pcr_values_set(&k->pcr, log.bank[column], k->event[at].pcr, value));
	k->claims.values = k->pcr;
	kit_seal(k);
	kit_judge(k, &refs, NULL, NULL, a);
}

static void test_banks_disagree(void **state)
{
	static const uint16_t all[] = { ALG_SHA256, ALG_SHA384, ALG_SHA512 };
	uint8_t other[DIGEST_MAX];

	(void)state;
	memset(other, 0x77, sizeof other);
	kit_banks(k, ARRAY_LEN(all), all);
	kit_refs_free(&refs);
	refs = kit_learn(k);
	kit_make(k);
	kit_judge(k, &refs, NULL, NULL, a);
	assert_admitted(a);
	for (size_t column = 0; column < ARRAY_LEN(all); column++) {
		const struct bytes digest = bytes_of(other, digest_len(all[column]));

		for (size_t at = 0; at < k->count; at++) {
			const struct kit_event *e = &k->event[at];
			bool hashed = e->data_n == e->hashed_n &&
				      memcmp(e->data, e->hashed, e->data_n) == 0;

			spoil_bank(column, at, digest);
			assert_int_equal(a->directive, DIRECTIVE_REFUSE);
			assert_null(find_reason(a, R_LOG_REPLAY));
			if (!hashed)
				continue;
			assert_non_null(find_reason(a, R_LOG_BANKS_DISAGREE));
			assert_int_equal(find_reason(a, R_LOG_BANKS_DISAGREE)->event, at + 1);
		}
	}
}

/* A bank that is no proof cannot contradict one that is. */
static void test_bank_without_proof(void **state)
{
	static const uint16_t two[] = { ALG_SHA256, ALG_SHA1 };
	uint8_t other[DIGEST_MAX] = { 0 };
	size_t at = kit_find(k, 0, EV_S_CRTM_VERSION, 0);

	(void)state;
	kit_banks(k, ARRAY_LEN(two), two);
	spoil_bank(1, at, bytes_of(other, digest_len(ALG_SHA1)));
	assert_null(find_reason(a, R_LOG_BANKS_DISAGREE));
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_banks_disagree),
		TEST(test_bank_without_proof),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
