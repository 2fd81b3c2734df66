/* SPDX-License-Identifier: Apache-2.0 */
/* What the policy of a site allows: options of the gate, facts. */
#include "appraise/appraise.h"
#include "component_kit.h"

/* ---- command line ------------------------------------------------------------------- */

/* What iPXE passes: register 12 of the stub of systemd, 9 of Linux. */
static void options(const char *text, bool nul)
{
	uint8_t wide[512];
	size_t n = kit_wide(text, nul, wide);
	uint8_t data[512];
	size_t data_n = kit_wide(text, true, data);
	size_t at = kit_find(k, 9, EV_EVENT_TAG, 0);

	memcpy(k->event[at].hashed, wide, n);
	k->event[at].hashed_n = n;
	kit_event_at(k, k->count, 12, EV_IPL, bytes_of(data, data_n), bytes_of(wide, n));
	judge();
	kit_drop(k, k->count - 1);
}

static void test_options(void **state)
{
	(void)state;
	options("gate.efi", true);
	assert_admitted(a);
	options("gate.efi", false);
	assert_admitted(a);
	options("gate.efi init=/bin/sh", true);
	assert_refused(a, R_POLICY_CMDLINE);
	save_seed("options");
	assert_non_null(strstr(find_reason(a, R_POLICY_CMDLINE)->observed, "init=/bin/sh"));
	options("init=/bin/sh", true);
	assert_refused(a, R_POLICY_CMDLINE);
	options("gate.efi other", true);
	assert_refused(a, R_POLICY_CMDLINE);
	/* a word alone can mean something to the kernel */
	options("sysrq_always_enabled", true);
	assert_refused(a, R_POLICY_CMDLINE);
	options(".efi", true);
	assert_refused(a, R_POLICY_CMDLINE);
	options("debug,gate.efi", true);
	assert_refused(a, R_POLICY_CMDLINE);
	options("\\EFI\\BOOT\\BOOTX64.EFI", true);
	assert_admitted(a);
	options("http://192.0.2.1:8080/rack_1/gate-1.0.efi", true);
	assert_admitted(a);
	options("gate\"x\"", true);
	assert_refused(a, R_POLICY_CMDLINE);
	/* nothing at all is no option */
	options("   ", true);
	assert_admitted(a);
	snprintf(policy.parameter[policy.parameter_count++], 96, "console=ttyS1");
	options("gate.efi console=ttyS1", true);
	assert_admitted(a);
	options("console=ttyS1 console=ttyS1", true);
	assert_admitted(a);
	options("console=ttyS1 gate.efi", true);
	assert_refused(a, R_POLICY_CMDLINE);
	options("gate.efi console=ttyS10", true);
	assert_refused(a, R_POLICY_CMDLINE);
	options("gate.efi console=ttyS", true);
	assert_refused(a, R_POLICY_CMDLINE);
}

/* Text that nobody proves is no text. */
static void test_options_unproved(void **state)
{
	uint8_t wide[64];
	size_t n = kit_wide("gate.efi", true, wide);
	struct kit_event saved;
	size_t at;

	(void)state;
	/* the stub of Linux got what the text says, the stub of systemd something else */
	at = kit_find(k, 9, EV_EVENT_TAG, 0);
	saved = k->event[at];
	memcpy(k->event[at].hashed, wide, n);
	k->event[at].hashed_n = n;
	kit_event_at(k, k->count, 12, EV_IPL, bytes_of(wide, n), bytes_of(wide, n));
	judge();
	assert_admitted(a);
	kit_drop(k, k->count - 1);
	kit_event_at(k, k->count, 12, EV_IPL, bytes_of(wide, n), bytes_str("init=/bin/sh"));
	k->command_line = "gate.efi";
	judge();
	assert_refused(a, R_POLICY_CMDLINE);
	k->command_line = NULL;
	k->event[at] = saved;
	judge();
	assert_refused(a, R_POLICY_CMDLINE);
	kit_drop(k, k->count - 1);
	/* not text: a credential, say */
	kit_event_at(k, k->count, 12, EV_IPL, bytes_str("odd"), bytes_str("odd"));
	judge();
	assert_refused(a, R_POLICY_CMDLINE);
	kit_drop(k, k->count - 1);
	for (unsigned i = 0; i < 9; i++)
		kit_event_at(k, k->count, 12, EV_IPL, bytes_of(wide, n), bytes_of(wide, n));
	judge();
	assert_refused(a, R_POLICY_CMDLINE);
	k->count -= 9;
	for (unsigned i = 0; i < 17; i++)
		kit_event_at(k, k->count, 12, EV_IPL, bytes_of(wide, n), bytes_of(wide, n));
	judge();
	assert_refused(a, R_POLICY_CMDLINE);
	k->count -= 17;
	/* only the digest is there, and the report says what it is of */
	at = kit_find(k, 9, EV_EVENT_TAG, 0);
	n = kit_wide("gate.efi", false, wide);
	memcpy(k->event[at].hashed, wide, n);
	k->event[at].hashed_n = n;
	judge();
	assert_refused(a, R_POLICY_CMDLINE);
	k->command_line = "gate.efi";
	judge();
	assert_admitted(a);
	k->command_line = "gate.EFI";
	judge();
	assert_refused(a, R_POLICY_CMDLINE);
	n = kit_wide("gate.efi debug", false, wide);
	memcpy(k->event[at].hashed, wide, n);
	k->event[at].hashed_n = n;
	k->command_line = "gate.efi debug";
	judge();
	assert_refused(a, R_POLICY_CMDLINE);
}

