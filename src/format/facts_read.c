/* SPDX-License-Identifier: Apache-2.0 */
/* A gate log as a whole: the order of its events and the state they lead to. */
#include "format/facts.h"

#include <string.h>

#include "base/cleanup.h"

/* The last event of each register before its cap. */
static enum fact last_of(uint32_t pcr)
{
	return pcr == PCR_FACTS ? FACT_END : FACT_HANDOVER;
}

static enum fact_state *state_of(struct facts *f, uint32_t pcr)
{
	return pcr == PCR_FACTS ? &f->facts : &f->decision;
}

static bool is_capped(enum fact_state s)
{
	return s == FACT_STATE_CAPPED || s == FACT_STATE_FAILED;
}

/* Everything that must stand in front of `fact` in its register is there. */
static bool follows(const struct facts *f, enum fact fact)
{
	if (!fact_many(fact) && f->count[fact] > 0)
		return false;
	for (size_t i = 0; i < FACT_CAP; i++) {
		enum fact other = (enum fact)i;

		if (fact_pcr(other) != fact_pcr(fact))
			continue;
		if (other < fact && !fact_many(other) && f->count[other] == 0)
			return false;
		if (other > fact && f->count[other] > 0)
			return false;
	}
	return true;
}

static bool starts_with(struct bytes text, const char *prefix)
{
	size_t n = strlen(prefix);

	return text.n >= n && memcmp(text.p, prefix, n) == 0;
}

/* The fixed cap ends a complete register; a failure may end it anywhere. */
static enum reason add_cap(struct facts *f, const struct fact_value *v)
{
	enum fact_state *state = state_of(f, v->pcr);
	size_t n = strlen(FACT_FAILED_TEXT);

	if (bytes_equal(v->text, bytes_str(FACT_CAP_TEXT))) {
		if (*state != FACT_STATE_COMPLETE)
			return R_FACTS_ORDER;
		*state = FACT_STATE_CAPPED;
		f->count[FACT_CAP]++;
		return R_OK;
	}
	if (!starts_with(v->text, FACT_FAILED_TEXT) || v->text.n == n)
		return R_FACTS_EVENT;
	*state = FACT_STATE_FAILED;
	f->count[FACT_CAP]++;
	f->failed = bytes_of(v->text.p + n, v->text.n - n);
	return R_OK;
}

static enum reason add(struct facts *f, const struct fact_value *v)
{
	enum fact_state *state = state_of(f, v->pcr);

	if (is_capped(*state))
		return R_FACTS_ORDER;
	if (v->fact == FACT_CAP)
		return add_cap(f, v);
	if (!follows(f, v->fact))
		return R_FACTS_ORDER;
	/* There is no decision on facts that are not all measured. */
	if (v->pcr == PCR_DECISION && f->facts != FACT_STATE_COMPLETE)
		return R_FACTS_ORDER;
	f->count[v->fact]++;
	if (!fact_many(v->fact))
		f->value[v->fact] = v->text;
	*state = v->fact == last_of(v->pcr) ? FACT_STATE_COMPLETE : FACT_STATE_OPEN;
	return R_OK;
}

static enum reason add_event(const struct eventlog *log, const struct event *e,
			     struct facts *f)
{
	struct fact_value v;

	TRY(fact_read(log, e, &v));
	return add(f, &v);
}

static enum reason read_events(struct eventlog *log, struct facts *ret)
{
	struct event e;
	enum reason r;

	/* The Spec ID event, which opening has looked at. */
	TRY(eventlog_next(log, &e));
	TRY(eventlog_replay_event(&ret->replay, &e));
	while ((r = eventlog_next(log, &e)) == R_OK) {
		r = add_event(log, &e, ret);
		if (r == R_OK)
			r = eventlog_replay_event(&ret->replay, &e);
		if (r != R_OK) {
			log->fault = (struct eventlog_fault){ e.number, e.offset };
			return r;
		}
	}
	return r == R_LOG_END ? R_OK : r;
}

enum reason facts_read(struct bytes gate_log, struct facts *ret)
{
	struct eventlog log = { 0 };
	enum reason r;

	*ret = (struct facts){ 0 };
	if (gate_log.n > LIMIT_GATE_LOG)
		return R_FORMAT_TOO_LARGE;
	r = eventlog_open(gate_log, &log);
	if (r == R_OK && log.legacy)
		r = R_LOG_LEGACY;
	if (r == R_OK)
		r = eventlog_replay_begin(&log, &ret->replay);
	if (r == R_OK)
		r = read_events(&log, ret);
	if (r != R_OK)
		ret->replay.fault = log.fault;
	return r;
}
