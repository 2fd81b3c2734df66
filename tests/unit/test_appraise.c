/* SPDX-License-Identifier: Apache-2.0 */
/* Logs and their rules: replay, banks, gate state, separators. */
#include "appraise/findings.h"
#include "appraise_kit.h"

static void judge(void)
{
	kit_make(k);
	kit_judge(k, &refs, NULL, NULL, a);
}

static void judge_sealed(void)
{
	kit_seal(k);
	kit_judge(k, &refs, NULL, NULL, a);
}

static void relearn(void)
{
	kit_refs_free(&refs);
	refs = kit_learn(k);
}

static void test_admit(void **state)
{
	(void)state;
	judge();
	assert_admitted(a);
	assert_int_equal(a->explanation.match_count, 10);
	assert_int_equal(a->submod_count, 4);
	/* nobody judged the facts, so nobody claims anything of the host */
	assert_string_equal(a->submod[3].name, "host");
	assert_int_equal(a->submod[3].status, EAR_NONE);
	assert_int_equal(a->submod[0].vector[AR4SI_INSTANCE_IDENTITY], 2);
	assert_int_equal(a->submod[0].vector[AR4SI_HARDWARE], 0);
	assert_int_equal(a->submod[1].vector[AR4SI_EXECUTABLES], 3);
	assert_true(a->record.clock.known);
	assert_int_equal(a->record.clock.reset_count, 7);
}

static void test_every_bank(void **state)
{
	static const uint16_t all[] = { ALG_SHA1, ALG_SHA256, ALG_SHA384, ALG_SHA512 };

	(void)state;
	kit_banks(k, 4, all);
	relearn();
	judge();
	assert_admitted(a);
	/* references of more banks are good for fewer */
	kit_banks(k, 2, all);
	judge();
	assert_admitted(a);
	/* but not the other way round: a bank without a reference is not judged */
	relearn();
	kit_banks(k, 3, all);
	judge();
	assert_refused(a, R_POLICY_VARIANT);
}

static void test_stage(void **state)
{
	struct quote_checked *q = calloc(1, sizeof *q);
	struct node_record none = { 0 };
	struct policy p;

	(void)state;
	policy_default(&p);
	judge();
	assert_ok(kit_check(k, q));
	k->session.stage = STAGE_HOST;
	assert_reason(R_SESSION_STAGE, appraise(q, &k->session, &none, &refs.set, &p, NULL, a));
	free(q);
}

/* ---- replay ---------------------------------------------------------------- */

static void test_replay(void **state)
{
	const struct finding *f;

	(void)state;
	/* an extend that nobody logged, in each register that firmware has */
	for (uint32_t pcr = 0; pcr < 16; pcr++) {
		if (!(KIT_SELECTED & PCR_MASK(pcr)) || pcr == 8 || pcr >= 14)
			continue;
		kit_opaque(k, pcr, EV_IPL, "secret", "secret")->not_logged = true;
		judge();
		assert_refused(a, R_LOG_REPLAY);
		f = find_reason(a, R_LOG_REPLAY);
		assert_int_equal(f->pcr, pcr);
		assert_int_equal(f->bank, ALG_SHA256);
		assert_non_null(strstr(f->observed, "sha256 register"));
		/* what is not true is not judged */
		assert_int_equal(a->submod[2].vector[AR4SI_EXECUTABLES], 0);
		assert_int_equal(a->explanation.match_count, 0);
		kit_drop(k, k->count - 1);
	}
}

/* Events that were never extended; final events that stand twice (EVL-FINAL-DUP). */
static void test_not_extended(void **state)
{
	struct kit_event twice;

	(void)state;
	kit_leave(k);
	twice = k->event[k->count - 1];
	k->event[k->count++] = twice;
	k->event[k->count - 1].not_extended = true;
	judge();
	assert_refused(a, R_LOG_REPLAY);
	assert_non_null(strstr(find_reason(a, R_LOG_REPLAY)->nearest, "agrees up to event"));
}