/* ---- facts ------------------------------------------------------------------------------ */

static struct fact_rule *rule(const char *fact, enum fact_rule_kind kind, const char *value)
{
	struct fact_rule *r = &policy.fact[policy.fact_count++];

	*r = (struct fact_rule){ .kind = kind, .value_count = 1 };
	snprintf(r->fact, sizeof r->fact, "%s", fact);
	snprintf(r->value[0], sizeof r->value[0], "%s", value);
	return r;
}

static void test_facts(void **state)
{
	struct fact_rule *r;

	(void)state;
	rule("bios.version", FACT_MINIMUM, "2.19.0");
	judge();
	assert_admitted(a);
	assert_int_equal(a->submod[3].vector[AR4SI_CONFIGURATION], 2);
	assert_int_equal(a->submod[3].status, EAR_AFFIRMING);
	k->fact[FACT_BIOS_VERSION] = "2.9.7";
	judge();
	assert_refused(a, R_POLICY_FACT);
	assert_non_null(strstr(find_reason(a, R_POLICY_FACT)->observed, "2.9.7"));
	assert_non_null(strstr(find_reason(a, R_POLICY_FACT)->expected, "at least 2.19.0"));
	k->fact[FACT_BIOS_VERSION] = FACT_UNAVAILABLE;
	judge();
	assert_refused(a, R_POLICY_FACT);
	k->fact[FACT_BIOS_VERSION] = "2.20";
	judge();
	assert_admitted(a);
	policy.fact_count = 0;
	r = rule("cpu.model", FACT_ALLOWED, "143");
	snprintf(r->value[1], 96, "cpu.model");
	snprintf(r->value[2], 96, "207");
	r->value_count = 3;
	judge();
	assert_admitted(a);
	k->fact[FACT_CPU_MODEL] = "14";
	judge();
	assert_refused(a, R_POLICY_FACT);
	k->fact[FACT_CPU_MODEL] = "207";
	judge();
	assert_admitted(a);
	policy.fact_count = 0;
	save_seed("facts");
	/* not even a rule that names it is satisfied by what could not be read */
	rule("board.version", FACT_ALLOWED, FACT_UNAVAILABLE);
	judge();
	assert_refused(a, R_POLICY_FACT);
	policy.fact_count = 0;
	rule("tpm.firmware", FACT_MINIMUM, "0x0007005500000000");
	judge();
	assert_admitted(a);
	policy.fact_count = 0;
	rule("tpm.firmware", FACT_MINIMUM, "0x0007005600000000");
	judge();
	assert_refused(a, R_POLICY_FACT);
	policy.fact_count = 0;
	/* each event of a fact that stands often, and at least one */
	rule("check", FACT_ALLOWED, "cpu.sgx pass");
	judge();
	assert_admitted(a);
	k->check = NULL;
	judge();
	assert_refused(a, R_POLICY_FACT);
	policy.fact_count = 0;
	/* names that are no facts of register 8 */
	rule("verdict", FACT_ALLOWED, "x");
	judge();
	assert_refused(a, R_POLICY_FACT);
	policy.fact_count = 0;
	rule("cap", FACT_ALLOWED, FACT_CAP_TEXT);
	judge();
	assert_refused(a, R_POLICY_FACT);
}

static void test_debug(void **state)
{
	(void)state;
	k->debug = true;
	judge();
	assert_refused(a, R_POLICY_FACT);
	rule("debug", FACT_ALLOWED, "shell");
	judge();
	assert_admitted(a);
	k->debug = false;
	judge();
	assert_admitted(a);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup_policy, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_options), TEST(test_options_unproved), TEST(test_facts),
		TEST(test_debug),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
