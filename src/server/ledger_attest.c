/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attestation: token, node state and image choice before the worker; the
 * record, in one transaction, after worker and signer both spoke.
 */
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/text.h"
#include "server/ledger.h"

/* What the node's state and the image choice allow at best. */
struct allowed {
	enum directive directive;
	enum reason reason;
	const char *detail;
	bool has_manifest;
	uint8_t manifest[SHA256_LEN];
};

static enum reason allowed_of(struct ledger *l, const struct node *n, enum stage stage, struct allowed *ret)
{
	memset(ret, 0, sizeof(*ret));
	switch (n->state) {
	case NODE_PENDING:
		*ret = (struct allowed){ DIRECTIVE_HOLD, R_NODE_PENDING, "", false, { 0 } };
		return R_OK;
	case NODE_ENROLLED:
		break;
	default:
		*ret = (struct allowed){ DIRECTIVE_REFUSE, R_NODE_REVOKED, node_state_name(n->state), false,
					 { 0 } };
		return R_OK;
	}
	ret->detail = "";
	if (stage != STAGE_GATE)
		return R_OK;
	enum reason r = store_selected(l->store, n, PURPOSE_HOST, ret->manifest, NULL);
	if (r == R_OK) {
		ret->has_manifest = true;
		return R_OK;
	}
	if (r != R_STORE_NOT_FOUND)
		return r;
	ret->directive = DIRECTIVE_HOLD;
	ret->reason = R_POLICY_NO_IMAGE;
	return R_OK;
}

static void node_text(const struct node *n, char ret[VERDICT_TEXT_MAX])
{
	char id[9];

	hex_encode(bytes_of(n->id, 4), id);
	if (n->label[0])
		snprintf(ret, VERDICT_TEXT_MAX, "%s (%s)", n->label, id);
	else
		snprintf(ret, VERDICT_TEXT_MAX, "%s", id);
}

/*
 * A gate that boots again remembers nothing. So the record makes the pauses
 * grow: a machine that is refused for ever must not boot for ever in between.
 */
static enum reason refused_after(struct ledger *l, const struct node *n, uint32_t *ret)
{
	unsigned count = 0;

	if (n->verdicts > 0 && n->last_directive == DIRECTIVE_REFUSE)
		TRY(store_refused_in_a_row(l->store, n->id, REFUSED_DOUBLINGS, &count));
	*ret = HOLD_RETRY << count;
	return R_OK;
}

static enum reason session_fill(struct ledger *l, struct job *j)
{
	struct msg_session *s = &j->s;
	struct allowed a;

	TRY(allowed_of(l, &j->node, s->session.stage, &a));
	memcpy(s->node_id, j->node.id, SHA256_LEN);
	s->record.clock = j->node.clock;
	snprintf(s->record.board, sizeof(s->record.board), "%s", j->node.board);
	s->allowed = a.directive;
	s->allowed_reason = a.reason;
	snprintf(s->allowed_detail, sizeof(s->allowed_detail), "%s", a.detail);
	s->has_manifest = a.has_manifest;
	memcpy(s->manifest_digest, a.manifest, SHA256_LEN);
	TRY(rollout_terms_of(l, &j->node, &j->rollout, s));
	s->retry_after = HOLD_RETRY;
	TRY(refused_after(l, &j->node, &s->refused_after));
	node_text(&j->node, s->node);
	snprintf(s->basis, sizeof(s->basis), "%s", j->node.basis);
	s->now = (uint64_t)ledger_now();
	return R_OK;
}

/* The stored verdict again, when it is the same evidence. */
static enum reason stored_answer(struct ledger *l, struct ipc *from, uint64_t id,
				 const uint8_t nonce[NONCE_LEN], const uint8_t digest[SHA256_LEN],
				 bool *ret_answered)
{
	struct attestation a;
	enum reason r = store_attestation_by_nonce(l->store, nonce, &a);

	*ret_answered = false;
	if (r == R_STORE_NOT_FOUND)
		return R_OK;
	if (r != R_OK)
		return r;
	if (memcmp(a.evidence_digest, digest, SHA256_LEN) != 0)
		return R_SESSION_REPLAYED;
	answer_body(l, from, id, MEDIA_COSE, a.verdict);
	*ret_answered = true;
	return R_OK;
}

