/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One whole variant per component. A component that is put together from two
 * good variants is none of them, and so is one with an event more or less.
 */
#include "appraise/component.h"

#include <stdio.h>
#include <string.h>

#include "appraise/findings.h"
#include "base/cleanup.h"
#include "base/text.h"

/*
 * Same register, same type, same digest in every active bank. A bank that
 * proves something must be covered by the variant; of one that does not
 * (SHA-1, not measured), only what the variant states must hold.
 */
static bool event_equals(const struct logs *l, const struct event *e,
			 const struct reference_event *want)
{
	if (e->pcr != want->pcr || e->type != want->type)
		return false;
	for (size_t i = 0; i < l->active_count; i++) {
		const struct active_bank *b = &l->active[i];
		struct bytes digest = BYTES_NONE;

		if (b->column == NO_COLUMN)
			continue;
		for (size_t k = 0; k < want->digest_count; k++)
			if (want->digest[k].alg == b->alg)
				digest = want->digest[k].digest;
		if (digest.n == 0 && !b->usable)
			continue;
		if (digest.n == 0 || !bytes_equal(digest, e->digest[b->column]))
			return false;
	}
	return true;
}

static const struct event *event_at(const struct logs *l, const struct component_events *c,
				    size_t i)
{
	return &l->event[c->index[i]].event;
}

static size_t common_prefix(const struct logs *l, const struct component_events *c,
			    const struct reference_variant *v)
{
	size_t n = 0;

	while (n < c->count && n < v->event_count &&
	       event_equals(l, event_at(l, c, n), &v->event[n]))
		n++;
	return n;
}

static bool variant_equals(const struct logs *l, const struct component_events *c,
			   const struct reference_variant *v)
{
	return c->count == v->event_count && common_prefix(l, c, v) == c->count;
}

/* ---- the nearest variant ------------------------------------------------ */

#define DISTANCE_MAX 24u		/* more is not told apart */
#define NEAREST_CANDIDATES 16u		/* variants that are looked at */

/*
 * Edit distance of two sequences, at most DISTANCE_MAX + 1: only the diagonal
 * band that can stay below it is computed.
 */
static size_t distance(const struct logs *l, const struct component_events *c,
		       const struct reference_variant *v)
{
	size_t row[2][2 * DISTANCE_MAX + 3];
	const size_t far = DISTANCE_MAX + 1;
	const size_t width = 2 * DISTANCE_MAX + 1;
	size_t start = common_prefix(l, c, v);
	size_t a_len = c->count;
	size_t b_len = v->event_count;
	size_t *last = row[0];
	size_t *next = row[1];

	while (a_len > start && b_len > start &&
	       event_equals(l, event_at(l, c, a_len - 1), &v->event[b_len - 1])) {
		a_len--;
		b_len--;
	}
	a_len -= start;
	b_len -= start;
	if (a_len > b_len + DISTANCE_MAX || b_len > a_len + DISTANCE_MAX)
		return far;
	/* row[k + 1] is cell (i, j) with j = i + k - DISTANCE_MAX; both ends stay far */
	for (size_t k = 0; k < width + 2; k++)
		last[k] = next[k] = far;
	for (size_t k = DISTANCE_MAX; k < width && k - DISTANCE_MAX <= b_len; k++)
		last[k + 1] = k - DISTANCE_MAX;
	for (size_t i = 1; i <= a_len; i++) {
		size_t *swap = last;

		for (size_t k = 0; k < width; k++) {
			size_t best = far;

			if (i + k >= DISTANCE_MAX && i + k - DISTANCE_MAX <= b_len) {
				size_t j = i + k - DISTANCE_MAX;

				best = last[k + 2] + 1;			/* event too much */
				if (j > 0 && next[k] + 1 < best)
					best = next[k] + 1;		/* event missing */
				if (j > 0) {
					bool same = event_equals(l, event_at(l, c, start + i - 1),
								 &v->event[start + j - 1]);

					if (last[k + 1] + !same < best)
						best = last[k + 1] + !same;
				}
			}
			next[k + 1] = best < far ? best : far;
		}
		last = next;
		next = swap;
	}
	return last[b_len + DISTANCE_MAX - a_len + 1];
}

