/* SPDX-License-Identifier: Apache-2.0 */
#include "base/proc.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"

enum { KEEP_MAX = 32 };

static bool close_span(unsigned int first, unsigned int last)
{
	return first > last || syscall(SYS_close_range, first, last, 0) == 0;
}

/* Closes the gaps between what is kept. */
static bool close_others(const int *keep, size_t count)
{
	unsigned int next = STDERR_FILENO + 1;

	for (;;) {
		unsigned int nearest = UINT_MAX;

		for (size_t i = 0; i < count; i++) {
			if (keep[i] >= 0 && (unsigned int)keep[i] >= next &&
			    (unsigned int)keep[i] < nearest)
				nearest = (unsigned int)keep[i];
		}
		if (nearest == UINT_MAX)
			return close_span(next, UINT_MAX);
		if (nearest > next && !close_span(next, nearest - 1))
			return false;
		next = nearest + 1;
	}
}

static void reset_signals(void)
{
	struct sigaction standard = { .sa_handler = SIG_DFL };
	sigset_t none;

	/* SIGKILL, SIGSTOP and libc's own refuse: nothing to do about them */
	for (int s = 1; s < NSIG; s++)
		(void)sigaction(s, &standard, NULL);
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
}

static bool set_up_child(pid_t parent, const int *keep, size_t count)
{
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0)
		return false;
	/* it may have ended before that took effect */
	if (getppid() != parent)
		return false;
	reset_signals();
	return close_others(keep, count);
}

enum reason proc_fork(const int *keep, size_t count, struct proc *ret)
{
	pid_t parent = getpid();
	pid_t pid;
	int pidfd;

	if (count > KEEP_MAX)
		return R_INTERNAL_TOO_LARGE;
	pid = fork();
	if (pid < 0)
		return R_INTERNAL_CHILD;
	if (pid == 0) {
		if (!set_up_child(parent, keep, count))
			_exit(reason_exit(R_INTERNAL_CHILD));
		*ret = (struct proc){ 0, -1 };
		return R_OK;
	}
	pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (pidfd < 0) {
		struct proc p = { pid, -1 };

		proc_kill(&p);
		return R_INTERNAL_CHILD;
	}
	*ret = (struct proc){ pid, pidfd };
	return R_OK;
}

static enum reason reap(struct proc *p, struct proc_end *ret)
{
	int status;
	pid_t got;

	do {
		got = waitpid(p->pid, &status, 0);
	} while (got < 0 && errno == EINTR);
	cleanup_fd(&p->pidfd);
	*p = PROC_NONE;
	if (got < 0)
		return R_INTERNAL_CHILD;
	ret->code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	ret->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	return R_OK;
}

enum reason proc_wait(struct proc *p, int timeout_ms, struct proc_end *ret)
{
	uint64_t deadline = timeout_ms < 0 ? UINT64_MAX :
					     clock_boot_ms() + (unsigned int)timeout_ms;
	struct pollfd watch = { .fd = p->pidfd, .events = POLLIN };
	int n;

	if (p->pid <= 0)
		return R_INTERNAL_CHILD;
	do {
		n = poll(&watch, 1, clock_left_ms(deadline));
	} while (n < 0 && errno == EINTR);
	if (n <= 0)
		return R_INTERNAL_CHILD;
	return reap(p, ret);
}

void proc_kill(struct proc *p)
{
	struct proc_end end;
	enum reason r;

	if (p->pid <= 0)
		return;
	(void)kill(p->pid, SIGKILL);
	r = reap(p, &end);
	(void)r;
}
