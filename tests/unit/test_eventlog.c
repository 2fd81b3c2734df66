/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Event logs. Whole logs against an independent replay, and every way in
 * which one can be malformed, are tests/interop/log_replay.py.
 */
#include "eventlog_kit.h"

/* ---- writing and reading ------------------------------------------------------- */

static void test_round_trip(void **state)
{
	_cleanup_(eventlog_writer_free) struct eventlog_writer w = begin(two, 2);
	struct pcr_digests d;
	struct eventlog log;
	struct eventlog_tag tag;
	struct event e;
	size_t second;
	bool proven;

	(void)state;
	add(&w, 4, EV_SEPARATOR, bytes_of(zeros, 4));
	second = w.log.n;
	assert_ok(eventlog_writer_tag(&w, 8, 0x12345678, bytes_str("a fact"), &d));
	assert_int_equal(d.count, 2);
	assert_int_equal(d.bank[1].alg, ALG_SM3);

	assert_ok(eventlog_open(log_of(&w), &log));
	assert_false(log.legacy);
	assert_int_equal(log.bank_count, 2);
	assert_int_equal(log.bank[0], ALG_SHA256);
	assert_int_equal(log.bank[1], ALG_SM3);
	assert_int_equal(log.spec_major, 2);
	assert_int_equal(log.spec_errata, 106);
	assert_int_equal(log.uintn_size, 2);

	assert_ok(eventlog_next(&log, &e));
	assert_int_equal(e.number, 0);
	assert_int_equal(e.type, EV_NO_ACTION);
	assert_int_equal(e.digest_count, 0);
	assert_ok(eventlog_next(&log, &e));
	assert_int_equal(e.number, 1);
	assert_int_equal(e.pcr, 4);
	assert_int_equal(e.digest_count, 2);
	assert_int_equal(e.data.n, 4);
	assert_ok(eventlog_next(&log, &e));
	assert_int_equal(e.offset, second);
	assert_int_equal(e.type, EV_EVENT_TAG);
	assert_bytes(e.digest[0], d.bank[0].value, 32);
	assert_bytes(e.digest[1], d.bank[1].value, 32);
	assert_ok(eventlog_digest_is_data(&log, &e, &proven));
	assert_true(proven);
	assert_ok(eventlog_tag_read(e.data, &tag));
	assert_int_equal(tag.tag, 0x12345678);
	assert_bytes(tag.value, "a fact", 6);
	assert_reason(R_LOG_END, eventlog_next(&log, &e));
	assert_reason(R_LOG_END, eventlog_next(&log, &e));

	e.data.n--;
	assert_ok(eventlog_digest_is_data(&log, &e, &proven));
	assert_false(proven);
}

static void test_writer_refused(void **state)
{
	static const uint16_t twice[] = { ALG_SHA1, ALG_SHA1 };
	static const uint16_t unknown[] = { 0x0027 };
	uint16_t many[LIMIT_BANKS + 1] = { ALG_SHA1 };
	struct eventlog_writer w, before;
	struct pcr_digests d;

	(void)state;
	assert_reason(R_FORMAT_RANGE, eventlog_writer_begin(two, 0, LIMIT_GATE_LOG, &w));
	assert_reason(R_FORMAT_RANGE, eventlog_writer_begin(many, ARRAY_LEN(many), 999, &w));
	assert_reason(R_FORMAT_DUPLICATE, eventlog_writer_begin(twice, 2, 999, &w));
	assert_reason(R_FORMAT_TYPE, eventlog_writer_begin(unknown, 1, 999, &w));
	assert_reason(R_INTERNAL_TOO_LARGE, eventlog_writer_begin(two, 2, 68, &w));

	assert_ok(eventlog_writer_begin(two, 2, 300, &w));
	assert_ok(pcr_digests_of(two, 2, BYTES_NONE, &d));
	assert_reason(R_FORMAT_RANGE, eventlog_writer_event(&w, 24, EV_ACTION, &d, BYTES_NONE));
	d.bank[1].alg = ALG_SHA1;
	assert_reason(R_FORMAT_TYPE, eventlog_writer_event(&w, 1, EV_ACTION, &d, BYTES_NONE));
	d.count = 1;
	assert_reason(R_FORMAT_RANGE, eventlog_writer_event(&w, 1, EV_ACTION, &d, BYTES_NONE));
	/* unchanged where there is no room */
	assert_ok(eventlog_writer_tag(&w, 8, 1, bytes_of(zeros, 64), &d));
	before = w;
	assert_reason(R_INTERNAL_TOO_LARGE,
		      eventlog_writer_tag(&w, 8, 1, bytes_of(zeros, 64), &d));
	assert_int_equal(w.log.n, before.log.n);
	{
		struct eventlog log;
		struct event e;

		assert_ok(eventlog_open(log_of(&w), &log));
		assert_ok(eventlog_next(&log, &e));
		assert_ok(eventlog_next(&log, &e));
		assert_reason(R_LOG_END, eventlog_next(&log, &e));
	}
	eventlog_writer_free(&w);
	assert_int_equal(w.log.n, 0);
}