static bool is_allowed(const struct reference_variant *v)
{
	return v->state == VARIANT_ACTIVE || v->state == VARIANT_RETIRING;
}

static const struct reference_variant *nearest(const struct logs *l, const char *name,
					       const struct component_events *c,
					       const struct reference_set *refs,
					       size_t *ret_distance)
{
	const struct reference_variant *best = NULL;
	size_t looked_at = 0;

	*ret_distance = 0;
	for (size_t i = 0; i < refs->count && looked_at < NEAREST_CANDIDATES; i++) {
		const struct reference_variant *v = &refs->variant[i];
		size_t d;

		if (strcmp(v->component, name) != 0)
			continue;
		looked_at++;
		d = distance(l, c, v);
		if (best && (d > *ret_distance || (d == *ret_distance && !is_allowed(v))))
			continue;
		best = v;
		*ret_distance = d;
	}
	return best;
}

/* ---- words --------------------------------------------------------------- */

static void describe_expected(const struct logs *l, const struct reference_variant *v, size_t at,
			      char to[FINDING_TEXT_MAX])
{
	const struct active_bank *b = logs_shown_bank(l);
	const struct reference_event *want;
	const char *type;
	char hex[2 * DIGEST_MAX + 1] = "no digest in this bank";

	if (at >= v->event_count) {
		finding_text(to, "no further event");
		return;
	}
	want = &v->event[at];
	type = eventlog_type_name(want->type);
	for (size_t k = 0; k < want->digest_count; k++)
		if (want->digest[k].alg == b->alg)
			hex_encode(want->digest[k].digest, hex);
	finding_text(to, "register %u %s %s %.*s", want->pcr, type ? type : "unknown type", hex,
		     (int)(want->text.n < FINDING_TEXT_MAX ? want->text.n : FINDING_TEXT_MAX),
		     want->text.n ? (const char *)want->text.p : "");
}

static void describe_nearest(const struct reference_variant *v, size_t d, size_t first,
			     char to[FINDING_TEXT_MAX])
{
	char difference[64];

	if (d > DISTANCE_MAX)
		snprintf(difference, sizeof difference, "more than %u events differ", DISTANCE_MAX);
	else if (d > 0)
		snprintf(difference, sizeof difference, "%zu event%s differ%s, from place %zu on",
			 d, d == 1 ? "" : "s", d == 1 ? "s" : "", first);
	else
		snprintf(difference, sizeof difference, "equal in all its events");
	finding_text(to, "%.60s %.40s (%s, number %llu): %s", v->name, v->version,
		     variant_state_name(v->state), (unsigned long long)v->id, difference);
}

static void describe_difference(const struct logs *l, const struct component_events *c,
				const struct reference_variant *v, size_t d, struct finding *f)
{
	const struct active_bank *b = logs_shown_bank(l);
	size_t first = common_prefix(l, c, v);

	if (first < c->count) {
		const struct logged *one = &l->event[c->index[first]];

		finding_event(f, &one->event, b->alg, b->column);
		event_describe(one, f->observed, sizeof f->observed);
	} else {
		finding_text(f->observed, "no further event");
	}
	describe_expected(l, v, first, f->expected);
	describe_nearest(v, d, first, f->nearest);
}

static void show_first(const struct logs *l, const struct component_events *c, struct finding *f)
{
	const struct active_bank *b = logs_shown_bank(l);

	finding_event(f, &l->event[c->index[0]].event, b->alg, b->column);
	event_describe(&l->event[c->index[0]], f->observed, sizeof f->observed);
}

/* ---- judging ------------------------------------------------------------- */

