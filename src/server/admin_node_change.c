/* SPDX-License-Identifier: Apache-2.0 */
/* What operators do to nodes. Each is a savepoint of its own (ledger_admin.c). */
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "server/admin.h"

/* A label is one node's, unless that is retired. */
static enum reason label_set(struct call *c, struct node *n, const char *label)
{
	uint8_t other[SHA256_LEN];

	admin_about(c, "label", label);
	if (label[0] == '\0' || !text_printable(bytes_str(label)) || strlen(label) >= sizeof(n->label))
		return R_FORMAT_TEXT;
	enum reason r = store_node_labelled(c->l->store, label, n->id, other);
	if (r == R_OK)
		return R_STORE_EXISTS;
	if (r != R_STORE_NOT_FOUND)
		return r;
	snprintf(n->label, sizeof(n->label), "%.63s", label);
	return R_OK;
}

static void let_in(struct node *n)
{
	n->state = NODE_ENROLLED;
	n->approved = ledger_now();
	/* Also the answer to counters that fell; banks stay as they were proved. */
	n->clock.clock = n->clock.reset_count = n->clock.restart_count = 0;
	/* And to a TPM that sits on another board: the next one goes on record. */
	n->board[0] = '\0';
}

/* Room for an id, a state, two names before and after, and a board. */
#define NODE_DETAIL_MAX 512

static void note_name(char text[NODE_DETAIL_MAX], const char *what, const char *was, const char *now)
{
	size_t n = strlen(text);

	if (strcmp(was, now) != 0)
		snprintf(text + n, NODE_DETAIL_MAX - n, ", %s %s was %s", what, now[0] ? now : "none",
			 was[0] ? was : "none");
}

/* For the audit: the state that it had, and which of its names are others now. */
static void note_change(char text[NODE_DETAIL_MAX], const struct node *was, const struct node *now)
{
	size_t n = strlen(text);

	snprintf(text + n, NODE_DETAIL_MAX - n, "%s", node_state_name(was->state));
	note_name(text, "label", was->label, now->label);
	note_name(text, "group", was->group, now->group);
	note_name(text, "board", was->board, now->board);
}

static enum reason node_change(struct call *c, enum node_state to)
{
	char detail[NODE_DETAIL_MAX] = "";
	struct node n, was;
	bool really = !c->m->dry_run;

	TRY(admin_node(c, c->m->arg[0], &n));
	if (n.state == NODE_RETIRED)
		return R_NODE_CONFLICT;
	was = n;
	n.state = to;
	if (to == NODE_ENROLLED) {
		/*
		 * Of a node that is in, approval can only mean its TPM as it is now, other
		 * firmware included. One that comes in proves its banks first, by itself.
		 */
		if (was.state == NODE_ENROLLED)
			n.ask_enrol = false;
		let_in(&n);
		snprintf(n.basis, sizeof(n.basis), "operator %s", c->m->actor);
		if (c->m->arg[1][0])
			TRY(label_set(c, &n, c->m->arg[1]));
		if (c->m->arg[2][0]) {
			TRY(admin_group(c, c->m->arg[2]));
			snprintf(n.group, sizeof(n.group), "%.63s", c->m->arg[2]);
		}
	}
	if (really) {
		TRY(store_node_update(c->l->store, &n));
		if (to == NODE_ENROLLED)
			TRY(store_conflict_clear(c->l->store, n.id));
		note_change(detail, &was, &n);
		TRY(admin_note(c, BYTES(n.id), detail));
	}
	admin_node_out(&c->out, &n);
	return R_OK;
}

enum reason op_node_approve(struct call *c)
{
	return node_change(c, NODE_ENROLLED);
}

/* The ledger does nothing else meanwhile. */
#define APPROVE_AT_ONCE 5000u

static enum reason approve_marked(struct call *c, struct node *n)
{
	char detail[NODE_DETAIL_MAX] = "";
	const struct node was = *n;

	let_in(n);
	snprintf(n->basis, sizeof(n->basis), "operator %.60s, rule %s", c->m->actor, n->rule);
	TRY(store_node_update(c->l->store, n));
	note_change(detail, &was, n);
	return admin_note(c, BYTES(n->id), detail);
}

/* All that wait with the mark of a rule, but those that conflict with others: each of these is a person's to see. */
enum reason op_rule_approve(struct call *c)
{
	uint8_t last[SHA256_LEN], *after = NULL;
	uint64_t passed_over = 0;
	enum reason r = R_OK;
	struct rule rule;
	struct node n;

