/* SPDX-License-Identifier: Apache-2.0 */
/* The loop, jobs and answers. What a message means is in ledger_*.c. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "crypto/random.h"
#include "server/channel.h"
#include "server/ledger.h"

/* What each peer may send. */
static const struct ipc_rule front_rules[] = {
	CHANNEL_RULE(MSG_CHALLENGE, struct msg_challenge, 0),
	CHANNEL_RULE(MSG_ENROL, struct msg_enrol, LIMIT_ENROL),
	CHANNEL_RULE(MSG_ATTEST, struct msg_attest, LIMIT_EVIDENCE),
	CHANNEL_RULE(MSG_RECEIPT, struct msg_receipt, LIMIT_RECEIPT),
	CHANNEL_RULE(MSG_FAILURE, struct msg_failure, LIMIT_FAILURE_LOG),
	CHANNEL_RULE(MSG_MANIFEST, struct msg_manifest, 0),
};
static const struct ipc_rule admin_rules[] = {
	CHANNEL_RULE(MSG_ADMIN, struct msg_admin, LIMIT_REFERENCE_SET),
};
static const struct ipc_rule worker_rules[] = {
	CHANNEL_RULE(MSG_ENROLLED, struct msg_enrolled, LIMIT_EKS * sizeof(struct ek_result)),
	CHANNEL_RULE(MSG_JUDGED, struct msg_judged, LIMIT_EXPLANATION),
	CHANNEL_RULE(MSG_RECEIPT_JUDGED, struct msg_receipt_judged, 0),
	CHANNEL_RULE(MSG_LEARNED, struct msg_learned, LIMIT_REFERENCE_SET),
};
static const struct ipc_rule signer_rules[] = {
	CHANNEL_RULE(MSG_SIGNED, struct msg_signed, LIMIT_VERDICT),
};
static const struct ipc_rule supervisor_rules[] = {
	{ MSG_WORKER, 0, 0, true },
	{ MSG_RETIRE, 0, 0, false },
	{ MSG_RELEASE_KEYS, sizeof(struct msg_release_keys), sizeof(struct msg_release_keys), false },
};

int64_t ledger_now(void)
{
	return (int64_t)time(NULL);
}

/* ---- transaction of a turn --------------------------------------------------- */

enum reason ledger_write(struct ledger *l)
{
	/* Its transaction may be gone: what came now would be recorded alone. */
	if (l->doomed)
		return R_STORE_IO;
	if (l->in_transaction)
		return R_OK;
	TRY(store_begin(l->store));
	l->in_transaction = true;
	return R_OK;
}

static void turn_end(struct ledger *l)
{
	enum reason r = R_OK;

	if (l->in_transaction) {
		l->in_transaction = false;
		r = l->doomed ? R_STORE_IO : store_commit(l->store);
		l->doomed = false;
		l->count.commits++;
		if (r != R_OK) {
			log_reason(r, "nothing of this turn was recorded");
			store_rollback(l->store);
			l->refs_stale = true;
		}
	}
	if (l->refs_stale) {
		enum reason load = refs_load(l);
		/* The old ones are not what is in force: until it succeeds, nothing is recorded by them. */
		l->refs_stale = load != R_OK;
		if (load != R_OK)
			log_reason(load, "references cannot be read; nothing is admitted until they can");
	}
	answers_send(l, r);
}

enum reason ledger_savepoint(struct ledger *l)
{
	TRY(ledger_write(l));
	return store_savepoint(l->store);
}

static enum reason savepoint_end(struct ledger *l, bool keep)
{
	enum reason r = store_release(l->store, keep);

	/* Half a change that cannot be undone must not be committed with the rest. */
	if (r != R_OK)
		l->doomed = true;
	return r;
}

enum reason ledger_release(struct ledger *l, enum reason r)
{
	enum reason end = savepoint_end(l, r == R_OK);

	return r != R_OK ? r : end;
}

enum reason ledger_undo(struct ledger *l)
{
	return savepoint_end(l, false);
}