static void add_match(const struct reference_variant *v, struct explanation *e)
{
	size_t i = e->match_count;

	if (i == ARRAY_LEN(e->match))
		return;
	snprintf(e->match[i].component, sizeof e->match[i].component, "%.31s", v->component);
	snprintf(e->match[i].variant, sizeof e->match[i].variant, "%.63s", v->name);
	e->match[i].id = v->id;
	e->match_count++;
}

/* What the variants of one component say about its events. */
struct outcome {
	const struct reference_variant *match;
	const struct reference_variant *revoked;
	const struct reference_variant *below;	/* the least security version */
	size_t allowed;			/* variants that could have matched */
};

static uint32_t least_version(const struct policy *p, const char *name)
{
	uint32_t least = 0;

	for (size_t i = 0; i < p->floor_count; i++)
		if (strcmp(p->floor[i].component, name) == 0 && p->floor[i].least > least)
			least = p->floor[i].least;
	return least;
}

static struct outcome compare(const struct logs *l, const char *name,
			      const struct component_events *c,
			      const struct reference_set *refs, const struct policy *policy)
{
	uint32_t least = least_version(policy, name);
	struct outcome o = { 0 };

	for (size_t i = 0; i < refs->count; i++) {
		const struct reference_variant *v = &refs->variant[i];

		if (strcmp(v->component, name) != 0)
			continue;
		if (v->security_version < least && variant_equals(l, c, v))
			o.below = v;
		if (is_allowed(v)) {
			o.allowed++;
			if (!o.match && variant_equals(l, c, v))
				o.match = v;
		} else if (v->state == VARIANT_REVOKED && variant_equals(l, c, v)) {
			o.revoked = v;
		}
	}
	return o;
}

static enum reason match_component(const struct logs *l, enum component component,
				   const struct component_events *c,
				   const struct reference_set *refs,
				   const struct policy *policy, struct explanation *e)
{
	const char *name = component_name(component);
	struct outcome o = compare(l, name, c, refs, policy);
	struct finding f = finding_make(R_POLICY_VARIANT, SEVERITY_REFUSE, name);
	const struct reference_variant *v;
	size_t d = 0;

	if (o.match && !o.revoked && !o.below) {
		add_match(o.match, e);
		return R_OK;
	}
	if (o.below && !o.revoked) {
		f.reason = R_POLICY_SECURITY_VERSION;
		show_first(l, c, &f);
		finding_text(f.expected, "security version %u or later", least_version(policy, name));
		finding_text(f.nearest, "%.60s %.40s (number %llu): security version %u", o.below->name,
			     o.below->version, (unsigned long long)o.below->id,
			     o.below->security_version);
		explain(e, &f);
		return R_OK;
	}
	v = o.revoked ? o.revoked : nearest(l, name, c, refs, &d);
	if (o.allowed == 0 && !o.revoked) {
		f.reason = R_POLICY_NO_REFERENCE;
		show_first(l, c, &f);
		finding_text(f.expected, "an active variant of %s", name);
	}
	if (v && f.reason == R_POLICY_VARIANT)
		describe_difference(l, c, v, d, &f);
	else if (v)
		describe_nearest(v, d, common_prefix(l, c, v), f.nearest);
	explain(e, &f);
	return R_OK;
}

static void add_unclaimed(const struct logs *l, const struct component_events *c,
			  struct explanation *e)
{
	const struct active_bank *b = logs_shown_bank(l);

	for (size_t i = 0; i < c->count; i++) {
		const struct logged *one = &l->event[c->index[i]];
		struct finding f = finding_make(R_POLICY_UNCLAIMED, SEVERITY_REFUSE, "");

		finding_event(&f, &one->event, b->alg, b->column);
		event_describe(one, f.observed, sizeof f.observed);
		finding_text(f.expected, "no such event in register %u", one->event.pcr);
		explain(e, &f);
	}
}

static bool is_required(const struct policy *p, const char *name)
{
	for (size_t i = 0; i < p->required_count; i++)
		if (strcmp(p->required[i], name) == 0)
			return true;
	return false;
}

