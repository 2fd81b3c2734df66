/* SPDX-License-Identifier: Apache-2.0 */
/* Boards on record: a TPM that moved, and a machine that got another TPM. */
#include "ledger_kit.h"
#include "server/ledger.h"

#define ID_1 "1111111111111111111111111111111111111111111111111111111111111111"

static void on_board(struct msg_judged *g, const char *board)
{
	snprintf(g->record.board, sizeof(g->record.board), "%s", board);
}

static struct bytes shown(struct scene *s, const char *node)
{
	struct msg_admin m = admin_make(ADMIN_NODE_SHOW, node);
	struct bytes body;

	assert_ok(heard(&s->admin, ASK(s, &s->admin, MSG_ADMIN, &m, BYTES_NONE), &body));
	return body;
}

static bool shows(struct scene *s, const char *node, const char *text)
{
	struct bytes body = shown(s, node);

	return memmem(body.p, body.n, text, strlen(text)) != NULL;
}

/* The id of the node that is not n1. */
static const char *fresh(struct scene *s)
{
	return value(s, "SELECT lower(hex(id)) FROM node WHERE lower(hex(id)) <> '" ID_1 "'");
}

static void approve(struct scene *s, const char *node)
{
	struct msg_admin m = admin_make(ADMIN_NODE_APPROVE, node);

	assert_ok(admin_asks(s, &m, BYTES_NONE));
}

/* What is on record stays until an operator says that the board is the right one. */
static void remembered(void **state)
{
	struct scene *s = *state;
	struct msg_judged g = judged_make(s);

	on_board(&g, "B-1");
	assert_ok(judged_as(s, &g));
	assert_value(s, "B-1", "SELECT board FROM node");
	assert_true(shows(s, "n1", "\"board\":\"B-1\""));
	on_board(&g, "B-2");
	g.directive = DIRECTIVE_HOLD;
	g.reason = R_NODE_BOARD;
	assert_ok(judged_as(s, &g));
	assert_value(s, "B-1", "SELECT board FROM node");
	assert_value(s, "node.board", "SELECT last_reason FROM node");
	approve(s, "n1");
	assert_value(s, "", "SELECT board FROM node");
	g.directive = DIRECTIVE_ADMIT;
	g.reason = R_OK;
	assert_ok(judged_as(s, &g));
	assert_value(s, "B-2", "SELECT board FROM node");
}

/* What is refused, and what is no boot, says nothing of the board. */
static void refused_is_not_remembered(void **state)
{
	struct scene *s = *state;
	struct msg_judged g = judged_make(s);

	on_board(&g, "none");
	for (int d = DIRECTIVE_HOLD; d <= DIRECTIVE_REFUSE; d++) {
		g.directive = (enum directive)d;
		g.reason = R_FORMAT_TRUNCATED;
		assert_ok(judged_as(s, &g));
		assert_value(s, "", "SELECT board FROM node");
	}
	on_board(&g, "B-1");
	g.directive = DIRECTIVE_ADMIT;
	assert_ok(judged_as(s, &g));
	assert_value(s, "B-1", "SELECT board FROM node");
}

/* A worker that passes over it, or a board that went on record while it judged. */
static void not_admitted_by_a_worker_alone(void **state)
{
	struct scene *s = *state;
	struct msg_judged g = judged_make(s);

	on_board(&g, "B-1");
	sql(s, "UPDATE node SET board = 'B-2'");
	g.directive = DIRECTIVE_ADMIT;
	assert_reason(R_SERVER_BUSY, judged_as(s, &g));
	assert_nothing_recorded(s);
	on_board(&g, "B\n1");
	assert_reason(R_SERVER_WORKER, judged_as(s, &g));
}

/* What the worker compares with. */
static void announced(void **state)
{
	struct scene *s = *state;
	struct msg_judge m;
	struct ipc_message got;

	sql(s, "UPDATE node SET board = 'B-7'");
	attest(s);
	job_taken(s, 0, MSG_JUDGE, &got);
	memcpy(&m, got.body.p, sizeof(m));
	assert_string_equal(m.s.record.board, "B-7");
}

