/* SPDX-License-Identifier: Apache-2.0 */
/* Counters of the TPM: no boot after another may have an older clock. */
#include "appraise/appraise.h"
#include "appraise_kit.h"

static void judge_clock(const struct clock_record *c)
{
	kit_make(k);
	kit_judge(k, &refs, NULL, c, a);
}

static void test_clock(void **state)
{
	struct clock_record c = { true, 50000, 7, 0, 0 };

	(void)state;
	judge_clock(&c);
	assert_admitted(a);
	/* cleared: counters of less than is on record */
	c.reset_count = 8;
	judge_clock(&c);
	assert_int_equal(a->directive, DIRECTIVE_HOLD);
	assert_int_equal(a->status, EAR_WARNING);
	assert_non_null(find_reason(a, R_QUOTE_CLOCK));
	/* a later boot has less time on its clock only if it was cleared; a reset is enough */
	c.reset_count = 6;
	c.clock = 200000;
	judge_clock(&c);
	assert_admitted(a);
	/* in one boot the clock does not go back */
	c.reset_count = 7;
	judge_clock(&c);
	assert_int_equal(a->directive, DIRECTIVE_HOLD);
	/* unless power was cut and the TPM says so */
	k->a.safe = false;
	judge_clock(&c);
	assert_admitted(a);
	k->a.safe = true;
	c.clock = 0;
	c.restart_count = 1;
	judge_clock(&c);
	assert_int_equal(a->directive, DIRECTIVE_HOLD);
	/* went on from a saved state: told, and no more */
	k->a.restart_count = 1;
	judge_clock(&c);
	assert_int_equal(a->directive, DIRECTIVE_ADMIT);
	assert_int_equal(a->status, EAR_WARNING);
	assert_non_null(find_reason(a, R_QUOTE_CLOCK));
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_clock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
