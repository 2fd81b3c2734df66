/* SPDX-License-Identifier: Apache-2.0 */
/* Each case runs in a child: it enters the jail and tries something. */
#ifndef BOOTGATE_TESTS_JAIL_KIT_H
#define BOOTGATE_TESTS_JAIL_KIT_H

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/jail.h"
#include "base/log.h"
#include "base/proc.h"
#include "unit.h"

enum { NOBODY = 65534 };

/* 0: it went as it should */
typedef int act_fn(void);

static inline struct proc_end in_jail(const struct jail *j, act_fn *act)
{
	struct proc p = PROC_NONE;
	struct proc_end end = { -1, 0 };

	assert_ok(proc_fork(NULL, 0, &p));
	if (p.pid == 0) {
		if (jail_enter(j) != R_OK)
			_exit(100);
		_exit(act());
	}
	assert_ok(proc_wait(&p, 20000, &end));
	return end;
}

static inline void assert_does(enum jail_profile profile, act_fn *act)
{
	struct proc_end end = in_jail(&(struct jail){ .profile = profile }, act);

	if (end.code != 0 || end.signal != 0)
		fail_msg("%s: exit %d, signal %d", jail_profile_name(profile), end.code,
			 end.signal);
}

static inline void assert_killed(enum jail_profile profile, act_fn *act)
{
	struct proc_end end = in_jail(&(struct jail){ .profile = profile }, act);

	if (end.signal != SIGSYS)
		fail_msg("%s: exit %d, signal %d", jail_profile_name(profile), end.code,
			 end.signal);
}

static inline int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/* What every process does without thinking. */
static inline int act_basics(void)
{
	struct timespec now;
	char text[64];
	int numbers[1000];
	time_t t = time(NULL);
	struct tm tm;
	void *big;

	for (int i = 0; i < 1000; i++)
		numbers[i] = 1000 - i;
	qsort(numbers, 1000, sizeof(*numbers), compare);
	big = malloc(4 << 20);
	if (big == NULL || numbers[0] != 1)
		return 1;
	free(big);
	if (clock_gettime(CLOCK_BOOTTIME, &now) != 0 || localtime_r(&t, &tm) == NULL)
		return 2;
	if (snprintf(text, sizeof(text), "%f %s", 1.5, strerror(ENOENT)) < 5)
		return 3;
	log_info("%s", text);
	/* stdio asks what kind of a file it is */
	if (printf("# basics\n") < 0 || fflush(stdout) != 0)
		return 4;
	return poll(NULL, 0, 1) == 0 ? 0 : 5;
}

static inline int act_socket(void)
{
	return socket(AF_INET, SOCK_STREAM, 0) < 0;
}

#endif
