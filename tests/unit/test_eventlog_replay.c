/* SPDX-License-Identifier: Apache-2.0 */
/* From a log to the values of registers. */
#include "eventlog_kit.h"

static struct bytes replayed(const struct eventlog_writer *w, uint32_t pcr,
			     struct eventlog_replay *r)
{
	assert_ok(eventlog_replay(log_of(w), r));
	return pcr_value(&r->values, ALG_SHA256, pcr);
}

/* H(start || H(data)) in SHA-256, start all zero but its last byte */
static void extended_once(uint8_t last, struct bytes data, uint8_t ret[DIGEST_MAX])
{
	uint8_t digest[DIGEST_MAX];

	memset(ret, 0, DIGEST_MAX);
	ret[31] = last;
	assert_ok(digest_of(ALG_SHA256, &data, 1, digest));
	assert_ok(pcr_extend(ALG_SHA256, ret, bytes_of(digest, 32)));
}

static void test_replay_start(void **state)
{
	static const struct {
		int locality;		/* -1: no event */
		bool hcrtm;
		uint8_t start;
	} cases[] = {
		{ -1, false, 0 }, { 0, false, 0 }, { 3, false, 3 }, { 4, false, 4 },
		{ -1, true, 4 }, { 4, true, 4 }, { 0, true, 0 }, { 3, true, 3 },
	};
	uint8_t want[DIGEST_MAX];
	struct eventlog_replay r;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		_cleanup_(eventlog_writer_free) struct eventlog_writer w = begin(two, 2);
		uint32_t type = cases[i].hcrtm ? EV_EFI_HCRTM_EVENT : EV_S_CRTM_VERSION;

		if (cases[i].locality >= 0)
			add_locality(&w, (uint8_t)cases[i].locality);
		add(&w, 0, type, bytes_str("HCRTM"));
		extended_once(cases[i].start, bytes_str("HCRTM"), want);
		assert_bytes(replayed(&w, 0, &r), want, 32);
		assert_int_equal(r.locality_known, cases[i].locality >= 0);
		assert_int_equal(r.locality, cases[i].start);
		assert_int_equal(r.hcrtm, cases[i].hcrtm);
		assert_int_equal(r.extended[0], 1);
		assert_int_equal(r.extended[1], 1);
		assert_true(pcr_is_reset(&r.values, ALG_SM3, 17));
	}
}

static void test_replay_hcrtm_late(void **state)
{
	_cleanup_(eventlog_writer_free) struct eventlog_writer w = begin(two, 2);
	struct eventlog_replay r;
	uint8_t want[DIGEST_MAX], digest[DIGEST_MAX];
	struct bytes data = bytes_str("b");

	(void)state;
	/* not the first extend of register 0: no sequence before TPM2_Startup */
	add(&w, 0, EV_S_CRTM_VERSION, bytes_str("a"));
	add(&w, 0, EV_EFI_HCRTM_EVENT, data);
	extended_once(0, bytes_str("a"), want);
	assert_ok(digest_of(ALG_SHA256, &data, 1, digest));
	assert_ok(pcr_extend(ALG_SHA256, want, bytes_of(digest, 32)));
	assert_bytes(replayed(&w, 0, &r), want, 32);
	assert_int_equal(r.locality, 0);
}

static void test_replay_locality_refused(void **state)
{
	struct eventlog_replay r;
	uint8_t longer[18] = "StartupLocality";

	(void)state;
	for (unsigned int i = 0; i < 256; i++) {
		_cleanup_(eventlog_writer_free) struct eventlog_writer w = begin(two, 2);

		add_locality(&w, (uint8_t)i);
		assert_reason(i == 0 || i == 3 || i == 4 ? R_OK : R_LOG_LOCALITY,
			      eventlog_replay(log_of(&w), &r));
	}
	for (int i = 0; i < 5; i++) {
		_cleanup_(eventlog_writer_free) struct eventlog_writer w = begin(two, 2);

		switch (i) {
		case 0:		/* twice */
			add_locality(&w, 3);
			add_locality(&w, 3);
			break;
		case 1:		/* late */
			add(&w, 0, EV_POST_CODE, BYTES_NONE);
			add_locality(&w, 3);
			break;
		case 2:		/* too long */
			add(&w, 0, EV_NO_ACTION, BYTES(longer));
			break;
		case 3:		/* too short */
			add(&w, 0, EV_NO_ACTION, bytes_of(longer, 16));
			break;
		default:	/* elsewhere */
			add(&w, 1, EV_NO_ACTION, bytes_of(longer, 17));
		}
		assert_reason(R_LOG_LOCALITY, eventlog_replay(log_of(&w), &r));
		assert_int_equal(r.fault.event, i < 2 ? 2 : 1);
	}
}

