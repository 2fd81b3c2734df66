/* SPDX-License-Identifier: Apache-2.0 */
/* What the node is told: everything that differed, and not how to accept it. */
#include "judge_kit.h"

#include "appraise/findings.h"
#include "appraise/judge.h"

static struct kit *k;
static struct kit_refs refs;
static struct policy policy;
static struct appraisal *a;
static struct quote_checked *q;
static struct verdict *v;
static struct verdict_context x;

static int setup(void **state)
{
	(void)state;
	k = kit_new();
	a = calloc(1, sizeof *a);
	q = calloc(1, sizeof *q);
	v = calloc(1, sizeof *v);
	policy_default(&policy);
	refs = kit_learn(k);
	x = (struct verdict_context){ .session = &k->session, .quote = q, .appraisal = a,
				      .policy = &policy, .has_manifest = true, .node = "rack1",
				      .basis = "approved by alice", .now = 1700000000 };
	memset(x.manifest_digest, 3, SHA256_LEN);
	memset(x.evidence_digest, 4, SHA256_LEN);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	kit_free(&k);
	kit_refs_free(&refs);
	free(a);
	free(q);
	free(v);
	return 0;
}

static void build(void)
{
	_cleanup_(blob_free) struct blob b = BLOB(LIMIT_VERDICT);

	kit_make(k);
	assert_ok(kit_check(k, q));
	kit_judge(k, &refs, &policy, NULL, a);
	assert_ok(verdict_build(&x, v));
	/* whatever was found, it can be sent */
	assert_ok(verdict_write(v, &b));
}

static void test_admit(void **state)
{
	(void)state;
	build();
	assert_int_equal(v->directive, DIRECTIVE_ADMIT);
	assert_true(v->has_manifest);
	assert_int_equal(v->manifest_digest[0], 3);
	assert_int_equal(v->evidence_digest[0], 4);
	assert_int_equal(v->lifetime, policy.lifetime);
	assert_int_equal(v->reason_count, 0);
	assert_memory_equal(v->nonce, k->claims.nonce, NONCE_LEN);
	assert_memory_equal(v->ak_name, k->session.ak_name, AK_NAME_LEN);
	assert_string_equal(v->node, "rack1");
	/* T32: by which policy, to the byte */
	assert_memory_equal(v->policy, "default v1 sha256:", 18);
	x.lifetime = 30;
	build();
	assert_int_equal(v->lifetime, 30);
}

/* Each directive has its own image, and `update` is never without one. */
static void test_update(void **state)
{
	_cleanup_(blob_free) struct blob b = BLOB(LIMIT_VERDICT);

	(void)state;
	memset(x.update_digest, 7, SHA256_LEN);
	build();
	assert_int_equal(v->manifest_digest[0], 3);
	a->directive = DIRECTIVE_UPDATE;
	assert_ok(verdict_build(&x, v));
	assert_reason(R_FORMAT_RANGE, verdict_write(v, &b));
	x.has_update = true;
	assert_ok(verdict_build(&x, v));
	assert_int_equal(v->manifest_digest[0], 7);
	assert_ok(verdict_write(v, &b));
	/* who may not boot gets neither */
	x.allowed = DIRECTIVE_HOLD;
	assert_ok(verdict_build(&x, v));
	assert_int_equal(v->directive, DIRECTIVE_HOLD);
	assert_false(v->has_manifest);
}

static void test_not_allowed(void **state)
{
	(void)state;
	x.allowed = DIRECTIVE_HOLD;
	x.allowed_reason = R_NODE_PENDING;
	x.allowed_detail = "waits for\napproval";
	x.retry_after = 15;
	x.refused_after = 240;
	build();
	assert_int_equal(v->directive, DIRECTIVE_HOLD);
	assert_false(v->has_manifest);
	assert_int_equal(v->manifest_digest[0], 0);
	assert_string_equal(v->reason[0].name, "node.pending");
	assert_string_equal(v->reason[0].detail, "waits for?approval");
	assert_int_equal(v->retry_after, 15);
}

