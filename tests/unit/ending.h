/* SPDX-License-Identifier: Apache-2.0 */
/* Why a forked child ended. An exit code has room for 256 values; there are more reasons. */
#ifndef BOOTGATE_TESTS_ENDING_H
#define BOOTGATE_TESTS_ENDING_H

#include <sys/mman.h>
#include <unistd.h>

#include "base/proc.h"
#include "unit.h"

/* Shared with the children; one at a time is asked why it ended. */
static enum reason *ending;

/* Before the fork. */
static inline void ending_expected(void)
{
	if (!ending)
		ending = mmap(NULL, sizeof *ending, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(ending != MAP_FAILED);
	*ending = R_MAX;
}

/* The end of the child. */
static inline _Noreturn void ending_tell(enum reason r)
{
	*ending = r;
	_exit(0);
}

/* Waits for the child. One that did not tell gives no reason that there is. */
static inline enum reason ending_of(struct proc *p, int timeout_ms)
{
	struct proc_end e;

	assert_ok(proc_wait(p, timeout_ms, &e));
	assert_int_equal(e.signal, 0);
	assert_int_equal(e.code, 0);
	assert_true(*ending < R_MAX);
	return *ending;
}

#endif
