/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The receipt: the state at attest, plus the six events of the decision that
 * the verdict stands for, and nothing else yet.
 */
#include "appraise/appraise.h"

#include <stdlib.h>
#include <string.h>

#include "appraise/findings.h"
#include "appraise/quote.h"
#include "appraise/semantics.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "format/facts.h"
#include "format/handover.h"
#include "format/manifest.h"

#define HEX_LEN (2u * SHA256_LEN)

struct work {
	struct receipt receipt;
	struct facts facts;
	struct claims claims;		/* of attest, for the hand-over */
	struct verdict verdict;
	struct manifest manifest;
};

static enum reason refuse(struct explanation *e, enum reason r, uint32_t pcr,
			  const char *observed, const char *expected)
{
	struct finding f = finding_make(r, SEVERITY_REFUSE, "gate");

	f.gate_log = true;
	f.pcr = pcr;
	finding_text(f.observed, "%s", observed);
	finding_text(f.expected, "%s", expected);
	explain(e, &f);
	return r;
}

/* The quote, bound to the verdict, by the key and over the registers of attest. */
static enum reason check_quote(const struct evidence *ev, const struct receipt_expected *x,
			       struct work *w, struct tpm_attest *ret)
{
	const struct quote_expected q = {
		.domain = QUOTE_RECEIPT,
		.ak_public = x->ak_public,
		.ak_name = x->session.ak_name,
		.bound = x->verdict_digest,
		.selection = &x->session.selection,
	};

	TRY(receipt_read(ev->claims, &w->receipt));
	if (memcmp(w->receipt.verdict_digest, x->verdict_digest, SHA256_LEN) != 0)
		return R_RECEIPT_UNKNOWN;
	if (memcmp(w->receipt.ak_name, x->session.ak_name, AK_NAME_LEN) != 0)
		return R_QUOTE_SIGNER;
	return quote_statement_check(ev, &w->receipt.values, &q, ret);
}

/* Everything but register 14 is as it was. */
static enum reason check_unchanged(const struct pcr_values *now, const struct pcr_values *then,
				   struct explanation *e)
{
	if (now->count != then->count)
		return refuse(e, R_QUOTE_GATE_STATE, 0, "other banks", "the banks of attest");
	for (size_t i = 0; i < now->count; i++) {
		uint16_t alg = now->bank[i].alg;
		char text[FINDING_TEXT_MAX];

		for (uint32_t pcr = 0; pcr < PCR_COUNT; pcr++) {
			if (pcr == PCR_DECISION ||
			    bytes_equal(pcr_value(now, alg, pcr), pcr_value(then, alg, pcr)))
				continue;
			finding_text(text, "register %u of bank %s changed", pcr,
				     digest_name(alg));
			return refuse(e, R_QUOTE_GATE_STATE, pcr, text, "its value at attest");
		}
	}
	return R_OK;
}

static enum reason check_log(struct work *w, struct explanation *e)
{
	static const uint32_t registers[] = { PCR_FACTS, PCR_DECISION };
	enum reason r = facts_read(w->receipt.gate_log, &w->facts);

	if (r != R_OK)
		return refuse(e, r, 0, "the gate log cannot be read", "a log of the gate");
	for (size_t i = 0; i < w->receipt.values.count; i++) {
		uint16_t alg = w->receipt.values.bank[i].alg;

		if (w->receipt.values.bank[i].present == 0)
			continue;
		for (size_t k = 0; k < ARRAY_LEN(registers); k++) {
			uint32_t pcr = registers[k];
			struct bytes logged = pcr_value(&w->facts.replay.values, alg, pcr);

			if (logged.n == 0)
				return refuse(e, R_LOG_BANK_MISSING, pcr, "a bank is not logged",
					      "every active bank");
			if (!bytes_equal(logged, pcr_value(&w->receipt.values, alg, pcr)))
				return refuse(e, R_LOG_REPLAY, pcr,
					      "the gate log leads to another value",
					      "the quoted value");
		}
	}
	if (w->facts.facts != FACT_STATE_COMPLETE)
		return refuse(e, R_QUOTE_GATE_STATE, PCR_FACTS, "register 8 is not as at attest",
			      "all facts and no cap");
	if (w->facts.decision != FACT_STATE_COMPLETE)
		return refuse(e, R_QUOTE_GATE_STATE, PCR_DECISION,
			      "register 14 does not hold the decision alone",
			      "the six events of the decision and no cap");
	return R_OK;
}

/* The fact holds this digest in hexadecimal; without one, any digest. */
static enum reason check_fact(const struct facts *facts, enum fact fact, const uint8_t *digest,
			      struct explanation *e)
{
	char want[HEX_LEN + 1] = "a SHA-256 digest";
	struct bytes is = facts->value[fact];
	uint8_t decoded[SHA256_LEN];
	char text[FINDING_TEXT_MAX];

