/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What changes while a request is under way: what was true when evidence went
 * to a worker must still be true when its verdict is recorded.
 */
#include "ledger_kit.h"
#include "server/ledger.h"

static const uint8_t proof[SHA256_LEN] = { 1, 2, 3 };

static enum reason administered(struct scene *s, enum admin_op op, const char *arg, struct bytes tail)
{
	struct msg_admin m = admin_make(op, arg);

	return heard(&s->admin, ASK(s, &s->admin, MSG_ADMIN, &m, tail), NULL);
}

/* ---- node states ------------------------------------------------------------------ */

static void node_revoked_while_judged(void **state)
{
	struct scene *s = *state;
	struct msg_judged g = judged_make(s);
	uint64_t asked = attest(s), job = judging(s);

	assert_ok(administered(s, ADMIN_NODE_REVOKE, "n1", BYTES_NONE));
	judged(s, 0, job, &g);
	signed_(s, job, DIRECTIVE_ADMIT);
	assert_reason(R_SERVER_BUSY, heard(&s->front, asked, NULL));
	assert_nothing_recorded(s);
	/* and from then on it is refused */
	asked = attest(s);
	job = judging(s);
	g.directive = DIRECTIVE_REFUSE;
	g.reason = R_NODE_REVOKED;
	judged(s, 0, job, &g);
	signed_(s, job, DIRECTIVE_REFUSE);
	assert_ok(heard(&s->front, asked, NULL));
	assert_value(s, "node.revoked", "SELECT reason FROM attestation");
}

/* The policy that it was judged by is not that of its group any more. */
static void node_moved_while_judged(void **state)
{
	struct scene *s = *state;
	struct msg_judged g = judged_make(s);
	uint64_t asked = attest(s), job = judging(s);

	sql(s, "UPDATE node SET grp = 'racks'");
	judged(s, 0, job, &g);
	signed_(s, job, DIRECTIVE_ADMIT);
	assert_reason(R_SERVER_BUSY, heard(&s->front, asked, NULL));
	assert_nothing_recorded(s);
}

/* ---- receipts ------------------------------------------------------------------------ */

static uint64_t receipt(struct scene *s)
{
	struct msg_receipt m = { .peer = "192.0.2.1" };

	memcpy(m.ak_name, s->node.ak_name, AK_NAME_LEN);
	assert_ok(sha256(bytes_str("verdict 1"), m.verdict_digest));
	return ASK(s, &s->front, MSG_RECEIPT, &m, bytes_str("receipt"));
}

static void revoked_between_verdict_and_receipt(void **state)
{
	struct scene *s = *state;

	admitted(s);
	assert_ok(administered(s, ADMIN_NODE_REVOKE, "n1", BYTES_NONE));
	assert_reason(R_NODE_REVOKED, heard(&s->front, receipt(s), NULL));
	assert_value(s, "0", "SELECT count(*) FROM receipt");
	assert_silence(&s->worker[0]);
}

static void revoked_while_the_receipt_is_judged(void **state)
{
	struct scene *s = *state;
	struct msg_receipt_judged g = { 0 };
	struct ipc_message m;

	admitted(s);
	uint64_t asked = receipt(s), job = job_taken(s, 0, MSG_RECEIVED, &m);
	assert_ok(administered(s, ADMIN_NODE_REVOKE, "n1", BYTES_NONE));
	say(s, 0, MSG_RECEIPT_JUDGED, job, &g, sizeof(g), BYTES_NONE);
	assert_reason(R_NODE_REVOKED, heard(&s->front, asked, NULL));
	assert_value(s, "0", "SELECT count(*) FROM receipt");
	/* Approved again, the same receipt counts, however often it is sent. */
	assert_ok(administered(s, ADMIN_NODE_APPROVE, "n1", BYTES_NONE));
	asked = receipt(s);
	job = job_taken(s, 0, MSG_RECEIVED, &m);
	say(s, 0, MSG_RECEIPT_JUDGED, job, &g, sizeof(g), BYTES_NONE);
	assert_ok(heard(&s->front, asked, NULL));
	assert_ok(heard(&s->front, receipt(s), NULL));
	assert_value(s, "1", "SELECT count(*) FROM receipt");
}

/* ---- one nonce, several requests ---------------------------------------------------------- */

