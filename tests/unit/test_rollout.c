/* SPDX-License-Identifier: Apache-2.0 */
/* What evidence is good for while a rollout changes firmware and option ROMs of a group. */
#include "appraise/component.h"
#include "component_kit.h"

static struct rollout_terms terms;

/* Firmware and option ROM of a machine, each the first or another one. */
static void make(const char *firmware, const char *rom)
{
	struct kit_event *e = &k->event[kit_find(k, 0, EV_EFI_PLATFORM_FIRMWARE_BLOB2, 0)];

	memset(e->hashed, 0, sizeof(e->hashed));
	e->hashed_n = strlen(firmware);
	memcpy(e->hashed, firmware, e->hashed_n);
	e = &k->event[kit_find(k, 2, EV_EFI_BOOT_SERVICES_DRIVER, 0)];
	e->hashed_n = strlen(rom);
	memcpy(e->hashed, rom, e->hashed_n);
}

static void judged(const char *firmware, const char *rom)
{
	struct quote_checked *q = calloc(1, sizeof(*q));
	struct node_record record = { 0 };

	assert_non_null(q);
	make(firmware, rom);
	kit_make(k);
	assert_ok(kit_check(k, q));
	assert_ok(appraise(q, &k->session, &record, &refs.set, &policy, &terms, a));
	free(q);
}

static void old(void)
{
	judged("firmware 1", "rom 1");
}

static void new(void)
{
	judged("firmware 2", "rom 2");
}

/* The finding that decides, and no other of its weight. */
static const struct finding *only(enum reason r, enum severity s, const char *component)
{
	const struct finding *found = NULL;

	for (size_t i = 0; i < a->explanation.count; i++) {
		const struct finding *f = &a->explanation.finding[i];

		if (f->severity == SEVERITY_INFO)
			continue;
		assert_reason(r, f->reason);
		assert_int_equal(f->severity, s);
		if (strcmp(f->component, component) == 0)
			found = f;
	}
	assert_non_null(found);
	return found;
}

#define assert_got(want, what)                                \
	do {                                                  \
		if (a->directive != (want))                   \
			print_findings(a);                    \
		assert_int_equal(a->directive, want);         \
		assert_int_equal(a->rollout, what);           \
	} while (0)

static int setup_rollout(void **state)
{
	struct kit_refs second;

	if (setup_policy(state))
		return -1;
	kit_refs_free(&refs);
	make("firmware 1", "rom 1");
	refs = kit_learn(k);
	make("firmware 2", "rom 2");
	second = kit_learn(k);
	size_t first = refs.set.count;
	merge(&refs, &second);
	terms = (struct rollout_terms){ .mode = ROLLOUT_UPDATE, .name = "bios-2" };
	for (size_t i = first; i < refs.set.count; i++)
		if (strcmp(refs.set.variant[i].component, "firmware") == 0 ||
		    strcmp(refs.set.variant[i].component, "option-roms") == 0)
			terms.new_id[terms.new_count++] = refs.set.variant[i].id;
	assert_int_equal(terms.new_count, 2);
	/* the views of the second point into bytes of its own: they live as long as the test */
	*state = calloc(1, sizeof(second));
	assert_non_null(*state);
	memcpy(*state, &second, sizeof(second));
	return 0;
}

static int teardown_rollout(void **state)
{
	kit_refs_free(*state);
	free(*state);
	return teardown(state);
}

/* What is updated need not be affirmed before; all else must. */
static void test_affirm(void **state)
{
	(void)state;
	policy.affirm_count = 2;
	snprintf(policy.affirm[0], sizeof(policy.affirm[0]), "firmware");
	snprintf(policy.affirm[1], sizeof(policy.affirm[1]), "tpm");
	old();
	assert_got(DIRECTIVE_UPDATE, ROLLOUT_SEEN_OLD);
	new();
	assert_got(DIRECTIVE_ADMIT, ROLLOUT_SEEN_NEW);
	snprintf(policy.affirm[1], sizeof(policy.affirm[1]), "host");
	old();
	assert_got(DIRECTIVE_REFUSE, ROLLOUT_SEEN_OLD);
	assert_non_null(find_reason(a, R_POLICY_AFFIRM));
}

