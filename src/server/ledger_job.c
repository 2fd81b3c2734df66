/* SPDX-License-Identifier: Apache-2.0 */
/* Requests under way, and which worker has which. */
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "server/ledger.h"

enum reason job_add(struct ledger *l, enum job_kind kind, struct ipc *front, uint64_t front_id,
		    struct bytes body, struct job **ret)
{
	if (l->job_count >= LEDGER_JOBS_MAX || l->job_bytes + body.n > LEDGER_JOB_BYTES_MAX)
		return R_SERVER_BUSY;
	struct job *j = calloc(1, sizeof(*j));
	if (!j)
		return R_INTERNAL_MEMORY;
	j->id = ++l->next_id;
	j->kind = kind;
	j->front = front;
	j->front_id = front_id;
	j->deadline = clock_boot_ms() + JOB_DEADLINE_MS;
	j->body = BLOB(body.n);
	j->explanation = BLOB(LIMIT_EXPLANATION);
	j->verdict = BLOB(LIMIT_VERDICT);
	enum reason r = blob_append(&j->body, body.p, body.n);
	if (r != R_OK) {
		free(j);
		return r;
	}
	if (l->last)
		l->last->next = j;
	else
		l->first = j;
	l->last = j;
	l->job_count++;
	l->job_bytes += body.n;
	*ret = j;
	return R_OK;
}

struct job *job_find(struct ledger *l, uint64_t id)
{
	struct job *j = l->first;

	while (j && j->id != id)
		j = j->next;
	return j;
}

void job_remove(struct ledger *l, struct job *j)
{
	struct job **at = &l->first, *before = NULL;

	while (*at != j) {
		before = *at;
		at = &(*at)->next;
	}
	*at = j->next;
	if (l->last == j)
		l->last = before;
	for (size_t i = 0; i < l->conf.workers; i++)
		if (l->worker[i].job == j)
			l->worker[i].job = NULL;
	l->job_count--;
	l->job_bytes -= j->body.n;
	blob_free(&j->body);
	blob_free(&j->explanation);
	blob_free(&j->verdict);
	free(j);
}

void job_fail(struct ledger *l, struct job *j, enum reason r)
{
	answer_refusal(l, j->front, j->front_id, r);
	job_remove(l, j);
}

static enum reason job_send(struct ledger *l, struct job *j, struct ipc *worker)
{
	switch (j->kind) {
	case JOB_ENROL:
		return enrol_send(l, j, worker);
	case JOB_ATTEST:
		return attest_send(l, j, worker);
	case JOB_RECEIPT:
		return receipt_send(l, j, worker);
	case JOB_LEARN:
		return learn_send(l, j, worker);
	}
	return R_INTERNAL;
}

static struct worker *idle_worker(struct ledger *l)
{
	for (size_t i = 0; i < l->conf.workers; i++) {
		struct worker *w = &l->worker[i];

		if (w->ipc.fd >= 0 && w->ipc.broken == R_OK && !w->job && !w->retire &&
		    w->served < WORKER_REQUESTS)
			return w;
	}
	return NULL;
}

void job_assign(struct ledger *l)
{
	struct job *next;

	for (struct job *j = l->first; j; j = next) {
		next = j->next;
		if (j->sent)
			continue;
		struct worker *w = idle_worker(l);
		if (!w)
			return;
		j->refs_version = l->refs_version;
		enum reason r = refs_send(l, w, j);
		if (r == R_OK)
			r = job_send(l, j, &w->ipc);
		if (w->ipc.broken != R_OK) {
			/*
			 * It ended before it saw the request: another one takes it,
			 * under another number, as the signer may know this one.
			 */
			worker_gone(l, w);
			j->id = ++l->next_id;
			next = j;
			continue;
		}
		if (r != R_OK) {
			log_reason(r, "job %llu is not assigned", (unsigned long long)j->id);
			job_fail(l, j, r == R_SERVER_BUSY ? r : R_SERVER_WORKER);
			continue;
		}
		j->sent = true;
		j->deadline = clock_boot_ms() + JOB_RUN_MS;
		w->job = j;
		w->served++;
	}
}

static struct worker *worker_of(struct ledger *l, const struct job *j)
{
	for (size_t i = 0; i < l->conf.workers; i++)
		if (l->worker[i].job == j)
			return &l->worker[i];
	return NULL;
}

void jobs_expire(struct ledger *l)
{
	uint64_t now = clock_boot_ms();
	struct job *next;

	for (struct job *j = l->first; j; j = next) {
		struct worker *w = worker_of(l, j);

		next = j->next;
		if (j->deadline > now)
			continue;
		if (!j->sent)
			job_fail(l, j, R_SERVER_BUSY);
		else if (w)
			worker_gone(l, w);
		else {
			/* Judged, and not signed in time: no fault of the evidence. */
			log_reason(R_SERVER_BUSY, "job %llu is not signed", (unsigned long long)j->id);
			job_fail(l, j, R_SERVER_BUSY);
		}
	}
}
