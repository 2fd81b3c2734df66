/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The server's processes, taken over: each case enters the jail that the
 * supervisor would give to it, as root and as an ordinary user, and tries to
 * get at what is not its own. As far as file modes go everybody may.
 */
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/proc.h"
#include "ending.h"
#include "server/front.h"
#include "server/store_internal.h"
#include "server/supervisor_internal.h"
#include "unit.h"

enum { NOBODY = 65534 };

static char dir[64], key[128];
static struct supervisor supervisor = {
	.dir = dir,
	.conf = { .run_uid = 65521, .ledger_uid = 65522, .signer_uid = 65523 },
};

static int make_server(void **state)
{
	char folder[96];

	(void)state;
	(void)snprintf(dir, sizeof(dir), "/tmp/bootgate-supervisor-%d", getpid());
	(void)snprintf(folder, sizeof(folder), "%s/keys", dir);
	(void)snprintf(key, sizeof(key), "%s/verdict.key", folder);
	(void)snprintf(supervisor.state, sizeof(supervisor.state), "%s/state", dir);
	if (mkdir(dir, 0777) != 0 || mkdir(folder, 0777) != 0 || mkdir(supervisor.state, 0777) != 0)
		return -1;
	if (chmod(dir, 0777) != 0 || chmod(folder, 0777) != 0 || chmod(supervisor.state, 0777) != 0)
		return -1;
	return fd_write_file(key, bytes_str("secret"), 0666) == R_OK && chmod(key, 0666) == 0 ? 0 : -1;
}

static int remove_server(void **state)
{
	char folder[96];

	(void)state;
	(void)snprintf(folder, sizeof(folder), "%s/keys", dir);
	return unlink(key) | rmdir(folder) | rmdir(supervisor.state) | rmdir(dir);
}

static bool opens(const char *folder, const char *name, int flags)
{
	char path[SERVER_PATH_MAX + 32];

	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	int fd = open(path, flags | O_CLOEXEC, 0600);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* Before the jail, so that a folder that it cannot name is not why it fails. */
static int keys_fd = -1;

static bool has_a_key(void)
{
	return opens(dir, "keys/verdict.key", O_RDONLY) || opens(supervisor.state, "../keys/verdict.key", O_RDONLY) ||
	       openat(keys_fd, "verdict.key", O_RDONLY | O_CLOEXEC) >= 0;
}

static bool writes_elsewhere(void)
{
	return opens(dir, "evil", O_WRONLY | O_CREAT) || opens(dir, "keys/verdict.key", O_WRONLY) ||
	       opens("/tmp", "bootgate-evil", O_WRONLY | O_CREAT) ||
	       openat(keys_fd, "evil", O_WRONLY | O_CREAT | O_CLOEXEC, 0600) >= 0;
}

/* More than SQLite keeps in memory before it makes a temporary file. */
static const char BIG[] =
	"CREATE TEMP TABLE t AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400)"
	" SELECT i, randomblob(100000) FROM n ORDER BY 2";

static bool has_its_database(const struct jail *j)
{
	const char *folder = j->root ? "" : supervisor.state;
	char path[SERVER_PATH_MAX + 32];
	struct store *s = NULL;

	(void)snprintf(path, sizeof(path), "%s/bootgate.db", folder);
	if (store_open(path, &s) != R_OK || db_exec(s, BIG) != R_OK)
		return false;
	/* takes -wal and -shm away with it */
	store_close(&s);
	return unlink(path) == 0;
}

static int act(enum jail_profile profile, const struct jail *j)
{
	if (writes_elsewhere())
		return 1;
	/* The signer is started anew from the supervisor: that one reads. */
	if (has_a_key() != (profile == JAIL_SUPERVISOR))
		return 2;
	if (profile == JAIL_LEDGER && !has_its_database(j))
		return 3;
	return 0;
}

static int taken_over(enum jail_profile profile, uid_t user)
{
	struct proc p = PROC_NONE;
	struct proc_end end;

	assert_ok(proc_fork(NULL, 0, &p));
	if (p.pid == 0) {
		if (geteuid() != user && (setgroups(0, NULL) != 0 || setgid(user) != 0 || setuid(user) != 0))
			_exit(100);
		keys_fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
		keys_fd = openat(keys_fd, "keys", O_PATH | O_DIRECTORY | O_CLOEXEC);
		const struct jail j = supervisor_jail(&supervisor, profile);
		_exit(keys_fd >= 0 && jail_enter(&j) == R_OK ? act(profile, &j) : 101);
	}
	assert_ok(proc_wait(&p, 20000, &end));
	assert_int_equal(end.signal, 0);
	return end.code;
}

static void test_taken_over(void **state)
{
	static const enum jail_profile profiles[] = {
		JAIL_SUPERVISOR, JAIL_LEDGER, JAIL_SIGNER, JAIL_FRONT, JAIL_WORKER,
	};

	(void)state;
	if (!jail_has_landlock())
		skip();
	for (size_t i = 0; i < ARRAY_LEN(profiles); i++) {
		if (geteuid() == 0) {
			assert_int_equal(taken_over(profiles[i], 0), 0);
			assert_int_equal(taken_over(profiles[i], NOBODY), 0);
		} else {
			assert_int_equal(taken_over(profiles[i], geteuid()), 0);
		}
	}
}

static void test_no_two_users(void **state)
{
	static const enum jail_profile profiles[] = { JAIL_LEDGER, JAIL_SIGNER, JAIL_FRONT };

	(void)state;
	if (geteuid() != 0)
		skip();
	for (size_t i = 0; i < ARRAY_LEN(profiles); i++) {
		struct jail a = supervisor_jail(&supervisor, profiles[i]);

		assert_int_equal(a.uid, a.gid);
		assert_int_not_equal(a.uid, 0);
		for (size_t k = 0; k < i; k++)
			assert_int_not_equal(a.uid, supervisor_jail(&supervisor, profiles[k]).uid);
	}
	assert_int_equal(supervisor_jail(&supervisor, JAIL_WORKER).uid, supervisor.conf.run_uid);
}

/* Nor does server.conf give one user to two. */
static void test_shared_user(void **state)
{
	static const struct {
		const char *text, *key;
	} bad[] = {
		{ "listen.tls = 0.0.0.0:1\nrun.uid = 7\nledger.uid = 7\n", "ledger.uid" },
		{ "listen.tls = 0.0.0.0:1\nrun.uid = 7\nsigner.uid = 7\n", "signer.uid" },
		{ "listen.tls = 0.0.0.0:1\nledger.uid = 7\nsigner.uid = 7\n", "signer.uid" },
	};
	struct server_conf c;
	struct conf_error err;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		assert_reason(server_conf_read(bytes_str(bad[i].text), &c, &err), R_CONF_VALUE);
		assert_string_equal(err.key, bad[i].key);
	}
	assert_ok(server_conf_read(bytes_str("listen.tls = 0.0.0.0:1\nledger.uid = 7\n"), &c, &err));
	assert_int_equal(c.ledger_uid, 7);
}

