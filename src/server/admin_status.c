/* SPDX-License-Identifier: Apache-2.0 */
/* Failures, audit, counters. */
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "server/admin.h"

/* Rows of the audit that are verified in one call. */
#define AUDIT_SLICE 5000u

static enum reason failure_row(void *ctx, const struct stored_failure *f)
{
	struct call *c = ctx;
	struct node n;

	out_object(&c->out, NULL);
	out_time(&c->out, "time", f->time);
	out_text(&c->out, "address", f->peer);
	out_text(&c->out, "reason", f->reason);
	out_text(&c->out, "step", f->step);
	if (f->has_ak_name && store_node_by_ak(c->l->store, f->ak_name, &n) == R_OK)
		out_hex(&c->out, "claimed_node", BYTES(n.id));
	_cleanup_free_ char *log = malloc(4 * f->log.n + 1);
	if (!log)
		return R_INTERNAL_MEMORY;
	text_escape(f->log, log, 4 * f->log.n + 1);
	out_text(&c->out, "log", log);
	out_end(&c->out);
	return R_OK;
}

enum reason op_failure_list(struct call *c)
{
	out_array(&c->out, "failures");
	TRY(store_failure_each(c->l->store, 100, failure_row, c));
	out_end(&c->out);
	return R_OK;
}

static enum reason audit_out(void *ctx, const struct audit_row *row)
{
	struct call *c = ctx;

	out_object(&c->out, NULL);
	out_number(&c->out, "number", row->number);
	out_time(&c->out, "time", row->time);
	out_text(&c->out, "actor", row->actor);
	out_text(&c->out, "action", row->action);
	out_text(&c->out, "target", row->target);
	out_text(&c->out, "reason", row->reason);
	out_text(&c->out, "detail", row->detail);
	out_hex(&c->out, "hash", BYTES(row->hash));
	out_end(&c->out);
	return R_OK;
}

enum reason op_audit_list(struct call *c)
{
	uint64_t from, limit;

	TRY(admin_number(c->m->arg[0], 1, &from));
	TRY(admin_number(c->m->arg[1], 1000, &limit));
	if (limit > 10000)
		limit = 10000;
	out_array(&c->out, "rows");
	TRY(store_audit_each(c->l->store, from, (unsigned)limit, audit_out, c));
	out_end(&c->out);
	return R_OK;
}

enum reason op_audit_verify(struct call *c)
{
	uint64_t from, rows;

	TRY(admin_number(c->m->arg[0], 1, &from));
	TRY(store_audit_verify(c->l->store, from, AUDIT_SLICE, &rows));
	out_number(&c->out, "rows", rows);
	/* Nodes wait while the ledger does this: the caller asks for the rest. */
	if (rows == AUDIT_SLICE)
		out_number(&c->out, "next", from + rows);
	return R_OK;
}

enum reason op_status(struct call *c)
{
	const struct counters *n = &c->l->count;
	unsigned idle = 0;

	for (size_t i = 0; i < c->l->conf.workers; i++)
		idle += c->l->worker[i].ipc.fd >= 0 && !c->l->worker[i].job;
	out_text(&c->out, "version", BOOTGATE_VERSION);
	out_number(&c->out, "challenges", n->challenges);
	out_number(&c->out, "enrolments", n->enrolments);
	out_object(&c->out, "verdicts");
	for (int d = 0; d < DIRECTIVE_MAX; d++)
		out_number(&c->out, directive_name((enum directive)d), n->verdicts[d]);
	out_end(&c->out);
	out_object(&c->out, "nodes");
	for (int s = 0; s < NODE_STATE_MAX; s++) {
		uint64_t count;

		TRY(store_node_count(c->l->store, (enum node_state)s, &count));
		out_number(&c->out, node_state_name((enum node_state)s), count);
	}
	out_end(&c->out);
	out_number(&c->out, "receipts", n->receipts);
	out_number(&c->out, "failures", n->failures);
	out_number(&c->out, "refused", n->refused);
	out_number(&c->out, "busy", n->busy);
	out_number(&c->out, "worker_crashes", n->worker_crashes);
	out_number(&c->out, "commits", n->commits);
	out_number(&c->out, "jobs", c->l->job_count);
	out_number(&c->out, "workers", c->l->conf.workers);
	out_number(&c->out, "idle_workers", idle);
	out_number(&c->out, "release_keys", c->l->release_keys.count);
	if (c->l->release_keys.count > 0)
		out_text(&c->out, "release_key_at", c->l->release_keys.path);
	return R_OK;
}
