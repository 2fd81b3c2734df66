/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/proc.h"
#include "orphan_kit.h"
#include "unit.h"

static void test_exit_code(void **state)
{
	struct proc p = PROC_NONE;
	struct proc_end end;

	(void)state;
	assert_ok(proc_fork(NULL, 0, &p));
	if (p.pid == 0)
		_exit(7);
	assert_ok(proc_wait(&p, 5000, &end));
	assert_int_equal(end.code, 7);
	assert_int_equal(end.signal, 0);
	assert_int_equal(p.pid, -1);
	assert_int_equal(p.pidfd, -1);
	assert_reason(R_INTERNAL_CHILD, proc_wait(&p, 0, &end));
	proc_kill(&p);
}

static void test_signal(void **state)
{
	struct proc p = PROC_NONE;
	struct proc_end end;

	(void)state;
	assert_ok(proc_fork(NULL, 0, &p));
	if (p.pid == 0) {
		(void)raise(SIGKILL);
		_exit(0);
	}
	assert_ok(proc_wait(&p, 5000, &end));
	assert_int_equal(end.code, -1);
	assert_int_equal(end.signal, SIGKILL);
}

static void test_still_runs(void **state)
{
	struct proc p = PROC_NONE;
	struct proc_end end;
	uint64_t start = clock_boot_ms();
	pid_t pid;

	(void)state;
	assert_ok(proc_fork(NULL, 0, &p));
	if (p.pid == 0) {
		for (;;)
			(void)pause();
	}
	pid = p.pid;
	assert_reason(R_INTERNAL_CHILD, proc_wait(&p, 50, &end));
	assert_in_range(clock_boot_ms() - start, 45, 5000);
	assert_int_equal(p.pid, pid);
	proc_kill(&p);
	assert_int_equal(p.pid, -1);
	/* reaped */
	assert_int_equal(waitpid(pid, NULL, WNOHANG), -1);
}

/* Of 3 to 29 only 5, 6 and 20 stay. */
static void test_descriptors(void **state)
{
	const int keep[] = { 20, -1, 5, 6, 5 };
	struct proc p = PROC_NONE;
	struct proc_end end;

	(void)state;
	for (int fd = 3; fd < 30; fd++)
		(void)dup2(0, fd);
	assert_ok(proc_fork(keep, ARRAY_LEN(keep), &p));
	if (p.pid == 0) {
		for (int fd = 0; fd < 1000; fd++) {
			bool want = fd <= 2 || fd == 5 || fd == 6 || fd == 20;

			if ((fcntl(fd, F_GETFD) >= 0) != want)
				_exit(fd == 0 ? 99 : fd);
		}
		_exit(0);
	}
	assert_ok(proc_wait(&p, 5000, &end));
	assert_int_equal(end.code, 0);
	for (int fd = 3; fd < 30; fd++)
		close(fd);
}

static void test_too_many_to_keep(void **state)
{
	int keep[100] = { 0 };
	struct proc p = PROC_NONE;

	(void)state;
	assert_reason(R_INTERNAL_TOO_LARGE, proc_fork(keep, ARRAY_LEN(keep), &p));
}

static void ignore(int s)
{
	(void)s;
}

static void test_signals_are_reset(void **state)
{
	struct proc p = PROC_NONE;
	struct proc_end end;
	sigset_t blocked;

	(void)state;
	(void)signal(SIGTERM, ignore);
	(void)signal(SIGPIPE, SIG_IGN);
	(void)sigemptyset(&blocked);
	(void)sigaddset(&blocked, SIGUSR1);
	(void)sigprocmask(SIG_BLOCK, &blocked, NULL);
	assert_ok(proc_fork(NULL, 0, &p));
	if (p.pid == 0) {
		struct sigaction now;
		sigset_t mask;

		(void)sigprocmask(SIG_SETMASK, NULL, &mask);
		if (sigismember(&mask, SIGUSR1))
			_exit(1);
		if (sigaction(SIGTERM, NULL, &now) != 0 || now.sa_handler != SIG_DFL)
			_exit(2);
		if (sigaction(SIGPIPE, NULL, &now) != 0 || now.sa_handler != SIG_DFL)
			_exit(3);
		_exit(0);
	}
	assert_ok(proc_wait(&p, 5000, &end));
	assert_int_equal(end.code, 0);
	(void)sigprocmask(SIG_UNBLOCK, &blocked, NULL);
	(void)signal(SIGTERM, SIG_DFL);
	(void)signal(SIGPIPE, SIG_DFL);
}

static void test_dies_with_parent(void **state)
{
	(void)state;
	assert_orphan_ends(NULL);
}

static void test_clock(void **state)
{
	uint64_t now = clock_boot_ms();

	(void)state;
	assert_true(now > 0);
	assert_true(clock_boot_ms() >= now);
	assert_int_equal(clock_left_ms(UINT64_MAX), -1);
	assert_int_equal(clock_left_ms(0), 0);
	assert_int_equal(clock_left_ms(now), 0);
	assert_in_range(clock_left_ms(now + 60000), 50000, 60000);
	assert_int_equal(clock_left_ms(now + (1ull << 40)), INT_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exit_code),
		cmocka_unit_test(test_signal),
		cmocka_unit_test(test_still_runs),
		cmocka_unit_test(test_descriptors),
		cmocka_unit_test(test_too_many_to_keep),
		cmocka_unit_test(test_signals_are_reset),
		cmocka_unit_test(test_dies_with_parent),
		cmocka_unit_test(test_clock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
