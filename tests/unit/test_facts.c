/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <stdio.h>

#include "format/facts.h"

static const uint16_t banks[] = { ALG_SHA1, ALG_SHA256 };

static struct eventlog_writer begin(void)
{
	struct eventlog_writer w;

	assert_ok(eventlog_writer_begin(banks, ARRAY_LEN(banks), LIMIT_GATE_LOG, &w));
	return w;
}

static void add(struct eventlog_writer *w, enum fact f, const char *text)
{
	struct pcr_digests d;

	assert_ok(fact_write(w, f, bytes_str(text), &d));
}

static void cap(struct eventlog_writer *w, uint32_t pcr, enum reason why)
{
	struct pcr_digests d;

	assert_ok(fact_write_cap(w, pcr, why, &d));
}

/* Every fact of a register that stands once, in order. */
static void add_all(struct eventlog_writer *w, uint32_t pcr)
{
	for (int f = 0; f < FACT_CAP; f++)
		if (fact_pcr((enum fact)f) == pcr && !fact_many((enum fact)f))
			add(w, (enum fact)f, fact_name((enum fact)f));
}

static enum reason read_log(const struct eventlog_writer *w, struct facts *f)
{
	return facts_read(blob_bytes(&w->log), f);
}

static void test_table(void **state)
{
	enum fact found;

	(void)state;
	for (int i = 0; i < FACT_MAX; i++) {
		enum fact f = (enum fact)i;

		assert_true(fact_find(fact_tag(f), &found));
		assert_int_equal(found, f);
		/* the number tells the register: PCR 14 is 0e */
		if (f != FACT_CAP)
			assert_int_equal((fact_tag(f) >> 8) & 0xff, fact_pcr(f));
		assert_int_equal(fact_tag(f) >> 16, 0x4247);
	}
	assert_false(fact_find(0, &found));
	assert_int_equal(fact_pcr(FACT_END), PCR_FACTS);
	assert_int_equal(fact_pcr(FACT_HANDOVER), PCR_DECISION);
	assert_int_equal(fact_pcr(FACT_CAP), 0);
}

static void test_escape(void **state)
{
	_cleanup_(blob_free) struct blob b = BLOB(LIMIT_FACT_VALUE);
	uint8_t raw[LIMIT_FACT_VALUE + 3];

	(void)state;
	assert_ok(fact_escape(bytes_of("A\\\x1b\xff z\0", 7), &b));
	assert_bytes(blob_bytes(&b), "A\\x5c\\x1b\\xff z\\x00", 19);
	assert_true(fact_text_valid(blob_bytes(&b)));
	/* cut, and never inside \xHH */
	memset(raw, 'a', sizeof(raw));
	blob_reset(&b);
	assert_ok(fact_escape(BYTES(raw), &b));
	assert_int_equal(b.n, LIMIT_FACT_VALUE);
	raw[LIMIT_FACT_VALUE - 2] = 1;
	blob_reset(&b);
	assert_ok(fact_escape(BYTES(raw), &b));
	assert_int_equal(b.n, LIMIT_FACT_VALUE - 2);
	assert_true(fact_text_valid(blob_bytes(&b)));
}

static void test_text_valid(void **state)
{
	static const char *const bad[] = {
		"", "\\", "\\x", "\\x1", "\\y1b", "\\x1B", "\\xg0", "\\x0g", "\\x41", "\\x20",
		"tab\t", "\x7f", "a\\x5", "\\\\",
	};
	uint8_t longest[LIMIT_FACT_VALUE + 1];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		assert_false(fact_text_valid(bytes_str(bad[i])));
	assert_true(fact_text_valid(bytes_str("\\x5c\\x00 ~")));
	memset(longest, ' ', sizeof(longest));
	assert_true(fact_text_valid(bytes_of(longest, LIMIT_FACT_VALUE)));
	assert_false(fact_text_valid(BYTES(longest)));
}

