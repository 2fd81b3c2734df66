/* SPDX-License-Identifier: Apache-2.0 */
/* Rules for new nodes: who is marked, who comes in, and all that keeps others out. */
#include "rule_kit.h"
#include "server/ledger.h"

/* ---- what rules do ------------------------------------------------------------ */

static void marked(void **state)
{
	struct scene *s = *state;
	const char *text;

	sql(s, "INSERT INTO node_group VALUES ('racks', 1)");
	struct rule r = rule_make(false);
	strcpy(r.group, "racks");
	assert_ok(rule_asked(s, "hall", &r, false));
	/* Wherever it stands: it decides nothing. */
	struct arrival a = coming(s, 5, "127.0.0.1");
	assert_ok(arrived(s, &a, DIRECTIVE_HOLD));
	assert_value(s, "0", "SELECT state " FRESH);
	assert_value(s, "hall", "SELECT rule " FRESH);
	assert_value(s, "racks", "SELECT grp " FRESH);
	assert_value(s, "rule hall matched", "SELECT basis " FRESH);
	assert_value(s, "rule hall matched", "SELECT detail FROM audit WHERE action = 'node.enrol'");
	for (int boot = 0; boot < 3; boot++)
		assert_verdict_says(s, 5, "rule hall matched", DIRECTIVE_HOLD);
	assert_ok(asked(s, ADMIN_NODE_LIST, "pending", false, &text));
	assert_non_null(strstr(text, "\"rule\":\"hall\""));
	assert_ok(asked(s, ADMIN_RULE_LIST, "", false, &text));
	assert_non_null(strstr(text, "\"waiting\":1"));
	assert_non_null(strstr(text, "\"does\":\"mark\""));
}

static void enrolled(void **state)
{
	static const char *const from[] = { INSIDE, "::ffff:" INSIDE };
	struct scene *s = *state;

	rule_add(s, "hall", true);
	/* One that marks comes behind it, whatever its name. */
	rule_add(s, "all", false);
	for (uint8_t i = 0; i < ARRAY_LEN(from); i++) {
		struct arrival a = coming(s, 5 + i, from[i]);

		assert_ok(arrived(s, &a, DIRECTIVE_ADMIT));
		assert_value(s, i ? "2" : "1", "SELECT count(*) FROM node WHERE state = 1 AND basis = 'rule hall'");
		assert_value(s, i ? "2" : "1", "SELECT used FROM rule WHERE name = 'hall'");
		assert_value(s, i ? "1" : "0", "SELECT count(*) FROM audit WHERE action = 'rule.exhausted'");
		/* It is known now: it counts once, and each verdict names the rule. */
		for (int boot = 0; boot < 3; boot++)
			assert_verdict_says(s, 5 + i, "rule hall", DIRECTIVE_ADMIT);
	}
	assert_value(s, "2", "SELECT used FROM rule WHERE name = 'hall'");
	assert_value(s, "hall", "SELECT detail FROM audit WHERE action = 'rule.exhausted' AND reason = 'rule.exhausted'");
	assert_value(s, "rule hall", "SELECT detail FROM audit WHERE action = 'node.enrol'");

	/* Full: the next one waits, marked by the one that still does. */
	struct arrival a = coming(s, 8, INSIDE);
	assert_ok(arrived(s, &a, DIRECTIVE_HOLD));
	assert_value(s, "rule all matched", "SELECT basis FROM node WHERE state = 0");
}

static void not_enrolled(void **state)
{
	static const struct {
		const char *change, *peer, *basis;
	} cases[] = {
		{ "", "10.21.0.1", "rule hall matched, rule.network" },
		{ "", "127.0.0.1", "rule hall matched, rule.network" },
		{ "", "::1", "rule hall matched, rule.network" },
		{ "", "::ffff:127.0.0.1", "rule hall matched, rule.network" },
		{ "", "unknown", "rule hall matched, rule.network" },
		{ "", "", "rule hall matched, rule.network" },
		{ "UPDATE rule SET networks = x''", INSIDE, "rule hall matched, rule.network" },
		{ "UPDATE rule SET used = most", INSIDE, "rule hall matched, rule.exhausted" },
		{ "UPDATE rule SET expires = unixepoch(), latest = 0", INSIDE, "rule hall matched, rule.expired" },
		/* The clock was past the end once, and is not now. */
		{ "UPDATE rule SET latest = expires", INSIDE, "rule hall matched, rule.expired" },
		/* It is not, but it was later than it is. */
		{ "UPDATE rule SET latest = unixepoch() + 1200", INSIDE, "rule hall matched, rule.clock" },
		/* Clocks are corrected by a little. */
		{ "UPDATE rule SET latest = unixepoch() + 60", INSIDE, "rule hall" },
	};
	struct scene *s = *state;

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		bool in = strcmp(cases[i].basis, "rule hall") == 0;

		rule_add(s, "hall", true);
		sql(s, cases[i].change);
		struct arrival a = coming(s, 5, cases[i].peer);
		assert_ok(arrived(s, &a, in ? DIRECTIVE_ADMIT : DIRECTIVE_HOLD));
		assert_value(s, cases[i].basis, "SELECT basis " FRESH);
		assert_value(s, in ? "1" : "0", "SELECT state " FRESH);
		assert_value(s, "hall", "SELECT rule " FRESH);
		if (!strstr(cases[i].basis, "exhausted"))
			assert_value(s, in ? "1" : "0", "SELECT used FROM rule");
		gone(s);
		sql(s, "DELETE FROM rule");
	}
}