/* A continuity quote continues the node's last boot, and only with its receipt. */
static enum reason continuity_begin(struct ledger *l, struct job *j)
{
	struct attestation a;
	enum reason r = store_attestation_of_boot(l->store, j->node.id, &a);

	/* Who was admitted has something to continue; a maintenance image is nobody's host. */
	if (r == R_STORE_NOT_FOUND || (r == R_OK && (!a.receipt || a.directive != DIRECTIVE_ADMIT)))
		return R_RECEIPT_UNKNOWN;
	if (r != R_OK)
		return r;
	if (memcmp(a.ak_name, j->s.session.ak_name, AK_NAME_LEN) != 0)
		return R_RECEIPT_UNKNOWN;
	j->received.values = a.receipt_values;
	j->received.reset_count = a.clock.reset_count;
	j->received.restart_count = a.clock.restart_count;
	return R_OK;
}

static enum reason attest_begin(struct ledger *l, struct ipc *from, uint64_t id, const struct msg_attest *m,
				struct bytes body)
{
	uint8_t digest[SHA256_LEN];
	struct session_token t;
	struct job *j;
	bool answered;

	TRY(session_open(l, &m->token, &t));
	if (m->stage != t.stage)
		return R_SESSION_STAGE;
	if (memcmp(m->ak_name, t.ak_name, AK_NAME_LEN) != 0)
		return R_NODE_UNKNOWN;
	TRY(sha256(body, digest));
	TRY(stored_answer(l, from, id, t.nonce, digest, &answered));
	if (answered)
		return R_OK;

	TRY(job_add(l, JOB_ATTEST, from, id, body, &j));
	snprintf(j->peer, sizeof(j->peer), "%s", m->peer);
	j->s.session.stage = t.stage;
	memcpy(j->s.session.nonce, t.nonce, NONCE_LEN);
	memcpy(j->s.session.ak_name, t.ak_name, AK_NAME_LEN);
	j->s.session.selection = t.selection;
	memcpy(j->s.evidence_digest, digest, SHA256_LEN);
	enum reason r = sha256(bytes_of(m->token.bytes, m->token.len), j->s.session_token);
	if (r == R_OK) {
		if (m->enrol_token.len > 0)
			r = t.stage == STAGE_GATE ? enrol_finish(l, j, m) : R_SESSION_STAGE;
		else
			r = store_node_by_ak(l->store, t.ak_name, &j->node);
	}
	if (r == R_STORE_NOT_FOUND)
		r = R_NODE_UNKNOWN;
	/* Asked to prove its banks again and did not. */
	if (r == R_OK && j->node.ask_enrol && !j->s.banks_proved && t.stage == STAGE_GATE)
		r = R_TPM_FIRMWARE_CHANGED;
	if (r == R_OK && t.stage != STAGE_GATE)
		r = continuity_begin(l, j);
	if (r == R_OK)
		r = session_fill(l, j);
	if (r != R_OK)
		job_remove(l, j);
	return r;
}

void on_attest(struct ledger *l, struct ipc *from, uint64_t id, const struct msg_attest *m, struct bytes body)
{
	enum reason r = attest_begin(l, from, id, m, body);

	if (r != R_OK)
		answer_refusal(l, from, id, r);
}

static uint32_t worker_index(const struct ledger *l, const struct ipc *worker)
{
	uint32_t i = 0;

	while (&l->worker[i].ipc != worker)
		i++;
	return i;
}

enum reason attest_send(struct ledger *l, struct job *j, struct ipc *worker)
{
	/* Of the policy that the worker judges by, which may have changed while the job waited. */
	j->s.lifetime = policy_of(l, j->node.group)->values.lifetime;
	struct msg_announce announce = { .s = j->s, .worker = worker_index(l, worker), .ak_public_len = j->node.ak_public_len };

