/* SPDX-License-Identifier: Apache-2.0 */
/* Landlock: paths, not calls. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "base/fd.h"
#include "base/jail_landlock.h"
#include "jail_kit.h"

static char top[64], state_folder[80], secret[80];

/* A server's folder, and everybody could read its key as far as modes go. */
static int make_server(void **state)
{
	(void)state;
	(void)snprintf(top, sizeof(top), "/tmp/bootgate-jail-server-%d", getpid());
	(void)snprintf(state_folder, sizeof(state_folder), "%s/state", top);
	(void)snprintf(secret, sizeof(secret), "%s/secret", top);
	if (mkdir(top, 0777) != 0 || chmod(top, 0777) != 0)
		return -1;
	if (mkdir(state_folder, 0777) != 0 || chmod(state_folder, 0777) != 0)
		return -1;
	return fd_write_file(secret, bytes_str("secret"), 0666) == R_OK ? 0 : -1;
}

static int remove_server(void **state)
{
	(void)state;
	return unlink(secret) | rmdir(state_folder) | rmdir(top);
}

static bool may_open(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC, 0600);

	if (fd >= 0)
		close(fd);
	return fd >= 0 || errno != EACCES;
}

/* 1: it has its folder; 2 and above: it has more */
static int act_taken_over_ledger(void)
{
	char own[96], around[96], evil[96];

	(void)snprintf(own, sizeof(own), "%s/bootgate.db", state_folder);
	(void)snprintf(around, sizeof(around), "%s/../secret", state_folder);
	(void)snprintf(evil, sizeof(evil), "%s/evil", top);
	if (!may_open(own, O_RDWR | O_CREAT | O_EXCL) || !may_open(own, O_RDWR | O_TRUNC) ||
	    unlink(own) != 0)
		return 1;
	if (may_open(secret, O_RDONLY) || may_open(secret, O_WRONLY) || may_open(around, O_RDONLY))
		return 2;
	if (may_open(evil, O_WRONLY | O_CREAT) || may_open("/tmp/bootgate-jail", O_WRONLY | O_CREAT))
		return 3;
	if (may_open("/", O_RDONLY | O_DIRECTORY) || may_open("/etc/passwd", O_RDONLY))
		return 4;
	return unlink(secret) != 0 && errno == EACCES ? 0 : 5;
}

static void test_ledger_has_its_folder_only(void **state)
{
	struct jail j = { .profile = JAIL_LEDGER, .folder = state_folder };

	(void)state;
	if (!jail_has_landlock())
		skip();
	/* as who we are: without users it is Landlock alone */
	assert_int_equal(in_jail(&j, act_taken_over_ledger).code, 0);
	if (geteuid() == 0) {
		j.uid = j.gid = NOBODY;
		assert_int_equal(in_jail(&j, act_taken_over_ledger).code, 0);
	}
}

/* Rules for older kernels are subsets: this one can check each of them. */
static void test_each_landlock_version(void **state)
{
	const struct jail j = { .profile = JAIL_LEDGER, .folder = state_folder };
	int newest = jail_landlock_version();

	(void)state;
	for (int version = 1; version <= newest; version++) {
		struct proc p = PROC_NONE;
		struct proc_end end;
		int rules;

		assert_ok(proc_fork(NULL, 0, &p));
		if (p.pid == 0) {
			if (jail_landlock_make(&j, version, &rules) != R_OK ||
			    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
			    jail_landlock_enter(rules) != R_OK)
				_exit(100);
			_exit(act_taken_over_ledger());
		}
		assert_ok(proc_wait(&p, 20000, &end));
		if (end.code != 0)
			fail_msg("version %d: exit %d", version, end.code);
	}
}

/* The sanitizer's filter lets through what only reads: this is Landlock's no. */
static int act_no_file(void)
{
	return may_open(secret, O_RDONLY) || may_open("/etc/passwd", O_RDONLY) ||
	       may_open(state_folder, O_RDONLY | O_DIRECTORY);
}

static int act_read_only(void)
{
	char evil[96];

	(void)snprintf(evil, sizeof(evil), "%s/evil", top);
	if (!may_open(secret, O_RDONLY) || !may_open(top, O_RDONLY | O_DIRECTORY))
		return 1;
	return may_open(secret, O_WRONLY) || may_open(evil, O_WRONLY | O_CREAT) ? 2 : 0;
}

static int act_bind(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return bind(fd, (struct sockaddr *)&a, sizeof(a)) != 0 && errno == EACCES ? 0 : 1;
}

/* Its children only, although it may be root. */
static int act_signals(void)
{
	struct proc p = PROC_NONE;

	if (kill(getppid(), 0) == 0 || errno != EPERM)
		return 1;
	if (proc_fork(NULL, 0, &p) != R_OK)
		return 2;
	if (p.pid == 0) {
		if (jail_enter(&(struct jail){ .profile = JAIL_WORKER }) != R_OK)
			_exit(1);
		for (;;)
			(void)poll(NULL, 0, -1);
	}
	if (kill(p.pid, 0) != 0)
		return 3;
	proc_kill(&p);
	return 0;
}

static void test_landlock_of_the_others(void **state)
{
	const struct jail supervisor = { .profile = JAIL_SUPERVISOR, .folder = state_folder };
	int version = jail_landlock_version();

	(void)state;
	if (version == 0)
		skip();
	assert_does(JAIL_FRONT, act_no_file);
	assert_does(JAIL_WORKER, act_no_file);
	assert_does(JAIL_SIGNER, act_no_file);
	assert_does(JAIL_NET, act_read_only);
	assert_int_equal(in_jail(&supervisor, act_read_only).code, 0);
	if (version >= 4)
		assert_does(JAIL_NET, act_bind);
	if (version >= 6)
		assert_int_equal(in_jail(&supervisor, act_signals).code, 0);
	assert_int_equal(in_jail(&(struct jail){ .profile = JAIL_LEDGER, .folder = "/no/such" },
				 act_basics).code, 100);
}

/* What a kernel without it says. */
static bool forget_landlock(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_landlock_create_ruleset, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { .len = ARRAY_LEN(code), .filter = code };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &prog) == 0;
}

static void test_without_landlock(void **state)
{
	const struct jail j = { .profile = JAIL_LEDGER, .folder = state_folder };
	struct proc p = PROC_NONE;
	struct proc_end end;

	(void)state;
	assert_ok(proc_fork(NULL, 0, &p));
	if (p.pid == 0) {
		if (!forget_landlock() || jail_has_landlock())
			_exit(1);
		if (jail_enter(&j) != R_OK)
			_exit(2);
		_exit(act_socket());
	}
	assert_ok(proc_wait(&p, 20000, &end));
	assert_int_equal(end.signal, SIGSYS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ledger_has_its_folder_only),
		cmocka_unit_test(test_each_landlock_version),
		cmocka_unit_test(test_landlock_of_the_others),
		cmocka_unit_test(test_without_landlock),
	};

	return cmocka_run_group_tests(tests, make_server, remove_server);
}