static void test_refused(void **state)
{
	char place[64];

	(void)state;
	kit_opaque(k, 13, EV_IPL, "extension", "extension");
	/* node state cannot make a refusal better */
	x.allowed = DIRECTIVE_HOLD;
	x.allowed_reason = R_NODE_PENDING;
	x.retry_after = 15;
	x.refused_after = 240;
	build();
	assert_int_equal(v->directive, DIRECTIVE_REFUSE);
	assert_int_equal(v->retry_after, 240);
	assert_int_equal(v->status, EAR_CONTRAINDICATED);
	assert_false(v->has_manifest);
	/* what decided comes first */
	assert_string_equal(v->reason[0].name, "policy.unclaimed-event");
	snprintf(place, sizeof place, "log event %zu register 13: ", k->count);
	assert_non_null(strstr(v->reason[0].detail, place));
	assert_null(strstr(v->reason[0].detail, "bootgatectl"));
	assert_string_equal(v->reason[1].name, "node.pending");
}

/* More than a verdict holds: the worst are told. */
static void test_many(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 40; i++)
		kit_opaque(k, 13, EV_IPL, "extension", "extension");
	k->a.restart_count = 1;
	build();
	assert_int_equal(v->reason_count, VERDICT_REASONS_MAX);
	for (size_t i = 0; i < v->reason_count; i++)
		assert_string_equal(v->reason[i].name, "policy.unclaimed-event");
}

/* Each submod by itself, for each severity. */
static void test_vector(void **state)
{
	static const struct {
		const char *component;
		bool gate_log;
		size_t submod;
		enum ar4si claim;
	} places[] = {
		{ "tpm", false, 0, AR4SI_HARDWARE },
		{ "", false, 1, AR4SI_EXECUTABLES },
		{ "secure-boot", false, 1, AR4SI_CONFIGURATION },
		{ "option-roms", false, 1, AR4SI_EXECUTABLES },
		{ "", true, 2, AR4SI_EXECUTABLES },
		{ "command-line", false, 2, AR4SI_CONFIGURATION },
		{ "facts", true, 3, AR4SI_CONFIGURATION },
		{ "host", false, 3, AR4SI_CONFIGURATION },
	};
	static const enum directive directives[] = { DIRECTIVE_ADMIT, DIRECTIVE_ADMIT,
						     DIRECTIVE_HOLD, DIRECTIVE_REFUSE };
	static const int8_t status[] = { EAR_AFFIRMING, EAR_WARNING, EAR_WARNING,
					 EAR_CONTRAINDICATED };
	const struct judged all = { .components = true, .facts = true };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(places); i++) {
		for (int s = 0; s < SEVERITY_MAX; s++) {
			struct finding f = finding_make(R_LOG_REPLAY, (enum severity)s,
							places[i].component);

			f.gate_log = places[i].gate_log;
			memset(a, 0, sizeof *a);
			explain(&a->explanation, &f);
			vector_make(&all, a);
			assert_int_equal(a->directive, directives[s]);
			assert_int_equal(a->status, status[s]);
			for (size_t k2 = 0; k2 < 4; k2++)
				assert_int_equal(a->submod[k2].status,
						 k2 == places[i].submod ? status[s]
									: EAR_AFFIRMING);
			if (s == SEVERITY_REFUSE)
				assert_int_equal(a->submod[places[i].submod].vector[places[i].claim],
						 EAR_CONTRAINDICATED);
		}
	}
}

static void test_versions(void **state)
{
	static const struct {
		const char *value, *least;
		bool holds;
	} versions[] = {
		{ "2.19.1", "2.19.1", true },	{ "2.19.1", "2.19", true },
		{ "2.19", "2.19.1", false },	{ "2.9", "2.19", false },
		{ "10", "9", true },		{ "010", "9", true },
		{ "F21c", "F21b", true },	{ "F21b", "F21c", false },
		{ "F21", "F21c", false },	{ "U32 v2.78", "U32 v2.70", true },
		{ "U32 v2.78", "U30 v2.80", true }, { "A1", "1", false },
		{ "1", "A1", false },		{ "1.a", "1.bb", false },
		{ "0x2b000590", "0x2b000590", true }, { "0x2b00058f", "0x2b000590", false },
		{ "0x10", "0xf", true },	{ "16", "0xf", false },
		{ "0xf", "15", false },		{ "", "1", false },
		{ "99999999999999999999999", "99999999999999999999998", true },
		{ "99999999999999999999997", "99999999999999999999998", false },
		{ "0xg", "0x1", false },	{ "0x", "0x1", false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(versions); i++)
		if (version_at_least(bytes_str(versions[i].value), versions[i].least) !=
		    versions[i].holds)
			fail_msg("%s >= %s", versions[i].value, versions[i].least);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_admit), TEST(test_update), TEST(test_not_allowed), TEST(test_refused),
		TEST(test_many),  TEST(test_vector),	  TEST(test_versions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
