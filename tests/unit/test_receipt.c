/* SPDX-License-Identifier: Apache-2.0 */
/* Receipt and continuity: the second and third quote, each with its one state. */
#include "evidence_kit.h"

#include "appraise/findings.h"
#include "format/handover.h"
#include "format/manifest.h"

static struct kit *k;
static struct receipt_expected x;
static struct pcr_values attest, receipt;
static struct explanation *e;

static void expect_digest(uint8_t *to, const char *hex)
{
	assert_ok(hex_decode(bytes_str(hex), to, SHA256_LEN));
}

static int setup(void **state)
{
	(void)state;
	k = kit_new();
	e = calloc(1, sizeof *e);
	kit_make(k);
	attest = k->pcr;
	x = (struct receipt_expected){ .session = k->session, .values = &attest,
				       .reset_count = 7 };
	expect_digest(x.verdict_digest, k->decision_hex[0]);
	expect_digest(x.manifest_digest, k->decision_hex[1]);
	expect_digest(x.image.kernel, k->decision_hex[2]);
	expect_digest(x.image.initrd, k->decision_hex[3]);
	x.ak_public = bytes_of(k->ak_public, k->ak_public_n);
	memcpy(k->verdict_digest, x.verdict_digest, SHA256_LEN);
	k->decision = true;
	k->receipt = true;
	k->domain = QUOTE_RECEIPT;
	kit_make(k);
	return e ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	kit_free(&k);
	free(e);
	return 0;
}

static enum reason check(void)
{
	enum reason r = receipt_check(blob_bytes(&k->evidence), &x, e, &receipt);

	/* a refusal is always told as well */
	assert_reason(r, explanation_refusal(e));
	return r;
}

static enum reason make_and_check(void)
{
	kit_make(k);
	return check();
}

static void test_good(void **state)
{
	(void)state;
	assert_ok(check());
	assert_true(pcr_values_equal(&receipt, &k->pcr));
	/* the same bytes once more are as good */
	assert_ok(check());
}

static void test_binding(void **state)
{
	(void)state;
	k->evidence.p[k->evidence.n - 1] ^= 1;
	assert_reason(R_QUOTE_SIGNATURE, check());
	k->evidence.p[k->evidence.n - 1] ^= 1;
	x.verdict_digest[0] ^= 1;
	assert_reason(R_RECEIPT_UNKNOWN, check());
	x.verdict_digest[0] ^= 1;
	x.session.ak_name[9] ^= 1;
	assert_reason(R_QUOTE_SIGNER, check());
	x.session.ak_name[9] ^= 1;
	/* an attest quote is no receipt */
	k->domain = QUOTE_EVIDENCE;
	assert_reason(R_QUOTE_NONCE, make_and_check());
	k->domain = QUOTE_RECEIPT;
	k->receipt = false;
	kit_make(k);
	assert_true(check() != R_OK);
	k->receipt = true;
	/* another selection than at attest */
	x.session.selection.bank[0].mask &= ~PCR_MASK(3);
	assert_reason(R_QUOTE_SELECTION, make_and_check());
}

static void test_garbage(void **state)
{
	uint8_t *big = calloc(1, LIMIT_RECEIPT + 1);

	(void)state;
	assert_reason(R_FORMAT_TOO_LARGE,
		      receipt_check(bytes_of(big, LIMIT_RECEIPT + 1), &x, e, NULL));
	assert_reason(R_FORMAT_TYPE, receipt_check(bytes_str("\x01"), &x, e, NULL));
	free(big);
}

static void test_counters(void **state)
{
	(void)state;
	x.reset_count = 8;
	assert_reason(R_QUOTE_CLOCK, check());
	x.reset_count = 7;
	x.restart_count = 1;
	assert_reason(R_QUOTE_CLOCK, check());
}