static void one_nonce_at_two_workers(void **state)
{
	struct scene *s = *state;
	struct msg_judged g = judged_make(s);
	struct msg_attest m = attest_make(s);
	struct bytes first, second;

	/* The same evidence twice at once: one verdict. */
	uint64_t a = ASK(s, &s->front, MSG_ATTEST, &m, BYTES(s->body)), job_a = judging_by(s, 0);
	uint64_t b = ASK(s, &s->front, MSG_ATTEST, &m, BYTES(s->body)), job_b = judging_by(s, 1);
	judged(s, 0, job_a, &g);
	signed_(s, job_a, DIRECTIVE_ADMIT);
	assert_ok(heard(&s->front, a, &first));
	_cleanup_free_ char *verdict = strndup((const char *)first.p, first.n);
	judged(s, 1, job_b, &g);
	signed_(s, job_b, DIRECTIVE_ADMIT);
	assert_ok(heard(&s->front, b, &second));
	assert_bytes(second, verdict, strlen(verdict));

	/* Other evidence with the same nonce at once: one of them. */
	m = attest_make(s);
	a = ASK(s, &s->front, MSG_ATTEST, &m, BYTES(s->body));
	job_a = judging_by(s, 0);
	s->body[1] ^= 1;
	b = ASK(s, &s->front, MSG_ATTEST, &m, BYTES(s->body));
	job_b = judging_by(s, 1);
	judged(s, 0, job_a, &g);
	signed_(s, job_a, DIRECTIVE_ADMIT);
	assert_ok(heard(&s->front, a, NULL));
	judged(s, 1, job_b, &g);
	signed_(s, job_b, DIRECTIVE_ADMIT);
	assert_reason(R_SESSION_REPLAYED, heard(&s->front, b, NULL));
	assert_value(s, "2", "SELECT count(*) FROM attestation");
	assert_value(s, "2", "SELECT verdicts FROM node");
}

/* It never saw the job, so this is no crash over it. */
static void worker_ended_before_its_job(void **state)
{
	struct scene *s = *state;
	struct msg_judged g = judged_make(s);
	struct ipc_message m;

	admitted(s);
	assert_int_equal(shutdown(s->worker[0].fd, SHUT_RD), 0);
	uint64_t asked = attest(s);
	assert_ok(ipc_wait(&s->signer, PATIENCE_MS, &m));
	uint64_t first = m.id, job = judging_by(s, 1);
	assert_int_not_equal(first, job);
	judged(s, 1, job, &g);
	signed_(s, job, DIRECTIVE_ADMIT);
	assert_ok(heard(&s->front, asked, NULL));
}

/* ---- the audit ------------------------------------------------------------------------------------ */

/* A node that goes on and on has its rows counted; an operator's rows are all there. */
static void rows_of_one_node(void **state)
{
	struct scene *s = *state;

	/* Room for one more. */
	sql(s, "UPDATE node SET audit_until = strftime('%s', 'now') + 63 * 600");
	for (unsigned i = 0; i < 3; i++)
		admitted(s);
	assert_value(s, "1", "SELECT count(*) FROM audit");
	assert_value(s, "2", "SELECT unlisted FROM node");
	assert_value(s, "3", "SELECT verdicts FROM node");
	assert_ok(administered(s, ADMIN_NODE_APPROVE, "n1", BYTES_NONE));
	assert_value(s, "2", "SELECT count(*) FROM audit");
	/* The clock was put back: not more than a full bucket. */
	sql(s, "UPDATE node SET audit_until = strftime('%s', 'now') + 1000000000");
	admitted(s);
	assert_value(s, "3", "SELECT unlisted FROM node");
	assert_value(s, "1", "SELECT audit_until <= strftime('%s', 'now') + 64 * 600 FROM node");
	/* What was left out is told by the next row. */
	sql(s, "UPDATE node SET audit_until = 0");
	admitted(s);
	assert_value(s, "admit, after 3 that are not listed",
		     "SELECT detail FROM audit ORDER BY number DESC LIMIT 1");
	assert_value(s, "0", "SELECT unlisted FROM node");
	assert_ok(administered(s, ADMIN_AUDIT_VERIFY, "", BYTES_NONE));
}

/* ---- firmware of the TPM ---------------------------------------------------------------------- */

