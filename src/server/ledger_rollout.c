/* SPDX-License-Identifier: Apache-2.0 */
/* Rollouts: what one allows a node, and what a node's verdict means for it. */
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "server/ledger.h"

bool rollout_is_open(const struct rollout *r)
{
	return r->state == ROLLOUT_RUNNING || r->state == ROLLOUT_PAUSED;
}

static enum reason mode_of(struct ledger *l, const struct rollout *r, const struct progress *p, struct rollout_terms *t)
{
	uint64_t count[PROGRESS_MAX];

	t->mode = rollout_is_open(r) ? ROLLOUT_ACCEPT : ROLLOUT_CLOSED;
	if (r->state != ROLLOUT_RUNNING)
		return R_OK;
	if (p->state == PROGRESS_FAILED) {
		t->mode = ROLLOUT_FAILED;
		return R_OK;
	}
	if (p->state != PROGRESS_UPDATING) {
		TRY(store_progress_count(l->store, r, count));
		if (count[PROGRESS_UPDATING] < r->at_once)
			t->mode = ROLLOUT_UPDATE;
		return R_OK;
	}
	t->mode = ROLLOUT_UPDATE;
	/* In one boot it may have to be told twice: only one image can run. */
	if (p->tries >= r->tries) {
		t->last_try = true;
		t->reset_count = p->reset_count;
	}
	return R_OK;
}

enum reason rollout_terms_of(struct ledger *l, const struct node *n, struct rollout_terms *terms,
			     struct msg_session *s)
{
	struct progress p;
	struct rollout r;

	memset(terms, 0, sizeof(*terms));
	s->has_update = false;
	memset(s->update_digest, 0, sizeof(s->update_digest));
	if (n->state != NODE_ENROLLED || s->session.stage != STAGE_GATE)
		return R_OK;
	TRY(store_retired(l->store, n->id, terms->retired, REFERENCE_SET_MAX, &terms->retired_count));
	enum reason found = store_rollout_of(l->store, n->group, &r);
	if (found != R_OK)
		return found == R_STORE_NOT_FOUND ? R_OK : found;
	TRY(store_progress(l->store, r.id, n->id, &p));
	TRY(mode_of(l, &r, &p, terms));
	snprintf(terms->name, sizeof(terms->name), "%s", r.name);
	terms->new_count = r.new_count;
	memcpy(terms->new_id, r.new_id, sizeof(terms->new_id));
	if (terms->mode == ROLLOUT_UPDATE) {
		s->has_update = true;
		memcpy(s->update_digest, r.manifest, SHA256_LEN);
	}
	return R_OK;
}

static bool terms_equal(const struct rollout_terms *a, const struct rollout_terms *b)
{
	return a->mode == b->mode && strcmp(a->name, b->name) == 0 && a->last_try == b->last_try &&
	       a->reset_count == b->reset_count && a->new_count == b->new_count &&
	       memcmp(a->new_id, b->new_id, sizeof(a->new_id)) == 0 && a->retired_count == b->retired_count &&
	       memcmp(a->retired, b->retired, sizeof(a->retired)) == 0;
}

enum reason rollout_still_true(struct ledger *l, const struct job *j, const struct node *now)
{
	struct msg_session s = j->s;
	struct rollout_terms terms;

	TRY(rollout_terms_of(l, now, &terms, &s));
	return terms_equal(&terms, &j->rollout) &&
	       memcmp(s.update_digest, j->s.update_digest, SHA256_LEN) == 0 ? R_OK : R_SERVER_BUSY;
}

bool rollout_judged_sane(const struct job *j, const struct msg_judged *m)
{
	if (m->rollout >= ROLLOUT_SEEN_MAX || (m->rollout != ROLLOUT_SEEN_NOTHING && j->rollout.mode == ROLLOUT_NONE))
		return false;
	return m->directive != DIRECTIVE_UPDATE || (j->s.has_update && m->rollout == ROLLOUT_SEEN_OLD);
}

/* What the server does by itself stands in the audit under its own name. */
static enum reason close_rollout(struct ledger *l, const struct rollout *r, enum rollout_state to,
				 enum reason why, const char *action)
{
	TRY(store_rollout_state(l->store, r->id, to, ledger_now()));
	return audit(l, "server", action, BYTES_NONE, why, r->name);
}