/* Everything but register 14 is as at attest. */
static void test_unchanged(void **state)
{
	(void)state;
	for (uint32_t pcr = 0; pcr < 16; pcr++) {
		if (!(KIT_SELECTED & PCR_MASK(pcr)) || pcr == PCR_DECISION)
			continue;
		attest.bank[0].value[pcr][4] ^= 1;
		assert_reason(R_QUOTE_GATE_STATE, check());
		attest.bank[0].value[pcr][4] ^= 1;
	}
	attest.count = 0;
	assert_reason(R_QUOTE_GATE_STATE, check());
	attest.count = 1;
	assert_ok(check());
}

static void test_states(void **state)
{
	(void)state;
	k->cap_decision = true;
	assert_reason(R_QUOTE_GATE_STATE, make_and_check());
	k->cap_decision = false;
	k->decision = false;
	assert_reason(R_QUOTE_GATE_STATE, make_and_check());
	k->decision = true;
	k->foreign_pcr = 4;
	kit_make(k);
	attest = k->pcr;
	assert_reason(R_LOG_FOREIGN_REGISTER, check());
}

/* The log says one thing, the register another. */
static void test_replay(void **state)
{
	struct pcr_values values;

	(void)state;
	values = k->pcr;
	k->decision_hex[4] = k->decision_hex[5];
	kit_boot_gate(k);
	k->pcr = values;
	k->receipt_claims.gate_log = blob_bytes(&k->gate_log);
	kit_seal(k);
	assert_reason(R_LOG_REPLAY, check());
}

static void test_bank_missing(void **state)
{
	static const uint16_t two[] = { ALG_SHA256, ALG_SHA384 };
	struct blob log = BLOB(LIMIT_GATE_LOG);

	(void)state;
	kit_make(k);
	assert_ok(blob_append(&log, k->gate_log.p, k->gate_log.n));
	kit_banks(k, 2, two);
	kit_make(k);
	attest = k->pcr;
	k->receipt_claims.gate_log = blob_bytes(&log);
	kit_seal(k);
	assert_reason(R_LOG_BANK_MISSING, check());
	blob_free(&log);
}

static void test_decision(void **state)
{
	(void)state;
	for (size_t i = 0; i < 6; i++) {
		const char *was = k->decision_hex[i];

		k->decision_hex[i] = "no digest";
		assert_reason(R_RECEIPT_LOG, make_and_check());
		k->decision_hex[i] = k->decision_hex[(i + 1) % 6];
		/* of the last two only the form can be checked */
		assert_reason(i < 4 ? R_RECEIPT_LOG : R_OK, make_and_check());
		k->decision_hex[i] = was;
	}
	assert_ok(make_and_check());
}

/* ---- with the bytes at hand: command line and hand-over are computed again ---- */

static struct private_key *signer;

static enum reason sign(void *ctx, const uint8_t digest[SHA256_LEN], uint8_t ret[ES256_LEN])
{
	(void)ctx;
	return es256_sign(signer, digest, ret);
}

struct made {
	struct blob evidence, verdict, manifest, archive;
	char hex[6][2 * SHA256_LEN + 1];
};

static void to_hex(struct bytes in, char *hex, uint8_t digest[SHA256_LEN])
{
	assert_ok(sha256(in, digest));
	hex_encode(bytes_of(digest, SHA256_LEN), hex);
}

