/* SPDX-License-Identifier: Apache-2.0 */
/* Components and variants: nothing compared is nothing passed. */
#include "appraise/component.h"
#include "component_kit.h"

static void test_learned(void **state)
{
	const struct reference_variant *v;

	(void)state;
	assert_int_equal(refs.set.count, COMPONENT_COUNT);
	v = &refs.set.variant[variant_of(&refs, "gate")];
	/* image, kernel, four pairs of sections, initrd */
	assert_int_equal(v->event_count, 11);
	assert_string_equal(v->version, "build");
	assert_string_equal(v->source, "learned from a test");
	v = &refs.set.variant[variant_of(&refs, "secure-boot")];
	assert_int_equal(v->event_count, 6);
	assert_string_equal(v->version, "2.19.1");
	assert_non_null(memmem(v->event[0].text.p, v->event[0].text.n, "SecureBoot = 01", 15));
	v = &refs.set.variant[variant_of(&refs, "firmware")];
	assert_non_null(memmem(v->event[1].text.p, v->event[1].text.n, "(hint)", 6));
	/* order of boot entries and a network card are not part of it */
	v = &refs.set.variant[variant_of(&refs, "firmware-config")];
	assert_int_equal(v->event_count, 2);
	save_seed("0-first");
}

/* What is not true is not learned. */
static void test_learn_refuses(void **state)
{
	struct quote_checked *q = calloc(1, sizeof *q);
	struct reference_set set;
	struct policy p;

	(void)state;
	kit_opaque(k, 0, EV_IPL, "x", "x")->not_logged = true;
	kit_make(k);
	policy_default(&p);
	assert_ok(kit_check(k, q));
	assert_reason(R_LOG_REPLAY, component_learn(q, "x", &p, &set));
	kit_drop(k, k->count - 1);
	kit_opaque(k, 8, EV_IPL, "x", "x");
	kit_make(k);
	assert_ok(kit_check(k, q));
	assert_reason(R_LOG_GATE_REGISTER, component_learn(q, "x", &p, &set));
	kit_drop(k, k->count - 1);
	kit_drop(k, kit_find(k, 6, EV_SEPARATOR, 0));
	kit_make(k);
	assert_ok(kit_check(k, q));
	assert_reason(R_QUOTE_NO_USABLE_BANK, component_learn(q, "x", &p, &set));
	kit_event(k, 6, EV_SEPARATOR, bytes_of("\0\0\0", 4));
	kit_event(k, 6, EV_SEPARATOR, bytes_of("\0\0\0", 4));
	kit_make(k);
	assert_ok(kit_check(k, q));
	assert_reason(R_LOG_SEPARATOR_TWICE, component_learn(q, "x", &p, &set));
	free(q);
}

/* POL-NO-REFERENCE, T31: nothing compared is nothing passed. */
static void test_no_reference(void **state)
{
	struct kit_refs none = { 0 };

	(void)state;
	kit_make(k);
	kit_judge(k, &none, &policy, NULL, a);
	assert_refused(a, R_POLICY_NO_REFERENCE);
	/* also with a policy that asks for nothing */
	policy.required_count = 0;
	kit_judge(k, &none, &policy, NULL, a);
	assert_refused(a, R_POLICY_NO_REFERENCE);
	policy_default(&policy);
	/* staged is not active */
	kit_refs_state(&refs, NULL, VARIANT_STAGED);
	judge();
	assert_refused(a, R_POLICY_NO_REFERENCE);
	kit_refs_state(&refs, NULL, VARIANT_RETIRING);
	judge();
	assert_admitted(a);
	/* one component without: each of them */
	for (unsigned c = 0; c < COMPONENT_COUNT; c++) {
		kit_refs_state(&refs, component_name((enum component)c), VARIANT_STAGED);
		judge();
		assert_refused(a, c == COMPONENT_COMMAND_LINE ? R_POLICY_CMDLINE
							      : R_POLICY_NO_REFERENCE);
		kit_refs_state(&refs, NULL, VARIANT_ACTIVE);
	}
}

static void test_revoked(void **state)
{
	struct kit_refs again = kit_learn(k);

	(void)state;
	for (unsigned c = 0; c < COMPONENT_COUNT; c++) {
		kit_refs_state(&refs, component_name((enum component)c), VARIANT_REVOKED);
		judge();
		assert_refused(a, R_POLICY_VARIANT);
		assert_non_null(strstr(find_reason(a, R_POLICY_VARIANT)->nearest, "revoked"));
		kit_refs_state(&refs, NULL, VARIANT_ACTIVE);
	}
	/* a revoked one is not saved by an active one with the same events */
	kit_refs_state(&again, "firmware", VARIANT_REVOKED);
	merge(&refs, &again);
	judge();
	assert_refused(a, R_POLICY_VARIANT);
	kit_refs_free(&again);
}

