/* SPDX-License-Identifier: Apache-2.0 */
/* The two logs of authentic evidence, laid out for judging. */
#ifndef BOOTGATE_APPRAISE_LOGS_H
#define BOOTGATE_APPRAISE_LOGS_H

#include "appraise/appraise.h"
#include "format/eventlog.h"
#include "format/facts.h"

/* One event of the firmware log that was extended. */
struct logged {
	struct event event;
	bool proved;			/* its digests are the hash of its data */
	uint8_t component;		/* enum component; see component.h */
	const char *ignored;		/* why it is not compared; NULL: it is */
};

/* A bank that the quote shows to be active. */
struct active_bank {
	uint16_t alg;
	size_t column;			/* of its digests in the firmware log */
	bool usable;			/* proves what firmware measured */
};
#define NO_COLUMN ((size_t)LIMIT_BANKS)

struct logs {
	const struct pcr_values *values;	/* quoted */
	size_t active_count;
	struct active_bank active[LIMIT_BANKS];
	/* Firmware log; events in the order of the log, EV_NO_ACTION left out. */
	bool firmware_read;		/* parsed to its end */
	struct eventlog firmware;
	struct eventlog_replay replay;
	size_t count;
	struct logged *event;		/* owned */
	/* Gate log. */
	bool gate_read;
	struct facts facts;
};

/*
 * Reads both logs; what is wrong with them becomes findings. Another reason
 * than R_OK means that reading itself failed. Views point into the evidence.
 */
enum reason logs_read(const struct quote_checked *q, struct logs *ret,
		      struct explanation *e) must_check;
void logs_free(struct logs *l);

/*
 * True when the event's digests are the hash of `data` in every active bank
 * that the log has, and there is one. Digests of banks that are not active
 * are nobody's word.
 */
enum reason logs_digest_is(const struct logs *l, const struct event *event,
			   struct bytes data, bool *ret) must_check;

/* The bank that messages show digests of: the first usable one, else the first. */
const struct active_bank *logs_shown_bank(const struct logs *l);

#endif
