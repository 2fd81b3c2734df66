/* SPDX-License-Identifier: Apache-2.0 */
#include "message.h"

#include "format/policy.h"

static enum reason policy_again(struct bytes in, struct blob *out)
{
	static struct policy p;

	TRY(policy_read(in, &p));
	return policy_write(&p, out);
}

static struct policy sample(void)
{
	struct policy p;

	policy_default(&p);
	snprintf(p.parameter[p.parameter_count++], 96, "console=ttyS1");
	p.fact_count = 2;
	p.fact[0] = (struct fact_rule){ .fact = "bios.version", .kind = FACT_MINIMUM,
					.value_count = 1, .value = { "2.19.1" } };
	p.fact[1] = (struct fact_rule){ .fact = "cpu.model", .kind = FACT_ALLOWED,
					.value_count = 2, .value = { "143", "207" } };
	return p;
}

static void test_default(void **state)
{
	struct policy p;

	(void)state;
	policy_default(&p);
	assert_string_equal(p.id, "default");
	assert_true(p.lifetime > 0);
	/* what is not measured must not pass for what is */
	assert_int_equal(p.required_count, 9);
	assert_string_equal(p.required[8], "gate");
	assert_int_equal(p.parameter_count, 0);
}

static void test_again(void **state)
{
	_cleanup_(blob_free) struct blob b = BLOB(64u << 10);
	struct policy p = sample();
	static struct policy again;

	(void)state;
	assert_ok(policy_write(&p, &b));
	assert_ok(policy_read(blob_bytes(&b), &again));
	assert_memory_equal(&again.fact, &p.fact, sizeof p.fact);
	assert_string_equal(again.parameter[0], "console=ttyS1");
	assert_int_equal(again.lifetime, p.lifetime);
	message_check(policy_again, blob_bytes(&b));
	message_map_check(policy_again, blob_bytes(&b), 0);
	seed("policy", "sample", blob_bytes(&b));
}

static void test_bounds(void **state)
{
	_cleanup_(blob_free) struct blob b = BLOB(64u << 10);
	struct policy p = sample();

	(void)state;
	/* one entry is one word */
	snprintf(p.parameter[0], 96, "quiet init=/bin/sh");
	assert_reason(R_FORMAT_TEXT, policy_write(&p, &b));
	snprintf(p.parameter[0], 96, "a\"b");
	assert_reason(R_FORMAT_TEXT, policy_write(&p, &b));
	p = sample();
	p.fact[0].value_count = 2;
	assert_true(policy_write(&p, &b) != R_OK);
	p = sample();
	p.fact[1].value_count = 0;
	assert_true(policy_write(&p, &b) != R_OK);
	p = sample();
	p.fact[1].kind = FACT_RULE_MAX;
	assert_true(policy_write(&p, &b) != R_OK);
	p = sample();
	p.lifetime = 0;
	assert_true(policy_write(&p, &b) != R_OK);
	p = sample();
	p.version = 0;
	assert_true(policy_write(&p, &b) != R_OK);
	p = sample();
	p.required_count = POLICY_NAMES_MAX + 1;
	assert_true(policy_write(&p, &b) != R_OK);
	assert_int_equal(b.n, 0);
	p = sample();
	assert_ok(policy_write(&p, &b));
	find(&b, "console=ttyS1", 13)[3] = ' ';
	assert_reason(R_FORMAT_TEXT, policy_read(blob_bytes(&b), &p));
	_cleanup_free_ uint8_t *big = calloc(1, 1u << 20);
	assert_reason(R_FORMAT_TOO_LARGE, policy_read(bytes_of(big, 1u << 20), &p));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_default),
		cmocka_unit_test(test_again),
		cmocka_unit_test(test_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