static enum reason updating(struct ledger *l, const struct rollout *r, const struct job *j, struct progress *p)
{
	uint32_t reset_count = j->facts.record.clock.reset_count;

	if (p->state == PROGRESS_UPDATING && p->reset_count == reset_count)
		return R_OK;
	*p = (struct progress){ .state = PROGRESS_UPDATING, .tries = p->tries + 1, .reset_count = reset_count,
				.time = ledger_now() };
	return store_progress_set(l->store, r->id, j->node.id, p);
}

static enum reason updated(struct ledger *l, const struct rollout *r, const struct job *j, struct progress *p)
{
	uint64_t count[PROGRESS_MAX];

	if (p->state == PROGRESS_UPDATED)
		return R_OK;
	p->state = PROGRESS_UPDATED;
	p->time = ledger_now();
	p->reason[0] = '\0';
	TRY(store_progress_set(l->store, r->id, j->node.id, p));
	TRY(store_retire(l->store, r->id, j->node.id));
	TRY(audit(l, "gate", "rollout.updated", BYTES(j->node.id), R_OK, r->name));
	if (!rollout_is_open(r))
		return R_OK;
	TRY(store_progress_count(l->store, r, count));
	if (count[PROGRESS_WAITING] + count[PROGRESS_UPDATING] + count[PROGRESS_FAILED] > 0)
		return R_OK;
	return close_rollout(l, r, ROLLOUT_DONE, R_OK, "rollout.done");
}

static enum reason failed(struct ledger *l, const struct rollout *r, const struct job *j, struct progress *p)
{
	uint64_t count[PROGRESS_MAX];

	p->state = PROGRESS_FAILED;
	p->time = ledger_now();
	snprintf(p->reason, sizeof(p->reason), "%s", reason_name(j->facts.reason));
	TRY(store_progress_set(l->store, r->id, j->node.id, p));
	TRY(audit(l, "gate", "rollout.failed", BYTES(j->node.id), j->facts.reason, r->name));
	TRY(store_progress_count(l->store, r, count));
	if (count[PROGRESS_FAILED] < r->failures)
		return R_OK;
	return close_rollout(l, r, ROLLOUT_STOPPED, R_ROLLOUT_FAILED, "rollout.stop");
}

/* It has been told to update, has booted since, and is not let in because of what it is now. */
static bool has_failed(const struct job *j, const struct progress *p)
{
	const struct msg_judged *m = &j->facts;

	if (p->state != PROGRESS_UPDATING || p->reset_count == m->record.clock.reset_count)
		return false;
	return m->directive == DIRECTIVE_REFUSE ||
	       (m->directive == DIRECTIVE_HOLD &&
		(m->rollout == ROLLOUT_SEEN_OTHER || m->reason == R_ROLLOUT_FAILED));
}

enum reason rollout_record(struct ledger *l, const struct job *j)
{
	struct progress p;
	struct rollout r;

	if (j->rollout.mode == ROLLOUT_NONE || j->s.session.stage != STAGE_GATE)
		return R_OK;
	TRY(store_rollout_of(l->store, j->node.group, &r));
	TRY(store_progress(l->store, r.id, j->node.id, &p));
	if (j->facts.directive == DIRECTIVE_UPDATE)
		return updating(l, &r, j, &p);
	if (j->facts.directive == DIRECTIVE_ADMIT && j->facts.rollout == ROLLOUT_SEEN_NEW)
		return updated(l, &r, j, &p);
	if (rollout_is_open(&r) && has_failed(j, &p))
		return failed(l, &r, j, &p);
	return R_OK;
}

enum reason rollout_may_boot(struct ledger *l, const struct node *n, const struct attestation *a)
{
	struct progress p;
	struct rollout r;

	if (a->directive != DIRECTIVE_UPDATE)
		return R_OK;
	enum reason found = store_rollout_of(l->store, n->group, &r);
	if (found == R_STORE_NOT_FOUND)
		return R_ROLLOUT_OVER;
	TRY(found);
	TRY(store_progress(l->store, r.id, n->id, &p));
	return r.state == ROLLOUT_RUNNING && p.state == PROGRESS_UPDATING &&
	       p.reset_count == a->clock.reset_count &&
	       memcmp(r.manifest, a->manifest_digest, SHA256_LEN) == 0 ? R_OK : R_ROLLOUT_OVER;
}