/* A list lets a TPM in, but it sits where another node's did. */
static void another_tpm_on_a_known_board(void **state)
{
	static const struct {
		const char *board, *state;	/* of the node that is known */
		bool waits;
	} cases[] = {
		{ "B-1", "1", true }, { "B-1", "2", true },
		{ "B-1", "0", false }, { "B-1", "3", false }, { "B-2", "1", false }, { "0000", "1", false },
	};
	struct scene *s = *state;
	char text[96];

	sql(s, "INSERT INTO listed_ek (name, label, list) VALUES (CAST(x'000b00' || zeroblob(31) AS BLOB), 'a', 'papers')");
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		/* The same serial number as vendors leave it is no board's. */
		const char *board = cases[i].board[0] == '0' ? "0000" : "B-1";
		struct arrival a = arriving(s, 5, 0, true);

		snprintf(text, sizeof(text), "UPDATE node SET board = '%s', state = %s", cases[i].board, cases[i].state);
		sql(s, text);
		on_board(&a.g, board);
		assert_reason(cases[i].waits ? R_NODE_CONFLICT : R_OK, arrived(s, &a, DIRECTIVE_ADMIT));
		assert_value(s, cases[i].waits ? "0" : "1", "SELECT state FROM node WHERE lower(hex(id)) <> '" ID_1 "'");
		assert_value(s, "a", "SELECT label FROM node WHERE lower(hex(id)) <> '" ID_1 "'");
		assert_value(s, board, "SELECT board FROM node WHERE lower(hex(id)) <> '" ID_1 "'");
		assert_value(s, cases[i].waits ? "0" : "1", "SELECT count(*) FROM attestation");
		if (cases[i].waits) {
			assert_value(s, "board is 11111111's", "SELECT basis FROM node WHERE basis LIKE 'board%'");
			assert_value(s, "node.conflict", "SELECT action FROM audit ORDER BY number DESC LIMIT 1");
			assert_false(shows(s, "n1", "\"board_also\":"));
			assert_true(shows(s, fresh(s), "\"board_also\":\"" ID_1 "\""));
		} else {
			/* Who waits sees the other one, and not the other way round. */
			assert_int_equal(shows(s, ID_1, "\"board_also\":"), cases[i].state[0] == '0');
			assert_false(shows(s, "a", "\"board_also\":"));
		}
		sql(s, "DELETE FROM attestation; DELETE FROM node_ek; DELETE FROM node WHERE lower(hex(id)) <> '" ID_1 "'");
		sql(s, "UPDATE node SET state = 1");
	}
}

/* Vendors find new ways to fill in nothing: what two have already stops no third. */
static void number_of_many(void **state)
{
	struct scene *s = *state;
	struct msg_admin m = admin_make(ADMIN_NODE_APPROVE, "b");

	sql(s, "INSERT INTO listed_ek (name, label, list) VALUES (CAST(x'000b00' || zeroblob(31) AS BLOB), 'b', 'papers'),"
	       " (CAST(x'000b01' || zeroblob(31) AS BLOB), 'c', 'papers')");
	sql(s, "UPDATE node SET board = 'FILLER-9'");
	struct arrival a = arriving(s, 5, 0, true);
	on_board(&a.g, "FILLER-9");
	assert_reason(R_NODE_CONFLICT, arrived(s, &a, DIRECTIVE_ADMIT));
	assert_ok(admin_asks(s, &m, BYTES_NONE));
	assert_value(s, "pending, board none was FILLER-9: test", "SELECT detail FROM audit ORDER BY number DESC LIMIT 1");
	sql(s, "UPDATE node SET board = 'FILLER-9'");
	a = arriving(s, 6, 1, true);
	on_board(&a.g, "FILLER-9");
	assert_ok(arrived(s, &a, DIRECTIVE_ADMIT));
	assert_value(s, "1", "SELECT state FROM node WHERE label = 'c'");
}

#define SCENE(f) cmocka_unit_test_setup_teardown(f, begin, end)

/* It would have to wait, and as many wait as may. */
static void another_tpm_and_a_full_queue(void **state)
{
	struct scene *s = *state;

	sql(s, "INSERT INTO listed_ek (name, label, list) VALUES (CAST(x'000b00' || zeroblob(31) AS BLOB), 'a', 'papers')");
	struct arrival a = arriving(s, 5, 0, true);
	sql(s, "UPDATE node SET board = 'B-1'; CREATE TEMP TABLE other AS SELECT * FROM node;"
	       "UPDATE other SET id = zeroblob(32), ak_name = zeroblob(34), state = 0, label = '', board = '';"
	       "INSERT INTO node SELECT * FROM other");
	on_board(&a.g, "B-1");
	assert_reason(R_ENROL_FULL, arrived(s, &a, DIRECTIVE_ADMIT));
	assert_value(s, "0", "SELECT count(*) FROM attestation");
	assert_value(s, "2", "SELECT count(*) FROM node");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCENE(remembered), SCENE(refused_is_not_remembered), SCENE(number_of_many), SCENE(not_admitted_by_a_worker_alone), SCENE(announced),
		SCENE(another_tpm_on_a_known_board), SCENE(another_tpm_and_a_full_queue),
	};

	log_set_sinks(NULL, 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
