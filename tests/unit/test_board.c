/* SPDX-License-Identifier: Apache-2.0 */
/* Which board the TPM sits on: what is remembered, and which serial numbers are none. */
#include "appraise/appraise.h"
#include "appraise_kit.h"

#define X20 "xxxxxxxxxxxxxxxxxxxx"

static void judge_on(const char *board, const char *record)
{
	struct quote_checked *q = calloc(1, sizeof *q);
	struct node_record on_record = { 0 };
	struct policy p;

	assert_non_null(q);
	policy_default(&p);
	snprintf(on_record.board, sizeof on_record.board, "%s", record);
	k->board = board;
	kit_make(k);
	assert_ok(kit_check(k, q));
	assert_ok(appraise(q, &k->session, &on_record, &refs.set, &p, NULL, a));
	free(q);
}

static void test_board(void **state)
{
	const struct finding *f;

	(void)state;
	/* not on record yet: it goes there */
	judge_on("B-1", "");
	assert_admitted(a);
	assert_string_equal(a->record.board, "B-1");
	judge_on(NULL, "");
	assert_admitted(a);
	assert_string_equal(a->record.board, "none");
	judge_on("", "none");
	assert_admitted(a);
	judge_on("B-1", "B-1");
	assert_admitted(a);
	/* moved; also from and to a board that says nothing */
	judge_on("B-2", "B-1");
	assert_int_equal(a->directive, DIRECTIVE_HOLD);
	f = find_reason(a, R_NODE_BOARD);
	assert_non_null(f);
	assert_string_equal(f->observed, "board serial B-2");
	assert_string_equal(f->expected, "B-1, which is on record");
	assert_int_equal(a->submod[0].vector[AR4SI_HARDWARE], 32);
	judge_on(NULL, "B-1");
	assert_int_equal(a->directive, DIRECTIVE_HOLD);
	judge_on("B-1", "none");
	assert_int_equal(a->directive, DIRECTIVE_HOLD);
	judge_on("B-1", "b-1");
	assert_int_equal(a->directive, DIRECTIVE_HOLD);
	/* longer than a record: by digest, and still told apart */
	judge_on(X20 X20 X20 X20 "1", "");
	assert_admitted(a);
	assert_memory_equal(a->record.board, "sha256:", 7);
	assert_int_equal(strlen(a->record.board), 7 + 64);
	char first[BOARD_MAX];
	memcpy(first, a->record.board, sizeof first);
	judge_on(X20 X20 X20 X20 "2", first);
	assert_int_equal(a->directive, DIRECTIVE_HOLD);
	judge_on(X20 X20 X20 X20 "1", first);
	assert_admitted(a);
}

static void test_not_one(void **state)
{
	static const char *const none[] = {
		"", " ", "none", "Default string", "To Be Filled By O.E.M.", " not specified ", "0", "0000000",
		"....", "XXXX", "0123456789", "N/A", "\\xff\\xff\\xff\\xff", "00 00 00 00", "NA", "12345678",
		"To be filled by O.E.M", "ToBeFilledByO.E.M.", "0123456789ABCDEF", "1234567890", "Not Settable",
	};
	static const char *const one[] = {
		"B-1", "0000001", ".F0R8M.", "None-7", "A" X20 X20 X20 X20, "123456788", "1232", "abcabd",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(none); i++)
		assert_false(board_is_one(none[i]));
	for (size_t i = 0; i < ARRAY_LEN(one); i++)
		assert_true(board_is_one(one[i]));
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_board),
		cmocka_unit_test(test_not_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