static void banks_are_proved_again(void **state)
{
	struct scene *s = *state;
	struct msg_judged g = judged_make(s);

	g.directive = DIRECTIVE_HOLD;
	g.reason = R_TPM_FIRMWARE_CHANGED;
	sql(s, "UPDATE node SET clock_known = 1, firmware = 4");
	/* Two sessions that began before the change was known: both are held, nothing is forgotten. */
	uint64_t a = attest(s), job_a = judging_by(s, 0);
	uint64_t b = attest(s), job_b = judging_by(s, 1);
	judged(s, 0, job_a, &g);
	signed_(s, job_a, DIRECTIVE_HOLD);
	assert_ok(heard(&s->front, a, NULL));
	assert_value(s, "1", "SELECT ask_enrol FROM node");
	judged(s, 1, job_b, &g);
	signed_(s, job_b, DIRECTIVE_HOLD);
	assert_ok(heard(&s->front, b, NULL));
	assert_value(s, "1", "SELECT ask_enrol FROM node");
	/* Without the proof there is no verdict. */
	assert_reason(R_TPM_FIRMWARE_CHANGED, heard(&s->front, attest(s), NULL));
	assert_value(s, "2", "SELECT verdicts FROM node");
	/* With it there is. */
	struct enrol_token t;
	struct msg_attest m = enrolling_make(s, &t, 1, proof);
	g.directive = DIRECTIVE_ADMIT;
	a = ASK(s, &s->front, MSG_ATTEST, &m, BYTES(s->body));
	job_a = judging(s);
	judged(s, 0, job_a, &g);
	signed_(s, job_a, DIRECTIVE_ADMIT);
	assert_ok(heard(&s->front, a, NULL));
	assert_value(s, "0", "SELECT ask_enrol FROM node");
}

/* What an operator's approval does to a proof that is owed. */
static void approval_and_banks(void **state)
{
	static const struct {
		enum node_state was;
		const char *owed;
	} cases[] = { { NODE_ENROLLED, "0" }, { NODE_PENDING, "1" }, { NODE_REVOKED, "1" } };
	struct scene *s = *state;
	char text[64];

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		snprintf(text, sizeof(text), "UPDATE node SET ask_enrol = 1, state = %d", (int)cases[i].was);
		sql(s, text);
		assert_ok(administered(s, ADMIN_NODE_APPROVE, "n1", BYTES_NONE));
		assert_value(s, "1", "SELECT state FROM node");
		assert_value(s, cases[i].owed, "SELECT ask_enrol FROM node");
	}
	sql(s, "UPDATE node SET ask_enrol = 1");
	assert_ok(administered(s, ADMIN_NODE_REVOKE, "n1", BYTES_NONE));
	assert_value(s, "1", "SELECT ask_enrol FROM node");
}

/* ---- who is whose ---------------------------------------------------------------------------------- */

/* The first half of an enrolment, of this AK, whose worker found this. */
static enum reason enrolling(struct scene *s, uint8_t ak, const struct ek_result *ek)
{
	struct msg_enrolled out = { .count = 1, .tail = sizeof(*ek), .implemented = { .count = 1, .bank[0] = {
		.alg = ALG_SHA256, .mask = PCR_ALL } } };
	struct msg_enrol e = { 0 };
	struct enrol_token t;
	struct ipc_message taken;

	e.token = enrolling_make(s, &t, ak, proof).token;
	uint64_t asked = ASK(s, &s->front, MSG_ENROL, &e, bytes_str("enrol"));
	uint64_t job = job_taken(s, 0, MSG_ENROLLING, &taken);
	say(s, 0, MSG_ENROLLED, job, &out, sizeof(out), bytes_of(ek, sizeof(*ek)));
	return heard(&s->front, asked, NULL);
}

/* A list of EKs tells which TPM it is: that makes up for a CA, not for keys that are known, or another's certificate. */
static void listed_and_yet_refused(void **state)
{
	static const enum reason cases[] = { R_EK_UNTRUSTED, R_EK_EXPIRED, R_EK_FIRMWARE,
					     R_EK_REVOKED, R_EK_MISMATCH };
	struct scene *s = *state;
	struct ek_result ek = { .name = { 0, ALG_SHA256, 1 }, .name_len = 34, .id_object_len = 40,
				.secret_len = 40 };

	sql(s, "INSERT INTO listed_ek (name, label, list)"
	       " VALUES (CAST(x'000b01' || zeroblob(31) AS BLOB), 'n', 'papers')");
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		bool refused = cases[i] == R_EK_FIRMWARE || cases[i] == R_EK_REVOKED ||
			       cases[i] == R_EK_MISMATCH;

		ek.reason = cases[i];
		assert_reason(refused ? cases[i] : R_OK, enrolling(s, 2, &ek));
	}
}