/* What gate and server make between attest and receipt. */
static void make_boot(struct made *m)
{
	const struct cose_signer s = { .sign = sign };
	_cleanup_(blob_free) struct blob payload = BLOB(LIMIT_VERDICT);
	struct verdict *v = calloc(1, sizeof *v);
	struct manifest *w = calloc(1, sizeof *w);
	struct handover h = { 0 };
	struct eventlog in;
	struct event event;
	uint8_t digest[SHA256_LEN];
	size_t end = 0;

	assert_ok(private_key_make(&signer));
	*m = (struct made){ BLOB(LIMIT_EVIDENCE), BLOB(LIMIT_VERDICT), BLOB(LIMIT_MANIFEST),
			    BLOB(LIMIT_HANDOVER), { "" } };
	k->decision = k->receipt = false;
	k->domain = QUOTE_EVIDENCE;
	kit_make(k);
	attest = k->pcr;
	assert_ok(blob_append(&m->evidence, k->evidence.p, k->evidence.n));

	snprintf(w->line, sizeof w->line, "lab");
	snprintf(w->version, sizeof w->version, "1");
	snprintf(w->cmdline, sizeof w->cmdline, "quiet token=%%{token}");
	w->kernel.size = w->initrd.size = 1;
	w->parameter_count = 1;
	snprintf(w->parameter[0].name, 32, "token");
	w->parameter[0].type = PARAMETER_HEX;
	w->parameter[0].bound = 4;
	assert_ok(manifest_write(w, &payload));
	assert_ok(cose_sign_write(blob_bytes(&payload), COSE_AAD_MANIFEST, &s, 1, &m->manifest));

	blob_reset(&payload);
	v->lifetime = 60;
	v->issued_at = 1;
	v->directive = DIRECTIVE_ADMIT;
	v->has_manifest = true;
	v->status = EAR_AFFIRMING;
	v->submod_count = 1;
	snprintf(v->submod[0].name, sizeof v->submod[0].name, "tpm");
	v->submod[0].status = EAR_AFFIRMING;
	v->submod[0].vector[0] = 2;
	v->parameter_count = 1;
	snprintf(v->parameter[0].name, sizeof v->parameter[0].name, "token");
	snprintf(v->parameter[0].value, sizeof v->parameter[0].value, "00ff");
	snprintf(v->policy, sizeof v->policy, "default");
	snprintf(v->node, sizeof v->node, "node");
	snprintf(v->basis, sizeof v->basis, "list");
	assert_ok(verdict_write(v, &payload));
	assert_ok(cose_sign1_write(blob_bytes(&payload), COSE_AAD_VERDICT, &s, &m->verdict));
	free(v);
	free(w);

	to_hex(blob_bytes(&m->verdict), m->hex[0], x.verdict_digest);
	to_hex(blob_bytes(&m->manifest), m->hex[1], x.manifest_digest);
	to_hex(bytes_str("kernel"), m->hex[2], x.image.kernel);
	to_hex(bytes_str("initrd"), m->hex[3], x.image.initrd);
	to_hex(bytes_str("quiet token=00ff"), m->hex[4], digest);
	for (size_t i = 0; i < 5; i++)
		k->decision_hex[i] = m->hex[i];
	memcpy(k->verdict_digest, x.verdict_digest, SHA256_LEN);

	k->decision = k->receipt = true;
	k->domain = QUOTE_RECEIPT;
	kit_make(k);
	assert_ok(eventlog_open(blob_bytes(&k->gate_log), &in));
	while (eventlog_next(&in, &event) == R_OK)
		end = event.offset;
	h = (struct handover){ blob_bytes(&k->firmware_log), bytes_of(k->gate_log.p, end),
			       blob_bytes(&m->evidence), blob_bytes(&m->verdict),
			       blob_bytes(&m->manifest), blob_bytes(&k->report) };
	assert_ok(handover_write(&h, &m->archive));
	to_hex(blob_bytes(&m->archive), m->hex[5], digest);
	k->decision_hex[5] = m->hex[5];
	x.evidence = blob_bytes(&m->evidence);
	x.verdict = blob_bytes(&m->verdict);
	x.manifest = blob_bytes(&m->manifest);
	kit_make(k);
}

static void free_boot(struct made *m)
{
	blob_free(&m->evidence);
	blob_free(&m->verdict);
	blob_free(&m->manifest);
	blob_free(&m->archive);
	private_key_free(&signer);
}

