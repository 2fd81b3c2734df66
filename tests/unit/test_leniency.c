/* SPDX-License-Identifier: Apache-2.0 */
/* What a policy makes of findings, and least security versions. */
#include "appraise/findings.h"
#include "appraise/judge.h"
#include "appraise_kit.h"

static struct policy p;

static void judge(void)
{
	kit_judge(k, &refs, &p, NULL, a);
}

/* A machine whose firmware measures no variable of Secure Boot, and its references. */
static void drop_variables(void)
{
	struct policy lenient;

	policy_default(&lenient);
	lenient.warn[lenient.warn_count++] = R_LOG_SECURE_BOOT_MISSING;
	for (size_t i = 0; i < 5; i++)
		kit_drop(k, kit_find(k, 7, EV_EFI_VARIABLE_DRIVER_CONFIG, 0));
	kit_refs_free(&refs);
	refs = kit_learn_by(k, &lenient);
}

static void test_warn_only(void **state)
{
	(void)state;
	policy_default(&p);
	drop_variables();
	judge();
	assert_refused(a, R_LOG_SECURE_BOOT_MISSING);
	p.warn[p.warn_count++] = R_LOG_DEBUG_MODE;
	judge();
	assert_refused(a, R_LOG_SECURE_BOOT_MISSING);
	p.warn[p.warn_count++] = R_LOG_SECURE_BOOT_MISSING;
	judge();
	assert_int_equal(a->directive, DIRECTIVE_ADMIT);
	assert_int_equal(a->status, EAR_WARNING);
	assert_int_equal(find_reason(a, R_LOG_SECURE_BOOT_MISSING)->severity, SEVERITY_WARN);
	/* the references still hold as a whole */
	kit_event(k, 7, EV_SEPARATOR, bytes_of("\0\0\0", 4));
	kit_make(k);
	judge();
	assert_refused(a, R_LOG_SEPARATOR_TWICE);
	assert_refused(a, R_POLICY_VARIANT);
}

static void test_affirm(void **state)
{
	(void)state;
	policy_default(&p);
	p.affirm_count = 3;
	snprintf(p.affirm[0], sizeof p.affirm[0], "tpm");
	snprintf(p.affirm[1], sizeof p.affirm[1], "firmware");
	snprintf(p.affirm[2], sizeof p.affirm[2], "gate");
	kit_make(k);
	judge();
	assert_admitted(a);
	/* nobody judged facts, so nothing affirms the host; nor a GPU that is not there */
	snprintf(p.affirm[1], sizeof p.affirm[1], "host");
	judge();
	assert_refused(a, R_POLICY_AFFIRM);
	assert_string_equal(find_reason(a, R_POLICY_AFFIRM)->component, "host");
	snprintf(p.affirm[1], sizeof p.affirm[1], "gpu0");
	judge();
	assert_refused(a, R_POLICY_AFFIRM);
	/* a warning that is let pass is not affirmed */
	snprintf(p.affirm[1], sizeof p.affirm[1], "firmware");
	p.warn[p.warn_count++] = R_LOG_SECURE_BOOT_MISSING;
	drop_variables();
	judge();
	assert_refused(a, R_POLICY_AFFIRM);
	assert_string_equal(find_reason(a, R_POLICY_AFFIRM)->component, "firmware");
	assert_int_equal(explanation_refusal(&a->explanation), R_POLICY_AFFIRM);
}

static void test_dropped(void **state)
{
	struct explanation *e = &a->explanation;
	struct finding f = finding_make(R_LOG_DEBUG_MODE, SEVERITY_REFUSE, "secure-boot");

	(void)state;
	policy_default(&p);
	p.warn[p.warn_count++] = R_LOG_DEBUG_MODE;
	memset(e, 0, sizeof *e);
	for (size_t i = 0; i < FINDINGS_MAX; i++)
		explain(e, &f);
	policy_soften(&p, e);
	assert_int_equal(explanation_worst(e), SEVERITY_WARN);
	/* one that nobody may let off finds no room among those that are let off */
	memset(e, 0, sizeof *e);
	for (size_t i = 0; i < FINDINGS_MAX; i++)
		explain(e, &f);
	f.reason = R_LOG_REPLAY;
	explain(e, &f);
	policy_soften(&p, e);
	assert_int_equal(explanation_worst(e), SEVERITY_REFUSE);
}

static void test_fact(void **state)
{
	(void)state;
	policy_default(&p);
	p.fact_count = 1;
	p.fact[0] = (struct fact_rule){ .fact = "bios.version", .kind = FACT_ALLOWED,
					.value_count = 1, .value = { "not this one" } };
	kit_make(k);
	judge();
	assert_refused(a, R_POLICY_FACT);
	p.fact[0].warn_only = true;
	judge();
	assert_int_equal(a->directive, DIRECTIVE_ADMIT);
	assert_int_equal(a->status, EAR_WARNING);
	assert_non_null(find_reason(a, R_POLICY_FACT));
}

static void floor_is(const char *component, uint32_t least)
{
	p.floor_count = 1;
	p.floor[0].least = least;
	snprintf(p.floor[0].component, sizeof p.floor[0].component, "%s", component);
}

static void test_security_version(void **state)
{
	(void)state;
	policy_default(&p);
	kit_make(k);
	for (size_t i = 0; i < refs.set.count; i++)
		refs.set.variant[i].security_version = 4;
	floor_is("gate", 4);
	judge();
	assert_admitted(a);
	floor_is("gate", 5);
	judge();
	assert_refused(a, R_POLICY_SECURITY_VERSION);
	assert_string_equal(find_reason(a, R_POLICY_SECURITY_VERSION)->component, "gate");
	/* options that are allowed by name do not lift what is below */
	floor_is("command-line", 5);
	kit_refs_state(&refs, "command-line", VARIANT_STAGED);
	judge();
	assert_refused(a, R_POLICY_SECURITY_VERSION);
	/* in whatever state */
	floor_is("gate", 5);
	kit_refs_state(&refs, "gate", VARIANT_STAGED);
	judge();
	assert_refused(a, R_POLICY_SECURITY_VERSION);
	kit_refs_state(&refs, "gate", VARIANT_REVOKED);
	judge();
	assert_refused(a, R_POLICY_VARIANT);
	kit_refs_state(&refs, "gate", VARIANT_ACTIVE);
	/* what nothing can satisfy is not passed over */
	floor_is("no-such", 1);
	judge();
	assert_refused(a, R_POLICY_MISSING);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_warn_only), TEST(test_affirm), TEST(test_dropped),
		TEST(test_fact),	  TEST(test_security_version),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