/* A certificate that ended meanwhile locks no node out; one that was revoked does. */
static void bound_key_enrols_again(void **state)
{
	static const enum reason found[] = { R_OK, R_EK_EXPIRED, R_EK_UNTRUSTED, R_EK_PROFILE, R_EK_FIRMWARE,
					     R_EK_REVOKED };
	enum { NONE, SAME, OTHER };
	struct scene *s = *state;

	for (int bound = NONE; bound <= OTHER; bound++) {
		/* A worker serves only so many. */
		give_worker(s, 0);
		/* Not bound; bound without a certificate; bound with one. */
		sql(s, "DELETE FROM node_ek");
		if (bound != NONE)
			sql(s, bound == SAME ?
			    "INSERT INTO node_ek SELECT CAST(x'000b' || zeroblob(32) AS BLOB), id, NULL,"
			    " zeroblob(32) FROM node" :
			    "INSERT INTO node_ek SELECT CAST(x'000b' || zeroblob(32) AS BLOB), id,"
			    " CAST(x'01' || zeroblob(31) AS BLOB), zeroblob(32) FROM node");
		for (int shown = NONE; shown <= OTHER; shown++) {
			for (size_t i = 0; i < ARRAY_LEN(found); i++) {
				struct ek_result ek = { .name = { 0, ALG_SHA256 }, .name_len = 34, .id_object_len = 40,
							.secret_len = 40, .reason = found[i],
							.has_certificate = shown != NONE };
				bool usable = found[i] == R_OK ||
					      (bound == SAME && found[i] != R_EK_FIRMWARE && found[i] != R_EK_REVOKED) ||
					      (bound == OTHER && shown == SAME && found[i] != R_EK_FIRMWARE &&
					       found[i] != R_EK_REVOKED);

				ek.trust = found[i] == R_OK ? EK_TRUST_CA : EK_TRUST_NONE;
				ek.certificate_digest[0] = (uint8_t)shown;
				assert_reason(usable ? R_OK : found[i], enrolling(s, 1, &ek));
				/* Bound to this AK says nothing for another one. */
				assert_reason(found[i], enrolling(s, 2, &ek));
			}
		}
	}
}

/* Two sessions prove the same EK at once: for two AKs, and for one. */
static void enrolled_at_the_same_time(void **state)
{
	struct scene *s = *state;
	struct msg_judged g[2] = { judged_make(s), judged_make(s) };
	struct enrol_token t;
	uint64_t asked[2], job[2];

	for (int same = 0; same < 2; same++) {
		for (unsigned i = 0; i < 2; i++) {
			uint8_t ak = same ? 4 : (uint8_t)(2 + i);
			struct msg_attest m = enrolling_make(s, &t, ak, proof);
			struct node n = { 0 };

			t.ek[0].name[2] = m.proof[0].ek_name[2] = (uint8_t)same;
			seal_again(s, &t, &m);
			key_make(&n, ak);
			memcpy(g[i].ak_public, n.ak_public, n.ak_public_len);
			g[i].directive = DIRECTIVE_HOLD;
			s->body[0] = s->last_nonce;
			asked[i] = ASK(s, &s->front, MSG_ATTEST, &m, BYTES(s->body));
			job[i] = judging_by(s, i);
		}
		for (unsigned i = 0; i < 2; i++) {
			judged(s, i, job[i], &g[i]);
			signed_(s, job[i], DIRECTIVE_HOLD);
			assert_reason(i == 0 ? R_OK : same ? R_SERVER_BUSY : R_NODE_CONFLICT,
				      heard(&s->front, asked[i], NULL));
			/* So that there is room for another one that waits. */
			sql(s, "UPDATE node SET state = 1");
		}
		assert_value(s, same ? "3" : "2", "SELECT count(*) FROM node");
		assert_value(s, same ? "2" : "1", "SELECT count(*) FROM attestation");
	}
}

/* The second of two EKs became another node's meanwhile: nothing of this enrolment stays. */
static void alias_taken_at_the_same_time(void **state)
{
	struct scene *s = *state;
	struct msg_judged g[2] = { judged_make(s), judged_make(s) };
	uint64_t asked[2], job[2];

	for (unsigned i = 0; i < 2; i++) {
		struct enrol_token t;
		struct msg_attest m = enrolling_make(s, &t, (uint8_t)(2 + i), proof);
		struct node n = { 0 };

		if (i == 1) {
			t.ek[1] = t.ek[0];
			t.ek_count = m.proof_count = 2;
			m.proof[1] = m.proof[0];
			t.ek[0].name[2] = m.proof[0].ek_name[2] = 9;
			seal_again(s, &t, &m);
		}
		key_make(&n, (uint8_t)(2 + i));
		memcpy(g[i].ak_public, n.ak_public, n.ak_public_len);
		g[i].directive = DIRECTIVE_HOLD;
		s->body[0] = s->last_nonce;
		asked[i] = ASK(s, &s->front, MSG_ATTEST, &m, BYTES(s->body));
		job[i] = judging_by(s, i);
	}
	for (unsigned i = 0; i < 2; i++) {
		judged(s, i, job[i], &g[i]);
		signed_(s, job[i], DIRECTIVE_HOLD);
		assert_reason(i == 0 ? R_OK : R_NODE_CONFLICT, heard(&s->front, asked[i], NULL));
		/* So that there is room for another one that waits. */
		sql(s, "UPDATE node SET state = 1");
	}
	assert_value(s, "2", "SELECT count(*) FROM node");
	assert_value(s, "1", "SELECT count(*) FROM node_ek");
	assert_value(s, "1", "SELECT count(*) FROM attestation");
}

