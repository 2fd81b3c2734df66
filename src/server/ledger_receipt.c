/* SPDX-License-Identifier: Apache-2.0 */
/* Receipts, manifests, and failures that gates report. */
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/text.h"
#include "server/ledger.h"

static void acknowledge(struct ledger *l, struct ipc *to, uint64_t id, const uint8_t verdict[SHA256_LEN])
{
	_cleanup_(blob_free) struct blob body = BLOB(LIMIT_PROBLEM);
	enum reason r = receipt_ack_write(verdict, &body);

	if (r == R_OK)
		answer_body(l, to, id, MEDIA_CBOR, blob_bytes(&body));
	else
		answer_refusal(l, to, id, r);
}

static enum reason receipt_begin(struct ledger *l, struct ipc *from, uint64_t id, const struct msg_receipt *m,
				 struct bytes body)
{
	_cleanup_free_ struct attestation *a = calloc(1, sizeof(*a));
	struct stored_manifest image;
	struct node node;
	struct job *j;

	if (!a)
		return R_INTERNAL_MEMORY;
	enum reason r = store_attestation_by_verdict(l->store, m->verdict_digest, a);
	if (r == R_STORE_NOT_FOUND || (r == R_OK && !a->has_manifest))
		return R_RECEIPT_UNKNOWN;
	if (r != R_OK)
		return r;
	if (memcmp(a->ak_name, m->ak_name, AK_NAME_LEN) != 0)
		return R_RECEIPT_UNKNOWN;
	/* Last chance to stop a node that was revoked after its verdict. */
	TRY(store_node_by_ak(l->store, a->ak_name, &node));
	if (node.state != NODE_ENROLLED)
		return R_NODE_REVOKED;
	TRY(rollout_may_boot(l, &node, a));
	if (a->receipt) {
		/* The gate did not hear the first answer. */
		acknowledge(l, from, id, m->verdict_digest);
		return R_OK;
	}
	TRY(store_manifest_get(l->store, a->manifest_digest, &image));

	/*
	 * With what was sent at attest and answered, the worker makes the
	 * hand-over again and so its event.
	 */
	_cleanup_(blob_free) struct blob all = BLOB(LIMIT_RECEIPT + LIMIT_EVIDENCE + LIMIT_VERDICT + LIMIT_MANIFEST);
	size_t end[3];
	TRY(blob_append(&all, body.p, body.n));
	TRY(store_evidence(l->store, a->evidence_digest, &all));
	end[0] = all.n;
	TRY(blob_append(&all, a->verdict.p, a->verdict.n));
	end[1] = all.n;
	TRY(store_manifest_body(l->store, a->manifest_digest, &all));
	end[2] = all.n;

	TRY(job_add(l, JOB_RECEIPT, from, id, blob_bytes(&all), &j));
	struct msg_received *x = &j->received;
	x->receipt_len = (uint32_t)body.n;
	x->evidence_len = (uint32_t)(end[0] - body.n);
	x->verdict_len = (uint32_t)(end[1] - end[0]);
	x->manifest_len = (uint32_t)(end[2] - end[1]);
	x->session.stage = STAGE_GATE;
	memcpy(x->session.ak_name, a->ak_name, AK_NAME_LEN);
	x->session.selection = a->selection;
	memcpy(x->verdict_digest, a->verdict_digest, SHA256_LEN);
	memcpy(x->manifest_digest, a->manifest_digest, SHA256_LEN);
	memcpy(x->kernel, image.kernel, SHA256_LEN);
	memcpy(x->initrd, image.initrd, SHA256_LEN);
	x->values = a->values;
	x->reset_count = a->clock.reset_count;
	x->restart_count = a->clock.restart_count;
	x->ak_public_len = node.ak_public_len;
	memcpy(x->ak_public, node.ak_public, node.ak_public_len);
	x->tail = (uint32_t)all.n;
	memcpy(j->s.node_id, node.id, SHA256_LEN);
	snprintf(j->peer, sizeof(j->peer), "%s", m->peer);
	return R_OK;
}

void on_receipt(struct ledger *l, struct ipc *from, uint64_t id, const struct msg_receipt *m, struct bytes body)
{
	enum reason r = receipt_begin(l, from, id, m, body);

	if (r != R_OK)
		answer_refusal(l, from, id, r);
}

