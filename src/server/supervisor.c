/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/signalfd.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/jail.h"
#include "base/log.h"
#include "base/proc.h"
#include "crypto/init.h"
#include "server/channel.h"
#include "server/config.h"
#include "server/front.h"
#include "server/ledger.h"
#include "server/listen.h"
#include "server/signer.h"
#include "server/supervisor.h"
#include "server/worker.h"

/* A process that ends sooner than this after its start is started more slowly. */
#define QUICK_END_MS 2000u
#define SLOW_START_MS 500u
#define CA_FILES_MAX 4096u
#define CA_FILE_MAX (256u << 10)

/* All but the workers; in the order of starting. */
enum part { LEDGER, SIGNER, NODE_FRONT, ADMIN_FRONT, PART_MAX };
static const char *const part_name[PART_MAX] = { "ledger", "signer", "node front", "admin front" };

struct supervisor {
	const char *dir;
	struct server_conf conf;
	struct blob tls_key, tls_certificate, token_key;
	int listen_tls, listen_plain, listen_admin;
	int signals;
	struct proc part[PART_MAX];
	struct ipc ledger, signer;	/* for handing over workers' sockets */
	struct {
		struct proc proc;
		uint64_t started;
		int channel;	/* the worker's end of its channel to the ledger, only to see it hang up */
	} worker[LEDGER_WORKERS_MAX];
};

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

/* ---- what each child does ----------------------------------------------------- */

static struct jail jail_of(const struct supervisor *s, enum jail_profile profile, bool own_user)
{
	struct jail j = { .profile = profile };

	/* The ledger stays the owner of the database's files. */
	if (own_user && geteuid() == 0)
		j.uid = j.gid = s->conf.run_uid;
	return j;
}

/*
 * A child has the supervisor's memory. What it must not know is wiped before
 * it reads the first byte: with the token key it could enrol any key.
 */
static void forget_keys(struct supervisor *s, bool tls, bool token)
{
	if (tls) {
		blob_free(&s->tls_key);
		blob_free(&s->tls_certificate);
	}
	if (token)
		blob_free(&s->token_key);
	/* proc_fork() gave all signals back; a peer that goes away is no reason to end. */
	signal(SIGPIPE, SIG_IGN);
}

static _Noreturn void leave(const char *name, enum reason r)
{
	/* The other side went away: that is how the server stops. */
	if (r != R_OK && r != R_INTERNAL_CHILD)
		log_reason(r, "the %s ends", name);
	_exit(reason_exit(r));
}

static enum reason run_ledger(struct supervisor *s, const int fd[4])
{
	char database[SERVER_PATH_MAX];
	struct jail jail = jail_of(s, JAIL_LEDGER, false);
	struct ledger_config c = { .database = database, .front = fd[0], .admin = fd[1], .signer = fd[2],
				   .supervisor = fd[3], .workers = s->conf.workers,
				   .challenge_lifetime = s->conf.challenge_lifetime,
				   .pending_max = s->conf.pending_max };

	if (s->token_key.n != sizeof(c.token_key))
		return R_SITE_KEYS;
	memcpy(c.token_key, s->token_key.p, sizeof(c.token_key));
	TRY(server_path(s->dir, "bootgate.db", database));
	/* Evidence and audit are nobody's business but ours. */
	umask(0077);
	if (chmod(database, 0600) != 0 && errno != ENOENT)
		return log_reason_errno(R_FILE, "%s", database);
	TRY(jail_enter(&jail));
	return ledger_run(&c);
}

static enum reason run_signer(struct supervisor *s, const int fd[2])
{
	_cleanup_(private_key_free) struct private_key *key = NULL;
	_cleanup_(blob_free) struct blob pem = BLOB(8192);
	char path[SERVER_PATH_MAX];
	struct jail jail = jail_of(s, JAIL_SIGNER, true);

	TRY(server_path(s->dir, "keys/verdict.key", path));
	TRY(fd_read_file(path, &pem));
	TRY(private_key_from_pem(blob_bytes(&pem), &key));
	struct signer_config c = { .ledger = fd[0], .supervisor = fd[1], .workers = s->conf.workers, .key = key };
	TRY(jail_enter(&jail));
	return signer_run(&c);
}

static enum reason run_front(struct supervisor *s, enum part part, int ledger)
{
	_cleanup_(front_free) struct front *f = NULL;
	struct jail jail = jail_of(s, JAIL_FRONT, true);
	struct front_config c = { .ledger = ledger };

