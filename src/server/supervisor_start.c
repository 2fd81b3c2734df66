/* SPDX-License-Identifier: Apache-2.0 */
/* Starting and stopping: who gets which end of which channel. */
#include "base/cleanup.h"
#include "base/clock.h"
#include "server/channel.h"
#include "server/supervisor_internal.h"

/* A channel: one end for each of two processes. */
struct pair {
	int end[2];
};

static void pair_close(struct pair *p)
{
	cleanup_fd(&p->end[0]);
	cleanup_fd(&p->end[1]);
}

static enum reason pair_make(struct pair *ret)
{
	return ipc_pair(ret->end);
}

enum reason start_worker(struct supervisor *s, unsigned index)
{
	_cleanup_(pair_close) struct pair to_ledger = { { -1, -1 } }, to_signer = { { -1, -1 } };

	TRY(pair_make(&to_ledger));
	TRY(pair_make(&to_signer));
	int keep[] = { to_ledger.end[1], to_signer.end[1] };
	TRY(proc_fork(keep, ARRAY_LEN(keep), &s->worker[index].proc));
	if (s->worker[index].proc.pid == 0)
		child_worker(s, keep);
	s->worker[index].started = clock_boot_ms();
	s->worker[index].channel = take_fd(to_ledger.end[1]);
	/* The signer first: a worker may have work as soon as the ledger knows it. */
	TRY(ipc_send_wait(&s->signer, MSG_WORKER, index, NULL, 0, to_signer.end[0], 5000));
	return ipc_send_wait(&s->ledger, MSG_WORKER, index, NULL, 0, to_ledger.end[0], 5000);
}

static enum reason start_part(struct supervisor *s, enum part part, const int *keep, size_t count)
{
	TRY(proc_fork(keep, count, &s->part[part]));
	if (s->part[part].pid == 0)
		child_part(s, part, keep);
	return R_OK;
}

enum reason start_all(struct supervisor *s)
{
	_cleanup_(pair_close) struct pair node = { { -1, -1 } }, admin = { { -1, -1 } }, signer = { { -1, -1 } };
	_cleanup_(pair_close) struct pair own_ledger = { { -1, -1 } }, own_signer = { { -1, -1 } };

	TRY(pair_make(&node));
	TRY(pair_make(&admin));
	TRY(pair_make(&signer));
	TRY(pair_make(&own_ledger));
	TRY(pair_make(&own_signer));
	int ledger[] = { node.end[0], admin.end[0], signer.end[0], own_ledger.end[1] };
	int sign[] = { signer.end[1], own_signer.end[1] };
	int front[] = { node.end[1], s->listen_tls, s->listen_plain };
	int admins[] = { admin.end[1], s->listen_admin };

	TRY(start_part(s, LEDGER, ledger, ARRAY_LEN(ledger)));
	TRY(start_part(s, SIGNER, sign, ARRAY_LEN(sign)));
	TRY(start_part(s, NODE_FRONT, front, ARRAY_LEN(front)));
	TRY(start_part(s, ADMIN_FRONT, admins, ARRAY_LEN(admins)));
	TRY(ipc_open(&s->ledger, own_ledger.end[0], NULL, 0));
	own_ledger.end[0] = -1;
	TRY(ipc_open(&s->signer, own_signer.end[0], NULL, 0));
	own_signer.end[0] = -1;
	for (unsigned i = 0; i < s->conf.workers; i++)
		TRY(start_worker(s, i));
	return release_keys_tell(s);
}

void worker_hang_up(struct supervisor *s, unsigned index)
{
	int channel = take_fd(s->worker[index].channel);

	cleanup_fd(&channel);
}

void stop_all(struct supervisor *s)
{
	/* Fronts first: what they would answer now would not be true. */
	for (int p = PART_MAX - 1; p >= 0; p--)
		proc_kill(&s->part[p]);
	for (unsigned i = 0; i < LEDGER_WORKERS_MAX; i++) {
		proc_kill(&s->worker[i].proc);
		worker_hang_up(s, i);
	}
	ipc_close(&s->ledger);
	ipc_close(&s->signer);
	s->ledger = s->signer = IPC_NONE;
}