static void test_write_and_read(void **state)
{
	_cleanup_(eventlog_writer_free) struct eventlog_writer w = begin();
	struct pcr_digests d;
	struct fact_value v;
	struct eventlog log;
	struct event e;

	(void)state;
	assert_ok(fact_write(&w, FACT_BIOS_VENDOR, bytes_str("Dell\n"), &d));
	assert_int_equal(d.count, 2);
	assert_ok(fact_write(&w, FACT_BIOS_DATE, BYTES_NONE, &d));
	assert_ok(fact_write_cap(&w, PCR_DECISION, R_QUOTE_NONCE, &d));
	assert_reason(R_FORMAT_RANGE, fact_write(&w, FACT_CAP, bytes_str("x"), &d));
	assert_reason(R_FORMAT_RANGE, fact_write_cap(&w, 7, R_OK, &d));

	assert_ok(eventlog_open(blob_bytes(&w.log), &log));
	assert_ok(eventlog_next(&log, &e));
	assert_ok(eventlog_next(&log, &e));
	assert_ok(fact_read(&log, &e, &v));
	assert_int_equal(v.fact, FACT_BIOS_VENDOR);
	assert_int_equal(v.pcr, PCR_FACTS);
	assert_bytes(v.text, "Dell\\x0a", 8);
	assert_ok(eventlog_next(&log, &e));
	assert_ok(fact_read(&log, &e, &v));
	assert_bytes(v.text, FACT_UNAVAILABLE, strlen(FACT_UNAVAILABLE));
	assert_ok(eventlog_next(&log, &e));
	assert_ok(fact_read(&log, &e, &v));
	assert_int_equal(v.fact, FACT_CAP);
	assert_int_equal(v.pcr, PCR_DECISION);
	assert_bytes(v.text, "failed: quote.nonce", 19);
}

/* One event of any kind in a log of its own, behind the Spec ID event. */
static enum reason read_event(uint32_t pcr, uint32_t type, struct bytes data, bool honest,
			      struct facts *f)
{
	_cleanup_(eventlog_writer_free) struct eventlog_writer w = begin();
	struct pcr_digests d;

	assert_ok(pcr_digests_of(banks, ARRAY_LEN(banks), data, &d));
	if (!honest)
		d.bank[0].value[0] ^= 1;
	assert_ok(eventlog_writer_event(&w, pcr, type, &d, data));
	return read_log(&w, f);
}

static void test_event_refused(void **state)
{
	static const uint8_t good[] = { 1, 8, 0x47, 0x42, 1, 0, 0, 0, 'x' };
	static const uint8_t unknown[] = { 1, 7, 0x47, 0x42, 1, 0, 0, 0, 'x' };
	static const uint8_t decision[] = { 1, 0x0e, 0x47, 0x42, 1, 0, 0, 0, 'x' };
	static const uint8_t longer[] = { 1, 8, 0x47, 0x42, 1, 0, 0, 0, 'x', 'y' };
	static const uint8_t control[] = { 1, 8, 0x47, 0x42, 1, 0, 0, 0, 7 };
	static const uint8_t empty[] = { 1, 8, 0x47, 0x42, 0, 0, 0, 0 };
	struct facts f;

	(void)state;
	assert_ok(read_event(8, EV_EVENT_TAG, BYTES(good), true, &f));
	assert_int_equal(f.facts, FACT_STATE_OPEN);
	assert_reason(R_LOG_FOREIGN_REGISTER, read_event(4, EV_EVENT_TAG, BYTES(good), true, &f));
	assert_int_equal(f.replay.fault.event, 1);
	assert_reason(R_LOG_FOREIGN_REGISTER, read_event(16, EV_EVENT_TAG, BYTES(good), true, &f));
	assert_reason(R_FACTS_EVENT, read_event(14, EV_EVENT_TAG, BYTES(good), true, &f));
	assert_reason(R_FACTS_EVENT, read_event(8, EV_EVENT_TAG, BYTES(decision), true, &f));
	assert_reason(R_FACTS_EVENT, read_event(8, EV_ACTION, BYTES(good), true, &f));
	assert_reason(R_FACTS_EVENT, read_event(8, EV_NO_ACTION, BYTES(good), true, &f));
	assert_reason(R_FACTS_EVENT, read_event(8, EV_EVENT_TAG, BYTES(unknown), true, &f));
	assert_reason(R_FACTS_EVENT, read_event(8, EV_EVENT_TAG, BYTES(longer), true, &f));
	assert_reason(R_FORMAT_TEXT, read_event(8, EV_EVENT_TAG, BYTES(control), true, &f));
	assert_reason(R_FORMAT_TEXT, read_event(8, EV_EVENT_TAG, BYTES(empty), true, &f));
	assert_reason(R_LOG_DIGEST_DATA, read_event(8, EV_EVENT_TAG, BYTES(good), false, &f));
}