	memcpy(announce.ak_public, j->node.ak_public, j->node.ak_public_len);
	struct bytes head = bytes_of(&announce, sizeof(announce));
	/* The signer must have it before a worker can speak of it. */
	TRY(ipc_send(&l->signer, MSG_ANNOUNCE, j->id, &head, 1, -1));
	if (l->signer.queued > 0)
		return R_SERVER_BUSY;

	if (j->s.session.stage != STAGE_GATE) {
		struct msg_continued c = { .s = j->s, .receipt_values = j->received.values,
					   .reset_count = j->received.reset_count,
					   .restart_count = j->received.restart_count,
					   .tail = (uint32_t)j->body.n };
		struct bytes piece[] = { bytes_of(&c, sizeof(c)), blob_bytes(&j->body) };
		return ipc_send(worker, MSG_CONTINUED, j->id, piece, ARRAY_LEN(piece), -1);
	}
	struct msg_judge judge = { .s = j->s, .rollout = j->rollout, .tail = (uint32_t)j->body.n };
	struct bytes piece[] = { bytes_of(&judge, sizeof(judge)), blob_bytes(&j->body) };
	return ipc_send(worker, MSG_JUDGE, j->id, piece, ARRAY_LEN(piece), -1);
}

/* ---- after worker and signer --------------------------------------------------- */

/*
 * What was true when the session was announced must still be true in the
 * transaction that records it: a node revoked in between gets no verdict.
 */
static enum reason still_true(struct ledger *l, struct job *j)
{
	struct allowed a;
	struct node now;

	/* A reference revoked meanwhile, in this turn or before. */
	if (l->refs_stale || j->refs_version != l->refs_version)
		return R_SERVER_BUSY;
	enum reason r = store_node_by_ak(l->store, j->s.session.ak_name, &now);
	if (j->node_new) {
		if (r != R_STORE_NOT_FOUND)
			return r == R_OK ? R_SERVER_BUSY : r;	/* enrolled by a parallel session */
		TRY(enrol_still_true(l, j));
		now = j->node;
	} else if (r != R_OK) {
		return r;
	}
	/* On another board than the one on record since, nobody is let in. */
	if (j->s.session.stage == STAGE_GATE && j->facts.directive < DIRECTIVE_HOLD && now.board[0] &&
	    strcmp(now.board, j->facts.record.board) != 0)
		return R_SERVER_BUSY;
	/* It was judged by the policy of the group that it was in. */
	if (strcmp(now.group, j->node.group) != 0)
		return R_SERVER_BUSY;
	TRY(allowed_of(l, &now, j->s.session.stage, &a));
	if (a.directive != j->s.allowed || a.has_manifest != j->s.has_manifest ||
	    memcmp(a.manifest, j->s.manifest_digest, SHA256_LEN) != 0)
		return R_SERVER_BUSY;
	TRY(rollout_still_true(l, j, &now));
	j->node = now;
	return R_OK;
}

/*
 * Counters that fell are an operator's business: the record keeps what it
 * had, so that the finding stays until one approves the node again.
 */
static bool went_back(const struct clock_record *was, const struct msg_judged *facts)
{
	const struct clock_record *now = &facts->record.clock;

	if (!was->known || now->reset_count > was->reset_count)
		return false;
	if (now->reset_count < was->reset_count || now->restart_count < was->restart_count)
		return true;
	return now->restart_count == was->restart_count && now->clock < was->clock &&
	       facts->directive != DIRECTIVE_ADMIT;
}

/*
 * On record goes the board that a node first came with, and after an approval
 * the next one that it is let in with: of a known node, refused evidence says
 * nothing. Whom a list lets in waits when the board is another node's: a
 * machine that got another TPM would be two nodes, and which of them it is
 * now is for a person to say.
 */
static enum reason board_record(struct ledger *l, struct job *j)
{
	const char *board = j->facts.record.board;
	char id[2 * SHA256_LEN + 1];
	uint8_t other[SHA256_LEN];
	struct node *n = &j->node;

