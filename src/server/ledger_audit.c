/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of the audit: an operator's always, a node's while it does not repeat itself for ever. */
#include <stdio.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"
#include "server/ledger.h"

enum reason audit(struct ledger *l, const char *actor, const char *action, struct bytes target,
		  enum reason r, const char *detail)
{
	struct audit_row row = { .time = ledger_now() };

	text_escape(bytes_str(actor), row.actor, sizeof(row.actor));
	snprintf(row.action, sizeof(row.action), "%s", action);
	if (target.n <= (sizeof(row.target) - 1) / 2)
		hex_encode(target, row.target);
	if (r != R_OK)
		snprintf(row.reason, sizeof(row.reason), "%s", reason_name(r));
	text_escape(bytes_str(detail), row.detail, sizeof(row.detail));
	TRY(ledger_write(l));
	return store_audit_add(l->store, &row);
}

/* What overflows a bucket is no row. Else whoever repeats himself would fill the disk. */
#define NODE_BURST 64
#define NODE_EACH_S 600

enum reason audit_node(struct ledger *l, struct node *n, const char *action, enum reason r, const char *detail)
{
	const int64_t now = ledger_now(), full = (int64_t)NODE_BURST * NODE_EACH_S;
	char text[128];

	/* The clock may have been put back meanwhile: a full bucket is the worst. */
	if (n->audit_until < now)
		n->audit_until = now;
	if (n->audit_until > now + full)
		n->audit_until = now + full;
	if (n->audit_until - now > full - NODE_EACH_S) {
		n->unlisted++;
		return R_OK;
	}
	n->audit_until += NODE_EACH_S;
	if (n->unlisted > 0)
		snprintf(text, sizeof(text), "%s, after %llu that are not listed", detail,
			 (unsigned long long)n->unlisted);
	else
		snprintf(text, sizeof(text), "%s", detail);
	n->unlisted = 0;
	return audit(l, "gate", action, BYTES(n->id), r, text);
}

/* Anybody can make such rows: one bucket for all, what overflows it is in the log only. */
#define UNPROVEN_BURST 256u
#define UNPROVEN_EACH_MS 10000u

enum reason audit_unproven(struct ledger *l, const char *actor, const char *action, struct bytes target,
			   enum reason r, const char *detail)
{
	uint64_t now = clock_boot_ms(), full = (uint64_t)UNPROVEN_BURST * UNPROVEN_EACH_MS;

	if (l->unproven_until < now)
		l->unproven_until = now;
	if (l->unproven_until - now > full - UNPROVEN_EACH_MS)
		return R_OK;
	l->unproven_until += UNPROVEN_EACH_MS;
	return audit(l, actor, action, target, r, detail);
}