static void test_old_gets_update(void **state)
{
	const struct finding *f;

	(void)state;
	old();
	assert_got(DIRECTIVE_UPDATE, ROLLOUT_SEEN_OLD);
	assert_int_equal(a->status, EAR_WARNING);
	assert_int_equal(a->submod[0].status, EAR_AFFIRMING);
	assert_int_equal(a->submod[2].status, EAR_AFFIRMING);
	f = only(R_ROLLOUT_UPDATE, SEVERITY_WARN, "option-roms");
	f = only(R_ROLLOUT_UPDATE, SEVERITY_WARN, "firmware");
	assert_non_null(strstr(f->observed, "number 1"));
	assert_non_null(strstr(f->expected, "by rollout bios-2"));
	new();
	assert_got(DIRECTIVE_ADMIT, ROLLOUT_SEEN_NEW);
	assert_admitted(a);
}

/* Half of an update is no new variant, and no unknown one either. */
static void test_mixture(void **state)
{
	(void)state;
	judged("firmware 2", "rom 1");
	assert_got(DIRECTIVE_UPDATE, ROLLOUT_SEEN_OLD);
	only(R_ROLLOUT_UPDATE, SEVERITY_WARN, "option-roms");
	judged("firmware 1", "rom 2");
	assert_got(DIRECTIVE_UPDATE, ROLLOUT_SEEN_OLD);
	judged("firmware 2", "rom 3");
	assert_got(DIRECTIVE_HOLD, ROLLOUT_SEEN_OTHER);
}

static void test_unknown_is_held(void **state)
{
	static const enum rollout_mode open[] = { ROLLOUT_ACCEPT, ROLLOUT_UPDATE, ROLLOUT_FAILED };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(open); i++) {
		terms.mode = open[i];
		judged("firmware 3", "rom 2");
		assert_got(DIRECTIVE_HOLD, ROLLOUT_SEEN_OTHER);
		const struct finding *f = only(R_ROLLOUT_UNKNOWN, SEVERITY_HOLD, "firmware");
		assert_true(f->has_event);
		assert_int_equal(f->pcr, 0);
		assert_non_null(strstr(f->nearest, "1 event differs"));
	}
	/* without one that is open it is refused, as ever */
	terms.mode = ROLLOUT_CLOSED;
	judged("firmware 3", "rom 2");
	assert_refused(a, R_POLICY_VARIANT);
	assert_int_equal(a->rollout, ROLLOUT_SEEN_OTHER);
	terms.mode = ROLLOUT_NONE;
	judged("firmware 3", "rom 2");
	assert_refused(a, R_POLICY_VARIANT);
	assert_int_equal(a->rollout, ROLLOUT_SEEN_NOTHING);
}

static void test_accepted_beside(void **state)
{
	(void)state;
	terms.mode = ROLLOUT_ACCEPT;
	old();
	assert_got(DIRECTIVE_ADMIT, ROLLOUT_SEEN_OLD);
	assert_admitted(a);
	terms.mode = ROLLOUT_CLOSED;
	old();
	assert_got(DIRECTIVE_ADMIT, ROLLOUT_SEEN_OLD);
	new();
	assert_got(DIRECTIVE_ADMIT, ROLLOUT_SEEN_NEW);
	terms.mode = ROLLOUT_NONE;
	old();
	assert_got(DIRECTIVE_ADMIT, ROLLOUT_SEEN_NOTHING);
}

static void test_failed_is_held(void **state)
{
	(void)state;
	terms.mode = ROLLOUT_FAILED;
	old();
	assert_got(DIRECTIVE_HOLD, ROLLOUT_SEEN_OLD);
	only(R_ROLLOUT_FAILED, SEVERITY_HOLD, "firmware");
	/* repaired by hand */
	new();
	assert_got(DIRECTIVE_ADMIT, ROLLOUT_SEEN_NEW);
}