static void test_states(void **state)
{
	_cleanup_(eventlog_writer_free) struct eventlog_writer w = begin();
	struct facts f;

	(void)state;
	assert_ok(read_log(&w, &f));
	assert_int_equal(f.facts, FACT_STATE_RESET);
	assert_int_equal(f.decision, FACT_STATE_RESET);
	assert_true(pcr_is_reset(&f.replay.values, ALG_SHA256, PCR_FACTS));

	add_all(&w, PCR_FACTS);
	assert_ok(read_log(&w, &f));
	assert_int_equal(f.facts, FACT_STATE_COMPLETE);
	assert_bytes(f.value[FACT_CPU_MODEL], "cpu.model", 9);
	assert_int_equal(f.value[FACT_VERDICT].n, 0);
	assert_false(pcr_is_reset(&f.replay.values, ALG_SHA256, PCR_FACTS));

	add(&w, FACT_VERDICT, "aa");
	assert_ok(read_log(&w, &f));
	assert_int_equal(f.decision, FACT_STATE_OPEN);
	add(&w, FACT_MANIFEST, "bb");
	add(&w, FACT_KERNEL, "cc");
	add(&w, FACT_INITRD, "dd");
	add(&w, FACT_CMDLINE, "ee");
	add(&w, FACT_HANDOVER, "ff");
	assert_ok(read_log(&w, &f));
	assert_int_equal(f.decision, FACT_STATE_COMPLETE);
	cap(&w, PCR_FACTS, R_OK);
	cap(&w, PCR_DECISION, R_OK);
	assert_ok(read_log(&w, &f));
	assert_int_equal(f.facts, FACT_STATE_CAPPED);
	assert_int_equal(f.decision, FACT_STATE_CAPPED);
	assert_int_equal(f.count[FACT_CAP], 2);
	/* nothing may follow a cap */
	cap(&w, PCR_DECISION, R_NET_TLS);
	assert_reason(R_FACTS_ORDER, read_log(&w, &f));
}

static void test_many(void **state)
{
	_cleanup_(eventlog_writer_free) struct eventlog_writer w = begin();
	struct facts f;

	(void)state;
	for (int i = 0; i < FACT_PCI_DISPLAY; i++)
		if (!fact_many((enum fact)i))
			add(&w, (enum fact)i, "x");
	add(&w, FACT_PCI_DISPLAY, "one");
	add(&w, FACT_PCI_DISPLAY, "one");
	add(&w, FACT_CHECK, "a yes");
	add(&w, FACT_CHECK, "b no");
	add(&w, FACT_END, FACT_END_TEXT);
	assert_ok(read_log(&w, &f));
	assert_int_equal(f.facts, FACT_STATE_COMPLETE);
	assert_int_equal(f.count[FACT_PCI_DISPLAY], 2);
	assert_int_equal(f.count[FACT_PCI_NETWORK], 0);
	assert_int_equal(f.count[FACT_CHECK], 2);
	assert_int_equal(f.value[FACT_CHECK].n, 0);
	add(&w, FACT_CHECK, "late");
	assert_reason(R_FACTS_ORDER, read_log(&w, &f));
}

static void test_order(void **state)
{
	struct facts f;

	(void)state;
	for (int i = 0; i < 7; i++) {
		_cleanup_(eventlog_writer_free) struct eventlog_writer w = begin();

		switch (i) {
		case 0:		/* not the first fact */
			add(&w, FACT_CONFIG, "x");
			break;
		case 1:		/* twice */
			add(&w, FACT_BUILD, "x");
			add(&w, FACT_BUILD, "x");
			break;
		case 2:		/* one is left out */
			add(&w, FACT_BUILD, "x");
			add(&w, FACT_BIOS_VENDOR, "x");
			break;
		case 3:		/* a decision without facts */
			add(&w, FACT_VERDICT, "x");
			break;
		case 4:		/* a decision about facts that are not complete */
			add(&w, FACT_BUILD, "x");
			add(&w, FACT_VERDICT, "x");
			break;
		case 5:		/* the fixed cap on what is not complete */
			add(&w, FACT_BUILD, "x");
			cap(&w, PCR_FACTS, R_OK);
			break;
		default:	/* back */
			add_all(&w, PCR_FACTS);
			add(&w, FACT_VERDICT, "x");
			add(&w, FACT_MANIFEST, "x");
			add(&w, FACT_VERDICT, "x");
		}
		assert_reason(R_FACTS_ORDER, read_log(&w, &f));
		assert_true(f.replay.fault.event > 0);
		assert_true(f.replay.fault.offset > 0);
	}
}