/* EVL-LOG-FULL: the log ends early; that is said, and it excuses nothing. */
static void test_log_full(void **state)
{
	size_t all = k->count + 2;

	(void)state;
	kit_leave(k);
	for (size_t keep = 1; keep < all; keep++) {
		for (size_t i = 0; i < all; i++)
			k->event[i].not_logged = i >= keep;
		judge();
		/* the last event alone is no sign that it is the log's end */
		if (keep == all - 1)
			assert_refused(a, R_LOG_REPLAY);
		else
			assert_refused(a, R_LOG_INCOMPLETE);
	}
}

static void test_locality(void **state)
{
	(void)state;
	k->locality = 3;
	judge();
	assert_admitted(a);
	/* the TPM was started from 0, and the log says 3 */
	kit_make(k);
	k->locality = 0;
	kit_reset(k);
	k->locality = 3;
	kit_boot_firmware(k);
	k->locality = 0;
	kit_reset(k);
	{
		struct blob log = BLOB(LIMIT_FIRMWARE_LOG);

		assert_ok(blob_append(&log, k->firmware_log.p, k->firmware_log.n));
		kit_boot_firmware(k);
		kit_boot_gate(k);
		k->claims.firmware_log = blob_bytes(&log);
		k->claims.gate_log = blob_bytes(&k->gate_log);
		k->claims.values = k->pcr;
		judge_sealed();
		blob_free(&log);
	}
	assert_refused(a, R_LOG_REPLAY);
	assert_int_equal(find_reason(a, R_LOG_REPLAY)->pcr, 0);
}

static void test_bad_logs(void **state)
{
	(void)state;
	kit_make(k);
	k->claims.firmware_log = BYTES_NONE;
	judge_sealed();
	assert_refused(a, R_LOG_EMPTY);
	k->claims.firmware_log = bytes_of(k->firmware_log.p, k->firmware_log.n - 1);
	judge_sealed();
	assert_int_equal(a->directive, DIRECTIVE_REFUSE);
	assert_int_equal(a->explanation.match_count, 0);
	k->claims.firmware_log = blob_bytes(&k->firmware_log);
	k->claims.gate_log = BYTES_NONE;
	judge_sealed();
	assert_refused(a, R_LOG_EMPTY);
	assert_true(find_reason(a, R_LOG_EMPTY)->gate_log);
	k->claims.gate_log = blob_bytes(&k->gate_log);
	k->claims.report = bytes_str("no report");
	judge_sealed();
	assert_int_equal(a->directive, DIRECTIVE_REFUSE);
	assert_string_equal(a->explanation.finding[0].component, "host");
}

/* The old form of a log proves nothing. */
static void test_legacy(void **state)
{
	uint8_t event[32 + 4] = { 0 };

	(void)state;
	kit_make(k);
	event[4] = EV_SEPARATOR;
	event[28] = 4;
	k->claims.firmware_log = BYTES(event);
	judge_sealed();
	assert_refused(a, R_LOG_LEGACY);
}

/* ---- banks ------------------------------------------------------------------- */

static void test_banks(void **state)
{
	static const uint16_t two[] = { ALG_SHA256, ALG_SHA384 };
	static const uint16_t weak[] = { ALG_SHA1 };

	(void)state;
	/* SHA-1 alone never passes */
	kit_banks(k, 1, weak);
	judge();
	assert_refused(a, R_QUOTE_NO_USABLE_BANK);

	/* POL-EMPTY-BANK: a bank that firmware leaves alone is no proof, and no harm */
	k->bank_count = 2;
	memcpy(k->bank, two, sizeof two);
	k->log_bank_count = 1;
	k->log_bank[0] = ALG_SHA256;
	judge();
	assert_admitted(a);
	assert_true(a->explanation.count > 0);
	for (size_t i = 0; i < a->explanation.count; i++)
		assert_int_equal(a->explanation.finding[i].reason, R_OK);

	/* also when the TPM was started from another locality: register 0 is not zero then */
	k->locality = 3;
	judge();
	assert_admitted(a);
	k->locality = 0;

	/* a log that does not speak of a bank which was written to */
	kit_make(k);
	k->pcr.bank[1].value[4][0] = 1;
	k->claims.values = k->pcr;
	judge_sealed();
	assert_refused(a, R_LOG_BANK_MISSING);
}

