/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes that wait for approval cost little, and not for ever. */
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "server/ledger.h"

#define EXPIRY_EACH_MS 60000u
#define EXPIRY_AT_ONCE 64u	/* in one turn */
/* Of each stage and directive, with evidence and explanation. */
#define KEPT_OF_PENDING 8u
#define KEPT_OF_OTHERS 32u
/* A nonce is recorded for longer than any challenge may be answered. */
#define NONCE_KEPT_S 7200

static enum reason forget(struct ledger *l, const uint8_t id[SHA256_LEN])
{
	TRY(ledger_savepoint(l));
	enum reason r = store_pending_forget(l->store, id);
	if (r == R_OK)
		r = audit(l, "ledger", "node.expire", bytes_of(id, SHA256_LEN), R_OK, "nobody approved it");
	return ledger_release(l, r);
}

void pending_expire(struct ledger *l)
{
	uint64_t now = clock_boot_ms();
	uint8_t id[SHA256_LEN];

	if (now < l->next_expiry)
		return;
	for (unsigned i = 0; i < EXPIRY_AT_ONCE; i++) {
		enum reason r = store_pending_stale(l->store, ledger_now() - l->conf.pending_lifetime, id);

		if (r == R_OK)
			r = forget(l, id);
		if (r == R_OK)
			continue;
		if (r != R_STORE_NOT_FOUND)
			log_reason(r, "nodes that nobody approved are not forgotten");
		l->next_expiry = now + EXPIRY_EACH_MS;
		return;
	}
}

enum reason evidence_trim(struct ledger *l, const struct node *n, const struct attestation *a)
{
	const struct retention k = { .stage = a->stage, .directive = a->directive,
				     .keep = n->state == NODE_PENDING ? KEPT_OF_PENDING : KEPT_OF_OTHERS,
				     .since = ledger_now() - NONCE_KEPT_S };

	return store_attestation_trim(l->store, n->id, &k);
}