	admin_about(c, "rule", c->m->arg[0]);
	TRY(store_rule_get(c->l->store, c->m->arg[0], &rule));
	out_array(&c->out, "nodes");
	for (unsigned i = 0; i < APPROVE_AT_ONCE; i++) {
		bool conflict;

		r = store_node_marked(c->l->store, rule.name, after, &n);
		if (r != R_OK)
			break;
		memcpy(last, n.id, SHA256_LEN);
		after = last;
		TRY(admin_node_conflict(c, &n, &conflict));
		passed_over += conflict;
		if (conflict)
			continue;
		TRY(approve_marked(c, &n));
		out_object(&c->out, NULL);
		admin_node_out(&c->out, &n);
		out_end(&c->out);
	}
	out_end(&c->out);
	out_number(&c->out, "passed_over", passed_over);
	out_bool(&c->out, "more", r == R_OK);
	return r == R_STORE_NOT_FOUND ? R_OK : r;
}

enum reason op_node_revoke(struct call *c)
{
	return node_change(c, NODE_REVOKED);
}

enum reason op_node_rename(struct call *c)
{
	char was[64];
	struct node n;
	bool really = !c->m->dry_run;

	TRY(admin_node(c, c->m->arg[0], &n));
	if (n.state == NODE_RETIRED)
		return R_NODE_CONFLICT;
	snprintf(was, sizeof(was), "%s", n.label);
	TRY(label_set(c, &n, c->m->arg[1]));
	if (really) {
		char detail[160];

		TRY(store_node_update(c->l->store, &n));
		snprintf(detail, sizeof(detail), "%s, was %s", n.label, was[0] ? was : "without a label");
		TRY(admin_note(c, BYTES(n.id), detail));
	}
	admin_node_out(&c->out, &n);
	return R_OK;
}

/*
 * A machine got another TPM. The record of the old one stays, with all that was
 * attested by it, and is refused from now on; name, group and images are the new one's.
 * One that was retired may come back in this way: an operator says so.
 */
enum reason op_node_rebind(struct call *c)
{
	struct node was, n, before;
	char id[2 * SHA256_LEN + 1], detail[NODE_DETAIL_MAX];
	bool really = !c->m->dry_run;

	TRY(admin_node(c, c->m->arg[0], &was));
	TRY(admin_node(c, c->m->arg[1], &n));
	if (was.state == NODE_RETIRED)
		admin_about(c, "node", c->m->arg[0]);
	if (memcmp(was.id, n.id, SHA256_LEN) == 0 || was.state == NODE_RETIRED || n.state == NODE_REVOKED)
		return R_NODE_CONFLICT;
	/* Retired it could come back by another rebind, and nobody would see that it was revoked. */
	if (was.state == NODE_REVOKED) {
		admin_about(c, "node", c->m->arg[0]);
		return R_NODE_CONFLICT;
	}
	before = n;
	was.state = NODE_RETIRED;
	let_in(&n);
	/* Also when there is none: what a retired one was called may be another one's by now. */
	snprintf(n.label, sizeof(n.label), "%s", was.label);
	snprintf(n.group, sizeof(n.group), "%s", was.group);
	hex_encode(BYTES(was.id), id);
	snprintf(n.basis, sizeof(n.basis), "operator %s, in place of %.8s", c->m->actor, id);
	if (really) {
		struct rebound r = { .time = ledger_now() };

		memcpy(r.old_id, was.id, SHA256_LEN);
		memcpy(r.new_id, n.id, SHA256_LEN);
		TRY(store_node_update(c->l->store, &was));
		TRY(store_node_update(c->l->store, &n));
		TRY(store_rebind(c->l->store, &r));
		TRY(store_conflict_clear(c->l->store, was.id));
		TRY(store_conflict_clear(c->l->store, n.id));
		snprintf(detail, sizeof(detail), "in place of %s, was ", id);
		note_change(detail, &before, &n);
		TRY(admin_note(c, BYTES(n.id), detail));
		hex_encode(BYTES(n.id), id);
		snprintf(detail, sizeof(detail), "now %s", id);
		TRY(admin_note(c, BYTES(was.id), detail));
	}
	admin_node_out(&c->out, &n);
	return R_OK;
}
