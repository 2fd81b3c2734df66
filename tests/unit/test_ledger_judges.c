/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ledger among workers and a signer that are taken over. A worker that
 * deviates ends alone, a signer ends the ledger; what they say in form and out
 * of range is refused by name, and nothing is recorded that must not be.
 */
#include "ledger_kit.h"
#include "server/ledger.h"

static void worker_speaks_out_of_turn(void **state)
{
	struct scene *s = *state;
	struct msg_judged g = judged_make(s);
	struct ipc_message m;

	/* without a job */
	judged(s, 0, 1, &g);
	assert_reason(R_INTERNAL_CHILD, ipc_wait(&s->worker[0], PATIENCE_MS, &m));
	give_worker(s, 0);
	assert_serves(s);
	/* twice: what it said first stands, and its next job is lost with it */
	uint64_t asked = attest(s), job = judging(s);
	freeze(s);
	judged(s, 0, job, &g);
	g.directive = DIRECTIVE_REFUSE;
	judged(s, 0, job, &g);
	thaw(s);
	while (ipc_wait(&s->worker[0], PATIENCE_MS, &m) == R_OK)
		;
	assert_nothing_recorded(s);
	signed_(s, job, DIRECTIVE_ADMIT);
	assert_ok(heard(&s->front, asked, NULL));
	assert_value(s, "0", "SELECT directive FROM attestation");
}

#define BAD(what)                                                                   \
	do {                                                                        \
		struct msg_judged g = judged_make(s);                               \
		uint64_t asked_ = attest(s), job_ = judging(s);                     \
		what;                                                               \
		signed_(s, job_, g.directive);                                      \
		judged(s, 0, job_, &g);                                             \
		assert_reason(R_SERVER_WORKER, heard(&s->front, asked_, NULL));     \
		assert_nothing_recorded(s);                                         \
	} while (0)

static void judgement_out_of_range(void **state)
{
	struct scene *s = *state;

	BAD(g.directive = DIRECTIVE_MAX);
	BAD(memset(&g.directive, 0xff, sizeof(g.directive)));
	BAD(g.reason = R_MAX);
	BAD(memset(&g.reason, 0xff, sizeof(g.reason)));
	BAD(g.quote = R_MAX);
	BAD(memset(&g.quote, 0xff, sizeof(g.quote)));
	BAD(g.values.count = LIMIT_BANKS + 1);
	BAD(g.values.count = SIZE_MAX);
	BAD(g.ak_public_len = LIMIT_TPM_PUBLIC + 1);
	BAD(g.ak_public_len = UINT32_MAX);
	BAD(g.ak_public_len = 0);
	BAD(g.ak_public[3] ^= 1);
	/* What says why must be a reason; it is the one that is answered. */
	struct msg_judged g = { .quote = R_QUOTE_SIGNATURE };
	uint64_t asked = attest(s), job = judging(s);
	say(s, 0, MSG_JUDGED, job, &g, sizeof(g), BYTES_NONE);
	assert_reason(R_QUOTE_SIGNATURE, heard(&s->front, asked, NULL));
	assert_nothing_recorded(s);

	/* Banks that nobody knows, registers that do not exist: kept within the row. */
	g = judged_make(s);
	memset(g.values.bank, 0xff, sizeof(g.values.bank));
	g.values.count = LIMIT_BANKS;
	memset(&g.record.clock.known, 0xff, sizeof(g.record.clock.known));
	asked = attest(s);
	job = judging(s);
	judged(s, 0, job, &g);
	signed_(s, job, DIRECTIVE_ADMIT);
	assert_ok(heard(&s->front, asked, NULL));
	struct msg_admin a = admin_make(ADMIN_NODE_SHOW, "n1");
	assert_ok(admin_asks(s, &a, BYTES_NONE));
}

/* The node is held, or revoked: no worker makes it better. */
static void better_than_allowed(void **state)
{
	struct scene *s = *state;

	sql(s, "UPDATE node SET state = 0");
	BAD(g.directive = DIRECTIVE_ADMIT);
	BAD(g.directive = DIRECTIVE_UPDATE);
	sql(s, "UPDATE node SET state = 2");
	BAD(g.directive = DIRECTIVE_HOLD);
	sql(s, "UPDATE node SET state = 1");
	assert_value(s, "0", "SELECT count(*) FROM audit WHERE action = 'verdict'");
	admitted(s);
}

static uint64_t enrolling(struct scene *s, uint64_t *ret_job)
{
	struct msg_enrol m = { .peer = "192.0.2.1" };
	struct session_token t;
	struct ipc_message taken;
	struct node fresh = { 0 };

	key_make(&fresh, 3);
	t = session_make_new(s, fresh.ak_name);
	token_seal(s, &t, &m.token);
	uint64_t asked = ASK(s, &s->front, MSG_ENROL, &m, bytes_str("enrol"));
	*ret_job = job_taken(s, 0, MSG_ENROLLING, &taken);
	return asked;
}