static void add_missing(const char *name, struct explanation *e)
{
	struct finding f = finding_make(R_POLICY_MISSING, SEVERITY_REFUSE, name);

	finding_text(f.observed, "no event");
	finding_text(f.expected, "the events of %s", name);
	explain(e, &f);
}

/*
 * Nothing is not equal to something: a component that has references must
 * have events, wanted by the policy or not. A policy may also want one that
 * this version does not know.
 */
static void check_present(const struct components *c, const struct reference_set *refs,
			  const struct policy *policy, struct explanation *e)
{
	bool wanted[COMPONENT_COUNT] = { false };

	for (size_t i = 0; i < policy->required_count; i++)
		if (component_find(policy->required[i]) == COMPONENT_NONE)
			add_missing(policy->required[i], e);
	for (size_t i = 0; i < policy->floor_count; i++)
		if (component_find(policy->floor[i].component) == COMPONENT_NONE)
			add_missing(policy->floor[i].component, e);
	for (size_t i = 0; i < refs->count; i++) {
		enum component component = component_find(refs->variant[i].component);

		if (component != COMPONENT_NONE && is_allowed(&refs->variant[i]))
			wanted[component] = true;
	}
	for (unsigned i = 0; i < COMPONENT_COUNT; i++) {
		const char *name = component_name((enum component)i);

		if (c->of[i].count == 0 && (wanted[i] || is_required(policy, name)))
			add_missing(name, e);
	}
}

static void note_ignored(const struct logs *l, const struct components *c, struct explanation *e)
{
	for (size_t i = 0; i < l->count && c->ignored > 0; i++) {
		struct finding f;

		if (!l->event[i].ignored)
			continue;
		f = finding_make(R_OK, SEVERITY_INFO, component_name(l->event[i].component));
		finding_event(&f, &l->event[i].event, 0, NO_COLUMN);
		finding_text(f.observed, "%zu event%s not compared; the first: %s", c->ignored,
			     c->ignored == 1 ? "" : "s", l->event[i].ignored);
		explain(e, &f);
		return;
	}
}

/* Beside the variants, options that the policy allows are as good. */
static enum reason match_command_line(const struct logs *l, const struct component_events *c,
				      const struct reference_set *refs,
				      const struct policy *policy, const struct report *report,
				      struct explanation *e)
{
	struct outcome o = compare(l, component_name(COMPONENT_COMMAND_LINE), c, refs, policy);

	if (o.match || o.revoked || o.below)
		return match_component(l, COMPONENT_COMMAND_LINE, c, refs, policy, e);
	return cmdline_check(l, c, policy, report, e);
}

/* Without any reference nothing is compared, and that is no pass. */
static bool have_references(const struct reference_set *refs, struct explanation *e)
{
	struct finding f = finding_make(R_POLICY_NO_REFERENCE, SEVERITY_REFUSE, "");

	for (size_t i = 0; i < refs->count; i++)
		if (is_allowed(&refs->variant[i]))
			return true;
	finding_text(f.observed, "there is no active reference at all");
	explain(e, &f);
	return false;
}

enum reason components_match(const struct logs *l, const struct components *c,
			     const struct reference_set *refs, const struct policy *policy,
			     const struct report *report, struct explanation *e)
{
	note_ignored(l, c, e);
	add_unclaimed(l, &c->of[COMPONENT_NONE], e);
	check_present(c, refs, policy, e);
	if (!have_references(refs, e))
		return R_OK;
	for (unsigned i = 0; i < COMPONENT_COUNT; i++) {
		const struct component_events *events = &c->of[i];

		if (events->count == 0)
			continue;
		if (i == COMPONENT_COMMAND_LINE)
			TRY(match_command_line(l, events, refs, policy, report, e));
		else
			TRY(match_component(l, (enum component)i, events, refs, policy, e));
	}
	return R_OK;
}
