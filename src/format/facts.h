/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the gate writes into its log: one EV_EVENT_TAG per fact, the tag says
 * which (facts.def), the value is text: printable ASCII, anything else as
 * \xHH (a backslash too), at most LIMIT_FACT_VALUE characters. A fact that
 * could not be read is `unavailable`.
 */
#ifndef BOOTGATE_FORMAT_FACTS_H
#define BOOTGATE_FORMAT_FACTS_H

#include "base/bytes.h"
#include "base/limits.h"
#include "format/eventlog.h"

enum fact {
#define FACT(symbol, tag, pcr, name, many) symbol,
#include "format/facts.def"
#undef FACT
	FACT_MAX
};

#define FACT_UNAVAILABLE "unavailable"
#define FACT_END_TEXT "end"
#define FACT_CAP_TEXT "bootgate:cap"
#define FACT_FAILED_TEXT "failed: "

uint32_t fact_tag(enum fact f);
uint32_t fact_pcr(enum fact f);		/* PCR_FACTS, PCR_DECISION; 0 for the cap */
const char *fact_name(enum fact f);
bool fact_many(enum fact f);
bool fact_find(uint32_t tag, enum fact *ret);

/* Raw bytes to the text of a value, cut at LIMIT_FACT_VALUE (never inside \xHH). */
enum reason fact_escape(struct bytes raw, struct blob *ret) must_check;
/* True when these bytes are such text. */
bool fact_text_valid(struct bytes text);

/*
 * Appends one fact to the gate log, escaping `raw`; none (n = 0) is written
 * as `unavailable`. `digests` is what to extend into fact_pcr(f).
 */
enum reason fact_write(struct eventlog_writer *w, enum fact f, struct bytes raw,
		       struct pcr_digests *digests) must_check;
/* Appends the cap of a register: FACT_CAP_TEXT for R_OK, else `failed: NAME`. */
enum reason fact_write_cap(struct eventlog_writer *w, uint32_t pcr, enum reason why,
			   struct pcr_digests *digests) must_check;

/* One fact as read. */
struct fact_value {
	enum fact fact;
	uint32_t pcr;
	struct bytes text;
};
/*
 * Reads one event of a gate log. R_LOG_FOREIGN_REGISTER (not 8 or 14),
 * R_FACTS_EVENT (no EV_EVENT_TAG with a known tag of this register),
 * R_LOG_DIGEST_DATA, R_FORMAT_TEXT.
 */
enum reason fact_read(const struct eventlog *log, const struct event *e,
		      struct fact_value *ret) must_check;

/* What state a register of the gate is in, by its log. */
enum fact_state {
	FACT_STATE_RESET,		/* no event */
	FACT_STATE_OPEN,		/* events, not yet all */
	FACT_STATE_COMPLETE,		/* all of them, no cap */
	FACT_STATE_CAPPED,		/* complete, then the fixed cap */
	FACT_STATE_FAILED,		/* capped with `failed: ...` */
};

/* A gate log as a whole: order and number of its events (facts.def). */
struct facts {
	enum fact_state facts;		/* PCR 8 */
	enum fact_state decision;	/* PCR 14 */
	struct bytes value[FACT_MAX];	/* of those that stand once; n = 0: absent */
	size_t count[FACT_MAX];
	struct bytes failed;		/* name of the reason of a failure cap */
	struct eventlog_replay replay;	/* both registers, every bank */
};
/*
 * Reads and replays it: what fact_read says, what the event log reader says,
 * R_FACTS_ORDER for events out of order, repeated, or behind a cap.
 * ret->replay.fault is set on refusal as well.
 */
enum reason facts_read(struct bytes gate_log, struct facts *ret) must_check;

#endif
