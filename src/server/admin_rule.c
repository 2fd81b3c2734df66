/* SPDX-License-Identifier: Apache-2.0 */
/* Rules for new nodes, as operators make them. */
#include <stdio.h>
#include <string.h>

#include "appraise/ek_trust.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "server/admin.h"
#include "server/channel.h"

/* Longer, and nobody remembers that it is there. */
#define RULE_LONGEST_S (INT64_C(366) * 86400)
#define RULE_MOST 100000u

/* What an expiry, a number and a network are worth is the site's to say; without them it is a door left open. */
static enum reason bounds_check(struct call *c, const struct rule *r)
{
	int64_t now = ledger_now();
	bool expires = r->expires != 0, most = r->most != 0, from = r->network_count != 0;

	if (r->enrols ? !expires || !most || !from : expires || most || from)
		return R_RULE_BOUNDS;
	if (!r->enrols)
		return R_OK;
	if (r->expires <= now || r->expires > now + RULE_LONGEST_S)
		return R_RULE_EXPIRY;
	if (r->most > RULE_MOST || r->network_count > RULE_NETWORKS_MAX) {
		admin_about(c, "rule", "max");
		return R_FORMAT_RANGE;
	}
	for (size_t i = 0; i < r->network_count; i++)
		TRY(network_check(&r->network[i]));
	return R_OK;
}

/* The admin front made it, and is not believed. */
static enum reason rule_check(struct call *c, struct rule *r)
{
	r->manufacturer[sizeof(r->manufacturer) - 1] = r->model[sizeof(r->model) - 1] = '\0';
	r->group[sizeof(r->group) - 1] = '\0';
	channel_bool(&r->enrols);
	snprintf(r->name, sizeof(r->name), "%.31s", c->m->arg[0]);
	if (!admin_name_good(c->m->arg[0], RULE_NAME_MAX) || !r->manufacturer[0] || !r->model[0] ||
	    !text_printable(bytes_str(r->manufacturer)) || !text_printable(bytes_str(r->model)))
		return R_FORMAT_TEXT;
	TRY(bounds_check(c, r));
	return admin_group(c, r->group);
}

static void rule_text(const struct rule *r, char *ret, size_t size)
{
	char network[NETWORK_TEXT_MAX];
	int n = snprintf(ret, size, "%s: %s %s, %s", r->name, r->manufacturer, r->model,
			 r->enrols ? "enrol" : "mark");

	if (r->enrols)
		n += snprintf(ret + n, size - (size_t)n, " %llu until %lld from", (unsigned long long)r->most,
			      (long long)r->expires);
	for (size_t i = 0; i < r->network_count; i++) {
		network_text(&r->network[i], network);
		n += snprintf(ret + n, size - (size_t)n, " %s", network);
	}
}

static enum reason rule_out(void *ctx, const struct rule *r)
{
	struct call *c = ctx;
	enum reason why = rule_in_force(r, ledger_now());
	char network[NETWORK_TEXT_MAX];

	out_object(&c->out, NULL);
	out_text(&c->out, "rule", r->name);
	out_hex(&c->out, "anchor", BYTES(r->anchor));
	out_text(&c->out, "manufacturer", r->manufacturer);
	out_text(&c->out, "model", r->model);
	out_text(&c->out, "group", r->group);
	out_text(&c->out, "does", r->enrols ? "enrol" : "mark");
	out_text(&c->out, "state", why == R_OK ? "in force" : reason_name(why));
	out_number(&c->out, "waiting", r->waiting);
	if (r->enrols) {
		out_time(&c->out, "until", r->expires);
		out_number(&c->out, "max", r->most);
		out_number(&c->out, "enrolled", r->used);
		out_array(&c->out, "from");
		for (size_t i = 0; i < r->network_count; i++) {
			network_text(&r->network[i], network);
			out_text(&c->out, NULL, network);
		}
		out_end(&c->out);
	}
	out_end(&c->out);
	return R_OK;
}

enum reason op_rule_list(struct call *c)
{
	out_array(&c->out, "rules");
	TRY(store_rule_each(c->l->store, NULL, rule_out, c));
	out_end(&c->out);
	return R_OK;
}

enum reason op_rule_add(struct call *c)
{
	uint8_t origin[SHA256_LEN];
	char detail[AUDIT_DETAIL_MAX];
	struct rule r;

	admin_about(c, "rule", c->m->arg[0]);
	if (c->body.n != sizeof(r))
		return R_FORMAT_TRUNCATED;
	memcpy(&r, c->body.p, sizeof(r));
	TRY(rule_check(c, &r));
	TRY(ek_origin(r.anchor, r.manufacturer, r.model, origin));
	admin_about(c, "rule", r.name);
	TRY(store_rule_add(c->l->store, &r, origin, ledger_now()));
	rule_text(&r, detail, sizeof(detail));
	TRY(admin_note(c, BYTES(r.anchor), detail));
	out_text(&c->out, "rule", r.name);
	return R_OK;
}

/* Whom it let in stays in; of those that wait only the mark goes. */
enum reason op_rule_remove(struct call *c)
{
	char detail[96];
	struct rule r;

	admin_about(c, "rule", c->m->arg[0]);
	TRY(store_rule_get(c->l->store, c->m->arg[0], &r));
	TRY(store_rule_remove(c->l->store, r.name));
	snprintf(detail, sizeof(detail), "%s: %llu enrolled, %llu waiting", r.name, (unsigned long long)r.used,
		 (unsigned long long)r.waiting);
	TRY(admin_note(c, BYTES(r.anchor), detail));
	out_text(&c->out, "rule", r.name);
	out_number(&c->out, "enrolled", r.used);
	out_number(&c->out, "waiting", r.waiting);
	return R_OK;
}
