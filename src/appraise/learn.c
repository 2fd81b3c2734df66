/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes variants out of what a node measured. They are staged: what one
 * machine shows is no statement that it is good.
 */
#include "appraise/appraise.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "appraise/component.h"
#include "appraise/findings.h"
#include "appraise/judge.h"
#include "appraise/semantics.h"
#include "base/cleanup.h"
#include "base/text.h"

#define TEXT_MAX 120u			/* of one event, for people */

/* Name: component and the first bytes of a digest over all its digests. */
static enum reason name_variant(const struct logs *l, const struct component_events *c,
				struct reference_variant *v)
{
	const struct active_bank *b = logs_shown_bank(l);
	struct digest *d = NULL;
	uint8_t digest[DIGEST_MAX];
	char hex[9];
	enum reason r = digest_begin(ALG_SHA256, &d);

	for (size_t i = 0; i < c->count && r == R_OK; i++)
		r = digest_update(d, l->event[c->index[i]].event.digest[b->column]);
	if (r == R_OK)
		r = digest_end(d, digest);
	digest_free(&d);
	if (r != R_OK)
		return r;
	hex_encode(bytes_of(digest, 4), hex);
	snprintf(v->name, sizeof v->name, "%.64s-%s", v->component, hex);
	return R_OK;
}

static void version_variant(const struct logs *l, enum component c, struct reference_variant *v)
{
	enum fact fact = strcmp(component_submod(c), "gate") == 0 ? FACT_BUILD
								  : FACT_BIOS_VERSION;

	struct bytes text = l->facts.value[fact];

	snprintf(v->version, sizeof v->version, "%.*s", (int)text.n,
		 text.n ? (const char *)text.p : "");
}

/* Digests of the active banks only: of the others nothing is known. */
static void copy_event(const struct logs *l, const struct logged *one,
		       struct reference_event *ret, char *text)
{
	ret->pcr = (uint8_t)one->event.pcr;
	ret->type = one->event.type;
	for (size_t i = 0; i < l->active_count; i++) {
		const struct active_bank *b = &l->active[i];

		if (b->column == NO_COLUMN)
			continue;
		ret->digest[ret->digest_count].alg = b->alg;
		ret->digest[ret->digest_count].digest = one->event.digest[b->column];
		ret->digest_count++;
	}
	event_describe(one, text, TEXT_MAX);
	ret->text = bytes_str(text);
}

static enum reason make_variant(const struct logs *l, enum component component,
				const struct component_events *c, const char *source,
				struct reference_variant *ret)
{
	char *texts;

	if (c->count > REFERENCE_EVENTS_MAX)
		return R_FORMAT_TOO_LARGE;
	*ret = (struct reference_variant){ .state = VARIANT_STAGED };
	/* One piece: the events, then their texts. */
	ret->event = calloc(c->count, sizeof *ret->event + TEXT_MAX);
	if (!ret->event)
		return R_INTERNAL_MEMORY;
	texts = (char *)(ret->event + c->count);
	ret->event_count = c->count;
	snprintf(ret->component, sizeof ret->component, "%s", component_name(component));
	snprintf(ret->source, sizeof ret->source, "%s", source);
	version_variant(l, component, ret);
	for (size_t i = 0; i < c->count; i++)
		copy_event(l, &l->event[c->index[i]], &ret->event[i], texts + i * TEXT_MAX);
	return name_variant(l, c, ret);
}

static enum reason make_all(const struct logs *l, const struct components *c, const char *source,
			    struct reference_set *ret)
{
	ret->variant = calloc(COMPONENT_COUNT, sizeof *ret->variant);
	if (!ret->variant)
		return R_INTERNAL_MEMORY;
	for (unsigned i = 0; i < COMPONENT_COUNT; i++) {
		enum reason r;

		if (c->of[i].count == 0)
			continue;
		r = make_variant(l, (enum component)i, &c->of[i], source,
				 &ret->variant[ret->count]);
		ret->count++;
		if (r != R_OK)
			return r;
	}
	return R_OK;
}

/* Only logs that are true, and hold to the rules that the policy holds to, are worth learning from. */
static enum reason learn(const struct quote_checked *q, const char *source,
			 const struct policy *policy, struct logs *l, struct explanation *e,
			 struct reference_set *ret)
{
	_cleanup_(components_free) struct components c = { 0 };
	bool replayed;

	TRY(logs_read(q, l, e));
	TRY(explanation_refusal(e));
	semantics_gate_registers(l, e);
	TRY(semantics_replay(l, e, &replayed));
	semantics_banks(l, e);
	TRY(explanation_refusal(e));
	TRY(semantics_events(l, e));
	policy_soften(policy, e);
	TRY(explanation_refusal(e));
	TRY(components_split(l, &c));
	return make_all(l, &c, source, ret);
}

enum reason component_learn(const struct quote_checked *q, const char *source,
			    const struct policy *policy, struct reference_set *ret)
{
	_cleanup_free_ struct logs *l = calloc(1, sizeof *l);
	_cleanup_free_ struct explanation *e = calloc(1, sizeof *e);
	enum reason r;

	if (!l || !e)
		return R_INTERNAL_MEMORY;
	*ret = (struct reference_set){ 0 };
	r = learn(q, source, policy, l, e, ret);
	logs_free(l);
	if (r != R_OK)
		reference_set_free(ret);
	return r;
}