/* Any bit of any reference counts (T25, T26). */
static void test_every_bit(void **state)
{
	(void)state;
	for (size_t i = 0; i < refs.set.count; i++) {
		struct reference_variant *v = &refs.set.variant[i];

		for (size_t e = 0; e < v->event_count; e++) {
			uint8_t *digest = (uint8_t *)(uintptr_t)v->event[e].digest[0].digest.p;

			digest[0] ^= 1;
			judge();
			assert_int_equal(a->directive, DIRECTIVE_REFUSE);
			digest[0] ^= 1;
			digest[31] ^= 0x80;
			judge();
			assert_int_equal(a->directive, DIRECTIVE_REFUSE);
			digest[31] ^= 0x80;
			v->event[e].digest[0].alg = ALG_SHA384;
			judge();
			assert_int_equal(a->directive, DIRECTIVE_REFUSE);
			v->event[e].digest[0].alg = ALG_SHA256;
			v->event[e].digest_count = 0;
			judge();
			assert_int_equal(a->directive, DIRECTIVE_REFUSE);
			v->event[e].digest_count = 1;
			v->event[e].pcr ^= 1;
			judge();
			assert_int_equal(a->directive, DIRECTIVE_REFUSE);
			v->event[e].pcr ^= 1;
			v->event[e].type ^= 1;
			judge();
			assert_int_equal(a->directive, DIRECTIVE_REFUSE);
			v->event[e].type ^= 1;
		}
		/* a variant that is a prefix, or empty */
		v->event_count--;
		judge();
		assert_int_equal(a->directive, DIRECTIVE_REFUSE);
		v->event_count++;
		size_t all = v->event_count;
		v->event_count = 0;
		judge();
		assert_int_equal(a->directive, DIRECTIVE_REFUSE);
		v->event_count = all;
	}
	judge();
	assert_admitted(a);
}

/* No component out of two good variants. */
static void test_chimera(void **state)
{
	struct kit *other = kit_new();
	struct kit_refs second;
	size_t rom = kit_find(other, 2, EV_EFI_BOOT_SERVICES_DRIVER, 0);
	size_t blob = kit_find(other, 0, EV_EFI_PLATFORM_FIRMWARE_BLOB2, 0);

	(void)state;
	kit_event_at(other, rom + 1, 2, EV_EFI_BOOT_SERVICES_DRIVER, bytes_str("rom"),
		     bytes_str("second rom"));
	memcpy(other->event[rom].hashed, "option rom 2", 12);
	memcpy(other->event[blob].hashed, "firmware volume 2", 17);
	second = kit_learn(other);
	merge(&refs, &second);
	/* either machine is good */
	judge();
	assert_admitted(a);
	kit_make(other);
	memcpy(other->session.nonce, k->session.nonce, NONCE_LEN);
	kit_judge(other, &refs, &policy, NULL, a);
	assert_admitted(a);
	/* first card of one, second card of the other */
	memcpy(other->event[rom].hashed, "option rom 1", 12);
	kit_make(other);
	kit_judge(other, &refs, &policy, NULL, a);
	assert_refused(a, R_POLICY_VARIANT);
	assert_string_equal(find_reason(a, R_POLICY_VARIANT)->component, "option-roms");
	kit_refs_free(&second);
	kit_free(&other);
}

/* EVL-PCR4-HOLE: logs and registers agree, and nobody measured the loader. */
static void test_hole(void **state)
{
	(void)state;
	for (size_t n = 0; n < 2; n++)
		kit_drop(k, kit_find(k, 4, EV_EFI_BOOT_SERVICES_APPLICATION, 0));
	judge();
	assert_refused(a, R_POLICY_VARIANT);
	assert_string_equal(find_reason(a, R_POLICY_VARIANT)->component, "gate");
	/* nothing of the gate at all */
	for (size_t i = k->count; i-- > 0;)
		if (k->event[i].pcr == 11 || (k->event[i].pcr == 9 && k->event[i].data[0] == 0xec))
			kit_drop(k, i);
	judge();
	assert_refused(a, R_POLICY_MISSING);
	/* also when the references of it are not there either */
	kit_refs_state(&refs, "gate", VARIANT_STAGED);
	judge();
	assert_refused(a, R_POLICY_MISSING);
}

static void test_required(void **state)
{
	(void)state;
	snprintf(policy.required[policy.required_count++], 32, "host-tee");
	judge();
	assert_refused(a, R_POLICY_MISSING);
	assert_string_equal(find_reason(a, R_POLICY_MISSING)->component, "host-tee");
}

