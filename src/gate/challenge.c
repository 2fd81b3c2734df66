/* SPDX-License-Identifier: Apache-2.0 */
/* Step 6: nonce and selection; and enrolment, when the server asks for it. */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "format/challenge.h"
#include "format/tpm.h"
#include "gate/gate.h"

/* Design section 3: every register but IMA's and those of a dynamic launch. */
#define SELECTED 0xfbffu

void attempt_reset(struct attempt *a)
{
	blob_free(&a->enrol_token);
	blob_free(&a->evidence);
	blob_free(&a->verdict_bytes);
	blob_free(&a->manifest_bytes);
	blob_free(&a->handover);
	blob_free(&a->planned_log);
	a->enrol_token = BLOB(LIMIT_TOKEN);
	a->evidence = BLOB(LIMIT_EVIDENCE);
	a->verdict_bytes = BLOB(LIMIT_VERDICT);
	a->manifest_bytes = BLOB(LIMIT_MANIFEST);
	a->handover = BLOB(LIMIT_HANDOVER);
	a->planned_log = BLOB(LIMIT_GATE_LOG);
	a->proof_count = 0;
	a->wait = false;
	a->retry_after = 0;
}

enum reason gate_net_reason(struct gate *g, enum reason r)
{
	const struct net_failed *f = net_last_failure(g->net);

	/*
	 * An HTTP error is never a judgement, whatever reason it names: only a
	 * signed verdict is. The same holds for what did not get through.
	 */
	if (f->status >= 300 || reason_class(r) == REASON_TRANSIENT) {
		g->attempt.wait = true;
		g->attempt.retry_after = f->retry_after;
	}
	if (f->status == 0 && reason_class(r) == REASON_TRANSIENT)
		network_failed(g);
	else
		g->network.failures = 0;
	if (f->text[0])
		log_info("server says: %s", f->text);
	return r;
}

bool gate_expired(const struct attempt *a)
{
	return clock_boot_ms() - a->sent_ms >= (uint64_t)a->verdict.lifetime * 1000;
}

enum reason gate_challenge(struct gate *g)
{
	_cleanup_(blob_free) struct blob b = BLOB(LIMIT_CHALLENGE);
	struct challenge_request request = { .stage = STAGE_GATE };
	struct attempt *a = &g->attempt;
	enum reason r;

	gate_step(g, "challenge");
	memcpy(request.ak_name, g->ak.name, AK_NAME_LEN);
	TRY(challenge_request_write(&request, &b));
	a->sent_ms = clock_boot_ms();
	r = net_challenge(g->net, blob_bytes(&b), &a->challenge);
	return r == R_OK ? R_OK : gate_net_reason(g, r);
}

static enum reason banks_qualifying(void *ctx, struct bytes capability,
				    uint8_t ret[SHA256_LEN])
{
	const struct attempt *a = ctx;

	return quote_qualifying(QUOTE_BANKS, a->challenge.nonce, capability, ret);
}

static void eks_free(struct tpm_eks **eks)
{
	if (*eks)
		tpm_eks_free(*eks);
	free(*eks);
	*eks = NULL;
}

static enum reason write_request(struct gate *g, const struct tpm_eks *eks, struct blob *ret)
{
	_cleanup_(blob_free) struct blob capability = BLOB(LIMIT_TPM_ATTEST);
	_cleanup_(blob_free) struct blob attest = BLOB(LIMIT_TPM_ATTEST);
	_cleanup_(blob_free) struct blob signature = BLOB(LIMIT_TPM_SIGNATURE);
	_cleanup_free_ struct enrol_request *m = calloc(1, sizeof(*m));
	struct attempt *a = &g->attempt;

	if (!m)
		return R_INTERNAL_MEMORY;
	TRY(tpm_banks_proof(g->tpm, &g->ak, banks_qualifying, a, &capability, &attest,
			    &signature));
	m->token = bytes_of(a->challenge.token, a->challenge.token_len);
	m->ak_public = bytes_of(g->ak.public_area, g->ak.public_len);
	m->ek_count = eks->count;
	for (size_t i = 0; i < eks->count; i++) {
		const struct tpm_ek *ek = &eks->ek[i];

		m->ek[i].public_area = bytes_of(ek->public_area, ek->public_len);
		m->ek[i].certificate = bytes_of(ek->certificate, ek->certificate_len);
	}
	m->banks.capability = blob_bytes(&capability);
	m->banks.attest = blob_bytes(&attest);
	m->banks.signature = blob_bytes(&signature);
	m->chain = blob_bytes(&eks->chain);
	return enrol_request_write(m, ret);
}

static const struct tpm_ek *find_ek(const struct tpm_eks *eks, struct bytes name)
{
	for (size_t i = 0; i < eks->count; i++) {
		const struct tpm_ek *ek = &eks->ek[i];
		struct tpm_public public;
		struct tpm_name own;

		if (tpm_public_read(bytes_of(ek->public_area, ek->public_len), &public) ||
		    tpm_name_of(&public, &own))
			continue;
		if (bytes_equal(tpm_name_bytes(&own), name))
			return ek;
	}
	return NULL;
}