/* No firmware measures, and somebody extended golden values by hand. */
static void test_empty_bank(void **state)
{
	(void)state;
	k->stays = true;
	for (uint32_t pcr = 0; pcr < 8; pcr++) {
		struct kit_event saved[KIT_EVENTS];
		size_t count = k->count;

		memcpy(saved, k->event, sizeof saved);
		for (size_t i = k->count; i-- > 0;)
			if (k->event[i].pcr == pcr)
				kit_drop(k, i);
		judge();
		/* one register of firmware at reset is enough */
		assert_refused(a, R_QUOTE_NO_USABLE_BANK);
		memcpy(k->event, saved, sizeof saved);
		k->count = count;
	}
}

static void test_gate_log_bank(void **state)
{
	static const uint16_t two[] = { ALG_SHA256, ALG_SHA384 };

	(void)state;
	/* the gate logged one bank, the TPM has two */
	kit_make(k);
	kit_banks(k, 2, two);
	kit_reset(k);
	kit_boot_firmware(k);
	k->bank_count = 1;
	kit_boot_gate(k);
	k->bank_count = 2;
	k->claims.firmware_log = blob_bytes(&k->firmware_log);
	k->claims.gate_log = blob_bytes(&k->gate_log);
	k->claims.values = k->pcr;
	judge_sealed();
	assert_refused(a, R_LOG_BANK_MISSING);
	assert_true(find_reason(a, R_LOG_BANK_MISSING)->gate_log);
}

/* ---- the gate's registers --------------------------------------------------------- */

static void test_gate_state(void **state)
{
	(void)state;
	k->facts_left_out = 1;
	judge();
	assert_refused(a, R_QUOTE_GATE_STATE);
	k->facts_left_out = 0;
	k->cap_facts = true;
	judge();
	assert_refused(a, R_QUOTE_GATE_STATE);
	k->cap_facts = false;
	/* the state of a receipt is none of attest */
	k->decision = true;
	judge();
	assert_refused(a, R_QUOTE_GATE_STATE);
	assert_int_equal(find_reason(a, R_QUOTE_GATE_STATE)->pcr, PCR_DECISION);
	k->decision = false;
	/* register 15 belongs to nobody yet */
	kit_opaque(k, 15, EV_IPL, "x", "x");
	judge();
	assert_refused(a, R_QUOTE_GATE_STATE);
}

static void test_registers(void **state)
{
	static const uint32_t gate[] = { PCR_FACTS, PCR_DECISION };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(gate); i++) {
		kit_opaque(k, gate[i], EV_IPL, "grub", "grub");
		judge();
		assert_refused(a, R_LOG_GATE_REGISTER);
		kit_drop(k, k->count - 1);
	}
	/* the gate's log is for the gate's registers */
	k->foreign_pcr = 4;
	judge();
	assert_refused(a, R_LOG_FOREIGN_REGISTER);
	k->foreign_pcr = 15;
	judge();
	assert_refused(a, R_LOG_FOREIGN_REGISTER);
}

/* A gate log with another value than was extended. */
static void test_gate_replay(void **state)
{
	struct pcr_values true_values;

	(void)state;
	kit_make(k);
	true_values = k->pcr;
	k->fact[FACT_CPU_MICROCODE] = "0x1";
	kit_boot_gate(k);
	k->pcr = true_values;
	k->claims.gate_log = blob_bytes(&k->gate_log);
	judge_sealed();
	assert_refused(a, R_LOG_REPLAY);
	assert_int_equal(find_reason(a, R_LOG_REPLAY)->pcr, PCR_FACTS);
}

/* ---- separators and digests ------------------------------------------------------ */

