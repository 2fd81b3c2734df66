/* SPDX-License-Identifier: Apache-2.0 */
/* Components, variants, what is not compared, and the command line. */
#include "evidence_kit.h"

#include "appraise/component.h"

static struct kit *k;
static struct kit_refs refs;
static struct policy policy;
static struct appraisal *a;

static int setup(void **state)
{
	(void)state;
	k = kit_new();
	a = calloc(1, sizeof *a);
	policy_default(&policy);
	refs = kit_learn(k);
	return a ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	kit_free(&k);
	kit_refs_free(&refs);
	free(a);
	return 0;
}

static void judge(void)
{
	kit_make(k);
	kit_judge(k, &refs, &policy, NULL, a);
}

static bool differs(const char *component)
{
	for (size_t i = 0; i < a->explanation.count; i++)
		if (a->explanation.finding[i].reason == R_POLICY_VARIANT &&
		    strcmp(a->explanation.finding[i].component, component) == 0)
			return true;
	return false;
}

static size_t variant_of(const struct kit_refs *r, const char *component)
{
	for (size_t i = 0; i < r->set.count; i++)
		if (strcmp(r->set.variant[i].component, component) == 0)
			return i;
	fail_msg("no variant of %s", component);
	return 0;
}

/* One set out of two; the bytes of both must live on. */
static void merge(struct kit_refs *to, const struct kit_refs *from)
{
	struct reference_variant *v;

	v = realloc(to->set.variant, (to->set.count + from->set.count) * sizeof *v);
	assert_non_null(v);
	to->set.variant = v;
	for (size_t i = 0; i < from->set.count; i++) {
		v[to->set.count] = from->set.variant[i];
		v[to->set.count].id += 100;
		v[to->set.count].event = calloc(from->set.variant[i].event_count,
						sizeof *v->event);
		memcpy(v[to->set.count].event, from->set.variant[i].event,
		       from->set.variant[i].event_count * sizeof *v->event);
		to->set.count++;
	}
}

/* Seeds of tests/fuzz/fuzz_appraise.c; see message.h. */
static void save_seed(const char *name)
{
	const char *folder = getenv("BOOTGATE_SEEDS");
	char path[512];
	FILE *f;

	if (!folder)
		return;
	snprintf(path, sizeof path, "%s/appraise/%s", folder, name);
	f = fopen(path, "wb");
	assert_non_null(f);
	assert_int_equal(fwrite(k->claims_bytes.p, 1, k->claims_bytes.n, f), k->claims_bytes.n);
	assert_int_equal(fclose(f), 0);
}

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

	(void)state;
	kit_opaque(k, 0, EV_IPL, "x", "x")->not_logged = true;
	kit_make(k);
	assert_ok(kit_check(k, q));
	assert_reason(R_LOG_REPLAY, component_learn(q, "x", &set));
	kit_drop(k, k->count - 1);
	kit_opaque(k, 8, EV_IPL, "x", "x");
	kit_make(k);
	assert_ok(kit_check(k, q));
	assert_reason(R_LOG_GATE_REGISTER, component_learn(q, "x", &set));
	kit_drop(k, k->count - 1);
	kit_drop(k, kit_find(k, 6, EV_SEPARATOR, 0));
	kit_make(k);
	assert_ok(kit_check(k, q));
	assert_reason(R_QUOTE_NO_USABLE_BANK, component_learn(q, "x", &set));
	kit_event(k, 6, EV_SEPARATOR, bytes_of("\0\0\0", 4));
	kit_event(k, 6, EV_SEPARATOR, bytes_of("\0\0\0", 4));
	kit_make(k);
	assert_ok(kit_check(k, q));
	assert_reason(R_LOG_SEPARATOR_TWICE, component_learn(q, "x", &set));
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

/* ---- explanation --------------------------------------------------------------- */

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

static void test_nearest(void **state)
{
	struct kit *other = kit_new();
	struct kit_refs second;
	const struct finding *f;

	(void)state;
	/* far away */
	for (unsigned i = 0; i < 40; i++)
		kit_opaque(other, 2, EV_EFI_BOOT_SERVICES_DRIVER, "rom", i % 2 ? "even" : "odd");
	second = kit_learn(other);
	merge(&refs, &second);
	/* one event too much against the first, 39 less against the second */
	kit_opaque(k, 2, EV_EFI_BOOT_SERVICES_DRIVER, "rom", "odd");
	judge();
	assert_refused(a, R_POLICY_VARIANT);
	f = find_reason(a, R_POLICY_VARIANT);
	assert_non_null(strstr(f->nearest, "1 event differs"));
	assert_string_equal(f->expected, "no further event");
	kit_drop(k, k->count - 1);
	/* an event missing */
	kit_drop(k, kit_find(k, 2, EV_EFI_BOOT_SERVICES_DRIVER, 0));
	judge();
	f = find_reason(a, R_POLICY_VARIANT);
	assert_non_null(strstr(f->nearest, "1 event differs"));
	/* everything different */
	for (unsigned i = 0; i < 60; i++)
		kit_opaque(k, 2, EV_EFI_RUNTIME_SERVICES_DRIVER, "rom", "other");
	judge();
	f = find_reason(a, R_POLICY_VARIANT);
	assert_non_null(strstr(f->nearest, "more than 24 events differ"));
	save_seed("far");
	kit_refs_free(&second);
	kit_free(&other);
}