static void test_unclaimed(void **state)
{
	static const struct {
		uint32_t pcr;
		uint32_t type;
	} strange[] = {
		{ 4, EV_IPL }, { 4, EV_EFI_BOOT_SERVICES_DRIVER }, { 9, EV_IPL },
		{ 11, EV_EVENT_TAG }, { 12, EV_EVENT_TAG }, { 13, EV_IPL },
	};
	const struct finding *f;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(strange); i++) {
		kit_opaque(k, strange[i].pcr, strange[i].type, "extension", "extension");
		judge();
		assert_refused(a, R_POLICY_UNCLAIMED);
		f = find_reason(a, R_POLICY_UNCLAIMED);
		assert_int_equal(f->pcr, strange[i].pcr);
		assert_int_equal(f->event, k->count);
		assert_non_null(strstr(f->observed, "extension"));
		kit_drop(k, k->count - 1);
	}
	save_seed("unclaimed");
	/* options behind the initrd are not the stub's */
	kit_tag(k, KIT_TAG_OPTIONS, "LOADED_IMAGE::LoadOptions", bytes_str("x"));
	judge();
	assert_refused(a, R_POLICY_UNCLAIMED);
}

static void test_explained(void **state)
{
	const struct finding *f;
	size_t at = kit_find(k, 4, EV_EFI_BOOT_SERVICES_APPLICATION, 0);
	uint8_t digest[SHA256_LEN];

	(void)state;
	memcpy(k->event[at].hashed, "gate.EFI", 8);
	judge();
	assert_refused(a, R_POLICY_VARIANT);
	f = find_reason(a, R_POLICY_VARIANT);
	assert_string_equal(f->component, "gate");
	assert_true(f->has_event);
	assert_int_equal(f->pcr, 4);
	/* the Spec ID event is number 0 */
	assert_int_equal(f->event, at + 1);
	assert_int_equal(f->bank, ALG_SHA256);
	assert_ok(sha256(bytes_str("gate.EFI"), digest));
	assert_memory_equal(f->digest, digest, SHA256_LEN);
	assert_non_null(strstr(f->observed, "EV_EFI_BOOT_SERVICES_APPLICATION (hint)"));
	assert_ok(sha256(bytes_str("gate.efi"), digest));
	char hex[2 * SHA256_LEN + 1];
	hex_encode(BYTES(digest), hex);
	assert_non_null(strstr(f->expected, hex));
	assert_non_null(strstr(f->nearest, "1 event differs, from place 0 on"));
	/* one refusal, of one component: the rest is as it was */
	assert_int_equal(a->explanation.match_count, COMPONENT_COUNT - 1);
	assert_int_equal(a->submod[1].status, EAR_AFFIRMING);
	assert_int_equal(a->submod[2].status, EAR_CONTRAINDICATED);
	assert_int_equal(a->submod[2].vector[AR4SI_EXECUTABLES], 33);
}

/* One more option ROM, in front of the separator. */
static void add_rom(struct kit *to, uint32_t type, const char *code)
{
	kit_event_at(to, kit_find(to, 2, EV_SEPARATOR, 0), 2, type, bytes_str("rom"),
		     bytes_str(code));
}

static void test_nearest(void **state)
{
	struct kit *other = kit_new();
	struct kit_refs second;
	const struct finding *f;

	(void)state;
	/* far away */
	for (unsigned i = 0; i < 40; i++)
		add_rom(other, EV_EFI_BOOT_SERVICES_DRIVER, i % 2 ? "even" : "odd");
	second = kit_learn(other);
	merge(&refs, &second);
	/* one event too much against the first, 39 less against the second */
	add_rom(k, EV_EFI_BOOT_SERVICES_DRIVER, "odd");
	judge();
	assert_refused(a, R_POLICY_VARIANT);
	f = find_reason(a, R_POLICY_VARIANT);
	assert_non_null(strstr(f->nearest, "1 event differs"));
	kit_drop(k, kit_find(k, 2, EV_EFI_BOOT_SERVICES_DRIVER, 1));
	/* and one too much at its end */
	kit_opaque(k, 2, EV_EFI_BOOT_SERVICES_DRIVER, "rom", "odd");
	judge();
	assert_string_equal(find_reason(a, R_POLICY_VARIANT)->expected, "no further event");
	kit_drop(k, k->count - 1);
	/* an event missing */
	kit_drop(k, kit_find(k, 2, EV_EFI_BOOT_SERVICES_DRIVER, 0));
	judge();
	f = find_reason(a, R_POLICY_VARIANT);
	assert_non_null(strstr(f->nearest, "1 event differs"));
	/* everything different */
	for (unsigned i = 0; i < 60; i++)
		add_rom(k, EV_EFI_RUNTIME_SERVICES_DRIVER, "other");
	judge();
	f = find_reason(a, R_POLICY_VARIANT);
	assert_non_null(strstr(f->nearest, "more than 24 events differ"));
	save_seed("far");
	kit_refs_free(&second);
	kit_free(&other);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup_policy, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_learned), TEST(test_learn_refuses), TEST(test_no_reference),
		TEST(test_revoked), TEST(test_every_bit), TEST(test_chimera), TEST(test_hole),
		TEST(test_required), TEST(test_unclaimed), TEST(test_explained),
		TEST(test_nearest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
