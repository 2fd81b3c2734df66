/* SPDX-License-Identifier: Apache-2.0 */
/* What each case of a judgement starts with: a good machine, and references learned from it. */
#ifndef BOOTGATE_TESTS_APPRAISE_KIT_H
#define BOOTGATE_TESTS_APPRAISE_KIT_H

#include "judge_kit.h"

static struct kit *k;
static struct kit_refs refs;
static struct appraisal *a;

static inline int setup(void **state)
{
	(void)state;
	k = kit_new();
	a = calloc(1, sizeof *a);
	refs = kit_learn(k);
	return a ? 0 : -1;
}

static inline int teardown(void **state)
{
	(void)state;
	kit_free(&k);
	kit_refs_free(&refs);
	free(a);
	return 0;
}

#endif