static void test_writer_memory(void **state)
{
	struct eventlog_writer w = begin(two, 2);
	struct pcr_digests d;
	enum reason r = R_INTERNAL_MEMORY;

	(void)state;
	for (long after = 0; r != R_OK; after++) {
		size_t n = w.log.n;

		unit_fail_allocation(after);
		r = eventlog_writer_tag(&w, 8, 1, bytes_str("x"), &d);
		unit_fail_allocation(-1);
		if (r != R_OK)
			assert_int_equal(w.log.n, n);
	}
	eventlog_writer_free(&w);
	r = R_INTERNAL_MEMORY;
	for (long after = 0; r != R_OK; after++) {
		unit_fail_allocation(after);
		r = eventlog_writer_begin(two, 2, LIMIT_GATE_LOG, &w);
		unit_fail_allocation(-1);
	}
	eventlog_writer_free(&w);
}

static void test_tag_refused(void **state)
{
	static const uint8_t tag[] = { 1, 0, 0, 0, 2, 0, 0, 0, 'a', 'b', 'c' };
	struct eventlog_tag t;

	(void)state;
	assert_reason(R_FORMAT_TRAILING, eventlog_tag_read(BYTES(tag), &t));
	assert_ok(eventlog_tag_read(bytes_of(tag, 10), &t));
	for (size_t n = 0; n < 10; n++)
		assert_reason(R_FORMAT_TRUNCATED, eventlog_tag_read(bytes_of(tag, n), &t));
}

/* ---- headers ---------------------------------------------------------------------- */

static void test_empty(void **state)
{
	static const uint8_t ff[] = { 0xff, 0xff, 0xff };
	struct eventlog log;
	struct eventlog_replay r;
	_cleanup_free_ uint8_t *big = calloc(1, LIMIT_FIRMWARE_LOG + 1);

	(void)state;
	assert_reason(R_LOG_EMPTY, eventlog_open(BYTES_NONE, &log));
	assert_reason(R_LOG_EMPTY, eventlog_open(bytes_of(zeros, 40), &log));
	assert_reason(R_LOG_EMPTY, eventlog_open(BYTES(ff), &log));
	assert_reason(R_LOG_EMPTY, eventlog_replay(BYTES_NONE, &r));
	big[LIMIT_FIRMWARE_LOG] = 1;
	assert_reason(R_FORMAT_TOO_LARGE,
		      eventlog_open(bytes_of(big, LIMIT_FIRMWARE_LOG + 1), &log));
}

static void test_unknown_bank(void **state)
{
	struct eventlog_writer w = begin(two, 2);
	struct eventlog_replay r;

	(void)state;
	w.log.p[32 + 28] = 0x27;	/* SHA3-256, of the same length */
	assert_reason(R_LOG_ALGORITHM, eventlog_replay(log_of(&w), &r));
	assert_int_equal(r.fault.event, 0);
	w.log.p[32 + 28] = 0x12;	/* SM3 twice */
	assert_reason(R_LOG_ALGORITHM, eventlog_replay(log_of(&w), &r));
	w.log.p[32 + 28] = 0x0b;
	w.log.p[32 + 30] = 0x14;	/* SHA-256 of 20 bytes */
	assert_reason(R_LOG_ALGORITHM, eventlog_replay(log_of(&w), &r));
	w.log.p[32 + 30] = 0x20;
	w.log.p[32 + 24] = 0;		/* no bank at all */
	assert_reason(R_LOG_HEADER, eventlog_replay(log_of(&w), &r));
	eventlog_writer_free(&w);
}

