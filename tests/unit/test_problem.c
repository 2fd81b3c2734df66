/* SPDX-License-Identifier: Apache-2.0 */
#include "message.h"

#include "format/problem.h"

static enum reason problem_again(struct bytes in, struct blob *out)
{
	struct problem m;

	TRY(problem_read(in, &m));
	return problem_write(&m, out);
}

static enum reason failure_again(struct bytes in, struct blob *out)
{
	struct failure m;

	TRY(failure_read(in, &m));
	return failure_write(&m, out);
}

static void test_problem(void **state)
{
	_cleanup_(blob_free) struct blob b = BLOB(LIMIT_PROBLEM);
	struct problem m, got;

	(void)state;
	problem_of(R_SESSION_EXPIRED, 7, &m);
	assert_ok(problem_write(&m, &b));
	assert_ok(problem_read(blob_bytes(&b), &got));
	assert_string_equal(got.reason, "session.expired");
	assert_string_equal(got.title, reason_sentence(R_SESSION_EXPIRED));
	assert_string_equal(got.remedy, reason_remedy(R_SESSION_EXPIRED));
	assert_int_equal(got.retry_after, 7);
	message_check(problem_again, blob_bytes(&b));
	message_map_check(problem_again, blob_bytes(&b), 0);
	seed("problem", "problem", blob_bytes(&b));

	*find(&b, "session.expired", 15) = 'S';
	assert_reason(R_FORMAT_TEXT, problem_read(blob_bytes(&b), &got));
	m.reason[0] = '\0';
	assert_reason(R_FORMAT_RANGE, problem_write(&m, &b));
}

/* Every reason makes a problem that can be sent, with its whole text. */
static void test_every_reason(void **state)
{
	(void)state;
	for (unsigned i = 1; i < R_MAX; i++) {
		_cleanup_(blob_free) struct blob b = BLOB(LIMIT_PROBLEM);
		enum reason r = (enum reason)i;
		struct problem m;

		problem_of(r, UINT32_MAX, &m);
		assert_int_equal(m.retry_after, 86400);
		assert_string_equal(m.reason, reason_name(r));
		assert_string_equal(m.title, reason_sentence(r));
		assert_string_equal(m.remedy, reason_remedy(r));
		assert_ok(problem_write(&m, &b));
	}
}

static void test_failure(void **state)
{
	_cleanup_(blob_free) struct blob b = BLOB(LIMIT_FAILURE);
	struct failure m = { .reason = "net.dns", .step = "challenge",
			     .log = bytes_of("the log", 7) }, got;

	(void)state;
	assert_ok(failure_write(&m, &b));
	assert_ok(failure_read(blob_bytes(&b), &got));
	assert_string_equal(got.reason, "net.dns");
	assert_string_equal(got.step, "challenge");
	assert_bytes(got.log, "the log", 7);
	assert_false(got.has_ak_name);
	message_check(failure_again, blob_bytes(&b));
	message_map_check(failure_again, blob_bytes(&b), 0);
	seed("problem", "failure", blob_bytes(&b));

	m.has_ak_name = true;
	fill(m.ak_name, sizeof m.ak_name, 3);
	blob_reset(&b);
	assert_ok(failure_write(&m, &b));
	assert_ok(failure_read(blob_bytes(&b), &got));
	assert_true(got.has_ak_name);
	assert_memory_equal(got.ak_name, m.ak_name, AK_NAME_LEN);
	message_check(failure_again, blob_bytes(&b));
	message_map_check(failure_again, blob_bytes(&b), 1u << 4);
	seed("problem", "failure-ak", blob_bytes(&b));
}

static void test_bounds(void **state)
{
	static uint8_t large[LIMIT_FAILURE + 1];
	_cleanup_(blob_free) struct blob b = BLOB(LIMIT_FAILURE);
	struct failure m = { .reason = "net.dns", .log = { large, LIMIT_FAILURE_LOG + 1 } };
	struct problem p;

	(void)state;
	assert_reason(R_FORMAT_RANGE, failure_write(&m, &b));
	m.log.n = LIMIT_FAILURE_LOG;
	assert_ok(failure_write(&m, &b));
	assert_ok(failure_read(blob_bytes(&b), &m));
	strcpy(m.step, "Fetch image");
	assert_reason(R_FORMAT_TEXT, failure_write(&m, &b));
	assert_reason(R_FORMAT_TOO_LARGE, failure_read(BYTES(large), &m));
	assert_reason(R_FORMAT_TOO_LARGE, problem_read(BYTES(large), &p));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_problem),
		cmocka_unit_test(test_every_reason),
		cmocka_unit_test(test_failure),
		cmocka_unit_test(test_bounds),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