	if (part == NODE_FRONT) {
		c.app = &front_node_app;
		if (s->listen_tls >= 0)
			c.socket[c.socket_count++] = (struct front_socket){ s->listen_tls, (char *)s->tls_key.p,
									    (char *)s->tls_certificate.p };
		if (s->listen_plain >= 0)
			c.socket[c.socket_count++] = (struct front_socket){ s->listen_plain, NULL, NULL };
	} else {
		c.app = &front_admin_app;
		c.socket[c.socket_count++] = (struct front_socket){ s->listen_admin, NULL, NULL };
	}
	TRY(front_open(&c, &f));
	TRY(jail_enter(&jail));
	return front_run(f);
}

/* Every file that is a certificate; others are named and passed over. */
static enum reason load_cas(const struct supervisor *s, struct cert_store *cas)
{
	_cleanup_(fd_names_free) struct fd_names names = { 0 };
	char folder[SERVER_PATH_MAX], path[SERVER_PATH_MAX];

	TRY(server_path(s->dir, "ek-ca", folder));
	TRY(fd_list(folder, CA_FILES_MAX, &names));
	for (size_t i = 0; i < names.n; i++) {
		_cleanup_(blob_free) struct blob file = BLOB(CA_FILE_MAX);
		size_t count;

		TRY(server_path(folder, names.v[i], path));
		if (fd_read_named(path, &file) != R_OK ||
		    cert_store_add(cas, blob_bytes(&file), &count) != R_OK)
			log_line(LEVEL_DEBUG, "%s is not a certificate and is passed over", path);
	}
	return R_OK;
}

static enum reason run_worker(struct supervisor *s, const int fd[2])
{
	_cleanup_(cert_store_free) struct cert_store *cas = NULL;
	struct jail jail = jail_of(s, JAIL_WORKER, true);

	TRY(cert_store_make(&cas));
	TRY(load_cas(s, cas));
	struct worker_config c = { .ledger = fd[0], .signer = fd[1], .cas = cas };
	TRY(jail_enter(&jail));
	return worker_run(&c);
}

/* ---- starting ------------------------------------------------------------------- */

static enum reason start_worker(struct supervisor *s, unsigned index)
{
	_cleanup_(pair_close) struct pair to_ledger = { { -1, -1 } }, to_signer = { { -1, -1 } };

	TRY(pair_make(&to_ledger));
	TRY(pair_make(&to_signer));
	int keep[] = { to_ledger.end[1], to_signer.end[1] };
	TRY(proc_fork(keep, ARRAY_LEN(keep), &s->worker[index].proc));
	if (s->worker[index].proc.pid == 0) {
		forget_keys(s, true, true);
		log_set_name("bootgated worker");
		leave("worker", run_worker(s, keep));
	}
	s->worker[index].started = clock_boot_ms();
	s->worker[index].channel = take_fd(to_ledger.end[1]);
	/* The signer first: a worker may have work as soon as the ledger knows it. */
	TRY(ipc_send_wait(&s->signer, MSG_WORKER, index, NULL, 0, to_signer.end[0], 5000));
	return ipc_send_wait(&s->ledger, MSG_WORKER, index, NULL, 0, to_ledger.end[0], 5000);
}

static enum reason start_part(struct supervisor *s, enum part part, const int *keep, size_t count)
{
	TRY(proc_fork(keep, count, &s->part[part]));
	if (s->part[part].pid != 0)
		return R_OK;

	char name[64];
	snprintf(name, sizeof(name), "bootgated %s", part_name[part]);
	log_set_name(name);
	forget_keys(s, part != NODE_FRONT, part != LEDGER);
	switch (part) {
	case LEDGER:
		leave(part_name[part], run_ledger(s, keep));
	case SIGNER:
		leave(part_name[part], run_signer(s, keep));
	default:
		leave(part_name[part], run_front(s, part, keep[0]));
	}
}

static enum reason start_all(struct supervisor *s)
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
	return R_OK;
}

static void stop_all(struct supervisor *s)
{
	/* Fronts first: what they would answer now would not be true. */
	for (int p = PART_MAX - 1; p >= 0; p--)
		proc_kill(&s->part[p]);
	for (size_t i = 0; i < LEDGER_WORKERS_MAX; i++) {
		proc_kill(&s->worker[i].proc);
		cleanup_fd(&s->worker[i].channel);
	}
	ipc_close(&s->ledger);
	ipc_close(&s->signer);
	s->ledger = s->signer = IPC_NONE;
}

/* ---- watching --------------------------------------------------------------------- */

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
		cleanup_fd(&s->worker[i].channel);
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
	cleanup_fd(&s->worker[index].channel);
}