/* ---- what is not compared -------------------------------------------------------- */

static void test_other_card(void **state)
{
	(void)state;
	for (size_t i = k->count; i-- > 0;)
		if (k->event[i].pcr == 1 && k->event[i].type == EV_EFI_VARIABLE_BOOT)
			kit_drop(k, i);
	/* another address, another order, firmware's own entries as before */
	{
		static const uint8_t order[] = { 0, 0, 1, 0, 7, 0 };
		_cleanup_(blob_free) struct blob setup_entry = kit_option("UiApp", 4, 6, 0x55);
		_cleanup_(blob_free) struct blob card = kit_option("UEFI PXEv4", 3, 11, 0x99);
		_cleanup_(blob_free) struct blob stick = kit_option("UEFI stick", 3, 5, 0x11);
		struct kit_event e[4];

		kit_add_variable(k, 1, EV_EFI_VARIABLE_BOOT, "BootOrder", BYTES(order), false);
		kit_add_variable(k, 1, EV_EFI_VARIABLE_BOOT, "Boot0000", blob_bytes(&setup_entry),
				 false);
		kit_add_variable(k, 1, EV_EFI_VARIABLE_BOOT, "Boot0001", blob_bytes(&card), false);
		kit_add_variable(k, 1, EV_EFI_VARIABLE_BOOT, "Boot0007", blob_bytes(&stick),
				 false);
		/* they stand in front of the separator */
		memcpy(e, &k->event[k->count - 4], sizeof e);
		k->count -= 4;
		memmove(&k->event[4], k->event, k->count * sizeof *k->event);
		memcpy(k->event, e, sizeof e);
		k->count += 4;
	}
	judge();
	assert_admitted(a);
	save_seed("entries");
	/* an entry of firmware that nobody knows */
	{
		_cleanup_(blob_free) struct blob entry = kit_option("Diagnostics", 4, 6, 0x56);

		kit_event_at(k, 0, 1, EV_EFI_VARIABLE_BOOT, BYTES_NONE, BYTES_NONE);
		kit_drop(k, 0);
		kit_add_variable(k, 1, EV_EFI_VARIABLE_BOOT, "Boot0009", blob_bytes(&entry),
				 false);
	}
	judge();
	assert_refused(a, R_POLICY_VARIANT);
	assert_string_equal(find_reason(a, R_POLICY_VARIANT)->component, "firmware-config");
}

/* Newer firmware hashes the name as well; then the order needs no witnesses. */
static void test_named(void **state)
{
	static const uint8_t order[] = { 3, 0, 2, 0 };
	static const uint8_t twice[] = { 3, 0, 3, 0 };

	(void)state;
	kit_add_variable(k, 1, EV_EFI_VARIABLE_BOOT2, "BootOrder", BYTES(order), true);
	judge();
	assert_admitted(a);
	kit_drop(k, k->count - 1);
	/* not a list; another variable; half a number; in another register */
	kit_add_variable(k, 1, EV_EFI_VARIABLE_BOOT2, "BootOrder", BYTES(twice), true);
	judge();
	assert_refused(a, R_POLICY_VARIANT);
	kit_drop(k, k->count - 1);
	kit_add_variable(k, 1, EV_EFI_VARIABLE_BOOT2, "BootNext", BYTES(order), true);
	judge();
	assert_refused(a, R_POLICY_VARIANT);
	kit_drop(k, k->count - 1);
	kit_add_variable(k, 1, EV_EFI_VARIABLE_BOOT2, "BootOrder", bytes_of(order, 3), true);
	judge();
	assert_refused(a, R_POLICY_VARIANT);
	kit_drop(k, k->count - 1);
	kit_add_variable(k, 5, EV_EFI_VARIABLE_BOOT2, "BootOrder", BYTES(order), true);
	judge();
	assert_refused(a, R_POLICY_VARIANT);
	kit_drop(k, k->count - 1);
	/* the order alone, without its name and without its entries */
	kit_add_variable(k, 1, EV_EFI_VARIABLE_BOOT, "BootOrder", BYTES(order), false);
	judge();
	assert_refused(a, R_POLICY_VARIANT);
}

