/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Continuity: the machine still runs what was admitted. Registers 0 to 7 are
 * those of the receipt, 8 and 14 are those of the receipt and then the cap,
 * which nobody can take away without a reset.
 */
#include "appraise/appraise.h"

#include <stdio.h>
#include <string.h>

#include "appraise/judge.h"
#include "base/cleanup.h"
#include "format/facts.h"

/* Digests of the cap event in the banks of these values. */
static enum reason cap_digests(const struct pcr_values *v, uint32_t pcr,
			       struct pcr_digests *ret)
{
	struct eventlog_writer w;
	uint16_t bank[LIMIT_BANKS];
	size_t count = 0;
	enum reason r;

	for (size_t i = 0; i < v->count; i++)
		if (v->bank[i].present)
			bank[count++] = v->bank[i].alg;
	TRY(eventlog_writer_begin(bank, count, LIMIT_GATE_LOG, &w));
	r = fact_write_cap(&w, pcr, R_OK, ret);
	eventlog_writer_free(&w);
	return r;
}

static enum reason check_capped(const struct pcr_values *now, const struct pcr_values *receipt,
				uint32_t pcr)
{
	struct pcr_digests cap;

	TRY(cap_digests(receipt, pcr, &cap));
	for (size_t i = 0; i < cap.count; i++) {
		uint16_t alg = cap.bank[i].alg;
		struct bytes before = pcr_value(receipt, alg, pcr);
		uint8_t value[DIGEST_MAX];

		if (before.n != digest_len(alg))
			return R_QUOTE_GATE_STATE;
		memcpy(value, before.p, before.n);
		TRY(pcr_extend(alg, value, bytes_of(cap.bank[i].value, digest_len(alg))));
		if (!bytes_equal(pcr_value(now, alg, pcr), bytes_of(value, digest_len(alg))))
			return R_QUOTE_GATE_STATE;
	}
	return R_OK;
}

static enum reason check_firmware(const struct pcr_values *now, const struct pcr_values *receipt)
{
	if (now->count != receipt->count)
		return R_QUOTE_GATE_STATE;
	for (size_t i = 0; i < receipt->count; i++) {
		uint16_t alg = receipt->bank[i].alg;

		for (uint32_t pcr = 0; pcr < PCR_FACTS; pcr++)
			if (!bytes_equal(pcr_value(now, alg, pcr), pcr_value(receipt, alg, pcr)))
				return R_QUOTE_GATE_STATE;
	}
	return R_OK;
}

enum reason continuity_check(struct bytes evidence, const struct continuity_expected *x,
			     struct quote_checked *ret)
{
	const struct pcr_values *now = &ret->claims.values;

	TRY(quote_check(evidence, QUOTE_CONTINUITY, &x->session, ret));
	if (x->session.stage != STAGE_HOST)
		return R_SESSION_STAGE;
	/* The result that follows is for the holder of this key. */
	if (!ret->claims.has_cnf)
		return R_FORMAT_MISSING_KEY;
	if (ret->attest.reset_count != x->reset_count ||
	    ret->attest.restart_count != x->restart_count)
		return R_QUOTE_CLOCK;
	TRY(check_firmware(now, x->receipt_values));
	TRY(check_capped(now, x->receipt_values, PCR_FACTS));
	return check_capped(now, x->receipt_values, PCR_DECISION);
}

void continuity_appraise(const struct quote_checked *q, struct appraisal *ret)
{
	static const struct {
		const char *name;
		enum ar4si claim;
		int8_t value;
	} submods[] = {
		{ "tpm", AR4SI_INSTANCE_IDENTITY, 2 },	/* known */
		{ "gate", AR4SI_EXECUTABLES, 3 },	/* approved at boot */
	};

	memset(ret, 0, sizeof *ret);
	for (size_t i = 0; i < ARRAY_LEN(submods); i++) {
		struct verdict_submod *s = &ret->submod[ret->submod_count++];

		snprintf(s->name, sizeof s->name, "%s", submods[i].name);
		s->vector[submods[i].claim] = submods[i].value;
		s->status = EAR_AFFIRMING;
	}
	ret->status = EAR_AFFIRMING;
	ret->directive = DIRECTIVE_ADMIT;
	ret->record.clock = clock_of_attest(&q->attest);
}