/* ---- open files ------------------------------------------------------------------- */

/* What an ordinary user gets with these limits: if R_OK, the soft one is `want` or more then. */
static enum reason files_with(rlim_t soft, rlim_t hard, bool both, rlim_t want)
{
	struct server_conf c = { .listen_tls = "127.0.0.1:1" };
	struct proc p = PROC_NONE;

	if (both)
		strcpy(c.listen_plain, "127.0.0.1:2");
	ending_expected();
	assert_ok(proc_fork(NULL, 0, &p));
	if (p.pid == 0) {
		struct rlimit l = { soft, hard };

		if (setrlimit(RLIMIT_NOFILE, &l) != 0 || (geteuid() == 0 && setuid(NOBODY) != 0))
			_exit(255);
		enum reason r = supervisor_files(&c);
		if (r == R_OK && (getrlimit(RLIMIT_NOFILE, &l) != 0 || l.rlim_cur < want))
			_exit(254);
		ending_tell(r);
	}
	return ending_of(&p, 20000);
}

static void test_room_for_all_connections(void **state)
{
	(void)state;
	assert_ok(files_with(256, 16384, false, FRONT_CONNECTIONS));
	assert_ok(files_with(256, 16384, true, 2 * FRONT_CONNECTIONS));
	/* What is more already stays. */
	assert_ok(files_with(16384, 16384, false, 16384));
	assert_reason(R_SERVER_FILES, files_with(256, FRONT_CONNECTIONS, false, 0));
	assert_reason(R_SERVER_FILES, files_with(256, 2 * FRONT_CONNECTIONS, true, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_taken_over),
		cmocka_unit_test(test_no_two_users),
		cmocka_unit_test(test_shared_user),
		cmocka_unit_test(test_room_for_all_connections),
	};

	return cmocka_run_group_tests(tests, make_server, remove_server);
}