static void test_rebuilt(void **state)
{
	struct made m;

	(void)state;
	make_boot(&m);
	assert_ok(check());
	for (size_t i = 4; i < 6; i++) {
		k->decision_hex[i] = m.hex[0];
		assert_reason(R_RECEIPT_LOG, make_and_check());
		k->decision_hex[i] = m.hex[i];
	}
	assert_ok(make_and_check());
	free_boot(&m);
}

/* ---- continuity ------------------------------------------------------------------ */

static struct quote_checked *q;
static struct continuity_expected c;

static enum reason continued(void)
{
	kit_make(k);
	return continuity_check(blob_bytes(&k->evidence), &c, q);
}

static void test_continuity(void **state)
{
	struct appraisal *a = calloc(1, sizeof *a);

	(void)state;
	q = calloc(1, sizeof *q);
	assert_ok(check());
	k->receipt = false;
	k->domain = QUOTE_CONTINUITY;
	k->session.stage = STAGE_HOST;
	memset(k->session.nonce, 0x77, NONCE_LEN);
	k->has_cnf = true;
	k->cap_facts = k->cap_decision = true;
	c = (struct continuity_expected){ k->session, &receipt, 7, 0 };
	/* the order of caps: both registers, as the gate does it */
	k->decision = true;
	{
		/* facts, decision, then the two caps */
		struct eventlog_writer w;
		struct pcr_digests d;

		k->cap_facts = k->cap_decision = false;
		kit_make(k);
		assert_ok(eventlog_writer_begin(k->bank, 1, LIMIT_GATE_LOG, &w));
		assert_ok(fact_write_cap(&w, PCR_FACTS, R_OK, &d));
		kit_extend(k, PCR_FACTS, &d);
		assert_ok(fact_write_cap(&w, PCR_DECISION, R_OK, &d));
		kit_extend(k, PCR_DECISION, &d);
		eventlog_writer_free(&w);
		k->claims.values = k->pcr;
		kit_seal(k);
	}
	assert_ok(continuity_check(blob_bytes(&k->evidence), &c, q));
	continuity_appraise(q, a);
	assert_int_equal(a->directive, DIRECTIVE_ADMIT);
	assert_int_equal(a->submod_count, 2);
	free(a);

	/* registers of firmware, and the caps; what the host does later is its own */
	for (uint32_t pcr = 0; pcr < 16; pcr++) {
		bool counts = pcr <= 8 || pcr == 14;

		if (!(KIT_SELECTED & PCR_MASK(pcr)))
			continue;
		k->pcr.bank[0].value[pcr][0] ^= 1;
		k->claims.values = k->pcr;
		kit_seal(k);
		assert_reason(counts ? R_QUOTE_GATE_STATE : R_OK,
			      continuity_check(blob_bytes(&k->evidence), &c, q));
		k->pcr.bank[0].value[pcr][0] ^= 1;
	}
	k->claims.values = k->pcr;
	kit_seal(k);
	c.reset_count = 8;
	assert_reason(R_QUOTE_CLOCK, continuity_check(blob_bytes(&k->evidence), &c, q));
	c.reset_count = 7;
	k->claims.has_cnf = false;
	kit_seal(k);
	assert_reason(R_FORMAT_MISSING_KEY, continuity_check(blob_bytes(&k->evidence), &c, q));
	/* no cap: the state of the receipt is none of continuity */
	k->has_cnf = true;
	assert_reason(R_QUOTE_GATE_STATE, continued());
	/* the stage of the gate */
	k->session.stage = c.session.stage = STAGE_GATE;
	assert_reason(R_SESSION_STAGE, continued());
	k->session.stage = c.session.stage = STAGE_HOST;
	receipt.count = 2;
	assert_reason(R_QUOTE_GATE_STATE, continued());
	free(q);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_good),     TEST(test_binding), TEST(test_garbage),
		TEST(test_counters), TEST(test_unchanged), TEST(test_states),
		TEST(test_replay),   TEST(test_bank_missing), TEST(test_decision),
		TEST(test_rebuilt),  TEST(test_continuity),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
