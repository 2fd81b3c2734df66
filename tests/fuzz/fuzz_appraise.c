/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Appraisal as a whole, behind a quote that is taken to be true: the input is
 * evidence claims, judged against references learned from the first seed, and
 * learned from. The registers are made to fit the logs, so that what comes
 * after replay is reached.
 */
#include "fuzz.h"

#include "appraise/appraise.h"
#include "format/eventlog.h"
#include "format/facts.h"

static struct quote_checked *q;
static struct appraisal *a;
static struct reference_set refs;
static struct blob refs_bytes;
static struct policy policy;

#define SELECTED 0x0000fbffu

/* Registers of one bank that the logs lead to. */
static void fit(uint16_t alg)
{
	static struct eventlog_replay firmware, gate;

	if (eventlog_replay(q->claims.firmware_log, &firmware) != R_OK)
		memset(&firmware, 0, sizeof firmware);
	if (eventlog_replay(q->claims.gate_log, &gate) != R_OK)
		memset(&gate, 0, sizeof gate);
	for (uint32_t pcr = 0; pcr < 16; pcr++) {
		bool own = pcr == PCR_FACTS || pcr == PCR_DECISION;
		struct bytes v = pcr_value(own ? &gate.values : &firmware.values, alg, pcr);

		if ((SELECTED & PCR_MASK(pcr)) && v.n > 0)
			must(pcr_values_set(&q->claims.values, alg, pcr, v.p) == R_OK);
	}
}

static void start(void)
{
	q = calloc(1, sizeof *q);
	a = calloc(1, sizeof *a);
	must(q && a);
	policy_default(&policy);
	policy.fact_count = 1;
	policy.fact[0] = (struct fact_rule){ .fact = "check", .kind = FACT_MINIMUM,
					     .value_count = 1, .value = { "1.2" } };
	refs_bytes = BLOB(LIMIT_REFERENCE_SET);
}

/* What judging must give whatever it was given. */
static void check_result(void)
{
	_cleanup_(blob_free) struct blob b = BLOB(LIMIT_EXPLANATION);
	_cleanup_(blob_free) struct blob w = BLOB(LIMIT_VERDICT);
	static struct verdict v;
	struct session s = { .stage = STAGE_GATE };
	struct verdict_context x = { .session = &s, .quote = q, .appraisal = a, .policy = &policy,
				     .has_manifest = true, .node = "n", .basis = "b", .now = 1 };

	must(explanation_write(&a->explanation, &b) == R_OK);
	must(verdict_build(&x, &v) == R_OK);
	must(verdict_write(&v, &w) == R_OK);
	if (a->directive == DIRECTIVE_ADMIT)
		must(a->explanation.match_count > 0 && a->status < EAR_CONTRAINDICATED);
}

static void learn(void)
{
	struct reference_set set;
	struct reference_set again;
	enum reason r = component_learn(q, "fuzzer", &policy, &set);

	if (r != R_OK)
		return;
	if (refs.count == 0) {
		must(reference_set_write(&set, &refs_bytes) == R_OK);
		must(reference_set_read(blob_bytes(&refs_bytes), &again) == R_OK);
		for (size_t i = 0; i < again.count; i++)
			again.variant[i].state = VARIANT_ACTIVE;
		refs = again;
	}
	reference_set_free(&set);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint16_t bank[] = { ALG_SHA1, ALG_SHA256, ALG_SHA384 };
	const struct session s = { .stage = STAGE_GATE };
	const struct node_record none = { 0 };

	if (!q)
		start();
	memset(q, 0, sizeof *q);
	if (claims_read(bytes_of(data, size), &q->claims) != R_OK)
		return 0;
	memset(&q->claims.values, 0, sizeof q->claims.values);
	for (size_t i = 0; i < ARRAY_LEN(bank); i++)
		fit(bank[i]);
	for (size_t i = 0; i < q->claims.values.count; i++)
		must(pcr_selection_add(&q->attest.selection, q->claims.values.bank[i].alg,
				       q->claims.values.bank[i].present) == R_OK);
	if (q->claims.values.count == 0)
		must(pcr_selection_add(&q->attest.selection, ALG_SHA256, SELECTED) == R_OK);
	must(appraise(q, &s, &none, &refs, &policy, NULL, a) == R_OK);
	check_result();
	learn();
	return 0;
}