/* ---- messages -------------------------------------------------------------------- */

/* A peer is not trusted to end its texts, nor to keep them printable. */
static void text_clean(char *text, size_t n)
{
	text[n - 1] = '\0';
	for (; *text; text++)
		if (*text < 0x20 || *text > 0x7e)
			*text = '?';
}

static enum reason from_front(struct ledger *l, const struct ipc_message *m)
{
	struct bytes tail;

	switch (m->type) {
	case MSG_CHALLENGE: {
		struct msg_challenge c;
		memcpy(&c, m->body.p, sizeof(c));
		text_clean(c.peer, sizeof(c.peer));
		on_challenge(l, &l->front, m->id, &c);
		return R_OK;
	}
	case MSG_ENROL: {
		struct msg_enrol e;
		if (!CHANNEL_SPLIT(m, e, &tail))
			return R_FORMAT_TRUNCATED;
		text_clean(e.peer, sizeof(e.peer));
		on_enrol(l, &l->front, m->id, &e, tail);
		return R_OK;
	}
	case MSG_ATTEST: {
		struct msg_attest a;
		if (!CHANNEL_SPLIT(m, a, &tail))
			return R_FORMAT_TRUNCATED;
		text_clean(a.peer, sizeof(a.peer));
		on_attest(l, &l->front, m->id, &a, tail);
		return R_OK;
	}
	case MSG_RECEIPT: {
		struct msg_receipt r;
		if (!CHANNEL_SPLIT(m, r, &tail))
			return R_FORMAT_TRUNCATED;
		text_clean(r.peer, sizeof(r.peer));
		on_receipt(l, &l->front, m->id, &r, tail);
		return R_OK;
	}
	case MSG_FAILURE: {
		struct msg_failure f;
		if (!CHANNEL_SPLIT(m, f, &tail))
			return R_FORMAT_TRUNCATED;
		channel_bool(&f.has_ak_name);
		on_failure(l, &l->front, m->id, &f, tail);
		return R_OK;
	}
	case MSG_MANIFEST: {
		struct msg_manifest q;
		memcpy(&q, m->body.p, sizeof(q));
		on_manifest(l, &l->front, m->id, &q);
		return R_OK;
	}
	default:
		return R_FORMAT_TYPE;
	}
}

static enum reason from_admin(struct ledger *l, const struct ipc_message *m)
{
	struct msg_admin a;
	struct bytes tail;

	if (!CHANNEL_SPLIT(m, a, &tail))
		return R_FORMAT_TRUNCATED;
	channel_bool(&a.dry_run);
	text_clean(a.actor, sizeof(a.actor));
	a.reason[sizeof(a.reason) - 1] = '\0';
	for (size_t i = 0; i < ADMIN_ARGS; i++)
		a.arg[i][ADMIN_ARG_MAX - 1] = '\0';
	on_admin(l, &l->admin, m->id, &a, tail);
	return R_OK;
}

static enum reason from_worker(struct ledger *l, struct worker *w, const struct ipc_message *m)
{
	struct job *j = w->job;
	struct bytes tail;

	/* A worker speaks of the job that it has, and once. */
	if (!j || m->id != j->id)
		return R_INTERNAL_CHILD;
	/* What deviates is told by the return: then the job is still its own, and fails with it. */
	switch (m->type) {
	case MSG_ENROLLED: {
		struct msg_enrolled e;
		if (j->kind != JOB_ENROL || !CHANNEL_SPLIT(m, e, &tail))
			return R_INTERNAL_CHILD;
		w->job = NULL;
		on_enrolled(l, j, &e, tail);
		return R_OK;
	}
	case MSG_JUDGED: {
		struct msg_judged g;
		if (j->kind != JOB_ATTEST || !CHANNEL_SPLIT(m, g, &tail))
			return R_INTERNAL_CHILD;
		channel_bool(&g.record.clock.known);
		g.record.board[sizeof(g.record.board) - 1] = '\0';
		w->job = NULL;
		on_judged(l, j, &g, tail);
		return R_OK;
	}
	case MSG_RECEIPT_JUDGED: {
		struct msg_receipt_judged g;
		if (j->kind != JOB_RECEIPT || !CHANNEL_SPLIT(m, g, &tail))
			return R_INTERNAL_CHILD;
		w->job = NULL;
		on_receipt_judged(l, j, &g);
		return R_OK;
	}
	case MSG_LEARNED: {
		struct msg_learned g;
		if (j->kind != JOB_LEARN || !CHANNEL_SPLIT(m, g, &tail))
			return R_INTERNAL_CHILD;
		w->job = NULL;
		on_learned(l, j, &g, tail);
		return R_OK;
	}
	default:
		return R_FORMAT_TYPE;
	}
}