static enum reason enrolled(struct scene *s, struct msg_enrolled *m, const struct ek_result *ek, size_t count)
{
	uint64_t job, asked = enrolling(s, &job);

	m->tail = (uint32_t)(count * sizeof(*ek));
	say(s, 0, MSG_ENROLLED, job, m, sizeof(*m), bytes_of(ek, m->tail));
	return heard(&s->front, asked, NULL);
}

static struct ek_result ek_make(void)
{
	return (struct ek_result){ .trust = EK_TRUST_CA, .name = { 0, ALG_SHA256 }, .name_len = 34,
				   .id_object_len = 70, .secret_len = 258 };
}

static void enrolment_out_of_range(void **state)
{
	struct scene *s = *state;
	struct msg_enrolled m = { .count = 1 };
	struct ek_result ek = ek_make();

	assert_ok(pcr_selection_add(&m.implemented, ALG_SHA256, PCR_ALL));
	assert_ok(enrolled(s, &m, &ek, 1));
	m.count = 2;
	assert_reason(R_SERVER_WORKER, enrolled(s, &m, &ek, 1));
	m.count = LIMIT_EKS + 1;
	assert_reason(R_SERVER_WORKER, enrolled(s, &m, &ek, 1));
	m.count = UINT32_MAX;
	assert_reason(R_SERVER_WORKER, enrolled(s, &m, &ek, 1));
	m.count = 0;
	assert_reason(R_EK_NONE, enrolled(s, &m, &ek, 0));
	m.count = 1;
	m.implemented.count = SIZE_MAX;
	assert_reason(R_SERVER_WORKER, enrolled(s, &m, &ek, 1));
	m.implemented.count = 2;	/* the same bank twice */
	m.implemented.bank[0].alg = m.implemented.bank[1].alg = ALG_SHA1;
	assert_reason(R_FORMAT_DUPLICATE, enrolled(s, &m, &ek, 1));
	m.implemented.count = 1;
	m.result = R_MAX;
	assert_reason(R_SERVER_WORKER, enrolled(s, &m, &ek, 1));
	m.result = R_OK;
	ek.name_len = sizeof(ek.name) + 1;
	assert_reason(R_SERVER_WORKER, enrolled(s, &m, &ek, 1));
	ek = ek_make();
	ek.id_object_len = SIZE_MAX;
	assert_reason(R_SERVER_WORKER, enrolled(s, &m, &ek, 1));
	ek = ek_make();
	ek.secret_len = sizeof(ek.secret) + 1;
	assert_reason(R_SERVER_WORKER, enrolled(s, &m, &ek, 1));
	/* a trust that is none, and a reason that is none */
	ek = ek_make();
	memset(&ek.trust, 0xff, sizeof(ek.trust));
	memset(&ek.reason, 0xff, sizeof(ek.reason));
	memset(&ek.has_certificate, 0xff, sizeof(ek.has_certificate));
	assert_reason(R_EK_NONE, enrolled(s, &m, &ek, 1));
	assert_value(s, "0", "SELECT count(*) FROM node_ek");
	assert_serves(s);
	assert_nothing_recorded(s);
}

static void receipt_and_learning_out_of_range(void **state)
{
	struct scene *s = *state;
	struct msg_receipt m = { .peer = "192.0.2.1" };
	struct msg_receipt_judged g = { 0 };
	struct msg_learned l = { 0 };
	struct msg_admin a = admin_make(ADMIN_REF_LEARN, "n1");
	struct ipc_message taken;
	uint64_t asked, job;

	admitted(s);
	memcpy(m.ak_name, s->node.ak_name, AK_NAME_LEN);
	assert_ok(sha256(bytes_str("verdict 1"), m.verdict_digest));
	for (int i = 0; i < 3; i++) {
		g = (struct msg_receipt_judged){ .result = i == 0 ? R_MAX : R_OK };
		g.values.count = i == 1 ? LIMIT_BANKS + 1 : i == 2 ? SIZE_MAX : 0;
		asked = ASK(s, &s->front, MSG_RECEIPT, &m, bytes_str("receipt"));
		job = job_taken(s, 0, MSG_RECEIVED, &taken);
		say(s, 0, MSG_RECEIPT_JUDGED, job, &g, sizeof(g), BYTES_NONE);
		assert_reason(R_SERVER_WORKER, heard(&s->front, asked, NULL));
		assert_value(s, "0", "SELECT count(*) FROM receipt");
	}
	/* a set that is none, and a reason that is none */
	for (int i = 0; i < 2; i++) {
		struct bytes set = bytes_str(i ? "references" : "");

		l.result = i ? R_OK : R_MAX;
		l.tail = (uint32_t)set.n;
		asked = ASK(s, &s->admin, MSG_ADMIN, &a, BYTES_NONE);
		job = job_taken(s, 0, MSG_LEARN, &taken);
		say(s, 0, MSG_LEARNED, job, &l, sizeof(l), set);
		assert_reason(i ? R_FORMAT_TYPE : R_SERVER_WORKER, heard(&s->admin, asked, NULL));
		assert_value(s, "0", "SELECT count(*) FROM variant");
		assert_value(s, "0", "SELECT count(*) FROM audit WHERE action = 'ref.learn'");
	}
	assert_serves(s);
}

