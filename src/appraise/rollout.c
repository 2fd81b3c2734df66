/* SPDX-License-Identifier: Apache-2.0 */
#include "appraise/rollout.h"

#include <string.h>

#include "appraise/findings.h"

static bool among(const uint64_t *list, size_t n, uint64_t id)
{
	for (size_t i = 0; i < n; i++)
		if (list[i] == id)
			return true;
	return false;
}

static bool is_new(const struct rollout_terms *t, uint64_t id)
{
	return t->mode != ROLLOUT_NONE && among(t->new_id, t->new_count, id);
}

/* A component is changed while one of the variants that are brought is in force. */
static const struct reference_variant *brought(const struct rollout_terms *t, const struct reference_set *refs,
					       const char *component)
{
	for (size_t i = 0; i < refs->count; i++)
		if (is_new(t, refs->variant[i].id) && strcmp(refs->variant[i].component, component) == 0)
			return &refs->variant[i];
	return NULL;
}

static void add(struct explanation *e, enum reason r, enum severity s, size_t match, const char *rather)
{
	struct finding f = finding_make(r, s, e->match[match].component);
	const char *name = e->match[match].variant;
	unsigned long long id = e->match[match].id;

	/* Of what changes nothing, people see one text only. */
	if (s == SEVERITY_INFO) {
		finding_text(f.observed, "%.40s, number %llu; %s", name, id, rather);
	} else {
		finding_text(f.observed, "%.63s, number %llu", name, id);
		finding_text(f.expected, "%s", rather);
	}
	explain(e, &f);
}

/* What the rollout that is open now brings wins over what an earlier one retired. */
static void refuse_retired(const struct rollout_terms *t, struct explanation *e)
{
	for (size_t i = 0; i < e->match_count; i++)
		if (among(t->retired, t->retired_count, e->match[i].id) && !is_new(t, e->match[i].id))
			add(e, R_ROLLOUT_OLD, SEVERITY_REFUSE, i, "a variant that is not retired for this node");
}

/* The finding of a component that equals no variant says all there is to say of it. */
static bool hold_unknown(const char *component, enum rollout_mode mode, struct explanation *e)
{
	for (size_t i = 0; i < e->count; i++) {
		struct finding *f = &e->finding[i];

		if (f->reason != R_POLICY_VARIANT || strcmp(f->component, component) != 0)
			continue;
		if (mode != ROLLOUT_CLOSED) {
			f->reason = R_ROLLOUT_UNKNOWN;
			f->severity = SEVERITY_HOLD;
		}
		return true;
	}
	return false;
}

static enum rollout_seen look(const struct rollout_terms *t, const struct reference_set *refs,
			      struct explanation *e)
{
	enum rollout_seen seen = ROLLOUT_SEEN_NOTHING;

	for (size_t i = 0; i < e->match_count; i++) {
		enum rollout_seen one = is_new(t, e->match[i].id) ? ROLLOUT_SEEN_NEW : ROLLOUT_SEEN_OLD;

		if (brought(t, refs, e->match[i].component) && one > seen)
			seen = one;
	}
	for (size_t i = 0; i < refs->count; i++)
		if (is_new(t, refs->variant[i].id) && hold_unknown(refs->variant[i].component, t->mode, e))
			seen = ROLLOUT_SEEN_OTHER;
	return seen;
}

static void tell_old(const struct rollout_terms *t, const struct reference_set *refs, enum reason r,
		     enum severity s, const char *what, struct explanation *e)
{
	for (size_t i = 0; i < e->match_count; i++) {
		const struct reference_variant *v = brought(t, refs, e->match[i].component);
		char rather[FINDING_TEXT_MAX];

		if (!v || is_new(t, e->match[i].id))
			continue;
		finding_text(rather, "%.40s, number %llu, by rollout %.40s%s", v->name,
			     (unsigned long long)v->id, t->name, what);
		add(e, r, s, i, rather);
	}
}

void rollout_judge(const struct rollout_terms *t, const struct reference_set *refs, uint32_t reset_count,
		   struct explanation *e, enum rollout_seen *ret_seen, bool *ret_update)
{
	enum severity others;
	enum rollout_mode mode = t->mode;

	*ret_update = false;
	refuse_retired(t, e);
	*ret_seen = look(t, refs, e);
	if (*ret_seen != ROLLOUT_SEEN_OLD)
		return;
	if (mode == ROLLOUT_UPDATE && t->last_try && reset_count != t->reset_count)
		mode = ROLLOUT_FAILED;
	/* A maintenance image is for who would be let in but for what it changes, without a doubt. */
	others = explanation_worst(e);
	if (mode == ROLLOUT_FAILED) {
		tell_old(t, refs, R_ROLLOUT_FAILED, SEVERITY_HOLD, "", e);
	} else if (mode == ROLLOUT_UPDATE && others == SEVERITY_INFO) {
		tell_old(t, refs, R_ROLLOUT_UPDATE, SEVERITY_WARN, "", e);
		*ret_update = true;
	} else if (mode == ROLLOUT_UPDATE) {
		tell_old(t, refs, R_OK, SEVERITY_INFO, "; no update while something else was found", e);
	} else if (mode == ROLLOUT_ACCEPT) {
		tell_old(t, refs, R_OK, SEVERITY_INFO, "; both are accepted now", e);
	}
}
