/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/log.h"
#include "server/channel.h"
#include "server/msg.h"
#include "server/worker.h"

struct worker_state {
	struct ipc ledger, signer;
	const struct cert_store *cas;
	struct blob refs_bytes;		/* what `refs` points into */
	struct reference_set refs;
	struct policy policy;
	bool have_policy;
};

const struct ipc_rule worker_hears[WORKER_HEARS] = {
	{ MSG_REFS, 0, LIMIT_REFERENCE_SET, false },
	{ MSG_POLICY, 0, LIMIT_REFERENCE, false },
	CHANNEL_RULE(MSG_JUDGE, struct msg_judge, LIMIT_EVIDENCE),
	CHANNEL_RULE(MSG_CONTINUED, struct msg_continued, LIMIT_EVIDENCE),
	CHANNEL_RULE(MSG_ENROLLING, struct msg_enrolling, LIMIT_ENROL),
	CHANNEL_RULE(MSG_RECEIVED, struct msg_received,
		     LIMIT_RECEIPT + LIMIT_EVIDENCE + LIMIT_VERDICT + LIMIT_MANIFEST),
	CHANNEL_RULE(MSG_LEARN, struct msg_learn, LIMIT_EVIDENCE),
};

static enum reason take_refs(struct worker_state *w, struct bytes in)
{
	_cleanup_(blob_free) struct blob copy = BLOB(LIMIT_REFERENCE_SET);
	struct reference_set refs;

	TRY(blob_append(&copy, in.p, in.n));
	TRY(reference_set_read(blob_bytes(&copy), &refs));
	reference_set_free(&w->refs);
	blob_free(&w->refs_bytes);
	w->refs = refs;
	w->refs_bytes = copy;
	copy = BLOB(0);
	return R_OK;
}

/* In whatever order it reads its NV: the same certificates are the same set. */
static int digest_order(const void *a, const void *b)
{
	return memcmp(a, b, SHA256_LEN);
}

static enum reason ek_set_of(const struct claims *c, uint8_t ret[SHA256_LEN])
{
	uint8_t sorted[LIMIT_EKS][SHA256_LEN];

	memcpy(sorted, c->ek_digest, sizeof(sorted));
	qsort(sorted, c->ek_digest_count, SHA256_LEN, digest_order);
	return sha256(bytes_of(sorted, c->ek_digest_count * SHA256_LEN), ret);
}

/*
 * The verdict's payload and what the signer needs to check the quote by
 * itself go to the signer; the facts for the record to the ledger.
 */
static enum reason report(struct worker_state *w, uint64_t id, const struct msg_session *s,
			  const struct quote_checked *q, const struct appraisal *a, struct bytes body)
{
	_cleanup_free_ struct verdict *v = calloc(1, sizeof(*v));
	_cleanup_free_ struct msg_finding *f = calloc(1, sizeof(*f));
	_cleanup_free_ struct msg_judged *g = calloc(1, sizeof(*g));
	_cleanup_(blob_free) struct blob payload = BLOB(LIMIT_VERDICT), words = BLOB(LIMIT_EXPLANATION);
	struct evidence e;

	if (!v || !f || !g)
		return R_INTERNAL_MEMORY;
	struct verdict_context x = {
		.session = &s->session,
		.quote = q,
		.appraisal = a,
		.policy = &w->policy,
		.allowed = s->allowed,
		.allowed_reason = s->allowed_reason,
		.allowed_detail = s->allowed_detail,
		.has_manifest = s->has_manifest,
		.has_update = s->has_update,
		.lifetime = s->lifetime,
		.retry_after = s->retry_after,
		.refused_after = s->refused_after,
		.node = s->node,
		.basis = s->basis,
		.now = s->now,
	};
	memcpy(x.evidence_digest, s->evidence_digest, SHA256_LEN);
	memcpy(x.manifest_digest, s->manifest_digest, SHA256_LEN);
	memcpy(x.update_digest, s->update_digest, SHA256_LEN);
	TRY(verdict_build(&x, v));
	TRY(verdict_write(v, &payload));
	TRY(explanation_write(&a->explanation, &words));
	TRY(evidence_read(body, &e));
	if (e.quote.n > sizeof(f->attest) || e.signature.n > sizeof(f->signature) ||
	    q->claims.ak_public.n > sizeof(f->ak_public))
		return R_FORMAT_TOO_LARGE;

	f->session = s->session;
	memcpy(f->node_id, s->node_id, SHA256_LEN);
	memcpy(f->evidence_digest, s->evidence_digest, SHA256_LEN);
	memcpy(f->claims_digest, q->claims_digest, SHA256_LEN);
	f->attest_len = (uint32_t)e.quote.n;
	memcpy(f->attest, e.quote.p, e.quote.n);
	f->signature_len = (uint32_t)e.signature.n;
	memcpy(f->signature, e.signature.p, e.signature.n);
	f->ak_public_len = (uint32_t)q->claims.ak_public.n;
	memcpy(f->ak_public, q->claims.ak_public.p, q->claims.ak_public.n);
	f->tail = (uint32_t)payload.n;
	TRY(channel_send(&w->signer, MSG_FINDING, id, f, sizeof(*f), blob_bytes(&payload)));

	g->directive = v->directive;
	if (v->directive != DIRECTIVE_ADMIT && v->reason_count > 0 &&
	    !reason_find(v->reason[0].name, &g->reason))
		g->reason = R_INTERNAL;
	g->rollout = a->rollout;
	g->record = a->record;
	TRY(ek_set_of(&q->claims, g->ek_set));
	g->values = q->claims.values;
	g->ak_public_len = f->ak_public_len;
	memcpy(g->ak_public, f->ak_public, f->ak_public_len);
	g->tail = (uint32_t)words.n;
	return channel_send(&w->ledger, MSG_JUDGED, id, g, sizeof(*g), blob_bytes(&words));
}

