/* SPDX-License-Identifier: Apache-2.0 */
#include "appraise/logs.h"

#include <stdlib.h>
#include <string.h>

#include "appraise/findings.h"
#include "base/cleanup.h"

static void find_columns(struct logs *l)
{
	for (size_t i = 0; i < l->active_count; i++)
		for (size_t k = 0; k < l->firmware.bank_count; k++)
			if (l->firmware.bank[k] == l->active[i].alg)
				l->active[i].column = k;
}

enum reason logs_digest_is(const struct logs *l, const struct event *event,
			   struct bytes data, bool *ret)
{
	uint8_t digest[DIGEST_MAX];
	bool any = false;

	for (size_t i = 0; i < l->active_count; i++) {
		const struct active_bank *b = &l->active[i];

		if (b->column == NO_COLUMN)
			continue;
		TRY(digest_of(b->alg, &data, 1, digest));
		any = bytes_equal(event->digest[b->column],
				  bytes_of(digest, digest_len(b->alg)));
		if (!any)
			break;
	}
	*ret = any;
	return R_OK;
}

static enum reason append(struct logs *l, const struct event *e, size_t *room)
{
	struct logged *one;

	if (l->count == *room) {
		size_t want = *room ? *room * 2 : 128;
		struct logged *bigger = realloc(l->event, want * sizeof *bigger);

		if (!bigger)
			return R_INTERNAL_MEMORY;
		l->event = bigger;
		*room = want;
	}
	one = &l->event[l->count];
	*one = (struct logged){ .event = *e };
	TRY(logs_digest_is(l, e, e->data, &one->proved));
	l->count++;
	return R_OK;
}

static enum reason firmware_events(struct logs *l)
{
	struct event e;
	size_t room = 0;
	enum reason r;

	while ((r = eventlog_next(&l->firmware, &e)) == R_OK) {
		r = eventlog_replay_event(&l->replay, &e);
		/* In strict reading each event has a digest in each bank. */
		if (r == R_OK && l->replay.partial)
			r = R_LOG_DIGEST_COUNT;
		if (r != R_OK) {
			l->firmware.fault = (struct eventlog_fault){ e.number, e.offset };
			return r;
		}
		if (e.type != EV_NO_ACTION)
			TRY(append(l, &e, &room));
	}
	return r == R_LOG_END ? R_OK : r;
}

static enum reason firmware_log(struct bytes log, struct logs *l)
{
	TRY(eventlog_open(log, &l->firmware));
	if (l->firmware.legacy)
		return R_LOG_LEGACY;
	find_columns(l);
	TRY(eventlog_replay_begin(&l->firmware, &l->replay));
	return firmware_events(l);
}

static bool is_internal(enum reason r)
{
	return reason_class(r) == REASON_BROKEN;
}

static void add_fault(struct explanation *e, enum reason r, const struct eventlog_fault *fault,
		      bool gate_log)
{
	struct finding f = finding_make(r, SEVERITY_REFUSE, "");

	f.gate_log = gate_log;
	finding_fault(&f, fault);
	finding_text(f.observed, "%s log, event %u at byte %zu", gate_log ? "gate" : "firmware",
		     (unsigned)fault->event, fault->offset);
	explain(e, &f);
}

static void active_banks(const struct pcr_selection *s, struct logs *l)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->bank[i].mask)
			l->active[l->active_count++] = (struct active_bank){
				.alg = s->bank[i].alg,
				.column = NO_COLUMN,
			};
}

enum reason logs_read(const struct quote_checked *q, struct logs *ret, struct explanation *e)
{
	enum reason r;

	memset(ret, 0, sizeof *ret);
	ret->values = &q->claims.values;
	active_banks(&q->attest.selection, ret);

	r = firmware_log(q->claims.firmware_log, ret);
	if (is_internal(r))
		return r;
	ret->firmware_read = r == R_OK;
	if (r != R_OK)
		add_fault(e, r, &ret->firmware.fault, false);

	r = facts_read(q->claims.gate_log, &ret->facts);
	if (is_internal(r))
		return r;
	ret->gate_read = r == R_OK;
	if (r != R_OK)
		add_fault(e, r, &ret->facts.replay.fault, true);
	return R_OK;
}

void logs_free(struct logs *l)
{
	free(l->event);
	l->event = NULL;
	l->count = 0;
}

const struct active_bank *logs_shown_bank(const struct logs *l)
{
	for (size_t i = 0; i < l->active_count; i++)
		if (l->active[i].usable)
			return &l->active[i];
	return &l->active[0];
}