static enum reason from_signer(struct ledger *l, const struct ipc_message *m)
{
	struct msg_signed s;
	struct bytes tail;

	if (!CHANNEL_SPLIT(m, s, &tail))
		return R_FORMAT_TRUNCATED;
	struct job *j = job_find(l, m->id);
	/* The job may be gone: its worker crashed after it had told the signer. */
	if (j && j->kind == JOB_ATTEST && j->sent && !j->signed_)
		on_signed(l, j, &s, tail);
	return R_OK;
}

static void pump_worker(struct ledger *l, struct worker *w);

/* A new worker takes the place of one that is gone. */
static enum reason from_supervisor(struct ledger *l, const struct ipc_message *m)
{
	if (m->type == MSG_RETIRE) {
		for (size_t i = 0; i < l->conf.workers; i++)
			l->worker[i].retire = true;
		return R_OK;
	}
	if (m->type == MSG_RELEASE_KEYS) {
		memcpy(&l->release_keys, m->body.p, sizeof(l->release_keys));
		l->release_keys.path[sizeof(l->release_keys.path) - 1] = '\0';
		return R_OK;
	}
	if (m->id >= l->conf.workers) {
		close(m->fd);
		return R_FORMAT_RANGE;
	}
	struct worker *w = &l->worker[m->id];

	/* The old one may have spoken before it ended, or ended in the middle of a job. */
	if (w->ipc.fd >= 0 && w->job)
		pump_worker(l, w);
	worker_gone(l, w);
	w->served = 0;
	w->retire = false;
	w->refs_version = 0;
	return ipc_open(&w->ipc, m->fd, worker_rules, ARRAY_LEN(worker_rules));
}

/* A crash is a refusal: the job is not tried again with another worker. */
void worker_gone(struct ledger *l, struct worker *w)
{
	struct job *j = w->job;

	if (j) {
		l->count.worker_crashes++;
		log_reason(R_SERVER_WORKER, "job %llu", (unsigned long long)j->id);
		w->job = NULL;
		job_fail(l, j, R_SERVER_WORKER);
	}
	ipc_close(&w->ipc);
	w->ipc = IPC_NONE;
}

/*
 * Its end of the channel ends with ours, and the supervisor starts another.
 * One that has served its number ends by itself, or in this way.
 */
static void workers_retire(struct ledger *l)
{
	for (size_t i = 0; i < l->conf.workers; i++) {
		struct worker *w = &l->worker[i];

		if ((w->retire || w->served >= WORKER_REQUESTS) && !w->job && w->ipc.fd >= 0) {
			ipc_close(&w->ipc);
			w->ipc = IPC_NONE;
		}
	}
}

/* ---- loop --------------------------------------------------------------------------- */

/* Messages taken from one channel in one turn, so that none starves another. */
#define TURN_MESSAGES 64u

typedef enum reason (*handler)(struct ledger *l, const struct ipc_message *m);

static enum reason pump(struct ledger *l, struct ipc *c, handler f)
{
	for (unsigned i = 0; i < TURN_MESSAGES; i++) {
		struct ipc_message m;
		bool have = false;

		TRY(ipc_receive(c, &m, &have));
		if (!have)
			break;
		TRY(f(l, &m));
	}
	return ipc_flush(c);
}

