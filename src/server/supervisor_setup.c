/* SPDX-License-Identifier: Apache-2.0 */
/* What is done once, before the first process is started. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/log.h"
#include "crypto/init.h"
#include "server/front.h"
#include "server/listen.h"
#include "server/supervisor_internal.h"

#define FILES_BESIDE 128u

static enum reason read_conf(struct supervisor *s)
{
	_cleanup_(blob_free) struct blob text = BLOB(LIMIT_CONF);
	struct conf_error err = { 0 };
	char path[SERVER_PATH_MAX], where[CONF_WHERE_MAX];

	TRY(server_path(s->dir, "server.conf", path));
	enum reason r = fd_read_named(path, &text);
	if (r != R_OK)
		return log_reason_errno(r, "%s", path);
	r = server_conf_read(blob_bytes(&text), &s->conf, &err);
	conf_where(&err, where);
	return log_reason(r, "%s: %s", path, where);
}

/* After a change of the key: what the one before it sealed lives on for as long as it would have. */
static enum reason token_keys(struct supervisor *s)
{
	char path[SERVER_PATH_MAX];

	TRY(server_path(s->dir, "keys/token-old.key", path));
	enum reason r = fd_read_file(path, &s->token_key_old);
	const bool none = r == R_FILE && errno == ENOENT;
	if (r == R_FILE && !none)
		return log_reason_errno(R_SITE_KEYS, "%s", path);
	if (s->token_key.n != AEAD_KEY_LEN || (!none && s->token_key_old.n != AEAD_KEY_LEN))
		return log_reason(R_SITE_KEYS, "%s/keys: a token key has %u bytes", s->dir, AEAD_KEY_LEN);
	s->token_key_old_until = clock_boot_ms() + 1000ull * (s->conf.challenge_lifetime + CLOCK_SKEW);
	return R_OK;
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
	TRY(token_keys(s));
	/* libmicrohttpd takes C strings. */
	TRY(blob_u8(&s->tls_key, 0));
	return blob_u8(&s->tls_certificate, 0);
}

enum reason supervisor_lock(const char *dir, int *ret)
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
		TRY(listen_tcp(s->conf.listen_plain, true, &s->listen_plain));
	TRY(server_path(s->dir, "run/admin.sock", path));
	return listen_unix(path, s->conf.admin_gid, &s->listen_admin);
}

/*
 * The user that owned it could have put a link here, to have another file
 * given to it: what is not plain and in one place only is refused.
 */
static enum reason give_file(const char *path, uint32_t uid)
{
	struct stat st;
	_cleanup_fd_ int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0 && errno == ENOENT)
		return R_OK;
	if (fd < 0 || fstat(fd, &st) != 0)
		return log_reason_errno(R_FILE, "%s", path);
	if (!S_ISREG(st.st_mode) || st.st_nlink != 1)
		return log_reason(R_FILE, "%s is not a plain file", path);
	if (fchmod(fd, 0600) != 0 || (geteuid() == 0 && fchown(fd, uid, uid) != 0))
		return log_reason_errno(R_FILE, "%s", path);
	return R_OK;
}

/* The folder is the ledger's, also where a backup was put back by somebody else. */
static enum reason give_state(struct supervisor *s)
{
	static const char *const name[] = { "bootgate.db", "bootgate.db-wal", "bootgate.db-shm" };
	const uint32_t uid = s->conf.ledger_uid;
	char path[SERVER_PATH_MAX];

	/* Evidence and audit are nobody's business but ours. */
	umask(0077);
	TRY(server_path(s->dir, "state", s->state));
	_cleanup_fd_ int fd = open(s->state, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || fchmod(fd, 0700) != 0 || (geteuid() == 0 && fchown(fd, uid, uid) != 0))
		return log_reason_errno(R_FILE, "%s", s->state);
	for (size_t i = 0; i < ARRAY_LEN(name); i++) {
		TRY(server_path(s->state, name[i], path));
		TRY(give_file(path, uid));
	}
	return R_OK;
}

enum reason supervisor_files(const struct server_conf *c)
{
	/* One front has both sockets for nodes. Beside connections: channels, epoll, logs. */
	unsigned sockets = (c->listen_tls[0] ? 1u : 0u) + (c->listen_plain[0] ? 1u : 0u);
	rlim_t need = (rlim_t)FRONT_CONNECTIONS * (sockets ? sockets : 1) + FILES_BESIDE;
	struct rlimit l;

	if (getrlimit(RLIMIT_NOFILE, &l) != 0)
		return R_INTERNAL_IO;
	if (l.rlim_cur >= need)
		return R_OK;
	l.rlim_cur = need;
	/* Root may raise the hard one as well. */
	if (l.rlim_max < need)
		l.rlim_max = need;
	if (setrlimit(RLIMIT_NOFILE, &l) != 0)
		return log_reason(R_SERVER_FILES, "%llu are needed", (unsigned long long)need);
	return R_OK;
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

static void warn_landlock(void)
{
	if (jail_has_landlock())
		return;
	if (geteuid() == 0)
		log_line(LEVEL_INFO, "this kernel has no Landlock: users and call filters alone part the processes");
	else
		log_line(LEVEL_WARN,
			 "this kernel has no Landlock: a ledger that is taken over could read keys/; start as root, "
			 "or on a kernel with Landlock");
}

enum reason supervisor_setup(struct supervisor *s)
{
	TRY(read_conf(s));
	TRY(supervisor_files(&s->conf));
	TRY(read_keys(s));
	TRY(give_state(s));
	TRY(open_sockets(s));
	TRY(block_signals(&s->signals));
	TRY(crypto_init());
	warn_landlock();
	return R_OK;
}
