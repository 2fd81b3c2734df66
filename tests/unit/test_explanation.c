/* SPDX-License-Identifier: Apache-2.0 */
#include "message.h"

#include "format/explanation.h"

static enum reason explanation_again(struct bytes in, struct blob *out)
{
	static struct explanation e;

	TRY(explanation_read(in, &e));
	return explanation_write(&e, out);
}

static struct explanation sample;

static int setup(void **state)
{
	struct finding *f = &sample.finding[0];

	(void)state;
	memset(&sample, 0, sizeof sample);
	sample.count = 2;
	*f = (struct finding){ .reason = R_POLICY_VARIANT, .severity = SEVERITY_REFUSE,
			       .component = "gate", .has_event = true, .event = 31,
			       .offset = 8000, .pcr = 4, .type = 0x80000003, .bank = ALG_SHA256,
			       .digest_len = 32, .observed = "this", .expected = "that",
			       .nearest = "gate-1" };
	fill(f->digest, 32, 9);
	sample.finding[1] = (struct finding){ .reason = R_OK, .gate_log = true };
	sample.dropped = 3;
	sample.match_count = 1;
	snprintf(sample.match[0].component, 32, "firmware");
	snprintf(sample.match[0].variant, 64, "firmware-1");
	sample.match[0].id = UINT64_MAX;
	return 0;
}

static void test_again(void **state)
{
	_cleanup_(blob_free) struct blob b = BLOB(LIMIT_EXPLANATION);
	static struct explanation again;

	(void)state;
	assert_ok(explanation_write(&sample, &b));
	assert_ok(explanation_read(blob_bytes(&b), &again));
	assert_memory_equal(&again.finding[0], &sample.finding[0], sizeof(struct finding));
	assert_int_equal(again.finding[1].reason, R_OK);
	assert_int_equal(again.dropped, 3);
	assert_int_equal(again.match[0].id, UINT64_MAX);
	message_check(explanation_again, blob_bytes(&b));
	message_map_check(explanation_again, blob_bytes(&b), 0);
	seed("explanation", "sample", blob_bytes(&b));
	/* a reason that this build does not know */
	memcpy(find(&b, "policy.variant", 14), "policy.variety", 14);
	assert_reason(R_FORMAT_RANGE, explanation_read(blob_bytes(&b), &again));
	_cleanup_free_ uint8_t *big = calloc(1, LIMIT_EXPLANATION + 1);
	assert_reason(R_FORMAT_TOO_LARGE,
		      explanation_read(bytes_of(big, LIMIT_EXPLANATION + 1), &again));
}

static void test_bounds(void **state)
{
	_cleanup_(blob_free) struct blob b = BLOB(LIMIT_EXPLANATION);

	(void)state;
	sample.finding[0].observed[0] = '\x1b';
	assert_reason(R_FORMAT_TEXT, explanation_write(&sample, &b));
	sample.finding[0].observed[0] = 't';
	sample.finding[0].severity = SEVERITY_MAX;
	assert_true(explanation_write(&sample, &b) != R_OK);
	sample.finding[0].severity = SEVERITY_INFO;
	sample.finding[0].digest_len = DIGEST_MAX + 1;
	assert_true(explanation_write(&sample, &b) != R_OK);
	sample.finding[0].digest_len = 0;
	sample.count = FINDINGS_MAX + 1;
	assert_true(explanation_write(&sample, &b) != R_OK);
	assert_int_equal(b.n, 0);
	sample.count = FINDINGS_MAX;
	/* the largest that can be made fits */
	for (size_t i = 0; i < FINDINGS_MAX; i++) {
		sample.finding[i] = sample.finding[0];
		memset(sample.finding[i].observed, 'x', FINDING_TEXT_MAX - 1);
		memset(sample.finding[i].expected, 'x', FINDING_TEXT_MAX - 1);
		memset(sample.finding[i].nearest, 'x', FINDING_TEXT_MAX - 1);
		sample.finding[i].digest_len = DIGEST_MAX;
		sample.finding[i].event = sample.finding[i].offset = UINT32_MAX;
	}
	assert_ok(explanation_write(&sample, &b));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_again, setup),
		cmocka_unit_test_setup(test_bounds, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