/* Unproved, or a file of the firmware behind a card: compared like any event. */
static void test_entries_compared(void **state)
{
	_cleanup_(blob_free) struct blob card = kit_option("UEFI PXEv4", 3, 11, 0x99);
	_cleanup_(blob_free) struct blob v = kit_variable("Boot0005", blob_bytes(&card));
	uint8_t both[] = { 1, 0, 0, 0, 16, 0, 'x', 0, 0, 0, 3, 11, 6, 0, 1, 2,
			   4, 6, 6, 0, 1, 2, 0x7f, 0xff, 4, 0 };

	(void)state;
	kit_event_at(k, k->count, 1, EV_EFI_VARIABLE_BOOT, blob_bytes(&v), bytes_str("other"));
	judge();
	assert_refused(a, R_LOG_DIGEST_DATA);
	assert_true(differs("firmware-config"));
	kit_drop(k, k->count - 1);
	kit_add_variable(k, 1, EV_EFI_VARIABLE_BOOT, "Boot0005", BYTES(both), false);
	judge();
	assert_refused(a, R_POLICY_VARIANT);
	kit_drop(k, k->count - 1);
	both[17] = 5;
	kit_add_variable(k, 1, EV_EFI_VARIABLE_BOOT, "Boot0005", BYTES(both), false);
	judge();
	assert_admitted(a);
}

/* An entry that does not decode whole is compared like any event. */
static void test_half_entry(void **state)
{
	_cleanup_(blob_free) struct blob card = kit_option("UEFI PXEv4", 3, 11, 0x99);

	(void)state;
	/* the path does not end */
	card.p[card.n - 4] = 1;
	kit_add_variable(k, 1, EV_EFI_VARIABLE_BOOT2, "Boot0005", blob_bytes(&card), true);
	judge();
	assert_refused(a, R_POLICY_VARIANT);
	kit_drop(k, k->count - 1);
	card.p[card.n - 4] = 0x7f;
	kit_add_variable(k, 1, EV_EFI_VARIABLE_BOOT2, "Boot0005", blob_bytes(&card), true);
	judge();
	assert_admitted(a);
	kit_drop(k, k->count - 1);
	/* names that are not of boot entries */
	kit_add_variable(k, 1, EV_EFI_VARIABLE_BOOT2, "Boot000g", blob_bytes(&card), true);
	judge();
	assert_refused(a, R_POLICY_VARIANT);
	kit_drop(k, k->count - 1);
	kit_add_variable(k, 1, EV_EFI_VARIABLE_BOOT2, "Driver0005", blob_bytes(&card), true);
	judge();
	assert_refused(a, R_POLICY_VARIANT);
}

/* One network card without a server more or less. */
static void test_attempts(void **state)
{
	size_t at = kit_find(k, 4, EV_EFI_BOOT_SERVICES_APPLICATION, 0);

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		kit_event_at(k, at, 4, EV_EFI_ACTION, bytes_str(CALLING), bytes_str(CALLING));
		kit_event_at(k, at, 4, EV_EFI_ACTION, bytes_str(RETURNING), bytes_str(RETURNING));
		judge();
		assert_admitted(a);
	}
	save_seed("attempts");
	/* but something was loaded in between */
	kit_event_at(k, at, 4, EV_EFI_BOOT_SERVICES_APPLICATION, bytes_str("x"),
		     bytes_str("shell.efi"));
	judge();
	assert_refused(a, R_POLICY_VARIANT);
	assert_true(differs("gate") && differs("boot-path"));
	kit_drop(k, at);
	judge();
	assert_admitted(a);
	/* a step that is no attempt: returning twice */
	kit_event_at(k, at, 4, EV_EFI_ACTION, bytes_str(RETURNING), bytes_str(RETURNING));
	judge();
	assert_refused(a, R_POLICY_VARIANT);
}

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
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_learned),    TEST(test_learn_refuses),     TEST(test_no_reference),
		TEST(test_revoked),    TEST(test_every_bit),	     TEST(test_chimera),
		TEST(test_hole),       TEST(test_required),	     TEST(test_unclaimed),
		TEST(test_explained),  TEST(test_nearest),	     TEST(test_other_card),
		TEST(test_named),      TEST(test_half_entry),	     TEST(test_attempts),
		TEST(test_options),    TEST(test_options_unproved),  TEST(test_facts),
		TEST(test_debug),      TEST(test_entries_compared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
