/* SPDX-License-Identifier: Apache-2.0 */
/* Certificates that a known node shows for the first time, and what comes of them. */
#include "format/challenge.h"
#include "ledger_kit.h"
#include "server/ledger.h"

static const uint8_t proof[SHA256_LEN] = { 1, 2, 3 };

/* What the next challenge of this stage says to the node on record. */
static struct challenge challenged(struct scene *s, enum stage stage)
{
	struct msg_challenge m = { .request.stage = stage, .peer = "192.0.2.1" };
	struct challenge c;
	struct bytes body;

	memcpy(m.request.ak_name, s->node.ak_name, AK_NAME_LEN);
	assert_ok(heard(&s->front, ask(s, &s->front, MSG_CHALLENGE, &m, sizeof(m), BYTES_NONE), &body));
	assert_ok(challenge_read(body, &c));
	return c;
}

static void assert_offered(struct scene *s, bool offer)
{
	struct challenge c = challenged(s, STAGE_GATE);

	assert_false(c.enrol);
	assert_int_equal(c.offer, offer);
}

static enum reason shows(struct scene *s, uint8_t set)
{
	struct msg_judged g = judged_make(s);

	memset(g.ek_set, set, sizeof(g.ek_set));
	return judged_as(s, &g);
}

/* The node on record enrols again with EK `ek`, and shows this set. */
static enum reason enrols(struct scene *s, uint8_t ek, uint8_t set)
{
	struct msg_judged g = judged_make(s);
	struct enrol_token t;
	struct msg_attest m = enrolling_make(s, &t, 1, proof);

	t.ek[0].name[2] = m.proof[0].ek_name[2] = ek;
	seal_again(s, &t, &m);
	memset(g.ek_set, set, sizeof(g.ek_set));
	uint64_t asked = ASK(s, &s->front, MSG_ATTEST, &m, BYTES(s->body)), job = judging(s);
	judged(s, 0, job, &g);
	signed_(s, job, DIRECTIVE_ADMIT);
	return heard(&s->front, asked, NULL);
}

/* Nobody has to answer an offer: it is made three times, and then it is over. */
static void offered_and_let_be(void **state)
{
	struct scene *s = *state;

	assert_offered(s, false);
	assert_ok(shows(s, 7));
	for (unsigned i = 0; i < 3; i++) {
		assert_offered(s, true);
		assert_ok(shows(s, 7));
	}
	assert_offered(s, false);
	assert_ok(shows(s, 7));
	assert_offered(s, false);
	assert_value(s, "0", "SELECT count(*) FROM node_ek");
}

/* What runs after the gate shows no certificates, and has nothing to enrol. */
static void a_later_stage(void **state)
{
	struct scene *s = *state;
	struct msg_judged g = judged_make(s);
	struct ipc_message got;

	assert_ok(shows(s, 7));
	assert_false(challenged(s, STAGE_HOST).offer);
	sql(s, "INSERT INTO receipt (verdict_digest, time, pcrs, body) SELECT verdict_digest, 1, pcrs, x'00' FROM attestation");
	struct session_token t = session_make_new(s, s->node.ak_name);
	struct msg_attest m = attest_make(s);
	m.stage = t.stage = STAGE_HOST;
	token_seal(s, &t, &m.token);
	uint64_t asked = ASK(s, &s->front, MSG_ATTEST, &m, BYTES(s->body));
	assert_ok(ipc_wait(&s->signer, PATIENCE_MS, &got));
	uint64_t job = job_taken(s, 0, MSG_CONTINUED, &got);
	memset(g.ek_set, 8, sizeof(g.ek_set));
	judged(s, 0, job, &g);
	signed_(s, job, DIRECTIVE_ADMIT);
	assert_ok(heard(&s->front, asked, NULL));
	assert_value(s, "07", "SELECT substr(hex(ek_set), 1, 2) FROM node");
}

/* An EK that proves itself is one of the node from now on, and the audit says so, once. */
static void offered_and_taken(void **state)
{
	struct scene *s = *state;

	assert_ok(enrols(s, 1, 6));
	assert_ok(shows(s, 6));
	assert_offered(s, false);
	assert_ok(shows(s, 7));
	assert_offered(s, true);
	assert_value(s, "1", "SELECT count(*) FROM node_ek");
	assert_ok(enrols(s, 2, 7));
	assert_offered(s, false);
	assert_ok(shows(s, 7));
	assert_offered(s, false);
	assert_value(s, "2", "SELECT count(*) FROM node_ek JOIN node ON node.id = node_ek.node WHERE label = 'n1'");
	assert_value(s, "2", "SELECT count(*) FROM audit WHERE action = 'node.ek' AND reason = ''"
			     " AND target = (SELECT lower(hex(id)) FROM node)");
	assert_value(s, "000b02", "SELECT substr(detail, 1, 6) FROM audit WHERE action = 'node.ek'"
				  " ORDER BY number DESC LIMIT 1");
}

/* Whoever writes other certificates at each boot enrols once a boot, and is let in all the same. */
static void another_set_at_each_boot(void **state)
{
	struct scene *s = *state;

	for (uint8_t i = 1; i < 6; i++) {
		assert_ok(shows(s, i));
		assert_offered(s, true);
		assert_ok(enrols(s, 1, i));
		assert_offered(s, false);
	}
	assert_value(s, "1", "SELECT count(*) FROM node_ek");
	assert_value(s, "10", "SELECT verdicts FROM node");
}

/* A node that must prove its banks is not asked twice. */
static void owed_goes_before_offered(void **state)
{
	struct scene *s = *state;

	sql(s, "UPDATE node SET ask_enrol = 1, ek_offers = 3");
	struct challenge c = challenged(s, STAGE_GATE);
	assert_true(c.enrol);
	assert_false(c.offer);
}

/* Whose EK it is does not change: it is a conflict, and nothing of the offer is recorded. */
static void the_key_of_another(void **state)
{
	struct scene *s = *state;

	sql(s, "INSERT INTO node SELECT CAST(zeroblob(31) || x'22' AS BLOB), CAST(zeroblob(33) || x'22' AS BLOB),"
	       " ak_public, state, '', basis, peer, created, approved, seen, implemented, clock_known, clock, reset_count,"
	       " restart_count, firmware, ask_enrol, last_directive, last_reason, verdicts, audit_until, unlisted, grp, board,"
	       " ek_set, ek_offers, '' FROM node");
	sql(s, "INSERT INTO node_ek (name, node, spki) SELECT CAST(x'000b02' || zeroblob(31) AS BLOB), id, zeroblob(32)"
	       " FROM node WHERE label = ''");
	assert_ok(shows(s, 7));
	struct enrol_token t;
	struct msg_attest m = enrolling_make(s, &t, 1, proof);
	t.ek[0].name[2] = m.proof[0].ek_name[2] = 2;
	seal_again(s, &t, &m);
	assert_reason(R_NODE_CONFLICT, heard(&s->front, ASK(s, &s->front, MSG_ATTEST, &m, BYTES(s->body)), NULL));
	assert_value(s, "1", "SELECT count(*) FROM node_ek");
	assert_value(s, "0", "SELECT count(*) FROM audit WHERE action = 'node.ek'");
}

#define SCENE(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCENE(offered_and_let_be), SCENE(a_later_stage), SCENE(offered_and_taken), SCENE(another_set_at_each_boot),
		SCENE(owed_goes_before_offered), SCENE(the_key_of_another),
	};

	log_set_sinks(NULL, 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
