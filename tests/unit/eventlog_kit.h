/* SPDX-License-Identifier: Apache-2.0 */
/* Event logs made event by event. */
#ifndef BOOTGATE_TESTS_EVENTLOG_KIT_H
#define BOOTGATE_TESTS_EVENTLOG_KIT_H

#include "format/eventlog.h"
#include "unit.h"

static const uint16_t two[] = { ALG_SHA256, ALG_SM3 };
static const uint8_t zeros[DIGEST_MAX];

static inline struct eventlog_writer begin(const uint16_t *banks, size_t count)
{
	struct eventlog_writer w;

	assert_ok(eventlog_writer_begin(banks, count, LIMIT_GATE_LOG, &w));
	return w;
}

/* An event whose digests are the hash of its data, or zero for EV_NO_ACTION. */
static inline void add(struct eventlog_writer *w, uint32_t pcr, uint32_t type, struct bytes data)
{
	struct pcr_digests d;

	assert_ok(pcr_digests_of(w->bank, w->bank_count, data, &d));
	if (type == EV_NO_ACTION)
		for (size_t i = 0; i < d.count; i++)
			memset(d.bank[i].value, 0, DIGEST_MAX);
	assert_ok(eventlog_writer_event(w, pcr, type, &d, data));
}

static inline void add_locality(struct eventlog_writer *w, uint8_t locality)
{
	uint8_t data[17] = "StartupLocality";

	data[16] = locality;
	add(w, 0, EV_NO_ACTION, BYTES(data));
}

static inline struct bytes log_of(const struct eventlog_writer *w)
{
	return blob_bytes(&w->log);
}

#endif