	if (digest)
		hex_encode(bytes_of(digest, SHA256_LEN), want);
	if (digest ? bytes_equal(is, bytes_str(want))
		   : hex_decode(is, decoded, SHA256_LEN) == R_OK)
		return R_OK;
	finding_text(text, "%s is %.*s", fact_name(fact),
		     (int)(is.n < FINDING_TEXT_MAX ? is.n : FINDING_TEXT_MAX), (const char *)is.p);
	return refuse(e, R_RECEIPT_LOG, PCR_DECISION, text, want);
}

static const char *parameter(void *ctx, const char *name)
{
	const struct verdict *v = ctx;

	for (size_t i = 0; i < v->parameter_count; i++)
		if (strcmp(v->parameter[i].name, name) == 0)
			return v->parameter[i].value;
	return NULL;
}

/* The command line that manifest and verdict make together. */
static enum reason cmdline_digest(const struct receipt_expected *x, struct work *w,
				  uint8_t ret[SHA256_LEN])
{
	_cleanup_free_ char *line = calloc(1, LIMIT_CMDLINE);
	struct bytes payload;

	if (!line)
		return R_INTERNAL_MEMORY;
	TRY(cose_payload(x->verdict, &payload));
	TRY(verdict_read(payload, &w->verdict));
	TRY(cose_payload(x->manifest, &payload));
	TRY(manifest_read(payload, &w->manifest));
	TRY(manifest_cmdline(&w->manifest, parameter, &w->verdict, line));
	return sha256(bytes_str(line), ret);
}

/* The gate log up to its hand-over event, which is the last one. */
static enum reason log_before_handover(struct bytes log, struct bytes *ret)
{
	struct eventlog in;
	struct event event;
	size_t last = 0;
	enum reason r;

	TRY(eventlog_open(log, &in));
	while ((r = eventlog_next(&in, &event)) == R_OK)
		last = event.offset;
	*ret = bytes_of(log.p, last);
	return r == R_LOG_END ? R_OK : r;
}

/* The archive, made again from what it was made of. */
static enum reason handover_digest(const struct receipt_expected *x, struct work *w,
				   uint8_t ret[SHA256_LEN])
{
	_cleanup_(blob_free) struct blob archive = BLOB(LIMIT_HANDOVER);
	struct handover h = { .evidence = x->evidence, .verdict = x->verdict,
			      .manifest = x->manifest };
	struct evidence ev;

	TRY(evidence_read(x->evidence, &ev));
	TRY(claims_read(ev.claims, &w->claims));
	h.firmware_log = w->claims.firmware_log;
	h.report = w->claims.report;
	TRY(log_before_handover(w->receipt.gate_log, &h.gate_log));
	TRY(handover_write(&h, &archive));
	return sha256(blob_bytes(&archive), ret);
}

static enum reason check_decision(const struct receipt_expected *x, struct work *w,
				  struct explanation *e)
{
	bool at_hand = x->evidence.n > 0;
	uint8_t cmdline[SHA256_LEN];
	uint8_t archive[SHA256_LEN];

	TRY(check_fact(&w->facts, FACT_VERDICT, x->verdict_digest, e));
	TRY(check_fact(&w->facts, FACT_MANIFEST, x->manifest_digest, e));
	TRY(check_fact(&w->facts, FACT_KERNEL, x->image.kernel, e));
	TRY(check_fact(&w->facts, FACT_INITRD, x->image.initrd, e));
	if (at_hand) {
		TRY(cmdline_digest(x, w, cmdline));
		TRY(handover_digest(x, w, archive));
	}
	TRY(check_fact(&w->facts, FACT_CMDLINE, at_hand ? cmdline : NULL, e));
	return check_fact(&w->facts, FACT_HANDOVER, at_hand ? archive : NULL, e);
}

static enum reason check(struct bytes evidence, const struct receipt_expected *x,
			 struct work *w, struct explanation *e)
{
	struct evidence ev;
	struct tpm_attest a;
	enum reason r;

	if (evidence.n > LIMIT_RECEIPT)
		return refuse(e, R_FORMAT_TOO_LARGE, 0, "the receipt is too large", "a receipt");
	r = evidence_read(evidence, &ev);
	if (r == R_OK)
		r = check_quote(&ev, x, w, &a);
	if (r != R_OK)
		return refuse(e, r, 0, reason_sentence(r), "a quote for this verdict");
	if (a.reset_count != x->reset_count || a.restart_count != x->restart_count)
		return refuse(e, R_QUOTE_CLOCK, 0, "the TPM was reset since attest",
			      "the counters of attest");
	TRY(check_unchanged(&w->receipt.values, x->values, e));
	TRY(check_log(w, e));
	return check_decision(x, w, e);
}

enum reason receipt_check(struct bytes evidence, const struct receipt_expected *x,
			  struct explanation *ret, struct pcr_values *ret_values)
{
	_cleanup_free_ struct work *w = calloc(1, sizeof *w);
	enum reason r;

	if (!w)
		return R_INTERNAL_MEMORY;
	memset(ret, 0, sizeof *ret);
	r = check(evidence, x, w, ret);
	if (r == R_OK && ret_values)
		*ret_values = w->receipt.values;
	return r;
}