static void test_last_try(void **state)
{
	(void)state;
	terms.last_try = true;
	terms.reset_count = k->a.reset_count;
	old();
	assert_got(DIRECTIVE_UPDATE, ROLLOUT_SEEN_OLD);
	k->a.reset_count++;
	old();
	assert_got(DIRECTIVE_HOLD, ROLLOUT_SEEN_OLD);
	only(R_ROLLOUT_FAILED, SEVERITY_HOLD, "firmware");
	terms.last_try = false;
	old();
	assert_got(DIRECTIVE_UPDATE, ROLLOUT_SEEN_OLD);
}

/* Everything else must be affirmed. */
static void test_something_else(void **state)
{
	(void)state;
	k->a.restart_count = 1;
	old();
	assert_got(DIRECTIVE_ADMIT, ROLLOUT_SEEN_OLD);
	assert_non_null(find_reason(a, R_QUOTE_CLOCK));
	assert_null(find_reason(a, R_ROLLOUT_UPDATE));
	k->a.restart_count = 0;
	kit_opaque(k, 13, EV_IPL, "extension", "extension");
	old();
	assert_refused(a, R_POLICY_UNCLAIMED);
	assert_null(find_reason(a, R_ROLLOUT_UPDATE));
	new();
	assert_refused(a, R_POLICY_UNCLAIMED);
	/* what is not true is not looked at */
	k->event[k->count - 1].not_logged = true;
	new();
	assert_refused(a, R_LOG_REPLAY);
	assert_int_equal(a->rollout, ROLLOUT_SEEN_NOTHING);
}

static void test_retired(void **state)
{
	static const enum rollout_mode any[] = { ROLLOUT_NONE, ROLLOUT_CLOSED, ROLLOUT_ACCEPT, ROLLOUT_UPDATE,
						 ROLLOUT_FAILED };

	(void)state;
	terms.retired[terms.retired_count++] = 7777;
	terms.retired[terms.retired_count++] = refs.set.variant[variant_of(&refs, "firmware")].id;
	for (size_t i = 0; i < ARRAY_LEN(any); i++) {
		terms.mode = any[i];
		old();
		assert_refused(a, R_ROLLOUT_OLD);
		assert_string_equal(find_reason(a, R_ROLLOUT_OLD)->component, "firmware");
		judged("firmware 1", "rom 2");
		assert_refused(a, R_ROLLOUT_OLD);
		new();
		assert_got(DIRECTIVE_ADMIT, any[i] == ROLLOUT_NONE ? ROLLOUT_SEEN_NOTHING : ROLLOUT_SEEN_NEW);
	}
	/* a rollout that brings it back */
	for (size_t i = 0; i < ARRAY_LEN(any); i++) {
		terms.mode = any[i];
		terms.new_count = 1;
		terms.new_id[0] = terms.retired[1];
		old();
		if (any[i] == ROLLOUT_NONE)
			assert_refused(a, R_ROLLOUT_OLD);
		else
			assert_got(DIRECTIVE_ADMIT, ROLLOUT_SEEN_NEW);
	}
}

/* What it brings was revoked meanwhile: there is nothing to update to. */
static void test_nothing_to_bring(void **state)
{
	(void)state;
	terms.new_count = 1;
	terms.new_id[0] = 7777;
	old();
	assert_got(DIRECTIVE_ADMIT, ROLLOUT_SEEN_NOTHING);
	assert_admitted(a);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
#define CASE(f) cmocka_unit_test_setup_teardown(f, setup_rollout, teardown_rollout)
		CASE(test_affirm), CASE(test_old_gets_update), CASE(test_mixture), CASE(test_unknown_is_held),
		CASE(test_accepted_beside), CASE(test_failed_is_held), CASE(test_last_try),
		CASE(test_something_else), CASE(test_retired), CASE(test_nothing_to_bring),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