/* One credential opened is one proof that goes up with the evidence. */
static enum reason open_credential(struct gate *g, const struct tpm_eks *eks,
				   const struct net_credential *c,
				   const uint8_t nonce[NONCE_LEN])
{
	_cleanup_(blob_free) struct blob secret = BLOB(DIGEST_MAX);
	struct bytes name = bytes_of(c->ek_name, c->ek_name_len);
	const struct tpm_ek *ek = find_ek(eks, name);
	struct attempt *a = &g->attempt;

	if (!ek)
		return log_reason(R_TPM_ACTIVATE, "credential for an unknown key");
	TRY(tpm_activate(g->tpm, &g->ak, ek, bytes_of(c->id_object, c->id_object_len),
			 bytes_of(c->secret, c->secret_len), &secret));
	TRY(enrol_proof(blob_bytes(&secret), nonce, a->proof[a->proof_count]));
	memcpy(a->proof_name[a->proof_count], name.p, name.n);
	a->proof_name_len[a->proof_count] = name.n;
	a->proof_count++;
	return R_OK;
}

static enum reason open_credentials(struct gate *g, const struct tpm_eks *eks,
				    const struct net_enrolled *m)
{
	enum reason first = R_OK;

	for (uint32_t i = 0; i < m->credential_count; i++) {
		enum reason r = open_credential(g, eks, &m->credential[i],
						m->challenge.nonce);

		if (r != R_OK && first == R_OK)
			first = r;
		gate_tick(g);
	}
	/* one that opened is enough: only that key becomes an alias */
	return g->attempt.proof_count > 0 ? R_OK : first != R_OK ? first : R_NET_ANSWER;
}

static enum reason enrol(struct gate *g)
{
	_cleanup_(eks_free) struct tpm_eks *eks = calloc(1, sizeof(*eks));
	_cleanup_(blob_free) struct blob b = BLOB(LIMIT_ENROL);
	_cleanup_free_ struct net_enrolled *m = calloc(1, sizeof(*m));
	struct attempt *a = &g->attempt;
	uint64_t sent_ms;
	enum reason r;

	gate_step(g, "enrol");
	if (!eks || !m)
		return R_INTERNAL_MEMORY;
	TRY(tpm_eks(g->tpm, eks));
	gate_tick(g);
	TRY(write_request(g, eks, &b));
	sent_ms = clock_boot_ms();
	r = net_enrol(g->net, blob_bytes(&b), m);
	if (r != R_OK)
		return gate_net_reason(g, r);
	/* enrolling twice in one round means that the two sides talk past each other */
	if (m->challenge.enrol || m->challenge.offer)
		return R_NET_ANSWER;
	/* only what succeeds takes the place of the challenge that came before */
	TRY(open_credentials(g, eks, m));
	TRY(blob_append(&a->enrol_token, m->token, m->token_len));
	a->sent_ms = sent_ms;
	a->challenge = m->challenge;
	return R_OK;
}

/*
 * Certificates in NV that were not there before are no reason to stay down:
 * whatever goes wrong, the boot goes on with the challenge that it has.
 */
static void enrol_again(struct gate *g)
{
	enum reason r = enrol(g);

	if (r == R_OK)
		return;
	log_warn("%s: new certificates are left alone", reason_name(r));
	g->attempt.proof_count = 0;
	g->attempt.wait = false;
	g->attempt.retry_after = 0;
}

enum reason gate_enrol(struct gate *g)
{
	if (g->attempt.challenge.enrol)
		return enrol(g);
	if (g->attempt.challenge.offer)
		enrol_again(g);
	return R_OK;
}

/* What the server wants quoted must be what the design says, bank by bank. */
static enum reason check_selection(const struct net_challenge *m, const struct tpm_banks *banks,
				   struct pcr_selection *ret)
{
	struct pcr_selection sel = { 0 };

	for (uint32_t i = 0; i < m->bank_count; i++) {
		if (m->mask[i] != SELECTED || digest_len(m->alg[i]) == 0)
			return R_NET_ANSWER;
		if (pcr_selection_add(&sel, m->alg[i], m->mask[i]))
			return R_NET_ANSWER;
	}
	for (size_t i = 0; i < banks->active_count; i++)
		if (!pcr_selection_bank(&sel, banks->active[i]))
			return R_NET_ANSWER;
	if (!pcr_selection_bank(&sel, ALG_SHA256))
		return R_NET_ANSWER;
	*ret = sel;
	return R_OK;
}

enum reason gate_selection(const struct gate *g, struct pcr_selection *ret)
{
	enum reason r = check_selection(&g->attempt.challenge, &g->measure.banks, ret);

	if (r != R_OK)
		return log_reason(r, "the challenge selects other registers than it must");
	return R_OK;
}