static void test_failed(void **state)
{
	_cleanup_(eventlog_writer_free) struct eventlog_writer w = begin();
	struct facts f;

	(void)state;
	add(&w, FACT_BUILD, "x");
	cap(&w, PCR_FACTS, R_NET_TLS);
	assert_ok(read_log(&w, &f));
	assert_int_equal(f.facts, FACT_STATE_FAILED);
	assert_int_equal(f.decision, FACT_STATE_RESET);
	assert_bytes(f.failed, "net.tls", 7);
	cap(&w, PCR_DECISION, R_NET_TLS);
	assert_ok(read_log(&w, &f));
	assert_int_equal(f.decision, FACT_STATE_FAILED);
	add(&w, FACT_CONFIG, "x");
	assert_reason(R_FACTS_ORDER, read_log(&w, &f));
}

static void test_cap_text(void **state)
{
	static const char *const bad[] = { "bootgate:cap ", "failed: ", "failed", "x" };
	struct pcr_digests d;
	struct facts f;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		_cleanup_(eventlog_writer_free) struct eventlog_writer w = begin();

		assert_ok(eventlog_writer_tag(&w, 8, fact_tag(FACT_CAP), bytes_str(bad[i]), &d));
		assert_reason(R_FACTS_EVENT, read_log(&w, &f));
	}
}

static void test_log_refused(void **state)
{
	static const uint8_t legacy[32] = { [4] = 8 };
	_cleanup_free_ uint8_t *big = calloc(1, LIMIT_GATE_LOG + 1);
	_cleanup_(eventlog_writer_free) struct eventlog_writer w = begin();
	struct pcr_digests d;
	struct facts f;
	size_t n;

	(void)state;
	assert_reason(R_LOG_EMPTY, facts_read(BYTES_NONE, &f));
	assert_reason(R_LOG_LEGACY, facts_read(BYTES(legacy), &f));
	assert_reason(R_FORMAT_TOO_LARGE, facts_read(bytes_of(big, LIMIT_GATE_LOG + 1), &f));
	add(&w, FACT_BUILD, "x");
	n = w.log.n;
	assert_reason(R_LOG_EVENT_SIZE, facts_read(bytes_of(w.log.p, n - 1), &f));
	assert_int_equal(f.replay.fault.event, 1);
	/* in one bank only */
	w.bank_count = 1;
	assert_ok(eventlog_writer_tag(&w, 8, fact_tag(FACT_CONFIG), bytes_str("x"), &d));
	assert_reason(R_LOG_DIGEST_DATA, read_log(&w, &f));
	assert_int_equal(f.replay.fault.offset, n);
}

/* A whole gate log in every bank, for the tools of others (interop/gate_log.py). */
static void test_file_for_others(void **state)
{
	static const uint16_t all[] = { ALG_SHA1, ALG_SHA256, ALG_SHA384, ALG_SHA512, ALG_SM3 };
	const char *path = getenv("GATE_LOG_OUT");
	struct eventlog_writer w;
	struct facts f;

	(void)state;
	assert_ok(eventlog_writer_begin(all, ARRAY_LEN(all), LIMIT_GATE_LOG, &w));
	add_all(&w, PCR_FACTS);
	add_all(&w, PCR_DECISION);
	cap(&w, PCR_FACTS, R_OK);
	cap(&w, PCR_DECISION, R_OK);
	assert_ok(read_log(&w, &f));
	assert_int_equal(f.decision, FACT_STATE_CAPPED);
	if (path) {
		FILE *to = fopen(path, "wb");

		assert_non_null(to);
		assert_int_equal(fwrite(w.log.p, 1, w.log.n, to), w.log.n);
		assert_int_equal(fclose(to), 0);
	}
	eventlog_writer_free(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_escape),
		cmocka_unit_test(test_text_valid),
		cmocka_unit_test(test_write_and_read),
		cmocka_unit_test(test_event_refused),
		cmocka_unit_test(test_states),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_failed),
		cmocka_unit_test(test_cap_text),
		cmocka_unit_test(test_log_refused),
		cmocka_unit_test(test_file_for_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
