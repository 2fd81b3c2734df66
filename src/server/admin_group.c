/* SPDX-License-Identifier: Apache-2.0 */
/* Groups of nodes, and what a node gets by being in one. */
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "server/admin.h"

static enum reason group_row(void *ctx, const struct node_group *g)
{
	struct call *c = ctx;
	const struct group_policy *p = policy_of(c->l, g->name);

	out_object(&c->out, NULL);
	out_text(&c->out, "group", g->name);
	out_time(&c->out, "created", g->created);
	out_number(&c->out, "nodes", g->nodes);
	out_number(&c->out, "listed", g->listed);
	out_number(&c->out, "rules", g->rules);
	if (p->group[0])
		out_text(&c->out, "policy", p->values.id);
	out_end(&c->out);
	return R_OK;
}

enum reason op_group_list(struct call *c)
{
	out_array(&c->out, "groups");
	TRY(store_group_each(c->l->store, group_row, c));
	out_end(&c->out);
	return R_OK;
}

enum reason op_group_add(struct call *c)
{
	const char *name = c->m->arg[0];
	bool really = !c->m->dry_run;

	admin_about(c, "group", name);
	if (!admin_name_good(name, GROUP_MAX))
		return R_FORMAT_TEXT;
	if (store_group_known(c->l->store, name) == R_OK)
		return R_STORE_EXISTS;
	if (really) {
		TRY(store_group_add(c->l->store, name, ledger_now()));
		TRY(admin_note(c, BYTES_NONE, name));
	}
	out_text(&c->out, "group", name);
	return R_OK;
}

enum reason op_group_remove(struct call *c)
{
	const char *name = c->m->arg[0];
	bool really = !c->m->dry_run;

	admin_about(c, "group", name);
	/* Only the store knows whether it is in use: a dry run does it as well. */
	TRY(store_group_remove(c->l->store, name));
	TRY(refs_changed(c->l, really));
	if (really)
		TRY(admin_note(c, BYTES_NONE, name));
	out_text(&c->out, "group", name);
	return R_OK;
}

enum reason op_group_assign(struct call *c)
{
	char detail[2 * GROUP_MAX + 8];
	struct node n;
	bool really = !c->m->dry_run;

	TRY(admin_node(c, c->m->arg[0], &n));
	TRY(admin_group(c, c->m->arg[1]));
	snprintf(detail, sizeof(detail), "%s to %.63s", n.group[0] ? n.group : "none",
		 c->m->arg[1][0] ? c->m->arg[1] : "none");
	snprintf(n.group, sizeof(n.group), "%.63s", c->m->arg[1]);
	if (really) {
		TRY(store_node_update(c->l->store, &n));
		TRY(admin_note(c, BYTES(n.id), detail));
	}
	admin_node_out(&c->out, &n);
	return R_OK;
}

static const char *source_of(const char *target)
{
	if (strcmp(target, TARGET_ALL) == 0)
		return "default";
	return strncmp(target, TARGET_GROUP, sizeof(TARGET_GROUP) - 1) == 0 ? "group" : "node";
}

enum reason admin_chosen_out(struct call *c, const struct node *n)
{
	const struct group_policy *p = policy_of(c->l, n->group);

	out_object(&c->out, "policy");
	out_text(&c->out, "id", p->values.id);
	out_number(&c->out, "version", p->values.version);
	out_text(&c->out, "from", p->group[0] ? "group" : "default");
	out_end(&c->out);

	out_array(&c->out, "images");
	for (int purpose = 0; purpose < PURPOSE_MAX; purpose++) {
		uint8_t digest[SHA256_LEN];
		char target[TARGET_MAX];
		struct stored_manifest m;
		enum reason r = store_selected(c->l->store, n, (enum purpose)purpose, digest, target);

		if (r == R_STORE_NOT_FOUND)
			continue;
		if (r != R_OK)
			return r;
		TRY(store_manifest_get(c->l->store, digest, &m));
		out_object(&c->out, NULL);
		out_text(&c->out, "purpose", purpose_name((enum purpose)purpose));
		out_text(&c->out, "line", m.line);
		out_text(&c->out, "version", m.version);
		out_hex(&c->out, "digest", BYTES(m.digest));
		out_text(&c->out, "from", source_of(target));
		out_end(&c->out);
	}
	out_end(&c->out);
	return R_OK;
}
