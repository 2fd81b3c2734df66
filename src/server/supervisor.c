/* SPDX-License-Identifier: Apache-2.0 */
/* The main loop: what to do when a process ends or a signal comes. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/log.h"
#include "server/channel.h"
#include "server/supervisor.h"
#include "server/supervisor_internal.h"

/* A process that ends sooner than this after its start is started more slowly. */
#define QUICK_END_MS 2000u
#define SLOW_START_MS 500u

/* How often it looks for release keys. */
#ifdef BOOTGATE_TEST
#define LOOK_MS 500u
#else
#define LOOK_MS (10u * 60 * 1000)
#endif

static void pause_ms(unsigned ms)
{
	poll(NULL, 0, (int)ms);
}

/* True when everything has to be started again. */
static bool ended(struct supervisor *s)
{
	struct proc_end end;

	for (int p = 0; p < PART_MAX; p++) {
		if (proc_wait(&s->part[p], 0, &end) == R_INTERNAL_CHILD)
			continue;
		log_line(LEVEL_ERROR, "the %s ended (code %d, signal %d); starting all again", part_name[p],
			 end.code, end.signal);
		return true;
	}
	for (unsigned i = 0; i < s->conf.workers; i++) {
		if (proc_wait(&s->worker[i].proc, 0, &end) == R_INTERNAL_CHILD)
			continue;
		/* Now the ledger sees its end. */
		worker_hang_up(s, i);
		if (end.signal)
			log_line(LEVEL_ERROR, "worker %u ended by signal %d", i, end.signal);
		if (clock_boot_ms() - s->worker[i].started < QUICK_END_MS && (end.signal || end.code))
			pause_ms(SLOW_START_MS);
		if (start_worker(s, i) != R_OK)
			return true;
	}
	return false;
}

static bool channel_hung_up(int fd)
{
	struct pollfd p = { .fd = fd };

	return poll(&p, 1, 0) == 1 && (p.revents & POLLHUP);
}

/*
 * The ledger has closed the channel of this worker: its time is over. One that
 * is well ends by itself; one that hangs, or was taken over, does not.
 */
static void let_go(struct supervisor *s, unsigned index)
{
	struct proc_end end;

	if (proc_wait(&s->worker[index].proc, 200, &end) != R_OK)
		proc_kill(&s->worker[index].proc);
	worker_hang_up(s, index);
}

/*
 * R_OK on SIGTERM or SIGINT, R_INTERNAL_CHILD when a part ended. SIGHUP: ek-ca/
 * changed, or a release key went away.
 */
static enum reason watch(struct supervisor *s)
{
	uint64_t next_look = clock_boot_ms() + LOOK_MS;

	for (;;) {
		struct pollfd fds[1 + PART_MAX + 2 * LEDGER_WORKERS_MAX];
		struct pollfd *hung_up;
		nfds_t n = 0;

		fds[n++] = (struct pollfd){ s->signals, POLLIN, 0 };
		for (int p = 0; p < PART_MAX; p++)
			fds[n++] = (struct pollfd){ s->part[p].pidfd, POLLIN, 0 };
		for (unsigned i = 0; i < s->conf.workers; i++)
			fds[n++] = (struct pollfd){ s->worker[i].proc.pidfd, POLLIN, 0 };
		hung_up = &fds[n];
		for (unsigned i = 0; i < s->conf.workers; i++)
			fds[n++] = (struct pollfd){ s->worker[i].channel, 0, 0 };
		uint64_t now = clock_boot_ms();
		if (poll(fds, n, next_look > now ? (int)(next_look - now) : 0) < 0 && errno != EINTR)
			return R_INTERNAL_IO;
		if (fds[0].revents) {
			struct signalfd_siginfo info;

			if (read(s->signals, &info, sizeof(info)) != sizeof(info))
				return R_INTERNAL_IO;
			if (info.ssi_signo != SIGHUP)
				return R_OK;
			/* Workers read the vendor CAs when they start. */
			log_line(LEVEL_INFO, "replacing the workers");
			TRY(ipc_send_wait(&s->ledger, MSG_RETIRE, 0, NULL, 0, -1, 5000));
			next_look = 0;
		}
		if (ended(s))
			return R_INTERNAL_CHILD;
		for (unsigned i = 0; i < s->conf.workers; i++) {
			/* Not when ended() has put another in its place. */
			if (!hung_up[i].revents || !channel_hung_up(s->worker[i].channel))
				continue;
			let_go(s, i);
			if (start_worker(s, i) != R_OK)
				return R_INTERNAL_CHILD;
		}
		if (clock_boot_ms() >= next_look) {
			TRY(release_keys_tell(s));
			next_look = clock_boot_ms() + LOOK_MS;
		}
	}
}

static void supervisor_free(struct supervisor *s)
{
	stop_all(s);
	cleanup_fd(&s->listen_tls);
	cleanup_fd(&s->listen_plain);
	cleanup_fd(&s->listen_admin);
	cleanup_fd(&s->signals);
	blob_free(&s->tls_key);
	blob_free(&s->tls_certificate);
	blob_free(&s->token_key);
	blob_free(&s->token_key_old);
}

enum reason supervisor_run(const char *dir, int ready_fd)
{
	_cleanup_fd_ int lock_fd = -1;
	_cleanup_(supervisor_free) struct supervisor s = {
		.dir = dir, .tls_key = BLOB(16384), .tls_certificate = BLOB(65536), .token_key = BLOB(64),
		.token_key_old = BLOB(64),
		.listen_tls = -1, .listen_plain = -1, .listen_admin = -1, .signals = -1,
		.ledger = IPC_NONE, .signer = IPC_NONE,
	};

	for (int p = 0; p < PART_MAX; p++)
		s.part[p] = PROC_NONE;
	for (size_t i = 0; i < LEDGER_WORKERS_MAX; i++) {
		s.worker[i].proc = PROC_NONE;
		s.worker[i].channel = -1;
	}
	TRY(supervisor_lock(dir, &lock_fd));
	TRY(supervisor_setup(&s));
	/* From here on it opens nothing itself; its children start in this jail, too. */
	const struct jail jail = supervisor_jail(&s, JAIL_SUPERVISOR);
	TRY(jail_enter(&jail));

	for (;;) {
		uint64_t started = clock_boot_ms();

		TRY(start_all(&s));
		log_line(LEVEL_INFO, "ready on %s%s%s", s.conf.listen_tls, s.conf.listen_plain[0] ? " and " : "",
			 s.conf.listen_plain);
		if (ready_fd >= 0) {
			TRY(fd_write_full(ready_fd, bytes_str("ready\n")));
			ready_fd = -1;
		}
		if (watch(&s) == R_OK)
			return R_OK;
		stop_all(&s);
		if (clock_boot_ms() - started < QUICK_END_MS)
			pause_ms(SLOW_START_MS);
	}
}