/* R_OK on SIGTERM or SIGINT, R_INTERNAL_CHILD when a part ended. SIGHUP: ek-ca/ changed. */
static enum reason watch(struct supervisor *s)
{
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
		if (poll(fds, n, -1) < 0 && errno != EINTR)
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
	}
}

/* ---- set-up -------------------------------------------------------------------------- */

static enum reason read_conf(struct supervisor *s)
{
	_cleanup_(blob_free) struct blob text = BLOB(LIMIT_CONF);
	struct conf_error err = { 0 };
	char path[SERVER_PATH_MAX];

	TRY(server_path(s->dir, "server.conf", path));
	enum reason r = fd_read_named(path, &text);
	if (r != R_OK)
		return log_reason_errno(r, "%s", path);
	r = server_conf_read(blob_bytes(&text), &s->conf, &err);
	return log_reason(r, "%s line %u: %s", path, err.line, err.key);
}

static enum reason read_keys(struct supervisor *s)
{
	static const char *const name[] = { "tls/server.key", "tls/server.pem", "keys/token.key" };
	struct blob *const to[] = { &s->tls_key, &s->tls_certificate, &s->token_key };
	char path[SERVER_PATH_MAX];

	for (size_t i = 0; i < ARRAY_LEN(name); i++) {
		TRY(server_path(s->dir, name[i], path));
		enum reason r = fd_read_file(path, to[i]);
		if (r != R_OK)
			return log_reason_errno(R_SITE_KEYS, "%s", path);
	}
	/* libmicrohttpd takes C strings. */
	TRY(blob_u8(&s->tls_key, 0));
	return blob_u8(&s->tls_certificate, 0);
}

/* One server a folder; the lock goes with the process. */
static enum reason lock(const char *dir, int *ret)
{
	char path[SERVER_PATH_MAX];

	TRY(server_path(dir, "run", path));
	if (mkdir(path, 0750) != 0 && errno != EEXIST)
		return log_reason_errno(R_FILE, "%s", path);
	TRY(server_path(dir, "run/lock", path));
	_cleanup_fd_ int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return log_reason_errno(R_FILE, "%s", path);
	if (flock(fd, LOCK_EX | LOCK_NB) != 0)
		return log_reason(R_SERVER_RUNNING, "%s", dir);
	*ret = take_fd(fd);
	return R_OK;
}

static enum reason open_sockets(struct supervisor *s)
{
	char path[SERVER_PATH_MAX];

	if (s->conf.listen_tls[0])
		TRY(listen_tcp(s->conf.listen_tls, false, &s->listen_tls));
	if (s->conf.listen_plain[0])
		TRY(log_reason(listen_tcp(s->conf.listen_plain, true, &s->listen_plain), "listen.plain = %s",
			       s->conf.listen_plain));
	TRY(server_path(s->dir, "run/admin.sock", path));
	return listen_unix(path, s->conf.admin_gid, &s->listen_admin);
}

static enum reason block_signals(int *ret)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	signal(SIGPIPE, SIG_IGN);
	if (sigprocmask(SIG_BLOCK, &set, NULL) != 0)
		return R_INTERNAL_IO;
	*ret = signalfd(-1, &set, SFD_CLOEXEC);
	return *ret >= 0 ? R_OK : R_INTERNAL_IO;
}

static void warn_release_key(const struct supervisor *s)
{
	if (s->conf.release_key_folder[0] && access(s->conf.release_key_folder, F_OK) == 0)
		log_line(LEVEL_WARN,
			 "release private keys can be seen at %s: move them off this machine; the server never needs them",
			 s->conf.release_key_folder);
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
}

enum reason supervisor_run(const char *dir, int ready_fd)
{
	_cleanup_fd_ int lock_fd = -1;
	_cleanup_(supervisor_free) struct supervisor s = {
		.dir = dir, .tls_key = BLOB(16384), .tls_certificate = BLOB(65536), .token_key = BLOB(64),
		.listen_tls = -1, .listen_plain = -1, .listen_admin = -1, .signals = -1,
		.ledger = IPC_NONE, .signer = IPC_NONE,
	};

	for (int p = 0; p < PART_MAX; p++)
		s.part[p] = PROC_NONE;
	for (size_t i = 0; i < LEDGER_WORKERS_MAX; i++) {
		s.worker[i].proc = PROC_NONE;
		s.worker[i].channel = -1;
	}
	TRY(lock(dir, &lock_fd));
	TRY(read_conf(&s));
	TRY(read_keys(&s));
	TRY(open_sockets(&s));
	TRY(block_signals(&s.signals));
	TRY(crypto_init());
	warn_release_key(&s);

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
