/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gate logs. As digests cannot be guessed, the input is read twice: as a log,
 * and as commands that write one: a byte that says which fact, a length, and
 * so many raw bytes.
 */
#include "fuzz.h"

#include "format/facts.h"

static const uint16_t banks[] = { ALG_SHA1, ALG_SHA256 };

static struct eventlog_writer begin(void)
{
	struct eventlog_writer w;

	must(eventlog_writer_begin(banks, ARRAY_LEN(banks), LIMIT_GATE_LOG, &w) == R_OK);
	return w;
}

static void check_states(const struct facts *f)
{
	for (int i = 0; i < FACT_MAX; i++)
		if (!fact_many((enum fact)i) && i != FACT_CAP)
			must(fact_name((enum fact)i) && f->count[i] <= 1 && (f->count[i] == 1) == (f->value[i].n > 0));
	if (f->facts == FACT_STATE_COMPLETE || f->facts == FACT_STATE_CAPPED)
		for (int i = 0; i <= FACT_END; i++)
			must(fact_many((enum fact)i) || f->count[i] == 1);
	if (f->decision == FACT_STATE_COMPLETE)
		must(f->facts >= FACT_STATE_COMPLETE && f->count[FACT_VERDICT] == 1);
	must((f->facts == FACT_STATE_RESET) ==
	     pcr_is_reset(&f->replay.values, f->replay.values.bank[0].alg, PCR_FACTS));
}

static void read_log(struct bytes in)
{
	static struct facts f;

	if (facts_read(in, &f) == R_OK)
		check_states(&f);
	else
		must(f.replay.fault.offset <= in.n);
}

static void write_one(struct eventlog_writer *w, uint8_t what, struct bytes raw)
{
	struct pcr_digests d;
	enum reason r;

	if (what == FACT_CAP) {
		must(fact_write(w, FACT_CAP, raw, &d) == R_FORMAT_RANGE);
		must(fact_write_cap(w, 7, R_OK, &d) == R_FORMAT_RANGE);
		return;
	}
	if (what < FACT_CAP)
		r = fact_write(w, (enum fact)what, raw, &d);
	else if (what < 250)
		r = eventlog_writer_tag(w, what % 16, fact_tag(FACT_CAP), raw, &d);
	else
		r = fact_write_cap(w, what % 2 ? PCR_FACTS : PCR_DECISION,
				   (enum reason)(raw.n % R_MAX), &d);
	must(r == R_OK || r == R_INTERNAL_TOO_LARGE);
}

/* All of a register, so that the states behind it are reached. */
static void write_all(struct eventlog_writer *w, uint32_t pcr)
{
	struct pcr_digests d;

	for (int i = 0; i < FACT_CAP; i++)
		if (fact_pcr((enum fact)i) == pcr && !fact_many((enum fact)i))
			must(fact_write(w, (enum fact)i, BYTES_NONE, &d) != R_FORMAT_RANGE);
}

static void run_commands(struct bytes in)
{
	struct eventlog_writer w = begin();
	struct cursor c = cursor_of(in);
	struct bytes raw;
	uint8_t what, n;

	while (cursor_u8(&c, &what) == R_OK && cursor_u8(&c, &n) == R_OK &&
	       cursor_take(&c, n, &raw) == R_OK) {
		if (what == 255)
			write_all(&w, PCR_FACTS);
		else if (what == 254)
			write_all(&w, PCR_DECISION);
		else
			write_one(&w, what, raw);
	}
	read_log(blob_bytes(&w.log));
	eventlog_writer_free(&w);
}

static void escape(struct bytes in)
{
	_cleanup_(blob_free) struct blob text = BLOB(LIMIT_FACT_VALUE);

	must(fact_escape(in, &text) == R_OK);
	must(in.n == 0 || fact_text_valid(blob_bytes(&text)));
	if (fact_text_valid(in) && !memchr(in.p, '\\', in.n))
		must(bytes_equal(blob_bytes(&text), in));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes in = { data, size };

	read_log(in);
	run_commands(in);
	escape(in);
	return 0;
}