/* Another model, another root, a key that no vendor CA vouches for. */
static void not_matched(void **state)
{
	struct scene *s = *state;

	rule_add(s, "hall", true);
	for (int i = 0; i < 3; i++) {
		struct arrival a = arriving_from(s, 5, 5, true, i == 0 ? origin_of("SLB 9670") : NULL, INSIDE, 0);

		assert_ok(arrived(s, &a, DIRECTIVE_HOLD));
		assert_value(s, "", "SELECT basis " FRESH);
		assert_value(s, "", "SELECT rule " FRESH);
		gone(s);
		/* No origin is no rule's, whatever a rule has. */
		if (i == 1)
			sql(s, "UPDATE rule SET origin = zeroblob(32)");
	}
}

/* A worker's word for an origin counts with a vendor CA only, and goes into the token. */
static void origin_in_the_token(void **state)
{
	static const struct {
		enum ek_trust trust;
		bool has, kept;
	} cases[] = {
		{ EK_TRUST_CA, true, true }, { EK_TRUST_CA, false, false }, { EK_TRUST_NONE, true, false },
		{ EK_TRUST_LIST, true, false }, { (enum ek_trust)77, true, false },
	};
	struct scene *s = *state;

	/* Listed: usable without a CA as well. */
	sql(s, "INSERT INTO listed_ek (name, label, list) VALUES (CAST(x'000b' || zeroblob(32) AS BLOB), 'a', 'papers')");
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct ek_result ek = { .trust = cases[i].trust, .name = { 0, ALG_SHA256 }, .name_len = 34,
					.id_object_len = 70, .secret_len = 258, .has_origin = cases[i].has };
		struct msg_enrolled m = { .count = 1, .tail = sizeof(ek) };
		struct msg_enrol q = { .peer = INSIDE };
		_cleanup_(blob_free) struct blob plain = BLOB(LIMIT_TOKEN);
		struct enrol_answer answer;
		struct ipc_message taken;
		struct enrol_token t;
		struct node fresh = { 0 };
		struct bytes body;

		memcpy(ek.origin, origin_of("SLB 9672"), SHA256_LEN);
		assert_ok(pcr_selection_add(&m.implemented, ALG_SHA256, PCR_ALL));
		key_make(&fresh, 3);
		struct session_token session = session_make_new(s, fresh.ak_name);
		token_seal(s, &session, &q.token);
		uint64_t id = ASK(s, &s->front, MSG_ENROL, &q, bytes_str("enrol"));
		uint64_t job = job_taken(s, 0, MSG_ENROLLING, &taken);
		say(s, 0, MSG_ENROLLED, job, &m, sizeof(m), bytes_of(&ek, sizeof(ek)));
		assert_ok(heard(&s->front, id, &body));
		assert_ok(enrol_answer_read(body, &answer));
		assert_ok(aead_open(s->token_key, bytes_str(TOKEN_AAD_ENROL), answer.token, &plain));
		assert_ok(enrol_token_read(blob_bytes(&plain), &t));
		assert_int_equal(t.ek[0].has_origin, cases[i].kept);
		if (cases[i].kept)
			assert_memory_equal(t.ek[0].origin, ek.origin, SHA256_LEN);
	}
}

/* ---- what goes before a rule ---------------------------------------------------- */

