/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "base/text.h"
#include "format/eventlog.h"

static void look_at(const struct eventlog *log, const struct event *e)
{
	_cleanup_(blob_free) struct blob text = BLOB(EVENTLOG_TEXT_MAX);
	_cleanup_(blob_free) struct blob details = BLOB(EVENTLOG_DETAILS_MAX + 64);
	struct eventlog_tag tag;
	size_t count = 0;
	bool proven;

	for (size_t i = 0; i < log->bank_count; i++) {
		must(e->digest[i].n == 0 || e->digest[i].n == digest_len(log->bank[i]));
		count += e->digest[i].n > 0;
	}
	must(count == e->digest_count);
	must(eventlog_digest_is_data(log, e, &proven) == R_OK);
	must(eventlog_text(e, &text) == R_OK);
	must(text_printable(blob_bytes(&text)));
	must(eventlog_details(e, &details) == R_OK);
	for (size_t i = 0; i < details.n; i++)
		must(details.p[i] == '\n' || (details.p[i] >= 0x20 && details.p[i] <= 0x7e));
	(void)eventlog_type_name(e->type);
	if (eventlog_tag_read(e->data, &tag) == R_OK) {
		_cleanup_(blob_free) struct blob again = BLOB(e->data.n + 64);

		must(eventlog_tag_write(&tag, &again) == R_OK);
		must(bytes_equal(blob_bytes(&again), e->data));
		tag.value.n = (size_t)UINT32_MAX + 1;
		must(eventlog_tag_write(&tag, &again) == R_FORMAT_TOO_LARGE);
	}
}

/* Events follow each other without a gap, up to padding of one kind. */
static enum reason walk(struct bytes in, struct eventlog_replay *r)
{
	struct eventlog log;
	struct event e;
	size_t end = 0;
	uint32_t number = 0;
	enum reason result;

	TRY(eventlog_open(in, &log));
	must(log.bank_count > 0 && log.bank_count <= LIMIT_BANKS);
	must(eventlog_replay_begin(&log, r) == R_OK);
	while ((result = eventlog_next(&log, &e)) == R_OK) {
		must(e.number == number++ && e.offset == end);
		must(e.pcr < PCR_COUNT || e.type == EV_NO_ACTION);
		look_at(&log, &e);
		end = log.rest.offset;
		TRY(eventlog_replay_event(r, &e));
	}
	if (result != R_LOG_END)
		return result;
	for (size_t i = end; i < in.n; i++)
		must(in.p[i] == in.p[end] && (in.p[i] == 0 || in.p[i] == 0xff));
	return R_OK;
}

static void read_log(struct bytes in)
{
	static struct eventlog_replay one, other;
	enum reason r = walk(in, &one);
	enum reason strict = eventlog_replay(in, &other);

	if (r == R_OK && !one.partial) {
		must(strict == R_OK);
		must(pcr_values_equal(&one.values, &other.values));
	} else {
		must(strict != R_OK);
		must(other.fault.offset <= in.n);
	}
}

/* What the writer refuses leaves the log as it was. */
static void misuse(struct eventlog_writer *w)
{
	static const uint16_t bad[] = { ALG_SHA1, ALG_SHA1, 0x7fff };
	struct eventlog_writer none;
	struct pcr_digests d = { .count = w->bank_count };
	size_t n = w->log.n;

	must(eventlog_writer_begin(bad, 0, LIMIT_GATE_LOG, &none) == R_FORMAT_RANGE);
	must(eventlog_writer_begin(bad, 2, LIMIT_GATE_LOG, &none) == R_FORMAT_DUPLICATE);
	must(eventlog_writer_begin(bad + 2, 1, LIMIT_GATE_LOG, &none) == R_FORMAT_TYPE);
	must(eventlog_writer_event(w, 8, 1, &d, BYTES_NONE) == R_FORMAT_TYPE);
	must(eventlog_writer_event(w, PCR_COUNT, 1, &d, BYTES_NONE) == R_FORMAT_RANGE);
	must(w->log.n == n);
}

/* The same bytes as data of events of our own. */
static void write_log(struct bytes in)
{
	static const uint16_t banks[] = { ALG_SHA1, ALG_SHA256 };
	static struct eventlog_replay r;
	struct eventlog_writer w;
	struct pcr_digests d;
	struct pcr_values v = { 0 };
	uint8_t reset[DIGEST_MAX];

	pcr_reset_value(8, reset);
	for (size_t i = 0; i < ARRAY_LEN(banks); i++)
		must(pcr_values_set(&v, banks[i], 8, reset) == R_OK);
	must(eventlog_writer_begin(banks, ARRAY_LEN(banks), LIMIT_GATE_LOG, &w) == R_OK);
	for (int i = 0; i < 2; i++) {
		if (eventlog_writer_tag(&w, 8, 1, in, &d) == R_OK)
			must(pcr_values_extend(&v, 8, &d) == R_OK);
		must(eventlog_replay(blob_bytes(&w.log), &r) == R_OK);
		for (size_t k = 0; k < ARRAY_LEN(banks); k++)
			must(bytes_equal(pcr_value(&v, banks[k], 8),
					 pcr_value(&r.values, banks[k], 8)));
	}
	misuse(&w);
	eventlog_writer_free(&w);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes in = { data, size };

	read_log(in);
	write_log(in);
	return 0;
}