static void test_separators(void **state)
{
	static const uint8_t zero[4] = { 0 };
	static const uint8_t ones[4] = { 0xff, 0xff, 0xff, 0xff };
	static const uint8_t error[4] = { 1, 0, 0, 0 };

	(void)state;
	for (uint32_t pcr = 0; pcr < 8; pcr++) {
		size_t at = kit_find(k, pcr, EV_SEPARATOR, 0);
		struct kit_event saved = k->event[at];

		/* a second one, of either value */
		kit_event(k, pcr, EV_SEPARATOR, BYTES(zero));
		judge();
		assert_refused(a, R_LOG_SEPARATOR_TWICE);
		kit_drop(k, k->count - 1);
		/* a second one under another name */
		kit_event_at(k, k->count, pcr, EV_IPL, bytes_str("x"), BYTES(ones));
		judge();
		/* elsewhere a setting may look like that; it is one event too many */
		assert_refused(a, pcr == 4 || pcr == 7 ? R_LOG_SEPARATOR_TWICE : R_POLICY_VARIANT);
		kit_drop(k, k->count - 1);
		/* the only one under another name */
		k->event[at].type = EV_POST_CODE;
		judge();
		assert_refused(a, pcr == 4 || pcr == 7 ? R_LOG_SEPARATOR_VALUE
						       : R_LOG_SEPARATOR_MISSING);
		/* an error, with details in the data */
		k->event[at] = saved;
		memcpy(k->event[at].hashed, error, 4);
		judge();
		assert_refused(a, R_LOG_SEPARATOR_ERROR);
		/* any other value */
		memcpy(k->event[at].data, "abcd", 4);
		memcpy(k->event[at].hashed, "abcd", 4);
		judge();
		assert_refused(a, R_LOG_SEPARATOR_VALUE);
		/* none, where the register has other events */
		if (pcr != 3 && pcr != 6) {
			kit_drop(k, at);
			judge();
			assert_refused(a, R_LOG_SEPARATOR_MISSING);
			kit_event_at(k, at, pcr, EV_SEPARATOR, BYTES(zero), BYTES(zero));
		}
		k->event[at] = saved;
	}
	/* all ones is a separator like all zeros */
	for (uint32_t pcr = 0; pcr < 8; pcr++) {
		size_t at = kit_find(k, pcr, EV_SEPARATOR, 0);

		memcpy(k->event[at].data, ones, 4);
		memcpy(k->event[at].hashed, ones, 4);
	}
	relearn();
	judge();
	assert_admitted(a);
}

static void test_digest_of_data(void **state)
{
	static const uint32_t types[] = {
		EV_EFI_ACTION, EV_ACTION, EV_OMIT_BOOT_DEVICE_EVENTS,
		EV_EFI_VARIABLE_DRIVER_CONFIG, EV_EFI_VARIABLE_BOOT, EV_EFI_VARIABLE_BOOT2,
		EV_EFI_VARIABLE_AUTHORITY, EV_EFI_GPT_EVENT, EV_EFI_HCRTM_EVENT,
		EV_EFI_SPDM_FIRMWARE_BLOB, EV_EFI_SPDM_FIRMWARE_CONFIG,
		EV_EFI_SPDM_DEVICE_POLICY, EV_EFI_SPDM_DEVICE_AUTHORITY,
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(types); i++) {
		kit_opaque(k, 2, types[i], "what it says", "what was hashed");
		judge();
		assert_refused(a, R_LOG_DIGEST_DATA);
		kit_drop(k, k->count - 1);
	}
}

/* ---- findings --------------------------------------------------------------------- */

static void test_findings_overflow(void **state)
{
	struct explanation *e = calloc(1, sizeof *e);
	struct finding f = finding_make(R_QUOTE_CLOCK, SEVERITY_INFO, "tpm");

	(void)state;
	assert_int_equal(explanation_worst(e), SEVERITY_INFO);
	assert_ok(explanation_refusal(e));
	for (size_t i = 0; i < FINDINGS_MAX + 5; i++)
		explain(e, &f);
	assert_int_equal(e->count, FINDINGS_MAX);
	assert_int_equal(e->dropped, 5);
	/* the one that matters comes last, and is not lost */
	f.severity = SEVERITY_REFUSE;
	f.reason = R_POLICY_VARIANT;
	explain(e, &f);
	assert_int_equal(explanation_worst(e), SEVERITY_REFUSE);
	assert_reason(R_POLICY_VARIANT, explanation_refusal(e));
	finding_text(f.observed, "a%cb\xff", '\n');
	assert_string_equal(f.observed, "a?b?");
	free(e);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_admit), TEST(test_every_bank), TEST(test_stage), TEST(test_replay),
		TEST(test_not_extended), TEST(test_log_full), TEST(test_locality),
		TEST(test_bad_logs), TEST(test_legacy), TEST(test_banks),
		TEST(test_empty_bank), TEST(test_gate_log_bank), TEST(test_gate_state),
		TEST(test_registers), TEST(test_gate_replay), TEST(test_separators),
		TEST(test_digest_of_data), TEST(test_findings_overflow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
