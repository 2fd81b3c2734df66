/* SPDX-License-Identifier: Apache-2.0 */
/* What workers judge by, and learning it from a node's evidence. */
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "server/ledger.h"
#include "server/ledger_json.h"

struct collect {
	struct blob *blobs;		/* each encoded variant, to be read as views */
	struct reference_set set;
};

static enum reason collect_one(void *ctx, struct bytes encoded)
{
	struct collect *c = ctx;
	size_t n = c->set.count;

	if (n == REFERENCE_SET_MAX)
		return R_POLICY_FULL;
	c->blobs[n] = BLOB(LIMIT_REFERENCE);
	TRY(blob_append(&c->blobs[n], encoded.p, encoded.n));
	TRY(reference_variant_read(blob_bytes(&c->blobs[n]), &c->set.variant[n]));
	c->set.count++;
	return R_OK;
}

static void collect_free(struct collect *c)
{
	for (size_t i = 0; c->blobs && i < REFERENCE_SET_MAX; i++)
		blob_free(&c->blobs[i]);
	free(c->blobs);
	reference_set_free(&c->set);
}

/* All that is active, encoded, and every policy in force. */
static enum reason basis_read(struct ledger *l, struct blob *refs, struct policies *policies)
{
	_cleanup_(collect_free) struct collect c = { 0 };

	c.blobs = calloc(REFERENCE_SET_MAX, sizeof(*c.blobs));
	c.set.variant = calloc(REFERENCE_SET_MAX, sizeof(*c.set.variant));
	if (!c.blobs || !c.set.variant)
		return R_INTERNAL_MEMORY;
	TRY(store_variant_each(l->store, true, collect_one, &c));
	enum reason r = reference_set_write(&c.set, refs);
	if (r != R_OK)
		return r == R_INTERNAL_TOO_LARGE ? R_POLICY_FULL : r;
	return policies_read(l, policies);
}

/* It takes their place, unless it is only asked whether that could be. */
static enum reason basis_renew(struct ledger *l, bool really)
{
	_cleanup_(blob_free) struct blob refs = BLOB(LIMIT_REFERENCE_SET);
	_cleanup_(policies_free) struct policies policies = { 0 };

	TRY(basis_read(l, &refs, &policies));
	if (!really)
		return R_OK;
	blob_free(&l->refs);
	l->refs = refs;
	refs = BLOB(0);
	policies_free(&l->policies);
	l->policies = policies;
	policies = (struct policies){ 0 };
	l->refs_version++;
	return R_OK;
}

enum reason refs_load(struct ledger *l)
{
	return basis_renew(l, true);
}

enum reason refs_changed(struct ledger *l, bool really)
{
	/* Whether it is committed or taken back, the turn ends by reading what is so. */
	l->refs_stale |= really;
	return basis_renew(l, really);
}

enum reason refs_send(struct ledger *l, struct worker *w, const struct job *j)
{
	if (w->refs_version != l->refs_version) {
		struct bytes refs = blob_bytes(&l->refs);

		TRY(ipc_send(&w->ipc, MSG_REFS, l->refs_version, &refs, 1, -1));
		w->refs_version = l->refs_version;
		w->policy = NULL;
	}
	const struct group_policy *p = policy_of(l, j->node.group);
	if (w->policy != p) {
		struct bytes policy = blob_bytes(&p->encoded);

		TRY(ipc_send(&w->ipc, MSG_POLICY, l->refs_version, &policy, 1, -1));
		w->policy = p;
	}
	return R_OK;
}

enum reason learn_send(struct ledger *l, struct job *j, struct ipc *worker)
{
	struct msg_learn m = { .session = j->s.session, .tail = (uint32_t)j->body.n };

	(void)l;
	snprintf(m.source, sizeof(m.source), "learned from %.64s", j->s.node);
	struct bytes piece[] = { bytes_of(&m, sizeof(m)), blob_bytes(&j->body) };
	return ipc_send(worker, MSG_LEARN, j->id, piece, ARRAY_LEN(piece), -1);
}

static enum reason learn_store(struct ledger *l, struct job *j, struct bytes set, struct out *out)
{
	_cleanup_(reference_set_free) struct reference_set refs = { 0 };

	TRY(reference_set_read(set, &refs));
	out_array(out, "variants");
	for (size_t i = 0; i < refs.count; i++) {
		struct reference_variant *v = &refs.variant[i];

		if (j->admin.arg[1][0])
			snprintf(v->name, sizeof(v->name), "%.127s", j->admin.arg[1]);
		TRY(variant_stage(l, v, !j->admin.dry_run, out));
	}
	out_end(out);
	if (!j->admin.dry_run)
		TRY(audit(l, j->admin.actor, "ref.learn", BYTES(j->s.node_id), R_OK, j->admin.reason));
	return R_OK;
}

void on_learned(struct ledger *l, struct job *j, const struct msg_learned *m, struct bytes set)
{
	_cleanup_(out_free) struct out out;
	enum reason r = m->result < R_MAX ? m->result : R_SERVER_WORKER;

	out_begin(&out);
	if (r == R_OK && !j->admin.dry_run) {
		r = ledger_savepoint(l);
		if (r == R_OK)
			r = ledger_release(l, learn_store(l, j, set, &out));
	} else if (r == R_OK) {
		r = learn_store(l, j, set, &out);
	}
	out_answer(l, j->front, j->front_id, r, "", &out);
	job_remove(l, j);
}