/* ---- signer ---------------------------------------------------------------------------------- */

static void sign(struct scene *s, uint64_t id, struct msg_signed *m, struct bytes verdict)
{
	m->tail = (uint32_t)verdict.n;
	assert_ok(channel_send(&s->signer, MSG_SIGNED, id, m, sizeof(*m), verdict));
}

static enum reason signed_badly(struct scene *s, struct msg_signed m, struct bytes verdict)
{
	struct msg_judged g = judged_make(s);
	uint64_t asked = attest(s), job = judging(s);

	/* The signer may speak first; its honest worker still has the job then. */
	sign(s, job, &m, verdict);
	assert_serves(s);
	judged(s, 0, job, &g);
	enum reason r = heard(&s->front, asked, NULL);
	assert_nothing_recorded(s);
	return r;
}

static void signature_out_of_range(void **state)
{
	struct scene *s = *state;
	struct msg_signed m = { .directive = DIRECTIVE_ADMIT };
	struct bytes verdict = bytes_str("verdict");

	/* nothing, though it says that it signed */
	assert_reason(R_SERVER_MISMATCH, signed_badly(s, m, BYTES_NONE));
	/* other than the worker judged */
	m.directive = DIRECTIVE_HOLD;
	assert_reason(R_SERVER_MISMATCH, signed_badly(s, m, verdict));
	memset(&m.directive, 0xff, sizeof(m.directive));
	assert_reason(R_SERVER_MISMATCH, signed_badly(s, m, verdict));
	m.directive = DIRECTIVE_ADMIT;
	m.result = R_QUOTE_SIGNATURE;
	assert_reason(R_QUOTE_SIGNATURE, signed_badly(s, m, verdict));
	m.result = R_MAX;
	assert_reason(R_SERVER_MISMATCH, signed_badly(s, m, verdict));
	memset(&m.result, 0xff, sizeof(m.result));
	assert_reason(R_SERVER_MISMATCH, signed_badly(s, m, verdict));
	assert_serves(s);
}

static void signed_for_another(void **state)
{
	struct scene *s = *state;
	struct msg_signed m = { .directive = DIRECTIVE_ADMIT };
	struct msg_judged g = judged_make(s);
	uint64_t enrol, asked, job;

	/* for no job, for one that is not signed at all, for one that no worker has yet */
	sign(s, 99, &m, bytes_str("verdict"));
	asked = enrolling(s, &enrol);
	sign(s, enrol, &m, bytes_str("verdict"));
	struct msg_enrolled none = { 0 };
	say(s, 0, MSG_ENROLLED, enrol, &none, sizeof(none), BYTES_NONE);
	assert_reason(R_EK_NONE, heard(&s->front, asked, NULL));
	assert_nothing_recorded(s);

	/* twice, and with other bytes: what it said first is what the node gets */
	asked = attest(s);
	job = judging(s);
	signed_(s, job, DIRECTIVE_ADMIT);
	sign(s, job, &m, bytes_str("another verdict"));
	judged(s, 0, job, &g);
	assert_ok(heard(&s->front, asked, NULL));
	sign(s, job, &m, bytes_str("another verdict"));
	assert_serves(s);
	assert_value(s, "1", "SELECT count(*) FROM attestation");
	assert_value(s, "0", "SELECT count(*) FROM attestation WHERE verdict LIKE 'another%'");

	/* One verdict serves one session: the second is not recorded, nor its nonce used. */
	asked = attest(s);
	uint64_t again = judging(s);
	judged(s, 0, again, &g);
	signed_(s, job, DIRECTIVE_ADMIT);
	char same[32];
	snprintf(same, sizeof(same), "verdict %llu", (unsigned long long)job);
	sign(s, again, &m, bytes_str(same));
	assert_reason(R_SESSION_REPLAYED, heard(&s->front, asked, NULL));
	assert_value(s, "1", "SELECT count(*) FROM attestation");
	assert_value(s, "1", "SELECT count(*) FROM evidence");
	assert_value(s, "1", "SELECT verdicts FROM node");
	assert_serves(s);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
#define SCENE(f) cmocka_unit_test_setup_teardown(f, begin, end)
		SCENE(worker_speaks_out_of_turn),
		SCENE(judgement_out_of_range),
		SCENE(better_than_allowed),
		SCENE(enrolment_out_of_range),
		SCENE(receipt_and_learning_out_of_range),
		SCENE(signature_out_of_range),
		SCENE(signed_for_another),
	};

	log_set_sinks(NULL, 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
