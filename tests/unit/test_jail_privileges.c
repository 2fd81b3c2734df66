/* SPDX-License-Identifier: Apache-2.0 */
/* Users, capabilities, limits, another root, and who dies with whom. */
#include <fcntl.h>
#include <grp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "jail_kit.h"
#include "orphan_kit.h"

/* Root gives each child its own user; what it lost itself it cannot give. */
static int act_supervise(void)
{
	const struct jail worker = { .profile = JAIL_WORKER, .uid = NOBODY, .gid = NOBODY };
	struct proc p = PROC_NONE;
	struct proc_end end;

	if (proc_fork(NULL, 0, &p) != R_OK)
		return 1;
	if (p.pid == 0) {
		if (jail_enter(&worker) != R_OK)
			_exit(1);
		_exit(getuid() == NOBODY ? act_basics() : 2);
	}
	if (proc_wait(&p, 10000, &end) != R_OK || end.code != 0)
		return 2;
	if (proc_fork(NULL, 0, &p) != R_OK)
		return 3;
	if (p.pid == 0) {
		if (jail_enter(&worker) != R_OK)
			_exit(1);
		_exit(act_socket());
	}
	return proc_wait(&p, 10000, &end) == R_OK && end.signal == SIGSYS ? 0 : 4;
}

static void test_supervisor(void **state)
{
	(void)state;
	if (geteuid() != 0)
		skip();
	assert_does(JAIL_SUPERVISOR, act_supervise);
}

/* A line of the kernel's own word on this process. */
static bool status_says(const char *text, const char *line)
{
	return strstr(text, line) != NULL;
}

static int status_fd;

static int act_privileges(void)
{
	static char text[8192];

	if (read(status_fd, text, sizeof(text) - 1) <= 0)
		return 1;
	if (getuid() != NOBODY || geteuid() != NOBODY || getgid() != NOBODY ||
	    getegid() != NOBODY)
		return 2;
	if (!status_says(text, "\nUid:\t65534\t65534\t65534\t65534\n") ||
	    !status_says(text, "\nGid:\t65534\t65534\t65534\t65534\n"))
		return 3;
	if (!status_says(text, "\nGroups:\t \n") && !status_says(text, "\nGroups:\t\n"))
		return 4;
	if (!status_says(text, "\nCapPrm:\t0000000000000000\n") ||
	    !status_says(text, "\nCapEff:\t0000000000000000\n") ||
	    !status_says(text, "\nCapInh:\t0000000000000000\n") ||
	    !status_says(text, "\nCapBnd:\t0000000000000000\n") ||
	    !status_says(text, "\nCapAmb:\t0000000000000000\n"))
		return 5;
	if (!status_says(text, "\nNoNewPrivs:\t1\n") || !status_says(text, "\nSeccomp:\t2\n"))
		return 6;
	return 0;
}

static void test_privileges(void **state)
{
	const struct jail j = { .profile = JAIL_LEDGER, .uid = NOBODY, .gid = NOBODY };
	struct proc p = PROC_NONE;
	struct proc_end end;

	(void)state;
	if (geteuid() != 0)
		skip();
	assert_ok(proc_fork(NULL, 0, &p));
	if (p.pid == 0) {
		const gid_t groups[] = { 1, 2, 3 };

		if (setgroups(3, groups) != 0)
			_exit(99);
		status_fd = open("/proc/self/status", O_RDONLY);
		if (jail_enter(&j) != R_OK)
			_exit(100);
		_exit(act_privileges());
	}
	assert_ok(proc_wait(&p, 20000, &end));
	assert_int_equal(end.signal, 0);
	assert_int_equal(end.code, 0);
}

/* In the supervisor's jail one may still ask. */
static int act_limits(void)
{
	struct rlimit l;
	int death = 0;

	if (prctl(PR_GET_DUMPABLE) != 0)
		return 1;
	if (getrlimit(RLIMIT_CORE, &l) != 0 || l.rlim_cur != 0 || l.rlim_max != 0)
		return 2;
	if (getrlimit(RLIMIT_NOFILE, &l) != 0 || l.rlim_cur != 50 || l.rlim_max != 50)
		return 3;
	if (prctl(PR_GET_PDEATHSIG, &death) != 0 || death != SIGKILL)
		return 4;
	return 0;
}

static void test_limits(void **state)
{
	const struct jail j = { .profile = JAIL_SUPERVISOR, .files = 50, .memory = 1ull << 40 };
	struct proc_end end = in_jail(&j, act_limits);

	(void)state;
	assert_int_equal(end.signal, 0);
	assert_int_equal(end.code, 0);
}

/* A change of user makes the kernel forget it; the jail reminds it. */
static void test_dies_with_parent(void **state)
{
	const struct jail j = { .profile = JAIL_WORKER, .uid = NOBODY, .gid = NOBODY };

	(void)state;
	if (geteuid() != 0)
		skip();
	assert_orphan_ends(&j);
}

static int act_look_around(void)
{
	struct stat s;

	if (stat("/etc", &s) == 0 || errno != ENOENT)
		return 1;
	return stat("/inside", &s) == 0 ? 0 : 2;
}

static void test_root_folder(void **state)
{
	char folder[] = "/tmp/bootgate-jail-root-XXXXXX";
	char inside[64];
	struct proc_end end;

	(void)state;
	if (geteuid() != 0)
		skip();
	assert_non_null(mkdtemp(folder));
	(void)snprintf(inside, sizeof(inside), "%s/inside", folder);
	assert_int_equal(mkdir(inside, 0755), 0);
	end = in_jail(&(struct jail){ .profile = JAIL_LEDGER, .root = folder }, act_look_around);
	assert_int_equal(rmdir(inside), 0);
	assert_int_equal(rmdir(folder), 0);
	assert_int_equal(end.code, 0);
}

/* Without the right to: refused, not half done. */
static int act_nothing(void)
{
	return 0;
}

static void test_refusals(void **state)
{
	struct proc_end end;

	(void)state;
	end = in_jail(&(struct jail){ .profile = JAIL_PROFILE_MAX }, act_nothing);
	assert_int_equal(end.code, 100);
	end = in_jail(&(struct jail){ .profile = JAIL_WORKER, .root = "/no/such/folder" },
		      act_nothing);
	assert_int_equal(end.code, 100);
	assert_string_equal(jail_profile_name(JAIL_PROFILE_MAX), "unknown");
	if (geteuid() == 0) {
		struct proc p = PROC_NONE;

		assert_ok(proc_fork(NULL, 0, &p));
		if (p.pid == 0) {
			const struct jail other = { .profile = JAIL_WORKER, .uid = 1, .gid = 1 };
			const struct jail own = { .profile = JAIL_WORKER };

			if (setgid(NOBODY) != 0 || setuid(NOBODY) != 0)
				_exit(1);
			if (jail_enter(&other) != R_INTERNAL_JAIL)
				_exit(2);
			/* an ordinary user may confine itself */
			_exit(jail_enter(&own) == R_OK ? 0 : 3);
		}
		assert_ok(proc_wait(&p, 20000, &end));
		assert_int_equal(end.code, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_supervisor),
		cmocka_unit_test(test_privileges),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_dies_with_parent),
		cmocka_unit_test(test_root_folder),
		cmocka_unit_test(test_refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