static void lists_go_first(void **state)
{
	static const char *const listed[] = {
		"INSERT INTO listed_ek (name, label, list) VALUES (CAST(x'000b05' || zeroblob(31) AS BLOB), 'a', 'papers')",
		/* Its label is another node's. */
		"INSERT INTO listed_ek (name, label, list) VALUES (CAST(x'000b05' || zeroblob(31) AS BLOB), 'n1', 'papers')",
		/* Two entries that contradict each other. */
		"INSERT INTO listed_ek (name, label, list) VALUES (CAST(x'000b05' || zeroblob(31) AS BLOB), 'a', 'papers');"
		"INSERT INTO listed_ek (spki, label, list) VALUES (zeroblob(32), 'b', 'papers')",
	};
	static const char *const basis[] = { "EK list papers line 0", "label of list is 11111111's",
					     "EK lists contradict each other" };
	struct scene *s = *state;

	rule_add(s, "hall", true);
	for (size_t i = 0; i < ARRAY_LEN(listed); i++) {
		sql(s, listed[i]);
		struct arrival a = coming(s, 5, INSIDE);
		assert_ok(arrived(s, &a, i ? DIRECTIVE_HOLD : DIRECTIVE_ADMIT));
		assert_value(s, basis[i], "SELECT basis " FRESH);
		assert_value(s, "", "SELECT rule " FRESH);
		assert_value(s, "0", "SELECT used FROM rule");
		sql(s, "DELETE FROM listed_ek");
		gone(s);
	}
}

static void board_goes_first(void **state)
{
	struct scene *s = *state;

	rule_add(s, "hall", true);
	struct arrival a = coming(s, 5, INSIDE);
	sql(s, "UPDATE node SET board = 'B-1'");
	strcpy(a.g.record.board, "B-1");
	assert_reason(R_NODE_CONFLICT, arrived(s, &a, DIRECTIVE_ADMIT));
	assert_value(s, "0", "SELECT state " FRESH);
	assert_value(s, "board is 11111111's", "SELECT basis " FRESH);
	assert_value(s, "0", "SELECT used FROM rule");
	/* Nor do many let it in. */
	assert_ok(asked(s, ADMIN_RULE_APPROVE, "hall", false, NULL));
	assert_value(s, "0", "SELECT state " FRESH);
}

/* A TPM that is on record is no new one, whatever became of it, and with whatever AK it comes. */
static void known_tpm(void **state)
{
	struct scene *s = *state;
	char text[96];

	rule_add(s, "hall", true);
	sql(s, "INSERT INTO node_ek SELECT CAST(x'000b05' || zeroblob(31) AS BLOB), id, NULL, zeroblob(32) FROM node");
	for (int n = 0; n < NODE_STATE_MAX; n++) {
		const uint8_t proof[SHA256_LEN] = { 9 };
		struct enrol_token t;

		snprintf(text, sizeof(text), "UPDATE node SET state = %d", n);
		sql(s, text);
		/* 1 is the AK on record: then it is that node again, and no rule is asked. */
		for (uint8_t ak = 1; ak <= 2; ak++) {
			struct msg_attest m = enrolling_make(s, &t, ak, proof);
			struct ipc_message got;
			struct msg_judge told;

			t.ek[0].name[2] = m.proof[0].ek_name[2] = 5;
			t.ek[0].has_origin = true;
			memcpy(t.ek[0].origin, origin_of("SLB 9672"), SHA256_LEN);
			strcpy(m.peer, INSIDE);
			seal_again(s, &t, &m);
			s->body[0] = s->last_nonce;
			uint64_t id = ASK(s, &s->front, MSG_ATTEST, &m, BYTES(s->body));
			if (ak == 2) {
				assert_reason(R_NODE_CONFLICT, heard(&s->front, id, NULL));
				continue;
			}
			assert_ok(ipc_wait(&s->signer, PATIENCE_MS, &got));
			uint64_t job = job_taken(s, 0, MSG_JUDGE, &got);
			memcpy(&told, got.body.p, sizeof(told));
			assert_string_equal(told.s.basis, "operator uid 0");
			assert_int_equal(told.s.allowed, n == NODE_ENROLLED ? DIRECTIVE_ADMIT :
							 n == NODE_PENDING ? DIRECTIVE_HOLD : DIRECTIVE_REFUSE);
			struct msg_judged g = judged_make(s);
			g.directive = DIRECTIVE_REFUSE;
			judged(s, 0, job, &g);
			signed_(s, job, DIRECTIVE_REFUSE);
			assert_ok(heard(&s->front, id, NULL));
		}
		assert_value(s, "0", "SELECT used FROM rule");
		assert_value(s, "1", "SELECT count(*) FROM node");
	}
}

/* ---- at the same time ------------------------------------------------------------ */