static void pump_worker(struct ledger *l, struct worker *w)
{
	struct ipc_message m;
	bool have = false;
	enum reason r = ipc_receive(&w->ipc, &m, &have);

	if (r == R_OK && have)
		r = from_worker(l, w, &m);
	if (r == R_OK)
		r = ipc_flush(&w->ipc);
	if (r != R_OK)
		worker_gone(l, w);
}

static enum reason turn(struct ledger *l)
{
	struct pollfd fds[4 + LEDGER_WORKERS_MAX];
	struct ipc *fixed[] = { &l->front, &l->admin, &l->signer, &l->supervisor };
	static const handler handlers[] = { from_front, from_admin, from_signer, from_supervisor };
	nfds_t n = 0;

	for (size_t i = 0; i < ARRAY_LEN(fixed); i++)
		fds[n++] = (struct pollfd){ fixed[i]->fd, ipc_events(fixed[i]), 0 };
	for (size_t i = 0; i < l->conf.workers; i++)
		fds[n++] = (struct pollfd){ l->worker[i].ipc.fd, ipc_events(&l->worker[i].ipc), 0 };
	if (poll(fds, n, 1000) < 0)
		return errno == EINTR ? R_OK : R_INTERNAL_IO;

	for (size_t i = 0; i < ARRAY_LEN(fixed); i++)
		if (fds[i].revents)
			TRY(pump(l, fixed[i], handlers[i]));
	for (size_t i = 0; i < l->conf.workers; i++)
		if (fds[ARRAY_LEN(fixed) + i].revents && l->worker[i].ipc.fd >= 0)
			pump_worker(l, &l->worker[i]);
	workers_retire(l);
	jobs_expire(l);
	pending_expire(l);
	rules_clock(l);
	turn_end(l);
	job_assign(l);
	/* A job that could not be handed on was answered just now. */
	answers_send(l, R_OK);
	return R_OK;
}

static enum reason channels_open(struct ledger *l, const struct ledger_config *c)
{
	TRY(ipc_open(&l->front, c->front, front_rules, ARRAY_LEN(front_rules)));
	TRY(ipc_open(&l->admin, c->admin, admin_rules, ARRAY_LEN(admin_rules)));
	TRY(ipc_open(&l->signer, c->signer, signer_rules, ARRAY_LEN(signer_rules)));
	return ipc_open(&l->supervisor, c->supervisor, supervisor_rules, ARRAY_LEN(supervisor_rules));
}

static void ledger_free(struct ledger **l)
{
	if (!*l)
		return;
	struct ipc *fixed[] = { &(*l)->front, &(*l)->admin, &(*l)->signer, &(*l)->supervisor };

	answers_free(*l);
	while ((*l)->first)
		job_remove(*l, (*l)->first);
	for (size_t i = 0; i < ARRAY_LEN(fixed); i++)
		ipc_close(fixed[i]);
	for (size_t i = 0; i < LEDGER_WORKERS_MAX; i++)
		ipc_close(&(*l)->worker[i].ipc);
	blob_free(&(*l)->refs);
	policies_free(&(*l)->policies);
	store_close(&(*l)->store);
	wipe(*l, sizeof(**l));
	free(*l);
	*l = NULL;
}

enum reason ledger_run(const struct ledger_config *conf)
{
	_cleanup_(ledger_free) struct ledger *l = calloc(1, sizeof(*l));

	if (!l)
		return R_INTERNAL_MEMORY;
	l->conf = *conf;
	l->front = l->admin = l->signer = l->supervisor = IPC_NONE;
	for (size_t i = 0; i < LEDGER_WORKERS_MAX; i++)
		l->worker[i].ipc = IPC_NONE;
	l->refs = BLOB(LIMIT_REFERENCE_SET);
	TRY(channels_open(l, conf));
	TRY(store_open(conf->database, &l->store));
	TRY(refs_load(l));
	for (;;)
		TRY(turn(l));
}