static enum reason not_authentic(struct worker_state *w, uint64_t id, enum reason r)
{
	_cleanup_free_ struct msg_judged *g = calloc(1, sizeof(*g));

	if (!g)
		return R_INTERNAL_MEMORY;
	g->quote = r;
	return channel_send(&w->ledger, MSG_JUDGED, id, g, sizeof(*g), BYTES_NONE);
}

/* The claims must be of this session: the token is inside what was quoted. */
static enum reason session_fits(const struct quote_checked *q, const struct msg_session *s)
{
	uint8_t digest[SHA256_LEN];

	if (q->claims.stage != s->session.stage)
		return R_SESSION_STAGE;
	TRY(sha256(q->claims.token, digest));
	return memcmp(digest, s->session_token, SHA256_LEN) == 0 ? R_OK : R_SESSION_TOKEN;
}

static enum reason judge(struct worker_state *w, uint64_t id, const struct msg_judge *m, struct bytes body)
{
	_cleanup_free_ struct quote_checked *q = calloc(1, sizeof(*q));
	_cleanup_free_ struct appraisal *a = calloc(1, sizeof(*a));

	if (!q || !a)
		return R_INTERNAL_MEMORY;
	if (!w->have_policy)
		return R_INTERNAL;
	enum reason r = quote_check(body, QUOTE_EVIDENCE, &m->s.session, q);
	if (r == R_OK)
		r = session_fits(q, &m->s);
	if (r != R_OK)
		return not_authentic(w, id, r);
	TRY(appraise(q, &m->s.session, &m->s.record, &w->refs, &w->policy, &m->rollout, a));

	/* Other firmware in the TPM may mean other banks: they are proved again first. */
	struct msg_session s = m->s;
	if (s.record.clock.known && !s.banks_proved &&
	    a->record.clock.firmware_version != s.record.clock.firmware_version && s.allowed < DIRECTIVE_HOLD) {
		s.allowed = DIRECTIVE_HOLD;
		s.allowed_reason = R_TPM_FIRMWARE_CHANGED;
		s.has_manifest = s.has_update = false;
		s.retry_after = 1;
	}
	return report(w, id, &s, q, a, body);
}

static enum reason continued(struct worker_state *w, uint64_t id, const struct msg_continued *m, struct bytes body)
{
	_cleanup_free_ struct quote_checked *q = calloc(1, sizeof(*q));
	_cleanup_free_ struct appraisal *a = calloc(1, sizeof(*a));
	struct continuity_expected x = { .session = m->s.session, .receipt_values = &m->receipt_values,
					 .reset_count = m->reset_count, .restart_count = m->restart_count };

	if (!q || !a)
		return R_INTERNAL_MEMORY;
	if (!w->have_policy)
		return R_INTERNAL;
	enum reason r = continuity_check(body, &x, q);
	if (r == R_OK)
		r = session_fits(q, &m->s);
	if (r != R_OK)
		return not_authentic(w, id, r);
	continuity_appraise(q, a);
	return report(w, id, &m->s, q, a, body);
}

