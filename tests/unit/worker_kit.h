/* SPDX-License-Identifier: Apache-2.0 */
/* A worker between a ledger and a signer that the test plays. */
#ifndef BOOTGATE_TESTS_WORKER_KIT_H
#define BOOTGATE_TESTS_WORKER_KIT_H

#include <signal.h>
#include <unistd.h>

#include "appraise/ek.h"
#include "base/log.h"
#include "base/proc.h"
#include "format/verdict.h"
#include "ending.h"
#include "judge_kit.h"
#include "server/channel.h"
#include "server/msg.h"
#include "server/worker.h"

enum { PATIENCE_MS = 30000 };

static const struct ipc_rule ledger_rules[] = {
	CHANNEL_RULE(MSG_ENROLLED, struct msg_enrolled, LIMIT_EKS * sizeof(struct ek_result)),
	CHANNEL_RULE(MSG_JUDGED, struct msg_judged, LIMIT_EXPLANATION),
	CHANNEL_RULE(MSG_RECEIPT_JUDGED, struct msg_receipt_judged, 0),
	CHANNEL_RULE(MSG_LEARNED, struct msg_learned, LIMIT_REFERENCE_SET),
};
static const struct ipc_rule signer_rules[] = {
	CHANNEL_RULE(MSG_FINDING, struct msg_finding, LIMIT_VERDICT),
};

struct scene {
	struct proc worker;
	struct ipc ledger, signer;
	struct cert_store *cas;
	struct kit *kit;
	struct kit_refs learned;
	struct blob refs, policy;
	uint64_t id;
	struct msg_judge judge;		/* honest, of the kit's evidence */
};

static inline void send(struct scene *s, uint32_t type, struct bytes body)
{
	assert_ok(ipc_send_wait(&s->ledger, type, ++s->id, &body, 1, -1, PATIENCE_MS));
}

static inline void worker_start(struct scene *s, bool ready)
{
	int ledger[2], signer[2];

	ending_expected();
	assert_ok(ipc_pair(ledger));
	assert_ok(ipc_pair(signer));
	int keep[] = { ledger[1], signer[1] };
	assert_ok(proc_fork(keep, ARRAY_LEN(keep), &s->worker));
	if (s->worker.pid == 0) {
		struct worker_config c = { .ledger = keep[0], .signer = keep[1], .cas = s->cas };

		ending_tell(worker_run(&c));
	}
	close(keep[0]);
	close(keep[1]);
	assert_ok(ipc_open(&s->ledger, ledger[0], ledger_rules, ARRAY_LEN(ledger_rules)));
	assert_ok(ipc_open(&s->signer, signer[0], signer_rules, ARRAY_LEN(signer_rules)));
	if (!ready)
		return;
	send(s, MSG_REFS, blob_bytes(&s->refs));
	send(s, MSG_POLICY, blob_bytes(&s->policy));
}

static inline void worker_stop(struct scene *s)
{
	ipc_close(&s->ledger);
	ipc_close(&s->signer);
	proc_kill(&s->worker);
}

/* The next one has references and policy. */
static inline void assert_ended(struct scene *s, enum reason r)
{
	struct ipc_message m;

	assert_reason(r, ending_of(&s->worker, PATIENCE_MS));
	assert_reason(R_INTERNAL_CHILD, ipc_wait(&s->signer, PATIENCE_MS, &m));
	worker_stop(s);
	worker_start(s, true);
}

static inline void honest(struct scene *s)
{
	static const uint8_t token[] = { 1, 2, 3 };
	struct msg_session *x = &s->judge.s;

	kit_make(s->kit);
	memset(&s->judge, 0, sizeof(s->judge));
	x->session = s->kit->session;
	assert_ok(sha256(BYTES(token), x->session_token));
	assert_ok(sha256(blob_bytes(&s->kit->evidence), x->evidence_digest));
	x->has_manifest = true;
	x->lifetime = 300;
	x->now = 1700000000;
	strcpy(x->node, "n1 (11111111)");
}

static inline int begin(void **state)
{
	struct scene *s = calloc(1, sizeof(*s));
	struct policy p;

	assert_non_null(s);
	assert_ok(cert_store_make(&s->cas));
	s->kit = kit_new();
	s->learned = kit_learn(s->kit);
	s->refs = BLOB(LIMIT_REFERENCE_SET);
	assert_ok(reference_set_write(&s->learned.set, &s->refs));
	s->policy = BLOB(LIMIT_REFERENCE);
	policy_default(&p);
	assert_ok(policy_write(&p, &s->policy));
	worker_start(s, true);
	honest(s);
	*state = s;
	return 0;
}

static inline int end(void **state)
{
	struct scene *s = *state;

	worker_stop(s);
	cert_store_free(&s->cas);
	kit_refs_free(&s->learned);
	blob_free(&s->refs);
	blob_free(&s->policy);
	kit_free(&s->kit);
	free(s);
	return 0;
}

static inline void send_split(struct scene *s, uint32_t type, const void *head, size_t n, struct bytes tail)
{
	assert_ok(channel_send(&s->ledger, type, ++s->id, head, n, tail));
}
#define SEND(s, type, m, tail_bytes) \
	((m)->tail = (uint32_t)(tail_bytes).n, send_split(s, type, m, sizeof(*(m)), tail_bytes))

static inline void answered(struct scene *s, uint32_t type, void *head, size_t n, size_t tail_at)
{
	struct ipc_message m;
	struct bytes tail;

	assert_ok(ipc_wait(&s->ledger, PATIENCE_MS, &m));
	assert_int_equal(m.type, type);
	assert_int_equal(m.id, s->id);
	assert_true(channel_split(&m, head, n, tail_at, &tail));
}
#define ANSWERED(s, type, head) \
	answered(s, type, &(head), sizeof(head), offsetof(__typeof__(head), tail))

static inline void assert_signer_heard_nothing(struct scene *s)
{
	struct ipc_message m;
	bool have;

	assert_ok(ipc_receive(&s->signer, &m, &have));
	assert_false(have);
}

/* The directive it found, and the verdict that it gave to the signer. */
static inline enum directive judged(struct scene *s, struct verdict *ret)
{
	struct ipc_message m;
	struct msg_finding f;
	struct msg_judged g;
	struct bytes payload;

	SEND(s, MSG_JUDGE, &s->judge, blob_bytes(&s->kit->evidence));
	ANSWERED(s, MSG_JUDGED, g);
	assert_ok(g.quote);
	assert_ok(ipc_wait(&s->signer, PATIENCE_MS, &m));
	assert_int_equal(m.id, s->id);
	assert_true(CHANNEL_SPLIT(&m, f, &payload));
	assert_ok(verdict_read(payload, ret));
	assert_int_equal(ret->directive, g.directive);
	return g.directive;
}

static inline void assert_judges(struct scene *s)
{
	struct verdict v;

	honest(s);
	assert_int_equal(judged(s, &v), DIRECTIVE_ADMIT);
}

/* Not authentic for this reason, and the signer hears nothing. */
static inline void assert_not_authentic(struct scene *s, enum reason r, struct bytes evidence)
{
	struct msg_judged g;

	SEND(s, MSG_JUDGE, &s->judge, evidence);
	ANSWERED(s, MSG_JUDGED, g);
	assert_reason(r, g.quote);
	assert_signer_heard_nothing(s);
}

#endif