/* ---- the database says no -------------------------------------------------------------------------------- */

/*
 * SQLite gives up the whole transaction, so the change that failed cannot be
 * undone alone: nothing of this turn is recorded, not even what comes after.
 */
static void undoing_fails(void **state)
{
	struct scene *s = *state;
	struct msg_admin a = admin_make(ADMIN_NODE_REVOKE, "n1"), b = admin_make(ADMIN_NODE_APPROVE, "n1");
	struct msg_failure f = failure_make();

	sql(s, "CREATE TRIGGER give_up BEFORE INSERT ON audit WHEN new.action = 'node.revoke'"
	       " BEGIN SELECT RAISE(ROLLBACK, 'test'); END");
	strcpy(b.arg[1], "another label");
	freeze(s);
	uint64_t first = ASK(s, &s->front, MSG_FAILURE, &f, BYTES_NONE);
	uint64_t revoke = ASK(s, &s->admin, MSG_ADMIN, &a, BYTES_NONE);
	uint64_t approve = ASK(s, &s->admin, MSG_ADMIN, &b, BYTES_NONE);
	thaw(s);
	assert_reason(R_STORE_IO, heard(&s->front, first, NULL));
	assert_reason(R_STORE_EXISTS, heard(&s->admin, revoke, NULL));
	assert_reason(R_STORE_IO, heard(&s->admin, approve, NULL));
	assert_value(s, "0", "SELECT count(*) FROM failure");
	assert_value(s, "0", "SELECT count(*) FROM audit");
	assert_value(s, "n1", "SELECT label FROM node");
	/* The next turn is as good as any. */
	assert_ok(administered(s, ADMIN_NODE_APPROVE, "n1", BYTES_NONE));
	admitted(s);
}

/* One request of a turn fails, the others beside it are recorded. */
static void one_of_a_turn_fails(void **state)
{
	struct scene *s = *state;
	struct msg_admin a = admin_make(ADMIN_NODE_REVOKE, "n1"), b = admin_make(ADMIN_NODE_APPROVE, "n1");

	sql(s, "CREATE TRIGGER fail BEFORE INSERT ON audit WHEN new.action = 'node.revoke'"
	       " BEGIN SELECT RAISE(ABORT, 'test'); END");
	strcpy(b.arg[1], "another label");
	freeze(s);
	uint64_t revoke = ASK(s, &s->admin, MSG_ADMIN, &a, BYTES_NONE);
	uint64_t approve = ASK(s, &s->admin, MSG_ADMIN, &b, BYTES_NONE);
	thaw(s);
	assert_reason(R_STORE_EXISTS, heard(&s->admin, revoke, NULL));
	assert_ok(heard(&s->admin, approve, NULL));
	assert_value(s, "another label", "SELECT label FROM node WHERE state = 1");
	assert_value(s, "1", "SELECT count(*) FROM audit");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
#define SCENE(f) cmocka_unit_test_setup_teardown(f, begin, end)
		SCENE(node_revoked_while_judged),
		SCENE(node_moved_while_judged),
		SCENE(revoked_between_verdict_and_receipt),
		SCENE(revoked_while_the_receipt_is_judged),
		SCENE(one_nonce_at_two_workers),
		SCENE(rows_of_one_node),
		SCENE(banks_are_proved_again),
		SCENE(approval_and_banks),
		SCENE(worker_ended_before_its_job),
		SCENE(listed_and_yet_refused),
		SCENE(bound_key_enrols_again),
		SCENE(enrolled_at_the_same_time),
		SCENE(alias_taken_at_the_same_time),
		SCENE(undoing_fails),
		SCENE(one_of_a_turn_fails),
	};

	log_set_sinks(NULL, 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