	if (n->board[0] || !board[0] || j->s.session.stage != STAGE_GATE ||
	    (!j->node_new && j->facts.directive >= DIRECTIVE_HOLD))
		return R_OK;
	snprintf(n->board, sizeof(n->board), "%s", board);
	if (!j->node_new)
		return store_node_board(l->store, n);
	if (n->state != NODE_ENROLLED || !board_is_one(board))
		return R_OK;
	enum reason r = store_node_on_board(l->store, board, n->id, other);
	if (r != R_OK)
		return r == R_STORE_NOT_FOUND ? R_OK : r;
	TRY(pending_room(l));
	hex_encode(BYTES(other), id);
	n->state = NODE_PENDING;
	n->approved = 0;
	snprintf(n->basis, sizeof(n->basis), "board is %.8s's", id);
	j->withheld = true;
	return R_OK;
}

static enum reason node_record(struct ledger *l, struct job *j)
{
	struct node *n = &j->node;
	enum directive directive = j->withheld ? DIRECTIVE_HOLD : j->facts.directive;
	enum reason why = j->withheld ? R_NODE_CONFLICT : j->facts.reason;
	const struct clock_record *c = &j->facts.record.clock;

	/* Once asked for, the proof is owed, whatever a parallel session has recorded since. */
	n->ask_enrol = !j->s.banks_proved &&
		       (n->ask_enrol || (n->clock.known && c->firmware_version != n->clock.firmware_version));
	if (j->s.banks_proved)
		n->implemented = j->implemented;
	if (j->s.session.stage == STAGE_GATE)
		alias_offer(n, j);
	if (c->known && !went_back(&n->clock, &j->facts))
		n->clock = *c;
	n->seen = ledger_now();
	n->verdicts += !j->withheld;
	n->last_directive = directive;
	snprintf(n->last_reason, sizeof(n->last_reason), "%s", reason_name(why));
	if (j->node_new)
		TRY(audit(l, "gate", "node.enrol", BYTES(n->id), R_OK, n->basis[0] ? n->basis : n->peer));
	TRY(audit_node(l, n, j->withheld ? "node.conflict" : "verdict", why, directive_name(directive)));
	if (j->node_new) {
		n->ak_public_len = j->facts.ak_public_len;
		memcpy(n->ak_public, j->facts.ak_public, n->ak_public_len);
		enum reason r = store_node_add(l->store, n);
		/* A parallel session enrolled the same EK with another AK. */
		if (r != R_OK)
			return r == R_STORE_EXISTS ? R_NODE_CONFLICT : r;
		TRY(rule_used(l, n));
	} else {
		TRY(store_node_attested(l->store, n));
	}
	return alias_record(l, j);
}

static enum reason record(struct ledger *l, struct job *j)
{
	_cleanup_free_ struct attestation *a = calloc(1, sizeof(*a));

	if (!a)
		return R_INTERNAL_MEMORY;
	TRY(still_true(l, j));
	TRY(board_record(l, j));
	TRY(node_record(l, j));
	/* Its verdict was made for a node that is let in: the next one says that it waits. */
	if (j->withheld)
		return R_OK;
	TRY(rollout_record(l, j));
	memcpy(a->nonce, j->s.session.nonce, NONCE_LEN);
	memcpy(a->evidence_digest, j->s.evidence_digest, SHA256_LEN);
	memcpy(a->node_id, j->node.id, SHA256_LEN);
	memcpy(a->ak_name, j->s.session.ak_name, AK_NAME_LEN);
	a->stage = j->s.session.stage;
	a->time = ledger_now();
	a->directive = j->facts.directive;
	snprintf(a->reason, sizeof(a->reason), "%s", reason_name(j->facts.reason));
	a->verdict = blob_bytes(&j->verdict);
	TRY(sha256(a->verdict, a->verdict_digest));
	bool update = a->directive == DIRECTIVE_UPDATE;
	a->has_manifest = update || (j->s.has_manifest && a->directive == DIRECTIVE_ADMIT);
	memcpy(a->manifest_digest, update ? j->s.update_digest : j->s.manifest_digest, SHA256_LEN);
	a->explanation = blob_bytes(&j->explanation);
	a->values = j->facts.values;
	a->clock = j->facts.record.clock;
	a->selection = j->s.session.selection;
	TRY(store_attestation_add(l->store, a, blob_bytes(&j->body)));
	return evidence_trim(l, &j->node, a);
}