enum reason receipt_send(struct ledger *l, struct job *j, struct ipc *worker)
{
	struct bytes piece[] = { bytes_of(&j->received, sizeof(j->received)), blob_bytes(&j->body) };

	(void)l;
	return ipc_send(worker, MSG_RECEIVED, j->id, piece, ARRAY_LEN(piece), -1);
}

/* A node revoked, or a rollout stopped, while the receipt was judged. */
static enum reason still_may_boot(struct ledger *l, const struct job *j)
{
	_cleanup_free_ struct attestation *a = calloc(1, sizeof(*a));
	struct node node;

	if (!a)
		return R_INTERNAL_MEMORY;
	TRY(store_node_by_ak(l->store, j->received.session.ak_name, &node));
	if (node.state != NODE_ENROLLED)
		return R_NODE_REVOKED;
	TRY(store_attestation_by_verdict(l->store, j->received.verdict_digest, a));
	return rollout_may_boot(l, &node, a);
}

void on_receipt_judged(struct ledger *l, struct job *j, const struct msg_receipt_judged *m)
{
	enum reason r = m->result < R_MAX ? m->result : R_SERVER_WORKER;
	const uint8_t *verdict = j->received.verdict_digest;

	if (r == R_OK && m->values.count > LIMIT_BANKS)
		r = R_SERVER_WORKER;
	if (r == R_OK)
		r = still_may_boot(l, j);
	if (r == R_OK)
		r = ledger_write(l);
	if (r == R_OK)
		r = store_receipt_add(l->store, verdict, ledger_now(), &m->values,
				      bytes_of(j->body.p, j->received.receipt_len));
	enum reason noted = r == R_OK ? audit(l, "gate", "receipt", BYTES(j->s.node_id), r, j->peer) :
					audit_unproven(l, "gate", "receipt", BYTES(j->s.node_id), r, j->peer);
	if (noted != R_OK)
		log_line(LEVEL_WARN, "a receipt is not in the audit");
	if (r == R_OK) {
		l->count.receipts++;
		acknowledge(l, j->front, j->front_id, verdict);
	} else {
		log_event(LEVEL_WARN, "receipt", "peer", j->peer, "reason", reason_name(r), NULL);
		answer_refusal(l, j->front, j->front_id, r);
	}
	job_remove(l, j);
}

void on_failure(struct ledger *l, struct ipc *from, uint64_t id, const struct msg_failure *m, struct bytes log)
{
	struct stored_failure f = { .time = ledger_now(), .has_ak_name = m->has_ak_name, .log = log };
	enum reason named, r = ledger_write(l);
	struct node node;

	text_escape(bytes_of(m->reason, strnlen(m->reason, sizeof(m->reason))), f.reason, sizeof(f.reason));
	text_escape(bytes_of(m->step, strnlen(m->step, sizeof(m->step))), f.step, sizeof(f.step));
	text_escape(bytes_of(m->peer, strnlen(m->peer, sizeof(m->peer))), f.peer, sizeof(f.peer));
	memcpy(f.ak_name, m->ak_name, AK_NAME_LEN);
	if (r == R_OK)
		r = store_failure_add(l->store, &f);
	/*
	 * Nothing proves who sends this. Only what names a known node stands in
	 * the audit, as unproven.
	 */
	if (r == R_OK && m->has_ak_name && reason_find(f.reason, &named) &&
	    store_node_by_ak(l->store, m->ak_name, &node) == R_OK)
		r = audit_unproven(l, "unproven", "failure", BYTES(node.id), named, f.step);
	if (r != R_OK) {
		answer_refusal(l, from, id, r);
		return;
	}
	l->count.failures++;
	log_event(LEVEL_WARN, "failure", "peer", f.peer, "reason", f.reason, "step", f.step, NULL);
	answer_body(l, from, id, MEDIA_NONE, BYTES_NONE);
}

void on_manifest(struct ledger *l, struct ipc *from, uint64_t id, const struct msg_manifest *m)
{
	_cleanup_(blob_free) struct blob body = BLOB(LIMIT_MANIFEST);
	enum reason r = store_manifest_body(l->store, m->digest, &body);

	if (r == R_OK)
		answer_body(l, from, id, MEDIA_COSE, blob_bytes(&body));
	else
		answer_refusal(l, from, id, r);
}