static void test_faults(void **state)
{
	_cleanup_(eventlog_writer_free) struct eventlog_writer w = begin(two, 2);
	struct eventlog_replay r;
	struct eventlog log;
	struct event e;
	size_t at;

	(void)state;
	add(&w, 1, EV_ACTION, bytes_str("one"));
	at = w.log.n;
	add(&w, 2, EV_ACTION, bytes_str("two"));
	assert_ok(eventlog_replay(log_of(&w), &r));
	assert_int_equal(r.events, 3);

	assert_reason(R_LOG_EVENT_SIZE, eventlog_replay(bytes_of(w.log.p, w.log.n - 1), &r));
	assert_int_equal(r.fault.event, 2);
	assert_int_equal(r.fault.offset, at);
	assert_reason(R_LOG_TRUNCATED, eventlog_replay(bytes_of(w.log.p, w.log.n - 5), &r));
	assert_int_equal(r.fault.offset, at);
	assert_reason(R_LOG_TRUNCATED, eventlog_replay(bytes_of(w.log.p, at + 1), &r));
	w.log.p[at] = 24;
	assert_reason(R_LOG_PCR_RANGE, eventlog_replay(log_of(&w), &r));
	assert_ok(eventlog_open(log_of(&w), &log));
	assert_ok(eventlog_next(&log, &e));
	assert_ok(eventlog_next(&log, &e));
	assert_reason(R_LOG_PCR_RANGE, eventlog_next(&log, &e));
	assert_int_equal(log.fault.offset, at);
	w.log.p[at] = 2;
	w.log.p[at + 8] = 3;
	assert_reason(R_LOG_DIGEST_COUNT, eventlog_replay(log_of(&w), &r));
	w.log.p[at + 8] = 0;
	assert_reason(R_LOG_DIGEST_COUNT, eventlog_replay(log_of(&w), &r));
	w.log.p[at + 8] = 2;
	w.log.p[at + 12] = 0x04;
	assert_reason(R_LOG_DIGEST_ALG, eventlog_replay(log_of(&w), &r));
	w.log.p[at + 12] = 0x12;
	assert_reason(R_LOG_DIGEST_ALG, eventlog_replay(log_of(&w), &r));
	assert_int_equal(r.fault.event, 2);
	assert_int_equal(r.fault.offset, at);
}

static void test_too_many(void **state)
{
	struct eventlog_writer w;
	struct eventlog_replay r;
	static const uint16_t one[] = { ALG_SHA1 };

	(void)state;
	assert_ok(eventlog_writer_begin(one, 1, LIMIT_FIRMWARE_LOG, &w));
	for (uint32_t i = 1; i < LIMIT_EVENTS; i++)
		add(&w, 16, EV_ACTION, bytes_str("x"));
	assert_ok(eventlog_replay(log_of(&w), &r));
	add(&w, 16, EV_ACTION, bytes_str("x"));
	assert_reason(R_LOG_TOO_MANY, eventlog_replay(log_of(&w), &r));
	assert_int_equal(r.fault.event, LIMIT_EVENTS);
	eventlog_writer_free(&w);
}

/* Each event boundary of a hostile log would look for padding behind it. */
static void test_padding_is_looked_for_once(void **state)
{
	size_t n = LIMIT_FIRMWARE_LOG;
	_cleanup_free_ uint8_t *log = calloc(1, n);
	struct eventlog_replay r;

	(void)state;
	log[4] = EV_ACTION;
	log[n - 1] = 1;		/* 65535 events of the old form, all zero */
	assert_reason(R_LOG_TOO_MANY, eventlog_replay(bytes_of(log, n), &r));
}

static void test_legacy(void **state)
{
	static const uint8_t log[] = {
		0, 0, 0, 0, 0x08, 0, 0, 0,
		1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20,
		2, 0, 0, 0, 'v', '1',
		0xff, 0xff,
	};
	struct eventlog_replay r;
	uint8_t want[DIGEST_MAX] = { 0 };

	(void)state;
	assert_ok(eventlog_replay(BYTES(log), &r));
	assert_true(r.legacy);
	assert_int_equal(r.values.count, 1);
	assert_ok(pcr_extend(ALG_SHA1, want, bytes_of(log + 8, 20)));
	assert_bytes(pcr_value(&r.values, ALG_SHA1, 0), want, 20);
	for (size_t n = 5; n < sizeof(log) - 2; n++)
		assert_reason(n < 32 ? R_LOG_TRUNCATED : R_LOG_EVENT_SIZE,
			      eventlog_replay(bytes_of(log, n), &r));
}

/* ---- text ------------------------------------------------------------------------------ */

