/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes, as operators see them. */
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
	out_text(o, "rule", n->rule);
	out_hex(o, "ak_name", BYTES(n->ak_name));
	out_text(o, "address", n->peer);
	out_text(o, "board", n->board);
	out_time(o, "created", n->created);
	out_time(o, "approved", n->approved);
	out_time(o, "seen", n->seen);
	out_number(o, "verdicts", n->verdicts);
	if (n->verdicts > 0) {
		out_text(o, "last_directive", directive_name(n->last_directive));
		out_text(o, "last_reason", n->last_reason);
	}
}

/* What does not agree with the record, and the other node in it. */
struct conflicts {
	bool keys, label, board;
	struct node_conflict by_keys;
	uint8_t same_label[SHA256_LEN], same_board[SHA256_LEN];
};

static enum reason conflicts_of(struct call *c, const struct node *n, struct conflicts *ret)
{
	enum reason r = store_conflict_of(c->l->store, n->id, &ret->by_keys);

	ret->keys = r == R_OK;
	ret->label = ret->board = false;
	if (r != R_OK && r != R_STORE_NOT_FOUND)
		return r;
	if (n->state == NODE_RETIRED)
		return R_OK;
	r = store_node_labelled(c->l->store, n->label, n->id, ret->same_label);
	ret->label = r == R_OK;
	if ((r == R_OK || r == R_STORE_NOT_FOUND) && board_is_one(n->board)) {
		r = store_node_on_board(c->l->store, n->board, n->id, ret->same_board);
		ret->board = r == R_OK;
	}
	return r == R_STORE_NOT_FOUND ? R_OK : r;
}

enum reason admin_node_conflict(struct call *c, const struct node *n, bool *ret)
{
	struct conflicts x;

	TRY(conflicts_of(c, n, &x));
	*ret = x.keys || x.label || x.board;
	return R_OK;
}

static void conflicts_out(struct out *o, const struct conflicts *x)
{
	if (x->keys) {
		out_object(o, "conflict");
		if (x->by_keys.has_other)
			out_hex(o, "node", BYTES(x->by_keys.other));
		out_hex(o, "ak_name", BYTES(x->by_keys.ak_name));
		out_text(o, "address", x->by_keys.peer);
		out_time(o, "time", x->by_keys.time);
		out_number(o, "count", x->by_keys.count);
		out_end(o);
	}
	if (x->label)
		out_hex(o, "label_also", BYTES(x->same_label));
	if (x->board)
		out_hex(o, "board_also", BYTES(x->same_board));
}

/* One page: nodes wait while the ledger does this, and a channel takes only so much. */
#define PAGE 5000u

struct page {
	struct call *c;
	unsigned rows;
	uint8_t last[SHA256_LEN];
};

static bool wanted(const struct msg_admin *m, const struct node *n, const struct conflicts *x)
{
	const char *filter = m->arg[0], *group = m->arg[1], *rule = m->arg[3];

	if ((group[0] && strcmp(group, n->group) != 0) || (rule[0] && strcmp(rule, n->rule) != 0))
		return false;
	if (strcmp(filter, "held") == 0)
		return n->verdicts > 0 && n->last_directive == DIRECTIVE_HOLD;
	if (strcmp(filter, "conflict") == 0)
		return x->keys || x->label || x->board;
	return filter[0] == '\0' || strcmp(filter, node_state_name(n->state)) == 0;
}

static enum reason node_row(void *ctx, const struct node *n)
{
	struct page *p = ctx;
	struct conflicts x;

	p->rows++;
	memcpy(p->last, n->id, SHA256_LEN);
	TRY(conflicts_of(p->c, n, &x));
	if (!wanted(p->c->m, n, &x))
		return R_OK;
	out_object(&p->c->out, NULL);
	admin_node_out(&p->c->out, n);
	conflicts_out(&p->c->out, &x);
	out_end(&p->c->out);
	return R_OK;
}

/* A state, or one of the two that are none: `held` and `conflict`. */
static bool filter_known(const char *filter)
{
	for (int s = 0; s < NODE_STATE_MAX; s++)
		if (strcmp(filter, node_state_name((enum node_state)s)) == 0)
			return true;
	return filter[0] == '\0' || strcmp(filter, "held") == 0 || strcmp(filter, "conflict") == 0;
}

enum reason op_node_list(struct call *c)
{
	uint8_t after[SHA256_LEN];
	struct page p = { .c = c };
	bool first = c->m->arg[2][0] == '\0';

	admin_about(c, "state", c->m->arg[0]);
	if (!filter_known(c->m->arg[0]))
		return R_FORMAT_RANGE;
	TRY(admin_group(c, c->m->arg[1]));
	if (!first)
		TRY(hex_decode(bytes_str(c->m->arg[2]), after, sizeof(after)));
	out_array(&c->out, "nodes");
	TRY(store_node_each(c->l->store, first ? NULL : after, PAGE, node_row, &p));
	out_end(&c->out);
	if (p.rows == PAGE)
		out_hex(&c->out, "next", BYTES(p.last));
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

struct history {
	struct call *c;
	const uint8_t *id;
};

static enum reason rebound_row(void *ctx, const struct rebound *r)
{
	struct history *h = ctx;
	bool new = memcmp(r->new_id, h->id, SHA256_LEN) == 0;

	out_object(&h->c->out, NULL);
	out_time(&h->c->out, "time", r->time);
	out_hex(&h->c->out, new ? "replaces" : "replaced_by", new ? BYTES(r->old_id) : BYTES(r->new_id));
	out_end(&h->c->out);
	return R_OK;
}

enum reason op_node_show(struct call *c)
{
	_cleanup_free_ struct attestation *a = calloc(1, sizeof(*a));
	struct node n;
	struct history h = { .c = c, .id = n.id };
	struct conflicts x;

	if (!a)
		return R_INTERNAL_MEMORY;
	TRY(admin_node(c, c->m->arg[0], &n));
	admin_node_out(&c->out, &n);
	TRY(conflicts_of(c, &n, &x));
	conflicts_out(&c->out, &x);
	out_array(&c->out, "rebound");
	TRY(store_rebound_each(c->l->store, n.id, rebound_row, &h));
	out_end(&c->out);
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