static void test_replay_drtm(void **state)
{
	_cleanup_(eventlog_writer_free) struct eventlog_writer w = begin(two, 2);
	struct eventlog_replay r;
	uint8_t want[DIGEST_MAX];

	(void)state;
	add(&w, 23, EV_ACTION, bytes_str("x"));
	add(&w, 16, EV_ACTION, bytes_str("x"));
	assert_ok(eventlog_replay(log_of(&w), &r));
	assert_false(r.drtm);
	assert_true(pcr_is_reset(&r.values, ALG_SHA256, 22));
	add(&w, 17, 0x10000000, bytes_str("DRTM"));
	add(&w, 21, EV_ACTION, bytes_str("kernel"));
	extended_once(0, bytes_str("DRTM"), want);
	assert_bytes(replayed(&w, 17, &r), want, 32);
	assert_true(r.drtm);
	extended_once(0, bytes_str("kernel"), want);
	assert_bytes(pcr_value(&r.values, ALG_SHA256, 21), want, 32);
	assert_bytes(pcr_value(&r.values, ALG_SHA256, 22), zeros, 32);
}

static void test_replay_partial(void **state)
{
	_cleanup_(eventlog_writer_free) struct eventlog_writer w = begin(two, 2);
	struct pcr_digests d;
	struct eventlog_replay r;
	struct eventlog log;
	struct event e;
	size_t at;

	(void)state;
	add(&w, 5, EV_SEPARATOR, bytes_of(zeros, 4));
	at = w.log.n;
	/* an event that only SHA-256 has, as Windows writes them */
	w.bank_count = 1;
	assert_ok(eventlog_writer_tag(&w, 5, 1, BYTES_NONE, &d));
	assert_ok(eventlog_writer_tag(&w, 12, 1, BYTES_NONE, &d));

	assert_reason(R_LOG_DIGEST_COUNT, eventlog_replay(log_of(&w), &r));
	assert_int_equal(r.fault.event, 2);
	assert_int_equal(r.fault.offset, at);

	/* who looks himself sees how far the digests go, but gets no value */
	assert_ok(eventlog_open(log_of(&w), &log));
	assert_ok(eventlog_replay_begin(&log, &r));
	while (eventlog_next(&log, &e) == R_OK)
		assert_ok(eventlog_replay_event(&r, &e));
	assert_true(r.partial);
	assert_int_equal(r.partial_at.event, 2);
	assert_int_equal(r.extended[0], PCR_MASK(5) | PCR_MASK(12));
	assert_int_equal(r.extended[1], PCR_MASK(5));
	assert_int_equal(pcr_value(&r.values, ALG_SHA256, 5).n, 32);
	assert_int_equal(pcr_value(&r.values, ALG_SM3, 5).n, 0);
	assert_int_equal(pcr_value(&r.values, ALG_SM3, 12).n, 0);
	assert_int_equal(pcr_value(&r.values, ALG_SM3, 4).n, 32);
}

static void test_replay_misuse(void **state)
{
	struct eventlog log = { .bank_count = 1, .bank = { 0x7fff } };
	struct eventlog_replay r = { 0 };
	struct event e = { .pcr = 24, .type = EV_ACTION, .number = 3, .offset = 9 };

	(void)state;
	assert_reason(R_LOG_ALGORITHM, eventlog_replay_begin(&log, &r));
	assert_reason(R_LOG_PCR_RANGE, eventlog_replay_event(&r, &e));
	assert_int_equal(r.fault.event, 3);
	assert_int_equal(r.fault.offset, 9);
}

/* Events are never de-duplicated, whatever they look like. */
static void test_replay_duplicates(void **state)
{
	_cleanup_(eventlog_writer_free) struct eventlog_writer w = begin(two, 2);
	struct eventlog_replay r;
	uint8_t once[DIGEST_MAX];

	(void)state;
	add(&w, 5, EV_EFI_ACTION, bytes_str("Exit Boot Services Invocation"));
	memcpy(once, replayed(&w, 5, &r).p, 32);
	add(&w, 5, EV_EFI_ACTION, bytes_str("Exit Boot Services Invocation"));
	assert_memory_not_equal(replayed(&w, 5, &r).p, once, 32);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_replay_start),
		cmocka_unit_test(test_replay_hcrtm_late),
		cmocka_unit_test(test_replay_locality_refused),
		cmocka_unit_test(test_replay_drtm),
		cmocka_unit_test(test_replay_partial),
		cmocka_unit_test(test_replay_misuse),
		cmocka_unit_test(test_replay_duplicates),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
