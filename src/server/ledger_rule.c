/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules for new nodes that no list knows. That a TPM is real, and of this
 * model, says nothing of the machine that it sits in: what a rule lets in is
 * bounded by number, time and network, and each verdict names the rule.
 */
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "server/ledger.h"

/* How far a clock is corrected in good order. It lengthens no rule. */
#define CLOCK_SLACK_S 600
#define CLOCK_EACH_MS 60000u

enum reason rule_in_force(const struct rule *r, int64_t now)
{
	if (!r->enrols)
		return R_OK;
	if (now >= r->expires || r->latest >= r->expires)
		return R_RULE_EXPIRED;
	if (now < r->latest - CLOCK_SLACK_S)
		return R_RULE_CLOCK;
	return r->used < r->most ? R_OK : R_RULE_EXHAUSTED;
}

/* One that only marks does so wherever the node stands. */
static bool from_there(const struct rule *r, const char *peer)
{
	bool there = !r->enrols;

	for (size_t i = 0; i < r->network_count && !there; i++)
		there = network_has(&r->network[i], peer);
	return there;
}

struct choice {
	const char *peer;
	bool found;
	struct rule rule;
	enum reason why;		/* R_OK, or why it does not let the node in */
};

/* The first that holds; where none does, the first: it says why. */
static enum reason choose(void *ctx, const struct rule *r)
{
	struct choice *c = ctx;
	enum reason why = rule_in_force(r, ledger_now());

	if (why == R_OK && !from_there(r, c->peer))
		why = R_RULE_NETWORK;
	if (c->found && (c->why == R_OK || why != R_OK))
		return R_OK;
	c->found = true;
	c->rule = *r;
	c->why = why;
	return R_OK;
}

enum reason node_ruled(struct ledger *l, const struct job *j, struct node *n)
{
	struct choice c = { .peer = j->peer };

	for (size_t i = 0; i < j->ek_count; i++)
		if (j->origin[i].known)
			TRY(store_rule_each(l->store, j->origin[i].digest, choose, &c));
	if (!c.found)
		return R_OK;
	snprintf(n->rule, sizeof(n->rule), "%s", c.rule.name);
	snprintf(n->group, sizeof(n->group), "%s", c.rule.group);
	if (c.rule.enrols && c.why == R_OK) {
		n->state = NODE_ENROLLED;
		n->approved = n->created;
		snprintf(n->basis, sizeof(n->basis), "rule %s", c.rule.name);
		return R_OK;
	}
	snprintf(n->basis, sizeof(n->basis), "rule %s matched%s%s", c.rule.name, c.why != R_OK ? ", " : "",
		 c.why != R_OK ? reason_name(c.why) : "");
	return R_OK;
}

enum reason rule_used(struct ledger *l, const struct node *n)
{
	struct rule rule;

	/* Held for its board it waits, and takes nobody's place. */
	if (n->state != NODE_ENROLLED || !n->rule[0])
		return R_OK;
	TRY(store_rule_use(l->store, n->rule, ledger_now()));
	TRY(store_rule_get(l->store, n->rule, &rule));
	if (rule.used < rule.most)
		return R_OK;
	return audit(l, "gate", "rule.exhausted", BYTES(n->id), R_RULE_EXHAUSTED, n->rule);
}

void rules_clock(struct ledger *l)
{
	uint64_t now = clock_boot_ms();
	bool behind;

	if (now < l->next_rule_clock)
		return;
	l->next_rule_clock = now + CLOCK_EACH_MS;
	enum reason r = store_rule_behind(l->store, ledger_now(), &behind);
	if (r == R_OK && behind) {
		r = ledger_savepoint(l);
		if (r == R_OK)
			r = ledger_release(l, store_rule_seen(l->store, ledger_now()));
	}
	if (r != R_OK)
		log_reason(r, "rules do not remember the time");
}