static enum reason enrolling(struct worker_state *w, uint64_t id, const struct msg_enrolling *m, struct bytes body)
{
	_cleanup_free_ struct enrol_request *q = calloc(1, sizeof(*q));
	_cleanup_free_ struct ek_result *ek = calloc(LIMIT_EKS, sizeof(*ek));
	struct msg_enrolled out = { 0 };
	size_t count = 0;

	if (!q || !ek)
		return R_INTERNAL_MEMORY;
	out.result = enrol_request_read(body, q);
	if (out.result == R_OK) {
		struct tpm_public ak;
		struct tpm_name name;

		out.result = tpm_public_read(q->ak_public, &ak);
		if (out.result == R_OK)
			out.result = tpm_name_of(&ak, &name);
		if (out.result == R_OK && !bytes_equal(tpm_name_bytes(&name), BYTES(m->ak_name)))
			out.result = R_NODE_AK;
	}
	if (out.result == R_OK)
		out.result = enrol_check(q, m->ak_name, m->session_nonce, m->new_nonce, w->cas,
					 (int64_t)time(NULL), &out.implemented, ek, &count);
	out.count = out.result == R_OK ? (uint32_t)count : 0;
	out.tail = (uint32_t)(out.count * sizeof(*ek));
	return channel_send(&w->ledger, MSG_ENROLLED, id, &out, sizeof(out), bytes_of(ek, out.tail));
}

static enum reason received(struct worker_state *w, uint64_t id, const struct msg_received *m, struct bytes tail)
{
	_cleanup_free_ struct explanation *words = calloc(1, sizeof(*words));
	_cleanup_free_ struct msg_receipt_judged *out = calloc(1, sizeof(*out));
	struct cursor c = cursor_of(tail);
	struct bytes receipt, evidence, verdict, manifest;

	if (!words || !out)
		return R_INTERNAL_MEMORY;
	TRY(cursor_take(&c, m->receipt_len, &receipt));
	TRY(cursor_take(&c, m->evidence_len, &evidence));
	TRY(cursor_take(&c, m->verdict_len, &verdict));
	TRY(cursor_take(&c, m->manifest_len, &manifest));
	TRY(cursor_end(&c));
	struct receipt_expected x = { .session = m->session, .values = &m->values,
				      .reset_count = m->reset_count, .restart_count = m->restart_count,
				      .ak_public = bytes_of(m->ak_public, m->ak_public_len),
				      .evidence = evidence, .verdict = verdict, .manifest = manifest };
	memcpy(x.verdict_digest, m->verdict_digest, SHA256_LEN);
	memcpy(x.manifest_digest, m->manifest_digest, SHA256_LEN);
	memcpy(x.image.kernel, m->kernel, SHA256_LEN);
	memcpy(x.image.initrd, m->initrd, SHA256_LEN);
	out->result = receipt_check(receipt, &x, words, &out->values);
	return channel_send(&w->ledger, MSG_RECEIPT_JUDGED, id, out, sizeof(*out), BYTES_NONE);
}

static enum reason learn(struct worker_state *w, uint64_t id, const struct msg_learn *m, struct bytes body)
{
	_cleanup_free_ struct quote_checked *q = calloc(1, sizeof(*q));
	_cleanup_(reference_set_free) struct reference_set set = { 0 };
	_cleanup_(blob_free) struct blob encoded = BLOB(LIMIT_REFERENCE_SET);
	struct msg_learned out = { 0 };

	if (!q)
		return R_INTERNAL_MEMORY;
	if (!w->have_policy)
		return R_INTERNAL;
	/* Stored evidence is judged again: the database is not believed either. */
	out.result = quote_check(body, QUOTE_EVIDENCE, &m->session, q);
	if (out.result == R_OK)
		out.result = component_learn(q, m->source, &w->policy, &set);
	if (out.result == R_OK)
		out.result = reference_set_write(&set, &encoded);
	out.tail = out.result == R_OK ? (uint32_t)encoded.n : 0;
	return channel_send(&w->ledger, MSG_LEARNED, id, &out, sizeof(out), bytes_of(encoded.p, out.tail));
}

/*
 * The ledger is not believed either: what counts or chooses is in range, and
 * texts end. Anything else ends the worker.
 */