/* Evidence that failed before anything in it was authentic: no verdict. */
static void not_authentic(struct ledger *l, struct job *j, enum reason r)
{
	/* Anybody can send nonsense: only what names a known node may grow the audit. */
	if (!j->node_new && audit_unproven(l, "gate", "attest", BYTES(j->node.id), r, j->peer) != R_OK)
		log_line(LEVEL_WARN, "a refused attestation is not in the audit");
	log_event(LEVEL_WARN, "attest", "peer", j->peer, "reason", reason_name(r), NULL);
	answer_refusal(l, j->front, j->front_id, r);
	job_remove(l, j);
}

static void finish(struct ledger *l, struct job *j)
{
	if (j->refused != R_OK) {
		not_authentic(l, j, j->refused);
		return;
	}
	enum reason r = j->signed_directive == j->facts.directive ? ledger_savepoint(l) : R_SERVER_MISMATCH;

	if (r == R_OK)
		r = ledger_release(l, record(l, j));
	if (r == R_SESSION_REPLAYED) {
		/* A parallel session with the same nonce won. Same evidence: same verdict. */
		bool answered;
		enum reason stored = stored_answer(l, j->front, j->front_id, j->s.session.nonce,
						   j->s.evidence_digest, &answered);

		if (stored == R_OK && answered) {
			job_remove(l, j);
			return;
		}
		/* Not the nonce but the verdict is there already: it serves one session only. */
		if (stored != R_OK)
			r = stored;
	}
	if (r == R_OK && j->withheld)
		r = R_NODE_CONFLICT;
	if (r == R_OK) {
		l->count.verdicts[j->facts.directive]++;
		answer_body(l, j->front, j->front_id, MEDIA_COSE, blob_bytes(&j->verdict));
		log_event(LEVEL_INFO, "verdict", "node", j->s.node, "directive",
			  directive_name(j->facts.directive), "reason", j->node.last_reason, NULL);
	} else {
		answer_refusal(l, j->front, j->front_id, r);
	}
	job_remove(l, j);
}

/* A name is its algorithm and the hash of the public area: no parsing needed. */
static bool ak_fits(const struct msg_judged *m, const uint8_t name[AK_NAME_LEN])
{
	uint8_t digest[SHA256_LEN];

	return m->ak_public_len <= sizeof(m->ak_public) &&
	       sha256(bytes_of(m->ak_public, m->ak_public_len), digest) == R_OK &&
	       memcmp(digest, name + 2, SHA256_LEN) == 0;
}

void on_judged(struct ledger *l, struct job *j, const struct msg_judged *m, struct bytes explanation)
{
	if (m->quote != R_OK) {
		not_authentic(l, j, m->quote < R_MAX ? m->quote : R_SERVER_WORKER);
		return;
	}
	if (m->directive >= DIRECTIVE_MAX || m->directive < j->s.allowed || m->reason >= R_MAX ||
	    m->values.count > LIMIT_BANKS || !text_printable(bytes_str(m->record.board)) ||
	    !rollout_judged_sane(j, m) || !ak_fits(m, j->s.session.ak_name) ||
	    blob_append(&j->explanation, explanation.p, explanation.n) != R_OK) {
		not_authentic(l, j, R_SERVER_WORKER);
		return;
	}
	j->facts = *m;
	j->judged = true;
	if (j->signed_)
		finish(l, j);
}

void on_signed(struct ledger *l, struct job *j, const struct msg_signed *m, struct bytes verdict)
{
	enum reason r = m->result;

	if (r == R_OK && verdict.n == 0)
		r = R_SERVER_MISMATCH;
	if (r == R_OK)
		r = blob_append(&j->verdict, verdict.p, verdict.n);
	/* A refusal waits for the worker as well: until it spoke, the job is its own. */
	j->refused = r < R_MAX ? r : R_SERVER_MISMATCH;
	j->signed_directive = m->directive;
	j->signed_ = true;
	if (j->judged)
		finish(l, j);
}
