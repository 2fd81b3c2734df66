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

/* With the members that came later. */
static struct policy sample_later(void)
{
	struct policy p = sample();

	p.fact[0].warn_only = true;
	p.warn_count = 2;
	p.warn[0] = R_LOG_SECURE_BOOT_MISSING;
	p.warn[1] = R_LOG_DEBUG_MODE;
	p.affirm_count = 1;
	snprintf(p.affirm[0], sizeof p.affirm[0], "firmware");
	p.floor_count = 1;
	p.floor[0] = (struct policy_floor){ .component = "gate", .least = 3 };
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

static void test_later(void **state)
{
	_cleanup_(blob_free) struct blob b = BLOB(64u << 10);
	struct policy p = sample_later();
	static struct policy again;

	(void)state;
	assert_ok(policy_write(&p, &b));
	assert_ok(policy_read(blob_bytes(&b), &again));
	assert_true(again.fact[0].warn_only);
	assert_false(again.fact[1].warn_only);
	assert_int_equal(again.warn_count, 2);
	assert_int_equal(again.warn[1], R_LOG_DEBUG_MODE);
	assert_string_equal(again.affirm[0], "firmware");
	assert_int_equal(again.floor[0].least, 3);
	message_check(policy_again, blob_bytes(&b));
	seed("policy", "later", blob_bytes(&b));
}

/* What says that a log is not true, or who a node is, never only warns. */
static void test_warn_only(void **state)
{
	static const enum reason never[] = {
		R_LOG_REPLAY,	     R_LOG_DIGEST_DATA, R_LOG_BANKS_DISAGREE, R_LOG_SEPARATOR_ERROR,
		R_QUOTE_SIGNATURE,   R_QUOTE_CLOCK,	R_POLICY_VARIANT,     R_POLICY_UNCLAIMED,
		R_POLICY_FACT,	     R_POLICY_CMDLINE,	R_POLICY_AFFIRM,      R_NODE_BOARD,
		R_POLICY_SECURITY_VERSION,
	};
	_cleanup_(blob_free) struct blob b = BLOB(64u << 10);
	struct policy p = sample_later();

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(never); i++) {
		assert_false(policy_may_warn(never[i]));
		p.warn[0] = never[i];
		assert_reason(R_POLICY_WARN_ONLY, policy_write(&p, &b));
	}
	p = sample_later();
	assert_ok(policy_write(&p, &b));
	memcpy(find(&b, "log.debug-mode", 14), "log.no-such-on", 14);
	assert_reason(R_POLICY_WARN_ONLY, policy_read(blob_bytes(&b), &p));
	memcpy(find(&b, "log.no-such-on", 14), "policy.variant", 14);
	assert_reason(R_POLICY_WARN_ONLY, policy_read(blob_bytes(&b), &p));
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
		cmocka_unit_test(test_later),
		cmocka_unit_test(test_warn_only),
		cmocka_unit_test(test_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
