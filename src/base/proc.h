/* SPDX-License-Identifier: Apache-2.0 */
/* Child processes that run our own code. */
#ifndef BOOTGATE_BASE_PROC_H
#define BOOTGATE_BASE_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/reason.h"

struct proc {
	pid_t pid;		/* 0 in the child itself */
	int pidfd;		/* readable once it has ended */
};

#define PROC_NONE ((struct proc){ -1, -1 })

/* How it ended. */
struct proc_end {
	int code;		/* exit code, or -1 */
	int signal;		/* signal that ended it, or 0 */
};

/*
 * Forks. Returns in both: in the child ret->pid is 0, only 0, 1, 2 and the
 * descriptors of `keep` are open, signals are as at the start of a program,
 * and the kernel kills it when the parent ends. The child leaves by _exit().
 */
enum reason proc_fork(const int *keep, size_t count, struct proc *ret) must_check;
/* Waits for the end, -1 for ever: R_INTERNAL_CHILD when it still runs. Then *p is PROC_NONE. */
enum reason proc_wait(struct proc *p, int timeout_ms, struct proc_end *ret) must_check;
/* Kills and reaps; nothing to do for PROC_NONE. */
void proc_kill(struct proc *p);

#endif
