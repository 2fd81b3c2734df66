/* SPDX-License-Identifier: Apache-2.0 */
/* Linked into every unit test, with malloc, calloc and realloc wrapped. */
#include <stddef.h>

#include "unit.h"

void *__real_malloc(size_t n);
void *__real_calloc(size_t count, size_t n);
void *__real_realloc(void *p, size_t n);

static long allocations_left = -1;

void unit_fail_allocation(long after)
{
	allocations_left = after;
}

static bool fails(void)
{
	if (allocations_left < 0)
		return false;
	return allocations_left-- == 0;
}

void *__wrap_malloc(size_t n)
{
	return fails() ? NULL : __real_malloc(n);
}

void *__wrap_calloc(size_t count, size_t n)
{
	return fails() ? NULL : __real_calloc(count, n);
}

void *__wrap_realloc(void *p, size_t n)
{
	return fails() ? NULL : __real_realloc(p, n);
}
