/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "server/admin.h"

void admin_node_out(struct out *o, const struct node *n)
{
	out_hex(o, "id", BYTES(n->id));
	out_text(o, "label", n->label);
	out_text(o, "group", n->group);
	out_text(o, "state", node_state_name(n->state));
	out_bool(o, "held", n->verdicts > 0 && n->last_directive == DIRECTIVE_HOLD);
	out_text(o, "basis", n->basis);
	out_hex(o, "ak_name", BYTES(n->ak_name));
	out_text(o, "address", n->peer);
	out_time(o, "created", n->created);
	out_time(o, "approved", n->approved);
	out_time(o, "seen", n->seen);
	out_number(o, "verdicts", n->verdicts);
	if (n->verdicts > 0) {
		out_text(o, "last_directive", directive_name(n->last_directive));
		out_text(o, "last_reason", n->last_reason);
	}
}

static enum reason node_row(void *ctx, const struct node *n)
{
	struct call *c = ctx;
	const char *filter = c->m->arg[0], *group = c->m->arg[1];
	bool held = n->verdicts > 0 && n->last_directive == DIRECTIVE_HOLD;

	if (filter[0] && strcmp(filter, node_state_name(n->state)) != 0 &&
	    !(held && strcmp(filter, "held") == 0))
		return R_OK;
	if (group[0] && strcmp(group, n->group) != 0)
		return R_OK;
	out_object(&c->out, NULL);
	admin_node_out(&c->out, n);
	out_end(&c->out);
	return R_OK;
}

enum reason op_node_list(struct call *c)
{
	TRY(store_group_known(c->l->store, c->m->arg[1]));
	out_array(&c->out, "nodes");
	TRY(store_node_each(c->l->store, node_row, c));
	out_end(&c->out);
	return R_OK;
}

static enum reason ek_row(void *ctx, const struct node_ek *ek)
{
	struct call *c = ctx;

	out_object(&c->out, NULL);
	out_hex(&c->out, "name", bytes_of(ek->name, ek->name_len));
	if (ek->has_certificate)
		out_hex(&c->out, "certificate_sha256", BYTES(ek->certificate_digest));
	out_hex(&c->out, "spki_sha256", BYTES(ek->spki_digest));
	out_end(&c->out);
	return R_OK;
}

enum reason op_node_show(struct call *c)
{
	_cleanup_free_ struct attestation *a = calloc(1, sizeof(*a));
	struct node n;

	if (!a)
		return R_INTERNAL_MEMORY;
	TRY(store_node_find(c->l->store, c->m->arg[0], &n));
	admin_node_out(&c->out, &n);
	out_number(&c->out, "unlisted", n.unlisted);
	TRY(admin_chosen_out(c, &n));
	out_number(&c->out, "reset_count", n.clock.reset_count);
	out_number(&c->out, "restart_count", n.clock.restart_count);
	out_number(&c->out, "tpm_firmware", n.clock.firmware_version);
	out_bool(&c->out, "banks_owed", n.ask_enrol);
	out_array(&c->out, "banks");
	for (size_t i = 0; i < n.implemented.count; i++) {
		const char *name = digest_name(n.implemented.bank[i].alg);
		out_text(&c->out, NULL, name ? name : "unknown");
	}
	out_end(&c->out);
	out_array(&c->out, "endorsement_keys");
	TRY(store_node_ek_each(c->l->store, n.id, ek_row, c));
	out_end(&c->out);
	out_array(&c->out, "boots");
	for (unsigned i = 0; i < 10; i++) {
		enum reason r = store_attestation_of_node(c->l->store, n.id, i, a);
		if (r == R_STORE_NOT_FOUND)
			break;
		if (r != R_OK)
			return r;
		out_object(&c->out, NULL);
		out_number(&c->out, "boot", i);
		out_time(&c->out, "time", a->time);
		out_text(&c->out, "stage", stage_name(a->stage));
		out_text(&c->out, "directive", directive_name(a->directive));
		out_text(&c->out, "reason", a->reason);
		out_hex(&c->out, "verdict_sha256", BYTES(a->verdict_digest));
		out_bool(&c->out, "receipt", a->receipt);
		out_end(&c->out);
	}
	out_end(&c->out);
	return R_OK;
}

static enum reason node_change(struct call *c, enum node_state to)
{
	struct node n;
	bool really;

	TRY(admin_change(c, &really));
	TRY(store_node_find(c->l->store, c->m->arg[0], &n));
	if (n.state == NODE_RETIRED)
		return R_NODE_CONFLICT;
	enum node_state was = n.state;
	n.state = to;
	if (to == NODE_ENROLLED) {
		n.approved = ledger_now();
		/*
		 * Of a node that is in, approval can only mean its TPM as it is now, other
		 * firmware included. One that comes in proves its banks first, by itself.
		 */
		if (was == NODE_ENROLLED)
			n.ask_enrol = false;
		/* Also the answer to counters that fell; banks stay as they were proved. */
		n.clock.clock = n.clock.reset_count = n.clock.restart_count = 0;
		snprintf(n.basis, sizeof(n.basis), "operator %s", c->m->actor);
		if (c->m->arg[1][0]) {
			if (!text_printable(bytes_str(c->m->arg[1])) || strlen(c->m->arg[1]) >= sizeof(n.label))
				return R_FORMAT_TEXT;
			snprintf(n.label, sizeof(n.label), "%.63s", c->m->arg[1]);
		}
		if (c->m->arg[2][0]) {
			TRY(store_group_known(c->l->store, c->m->arg[2]));
			snprintf(n.group, sizeof(n.group), "%.63s", c->m->arg[2]);
		}
	}
	if (really) {
		TRY(store_node_update(c->l->store, &n));
		TRY(admin_note(c, BYTES(n.id), node_state_name(was)));
	}
	admin_node_out(&c->out, &n);
	return R_OK;
}

enum reason op_node_approve(struct call *c)
{
	return node_change(c, NODE_ENROLLED);
}

enum reason op_node_revoke(struct call *c)
{
	return node_change(c, NODE_REVOKED);
}
