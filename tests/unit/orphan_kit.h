/* SPDX-License-Identifier: Apache-2.0 */
/* A child whose parent ends: it must not live on. */
#ifndef BOOTGATE_TESTS_ORPHAN_KIT_H
#define BOOTGATE_TESTS_ORPHAN_KIT_H

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/jail.h"
#include "base/proc.h"
#include "unit.h"

/* Nobody waits this long when all is well. */
#define ORPHAN_PATIENCE_MS 10000

/* The child enters `jail` (NULL: none) and stays. */
static inline void orphan_child(int out, const struct jail *jail)
{
	pid_t self = getpid();

	if (jail && jail_enter(jail) != R_OK)
		_exit(1);
	(void)!write(out, &self, sizeof(self));
	for (;;)
		(void)poll(NULL, 0, -1);
}

/* Its parent ends when it is set up; then it ends too. */
static inline void assert_orphan_ends(const struct jail *jail)
{
	pid_t parent, grandchild = 0;
	struct pollfd end;
	int p[2], ready;
	char byte;

	assert_int_equal(pipe(p), 0);
	end = (struct pollfd){ .fd = p[0], .events = POLLIN };
	parent = fork();
	if (parent == 0) {
		struct proc child = PROC_NONE;

		if (proc_fork(&p[1], 1, &child) != R_OK)
			_exit(1);
		if (child.pid == 0)
			orphan_child(p[1], jail);
		(void)poll(&end, 1, ORPHAN_PATIENCE_MS);
		_exit(0);
	}
	close(p[1]);
	assert_int_equal(waitpid(parent, NULL, 0), parent);
	assert_int_equal(read(p[0], &grandchild, sizeof(grandchild)), sizeof(grandchild));
	/* end of file: the last holder of the other end is gone */
	ready = poll(&end, 1, ORPHAN_PATIENCE_MS);
	if (ready == 0)
		kill(grandchild, SIGKILL);
	assert_int_equal(ready, 1);
	assert_int_equal(read(p[0], &byte, 1), 0);
	close(p[0]);
}

#endif