static bool session_sane(const struct session *s)
{
	return s->stage < STAGE_MAX && s->selection.count <= LIMIT_BANKS;
}

static bool announced_sane(struct msg_session *s)
{
	channel_bool(&s->record.clock.known);
	channel_bool(&s->banks_proved);
	channel_bool(&s->has_manifest);
	channel_bool(&s->has_update);
	s->record.board[sizeof(s->record.board) - 1] = '\0';
	s->allowed_detail[sizeof(s->allowed_detail) - 1] = '\0';
	s->node[sizeof(s->node) - 1] = '\0';
	s->basis[sizeof(s->basis) - 1] = '\0';
	return session_sane(&s->session) && s->allowed < DIRECTIVE_MAX && s->allowed_reason < R_MAX;
}

static bool rollout_sane(struct rollout_terms *t)
{
	channel_bool(&t->last_try);
	t->name[sizeof(t->name) - 1] = '\0';
	return t->mode < ROLLOUT_MODE_MAX && t->new_count <= ROLLOUT_NEW_MAX &&
	       t->retired_count <= REFERENCE_SET_MAX;
}

static enum reason handle(struct worker_state *w, const struct ipc_message *m, bool *ret_request)
{
	struct bytes tail;

	*ret_request = true;
	switch (m->type) {
	case MSG_REFS:
		*ret_request = false;
		return take_refs(w, m->body);
	case MSG_POLICY:
		*ret_request = false;
		TRY(policy_read(m->body, &w->policy));
		w->have_policy = true;
		return R_OK;
	case MSG_JUDGE: {
		struct msg_judge j;
		if (!CHANNEL_SPLIT(m, j, &tail))
			return R_FORMAT_TRUNCATED;
		return announced_sane(&j.s) && rollout_sane(&j.rollout) ? judge(w, m->id, &j, tail) : R_FORMAT_RANGE;
	}
	case MSG_CONTINUED: {
		struct msg_continued j;
		if (!CHANNEL_SPLIT(m, j, &tail))
			return R_FORMAT_TRUNCATED;
		if (!announced_sane(&j.s) || j.receipt_values.count > LIMIT_BANKS)
			return R_FORMAT_RANGE;
		return continued(w, m->id, &j, tail);
	}
	case MSG_ENROLLING: {
		struct msg_enrolling j;
		return CHANNEL_SPLIT(m, j, &tail) ? enrolling(w, m->id, &j, tail) : R_FORMAT_TRUNCATED;
	}
	case MSG_RECEIVED: {
		struct msg_received j;
		if (!CHANNEL_SPLIT(m, j, &tail))
			return R_FORMAT_TRUNCATED;
		if (!session_sane(&j.session) || j.values.count > LIMIT_BANKS ||
		    j.ak_public_len > sizeof(j.ak_public))
			return R_FORMAT_RANGE;
		return received(w, m->id, &j, tail);
	}
	case MSG_LEARN: {
		struct msg_learn j;
		if (!CHANNEL_SPLIT(m, j, &tail))
			return R_FORMAT_TRUNCATED;
		j.source[sizeof(j.source) - 1] = '\0';
		return session_sane(&j.session) ? learn(w, m->id, &j, tail) : R_FORMAT_RANGE;
	}
	default:
		return R_FORMAT_TYPE;
	}
}

static void state_free(struct worker_state **w)
{
	if (!*w)
		return;
	ipc_close(&(*w)->ledger);
	ipc_close(&(*w)->signer);
	reference_set_free(&(*w)->refs);
	blob_free(&(*w)->refs_bytes);
	free(*w);
}

enum reason worker_run(const struct worker_config *conf)
{
	_cleanup_(state_free) struct worker_state *w = calloc(1, sizeof(*w));

	if (!w)
		return R_INTERNAL_MEMORY;
	w->ledger = w->signer = IPC_NONE;
	w->cas = conf->cas;
	TRY(ipc_open(&w->ledger, conf->ledger, worker_hears, ARRAY_LEN(worker_hears)));
	TRY(ipc_open(&w->signer, conf->signer, NULL, 0));
	for (unsigned served = 0; served < WORKER_REQUESTS;) {
		struct ipc_message m;
		bool request;

		TRY(ipc_wait(&w->ledger, -1, &m));
		TRY(handle(w, &m, &request));
		served += request;
	}
	return R_OK;
}
