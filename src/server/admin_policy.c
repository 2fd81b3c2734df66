/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "base/cleanup.h"
#include "server/admin.h"

enum reason op_policy_show(struct call *c)
{
	TRY(admin_group(c, c->m->arg[0]));
	const struct group_policy *g = policy_of(c->l, c->m->arg[0]);
	const struct policy *p = &g->values;

	out_text(&c->out, "group", g->group);
	out_text(&c->out, "id", p->id);
	out_number(&c->out, "version", p->version);
	out_number(&c->out, "lifetime", p->lifetime);
	out_array(&c->out, "required");
	for (size_t i = 0; i < p->required_count; i++)
		out_text(&c->out, NULL, p->required[i]);
	out_end(&c->out);
	out_array(&c->out, "parameters");
	for (size_t i = 0; i < p->parameter_count; i++)
		out_text(&c->out, NULL, p->parameter[i]);
	out_end(&c->out);
	out_array(&c->out, "facts");
	for (size_t i = 0; i < p->fact_count; i++) {
		out_object(&c->out, NULL);
		out_text(&c->out, "fact", p->fact[i].fact);
		out_text(&c->out, "kind", p->fact[i].kind == FACT_ALLOWED ? "allowed" : "minimum");
		out_array(&c->out, "values");
		for (size_t v = 0; v < p->fact[i].value_count; v++)
			out_text(&c->out, NULL, p->fact[i].value[v]);
		out_end(&c->out);
		if (p->fact[i].warn_only)
			out_bool(&c->out, "warn_only", true);
		out_end(&c->out);
	}
	out_end(&c->out);
	out_array(&c->out, "warn_only");
	for (size_t i = 0; i < p->warn_count; i++)
		out_text(&c->out, NULL, reason_name(p->warn[i]));
	out_end(&c->out);
	out_array(&c->out, "affirm");
	for (size_t i = 0; i < p->affirm_count; i++)
		out_text(&c->out, NULL, p->affirm[i]);
	out_end(&c->out);
	out_object(&c->out, "security_versions");
	for (size_t i = 0; i < p->floor_count; i++)
		out_number(&c->out, p->floor[i].component, p->floor[i].least);
	out_end(&c->out);
	return R_OK;
}

enum reason op_policy_set(struct call *c)
{
	const char *group = c->m->arg[0];
	_cleanup_(blob_free) struct blob body = BLOB(LIMIT_REFERENCE);
	struct policy p;
	bool really = !c->m->dry_run;

	TRY(policy_read(c->body, &p));
	TRY(admin_group(c, group));
	/* Two groups count each for itself; the first one of a group goes on from that of all. */
	p.version = policy_of(c->l, group)->values.version + 1;
	TRY(policy_write(&p, &body));
	TRY(store_policy_add(c->l->store, group, blob_bytes(&body)));
	TRY(refs_changed(c->l, really));
	if (really) {
		char detail[sizeof(p.id) + GROUP_MAX + 16];

		snprintf(detail, sizeof(detail), "%s%s%.63s", p.id, group[0] ? " of group " : "", group);
		TRY(admin_note(c, BYTES_NONE, detail));
	}
	out_text(&c->out, "group", group);
	out_text(&c->out, "id", p.id);
	out_number(&c->out, "version", p.version);
	return R_OK;
}