static void assert_text(uint32_t type, struct bytes data, const char *want)
{
	_cleanup_(blob_free) struct blob b = BLOB(EVENTLOG_TEXT_MAX);
	struct event e = { .type = type, .data = data };

	assert_ok(eventlog_text(&e, &b));
	assert_bytes(blob_bytes(&b), want, strlen(want));
}

static void test_text(void **state)
{
	static const uint8_t variable[] = {
		1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16,
		2, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0,
		'd', 0, 'b', 0, 0xaa, 0xbb, 0xcc,
	};
	static const uint8_t lying[32] = { [16] = 0xff, [23] = 0xff, [24] = 1 };
	static const uint8_t lying_value[] = {
		[15] = 0, [16] = 1, [24] = 9, [32] = 'x', [33] = 0, [34] = 0,
	};
	static const uint8_t control[] = { 'a', 0x1b, '[', '2', 'J' };
	static const uint8_t wide[] = { 'o', 0, 'k', 0, 0, 0 };
	static const uint8_t tag[] = { 0x10, 8, 0x47, 0x42, 2, 0, 0, 0, 'x', 'y' };
	static const uint8_t tag_wide[] = { 1, 0, 0, 0, 4, 0, 0, 0, 'x', 0, 'y', 0 };
	static const uint8_t tag_hex[] = { 1, 0, 0, 0, 2, 0, 0, 0, 1, 2 };
	static const uint8_t locality[17] = "StartupLocality\0\3";
	uint8_t text[2000];
	char want[2000];

	(void)state;
	assert_text(EV_ACTION, bytes_str("Calling"), "\"Calling\"");
	assert_text(EV_ACTION, bytes_of("NUL\0\0", 5), "\"NUL\"");
	assert_text(EV_ACTION, BYTES(control), "611b5b324a");
	assert_text(EV_ACTION, BYTES_NONE, "");
	assert_text(EV_SEPARATOR, bytes_of(zeros, 4), "00000000");
	assert_text(EV_POST_CODE, bytes_of(zeros, 17), "00000000000000000000000000000000...");
	assert_text(EV_IPL, BYTES(wide), "ok");
	assert_text(EV_EFI_VARIABLE_BOOT, BYTES(variable), "db, 3 bytes");
	assert_text(EV_EFI_VARIABLE_AUTHORITY, bytes_of(variable, 38),
		    "0102030405060708090a0b0c0d0e0f10...");
	assert_text(EV_EFI_VARIABLE_BOOT2, BYTES(lying), "00000000000000000000000000000000...");
	assert_text(EV_EFI_VARIABLE_DRIVER_CONFIG, BYTES(lying_value),
		    "00000000000000000000000000000000...");
	assert_text(EV_EVENT_TAG, BYTES(tag), "bios.vendor \"xy\"");
	assert_text(EV_EVENT_TAG, BYTES(tag_wide), "tag 00000001 xy");
	assert_text(EV_EVENT_TAG, BYTES(tag_hex), "tag 00000001 0102");
	assert_text(EV_EVENT_TAG, bytes_str("no tag"), "\"no tag\"");
	assert_text(EV_NO_ACTION, BYTES(locality), "StartupLocality 3");
	assert_text(EV_NO_ACTION, bytes_of("SP800-155 Event3\0\1", 18), "SP800-155 Event3...");
	assert_text(EV_NO_ACTION, bytes_str("word"), "word");
	assert_text(EV_NO_ACTION, bytes_of("\1\2\3", 3), "010203");

	memset(text, 'a', sizeof(text));
	memset(want, 'a', sizeof(want));
	want[0] = '"';
	strcpy(want + 1 + EVENTLOG_TEXT_MAX / 2, "\"...");
	assert_text(EV_ACTION, BYTES(text), want);
}

static void test_type_names(void **state)
{
	(void)state;
	assert_string_equal(eventlog_type_name(EV_SEPARATOR), "EV_SEPARATOR");
	assert_string_equal(eventlog_type_name(0x800000e4), "EV_EFI_SPDM_DEVICE_AUTHORITY");
	assert_string_equal(eventlog_type_name(0), "EV_PREBOOT_CERT");
	assert_null(eventlog_type_name(0x80000011));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_writer_refused),
		cmocka_unit_test(test_writer_memory),
		cmocka_unit_test(test_tag_refused),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_unknown_bank),
		cmocka_unit_test(test_faults),
		cmocka_unit_test(test_too_many),
		cmocka_unit_test(test_padding_is_looked_for_once),
		cmocka_unit_test(test_legacy),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_type_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