static void last_place(void **state)
{
	struct scene *s = *state;
	struct rule r = rule_make(true);

	r.most = 1;
	assert_ok(rule_asked(s, "hall", &r, false));
	struct arrival a[2];
	for (unsigned i = 0; i < 2; i++)
		a[i] = arriving_from(s, (uint8_t)(5 + i), (uint8_t)(5 + i), true, origin_of("SLB 9672"), INSIDE, i);
	/* One turn, one transaction. */
	freeze(s);
	for (unsigned i = 0; i < 2; i++) {
		judged(s, i, a[i].job, &a[i].g);
		signed_(s, a[i].job, DIRECTIVE_ADMIT);
	}
	thaw(s);
	unsigned in = 0, busy = 0;
	for (unsigned i = 0; i < 2; i++) {
		struct ipc_message m;
		struct msg_answer head;
		struct bytes body;

		assert_ok(ipc_wait(&s->front, PATIENCE_MS, &m));
		assert_true(CHANNEL_SPLIT(&m, head, &body));
		in += head.status == 200;
		busy += head.status == 503;
	}
	assert_int_equal(in, 1);
	assert_int_equal(busy, 1);
	assert_value(s, "1", "SELECT used FROM rule");
	assert_value(s, "1", "SELECT count(*) " FRESH);
	/* It comes again, and waits. */
	struct arrival again = coming(s, 9, INSIDE);
	assert_ok(arrived(s, &again, DIRECTIVE_HOLD));
	assert_value(s, "rule hall matched, rule.exhausted", "SELECT basis FROM node WHERE state = 0");
}

/* What became of the rule while the evidence was judged. */
static void changed_meanwhile(void **state)
{
	static const char *const change[] = { "DELETE FROM rule", "UPDATE rule SET expires = 1",
					      "UPDATE rule SET used = most", "UPDATE rule SET grp = 'racks'" };
	struct scene *s = *state;

	for (size_t i = 0; i < ARRAY_LEN(change); i++) {
		sql(s, "DELETE FROM rule");
		rule_add(s, "hall", true);
		struct arrival a = coming(s, 5, INSIDE);
		sql(s, change[i]);
		assert_reason(R_SERVER_BUSY, arrived(s, &a, DIRECTIVE_ADMIT));
		assert_value(s, "0", "SELECT count(*) " FRESH);
	}
}

/* Ended between the verdict and its answer, somewhere: the count is that of the nodes. */
static void killed(void **state)
{
	struct scene *s = *state;
	struct rule r = rule_make(true);

	r.most = 100;
	assert_ok(rule_asked(s, "hall", &r, false));
	for (uint8_t i = 0; i < 6; i++) {
		struct arrival a = coming(s, 5 + i, INSIDE);

		/* Numbers of jobs begin again with each ledger, verdicts do not. */
		struct msg_signed v = { .directive = DIRECTIVE_ADMIT, .tail = 1 };
		judged(s, 0, a.job, &a.g);
		assert_ok(channel_send(&s->signer, MSG_SIGNED, a.job, &v, sizeof(v), bytes_of(&i, 1)));
		if (i % 2)
			assert_ok(heard(&s->front, a.asked, NULL));
		ledger_stop(s);
		ledger_start(s);
		assert_value(s, "1", "SELECT used = (SELECT count(*) FROM node WHERE rule = 'hall' AND state = 1) FROM rule");
	}
	assert_value(s, "1", "SELECT used >= 3 FROM rule");
}

static void time_is_remembered(void **state)
{
	struct scene *s = *state;

	rule_add(s, "hall", true);
	rule_add(s, "mark", false);
	ledger_stop(s);
	sql(s, "UPDATE rule SET latest = 1");
	ledger_start(s);
	assert_value(s, "1", "SELECT latest > unixepoch() - 600 FROM rule WHERE name = 'hall'");
	assert_value(s, "1", "SELECT latest FROM rule WHERE name = 'mark'");
	/* Never back. */
	ledger_stop(s);
	sql(s, "UPDATE rule SET latest = unixepoch() + 1000, expires = unixepoch() + 2000");
	ledger_start(s);
	assert_value(s, "1", "SELECT latest > unixepoch() + 500 FROM rule WHERE name = 'hall'");
}

#define SCENE(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCENE(marked), SCENE(enrolled), SCENE(not_enrolled), SCENE(not_matched), SCENE(origin_in_the_token),
		SCENE(lists_go_first), SCENE(board_goes_first), SCENE(known_tpm), SCENE(last_place),
		SCENE(changed_meanwhile), SCENE(killed), SCENE(time_is_remembered),
	};

	log_set_sinks(NULL, 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
