/* SPDX-License-Identifier: Apache-2.0 */
/* Steps 7 to 10: quote, evidence, verdict. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "crypto/random.h"
#include "format/evidence.h"
#include "gate/gate.h"
#include "gate/verdict_check.h"

static enum reason write_claims(struct gate *g, const struct pcr_values *values,
				struct blob *ret)
{
	_cleanup_free_ struct claims *m = calloc(1, sizeof(*m));
	struct attempt *a = &g->attempt;

	if (!m)
		return R_INTERNAL_MEMORY;
	TRY(random_bytes(a->nonce, NONCE_LEN));
	m->stage = STAGE_GATE;
	m->token = bytes_of(a->challenge.token, a->challenge.token_len);
	memcpy(m->nonce, a->nonce, NONCE_LEN);
	m->ak_public = bytes_of(g->ak.public_area, g->ak.public_len);
	m->ek_digest_count = g->ek_digest_count;
	memcpy(m->ek_digest, g->ek_digest, sizeof(m->ek_digest));
	m->firmware_log = blob_bytes(&g->firmware_log);
	m->gate_log = blob_bytes(&g->measure.log);
	m->values = *values;
	m->report = blob_bytes(&g->report);
	m->enrol_token = blob_bytes(&a->enrol_token);
	m->proof_count = a->proof_count;
	for (size_t i = 0; i < a->proof_count; i++) {
		m->proof[i].ek_name = bytes_of(a->proof_name[i], a->proof_name_len[i]);
		memcpy(m->proof[i].proof, a->proof[i], SHA256_LEN);
	}
	return claims_write(m, ret);
}

static enum reason quote_once(struct gate *g, const struct quoted *q,
			      const struct pcr_selection *sel, struct blob *ret)
{
	_cleanup_(blob_free) struct blob claims = BLOB(LIMIT_CLAIMS);
	_cleanup_(blob_free) struct blob attest = BLOB(LIMIT_TPM_ATTEST);
	_cleanup_(blob_free) struct blob signature = BLOB(LIMIT_TPM_SIGNATURE);
	uint8_t qualifying[SHA256_LEN];
	struct pcr_values values;
	struct evidence m;

	TRY(tpm_pcr_read(g->tpm, sel, &values));
	TRY(q->claims(g, &values, &claims));
	TRY(quote_qualifying(q->domain, q->bound, blob_bytes(&claims), qualifying));
	TRY(tpm_quote(g->tpm, &g->ak, sel, BYTES(qualifying), &attest, &signature));
	TRY(tpm_quote_covers(blob_bytes(&attest), ALG_SHA256, &values));
	m.claims = blob_bytes(&claims);
	m.quote = blob_bytes(&attest);
	m.signature = blob_bytes(&signature);
	return evidence_write(&m, ret);
}

enum reason gate_quote(struct gate *g, const struct quoted *q, struct blob *ret)
{
	struct pcr_selection sel;
	enum reason r = R_QUOTE_DIGEST;

	TRY(gate_selection(g, &sel));
	for (unsigned i = 0; i < TPM_QUOTE_TRIES && r == R_QUOTE_DIGEST; i++)
		r = quote_once(g, q, &sel, ret);
	return r;
}

static enum reason make_evidence(struct gate *g)
{
	struct attempt *a = &g->attempt;
	const struct quoted q = { QUOTE_EVIDENCE, a->challenge.nonce, write_claims };

	gate_step(g, "quote");
	return gate_quote(g, &q, &a->evidence);
}

static enum reason take_verdict(struct gate *g)
{
	struct attempt *a = &g->attempt;
	uint8_t evidence_digest[SHA256_LEN];
	struct verdict_expected expected = {
		.keys = &g->config.verdict_keys,
		.nonce = a->nonce,
		.ak_name = g->ak.name,
		.evidence_digest = evidence_digest,
	};

	TRY(sha256(blob_bytes(&a->evidence), evidence_digest));
	TRY(verdict_check(blob_bytes(&a->verdict_bytes), &expected, &a->verdict));
	g->judged = true;
	return sha256(blob_bytes(&a->verdict_bytes), a->verdict_digest);
}

static void show_times(const struct gate *g)
{
	uint64_t total = clock_boot_ms() - g->start_ms;
	uint64_t tpm = tpm_time_ms(g->tpm), net = net_wait_ms(g->net);
	uint64_t own = total > tpm + net ? total - tpm - net : 0;

	log_info("time total=%llums tpm=%llums net=%llums own=%llums",
		 (unsigned long long)total, (unsigned long long)tpm, (unsigned long long)net,
		 (unsigned long long)own);
}

static void show_verdict(struct gate *g)
{
	const struct verdict *v = &g->attempt.verdict;

	console_say(&g->console, "step verdict %s", directive_name(v->directive));
	show_times(g);
	if (v->node[0])
		log_info("node %s", v->node);
	if (v->basis[0])
		log_info("enrolled by %s", v->basis);
	if (v->policy[0])
		log_info("policy %s", v->policy);
	for (size_t i = 0; i < v->reason_count; i++)
		log_info("%s%s%s", v->reason[i].name, v->reason[i].detail[0] ? ": " : "",
			 v->reason[i].detail);
	console_flush(&g->console);
}

/* The first reason is the one that counts; the gate may not know its name. */
static enum reason verdict_reason(struct gate *g, enum reason otherwise)
{
	const struct verdict *v = &g->attempt.verdict;
	enum reason named;

	if (v->reason_count == 0)
		return otherwise;
	snprintf(g->reason_text, sizeof(g->reason_text), "%s", v->reason[0].name);
	return reason_find(v->reason[0].name, &named) && named != R_OK ? named : otherwise;
}

static enum reason obey(struct gate *g)
{
	struct attempt *a = &g->attempt;

	switch (a->verdict.directive) {
	case DIRECTIVE_ADMIT:
	case DIRECTIVE_UPDATE:
		if (gate_expired(a)) {
			a->wait = true;
			return R_VERDICT_EXPIRED;
		}
		return R_OK;
	case DIRECTIVE_HOLD:
		a->wait = true;
		a->retry_after = a->verdict.retry_after;
		return verdict_reason(g, R_VERDICT_HOLD);
	case DIRECTIVE_REFUSE:
	default:
		return verdict_reason(g, R_VERDICT_REFUSED);
	}
}

enum reason gate_attest(struct gate *g)
{
	struct attempt *a = &g->attempt;
	enum reason r;

	TRY(make_evidence(g));
	g->step = "attest";
	r = net_attest(g->net, blob_bytes(&a->evidence), &a->verdict_bytes);
	if (r != R_OK)
		return gate_net_reason(g, r);
	g->network.failures = 0;
	g->step = "verdict";
	TRY(take_verdict(g));
	show_verdict(g);
	return obey(g);
}
