/* SPDX-License-Identifier: Apache-2.0 */
/* What operators do with nodes, and nodes that do not agree with the record. */
#include "ledger_kit.h"
#include "server/ledger.h"

#define ID_1 "1111111111111111111111111111111111111111111111111111111111111111"
#define ID_2 "2222222222222222222222222222222222222222222222222222222222222222"

static const uint8_t proof[SHA256_LEN] = { 1, 2, 3 };

/* With one argument more; its answer as text until the next one. */
static enum reason asked(struct scene *s, enum admin_op op, const char *arg, const char *more, bool dry,
			 const char **ret)
{
	static char text[8u << 20];
	struct msg_admin m = admin_make(op, arg);
	struct bytes body = BYTES_NONE;

	m.dry_run = dry;
	/* The cursor of a list is behind the group. */
	snprintf(m.arg[op == ADMIN_NODE_LIST ? 2 : 1], sizeof(m.arg[1]), "%s", more);
	enum reason r = heard(&s->admin, ASK(s, &s->admin, MSG_ADMIN, &m, BYTES_NONE), &body);
	assert_true(body.n < sizeof(text));
	memcpy(text, body.p, body.n);
	text[body.n] = '\0';
	if (ret)
		*ret = text;
	return r;
}

static unsigned times(const char *text, const char *word)
{
	unsigned n = 0;

	while ((text = strstr(text, word))) {
		text += strlen(word);
		n++;
	}
	return n;
}

/* Another one on record, with the AK that key_make() makes of 3, and EKs for both. */
static void second_node(struct scene *s, enum node_state state)
{
	struct node n = s->node;
	struct node_ek ek = { .name = { 0, ALG_SHA256 }, .name_len = 34 };
	struct store *store;

	ledger_stop(s);
	assert_ok(store_open(s->path, &store));
	assert_ok(store_node_ek_add(store, n.id, &ek));
	memset(n.id, 0x22, sizeof(n.id));
	key_make(&n, 3);
	n.state = state;
	n.label[0] = '\0';
	n.seen = time(NULL);
	ek.name[2] = 1;
	assert_ok(store_node_add(store, &n));
	assert_ok(store_node_ek_add(store, n.id, &ek));
	store_close(&store);
	ledger_start(s);
}

/* An enrolment of this AK, that came back with the credential of this EK. */
static enum reason proved(struct scene *s, uint8_t ak, uint8_t ek)
{
	struct enrol_token t;
	struct msg_attest m = enrolling_make(s, &t, ak, proof);

	t.ek[0].name[2] = m.proof[0].ek_name[2] = ek;
	seal_again(s, &t, &m);
	strcpy(m.peer, "192.0.2.7");
	return heard(&s->front, ASK(s, &s->front, MSG_ATTEST, &m, BYTES(s->body)), NULL);
}

static void conflicts_are_shown(void **state)
{
	struct scene *s = *state;
	const char *text;

	second_node(s, NODE_ENROLLED);
	assert_ok(asked(s, ADMIN_NODE_LIST, "conflict", "", false, &text));
	assert_null(strstr(text, "ak_name"));
	/* The EK of the first with an AK that is nobody's. */
	assert_reason(R_NODE_CONFLICT, proved(s, 2, 0));
	assert_reason(R_NODE_CONFLICT, proved(s, 2, 0));
	assert_value(s, "1", "SELECT count(*) FROM conflict");
	assert_value(s, "2", "SELECT count FROM conflict WHERE node = (SELECT id FROM node WHERE label = 'n1')"
			     " AND other IS NULL AND peer = '192.0.2.7'");
	assert_value(s, "2", "SELECT count(*) FROM audit WHERE action = 'node.conflict' AND target = '" ID_1 "'");
	assert_ok(asked(s, ADMIN_NODE_LIST, "conflict", "", false, &text));
	assert_non_null(strstr(text, "\"count\":2"));
	assert_int_equal(times(text, "\"created\""), 1);
	/* The EK of the first with the AK of the second: each is named at the other. */
	assert_reason(R_NODE_CONFLICT, proved(s, 3, 0));
	assert_ok(asked(s, ADMIN_NODE_SHOW, "n1", "", false, &text));
	assert_non_null(strstr(text, "\"node\":\"" ID_2 "\""));
	assert_ok(asked(s, ADMIN_NODE_SHOW, ID_2, "", false, &text));
	assert_non_null(strstr(text, "\"node\":\"" ID_1 "\""));
	/* Nobody was attested, and approval settles it for the one. */
	assert_value(s, "0", "SELECT count(*) FROM attestation");
	assert_ok(asked(s, ADMIN_NODE_APPROVE, "n1", "", false, NULL));
	assert_value(s, "1", "SELECT count(*) FROM conflict");
	assert_ok(asked(s, ADMIN_NODE_SHOW, "n1", "", false, &text));
	assert_null(strstr(text, "conflict"));
	/* EKs of both at once. */
	struct enrol_token t;
	struct msg_attest m = enrolling_make(s, &t, 4, proof);
	t.ek[1] = t.ek[0];
	t.ek[1].name[2] = 1;
	t.ek_count = m.proof_count = 2;
	m.proof[1] = m.proof[0];
	m.proof[1].ek_name[2] = 1;
	seal_again(s, &t, &m);
	assert_reason(R_NODE_CONFLICT, heard(&s->front, ASK(s, &s->front, MSG_ATTEST, &m, BYTES(s->body)), NULL));
	assert_value(s, "2", "SELECT count(*) FROM conflict WHERE other IS NOT NULL");
}

/* What was not proved is no conflict: else anybody could make one. */
static void claims_are_no_conflict(void **state)
{
	struct scene *s = *state;
	struct enrol_token t;
	struct msg_attest m = enrolling_make(s, &t, 2, proof);

	second_node(s, NODE_ENROLLED);
	m.proof[0].proof[0] ^= 1;
	assert_reason(R_ENROL_PROOF, heard(&s->front, ASK(s, &s->front, MSG_ATTEST, &m, BYTES(s->body)), NULL));
	assert_value(s, "0", "SELECT count(*) FROM conflict");
	assert_value(s, "0", "SELECT count(*) FROM audit");
}

static void renamed(void **state)
{
	struct scene *s = *state;
	const char *text;

	second_node(s, NODE_ENROLLED);
	assert_ok(asked(s, ADMIN_NODE_RENAME, "n1", "n2", true, NULL));
	assert_value(s, "0", "SELECT count(*) FROM audit");
	assert_ok(asked(s, ADMIN_NODE_RENAME, "n1", "n2", false, &text));
	assert_non_null(strstr(text, "\"label\":\"n2\""));
	assert_value(s, "n2, was n1: test", "SELECT detail FROM audit WHERE action = 'node.rename'");
	assert_reason(R_STORE_NOT_FOUND, asked(s, ADMIN_NODE_SHOW, "n1", "", false, NULL));
	/* A name is one node's, by whatever verb. */
	assert_reason(R_STORE_EXISTS, asked(s, ADMIN_NODE_RENAME, ID_2, "n2", false, NULL));
	assert_reason(R_STORE_EXISTS, asked(s, ADMIN_NODE_APPROVE, ID_2, "n2", false, NULL));
	assert_reason(R_FORMAT_TEXT, asked(s, ADMIN_NODE_RENAME, "n2", "", false, NULL));
	assert_ok(asked(s, ADMIN_NODE_RENAME, "n2", "n2", false, NULL));
	/* In a record where two have it nevertheless, that is shown. */
	sql(s, "UPDATE node SET label = 'n2'");
	assert_ok(asked(s, ADMIN_NODE_LIST, "conflict", "", false, &text));
	assert_non_null(strstr(text, "\"label_also\":\"" ID_1 "\""));
	assert_non_null(strstr(text, "\"label_also\":\"" ID_2 "\""));
}

static void rebound_to_another_tpm(void **state)
{
	struct scene *s = *state;
	struct msg_judged g = judged_make(s);
	const char *text;

	second_node(s, NODE_PENDING);
	sql(s, "INSERT INTO selected SELECT '" ID_1 "', purpose, digest FROM selected");
	sql(s, "INSERT INTO conflict SELECT id, NULL, ak_name, '', 1, 1 FROM node");
	admitted(s);
	sql(s, "UPDATE node SET grp = 'racks' WHERE label = ''");
	assert_ok(asked(s, ADMIN_NODE_REBIND, "n1", ID_2, true, NULL));
	assert_value(s, "0", "SELECT count(*) FROM rebound");
	assert_value(s, "1", "SELECT state FROM node WHERE label = 'n1'");
	assert_ok(asked(s, ADMIN_NODE_REBIND, "n1", ID_2, false, &text));
	assert_non_null(strstr(text, "\"id\":\"" ID_2 "\""));
	assert_value(s, "operator uid 0, in place of 11111111", "SELECT basis FROM node WHERE state = 1");
	assert_value(s, "now " ID_2 ": test",
		     "SELECT detail FROM audit WHERE action = 'node.rebind' AND target = '" ID_1 "'");
	assert_value(s, "in place of " ID_1 ", was pending, label n1 was none, group none was racks: test",
		     "SELECT detail FROM audit WHERE action = 'node.rebind' AND target = '" ID_2 "'");
	/* Name and image are the new one's, history stays with the old one, and each leads to the other. */
	assert_value(s, ID_2, "SELECT target FROM selected WHERE target <> '*'");
	assert_value(s, "0", "SELECT count(*) FROM conflict");
	assert_value(s, "1", "SELECT count(*) FROM attestation a JOIN node n ON n.id = a.node WHERE n.state = 3");
	assert_ok(asked(s, ADMIN_NODE_SHOW, "n1", "", false, &text));
	assert_non_null(strstr(text, "\"replaces\":\"" ID_1 "\""));
	assert_null(strstr(text, "label_also"));
	assert_ok(asked(s, ADMIN_NODE_SHOW, ID_1, "", false, &text));
	assert_non_null(strstr(text, "\"replaced_by\":\"" ID_2 "\""));
	assert_non_null(strstr(text, "\"label\":\"n1\""));
	/* The old TPM is refused from now on. */
	uint64_t id = attest(s), job = judging(s);
	judged(s, 0, job, &g);
	signed_(s, job, DIRECTIVE_ADMIT);
	assert_reason(R_SERVER_WORKER, heard(&s->front, id, NULL));
	/* No verb but this one brings it back. */
	assert_reason(R_NODE_CONFLICT, asked(s, ADMIN_NODE_APPROVE, ID_1, "", false, NULL));
	assert_reason(R_NODE_CONFLICT, asked(s, ADMIN_NODE_RENAME, ID_1, "n9", false, NULL));
	assert_reason(R_NODE_CONFLICT, asked(s, ADMIN_NODE_REBIND, ID_1, ID_2, false, NULL));
	assert_reason(R_NODE_CONFLICT, asked(s, ADMIN_NODE_REBIND, "n1", ID_2, false, NULL));
	assert_ok(asked(s, ADMIN_NODE_REBIND, "n1", ID_1, false, NULL));
	admitted(s);
	/* A revoked one takes nobody's place. */
	assert_reason(R_NODE_CONFLICT, asked(s, ADMIN_NODE_REVOKE, ID_2, "", false, NULL));
	sql(s, "UPDATE node SET state = 2 WHERE state = 3");
	assert_reason(R_NODE_CONFLICT, asked(s, ADMIN_NODE_REBIND, ID_1, ID_2, false, NULL));
	assert_ok(asked(s, ADMIN_AUDIT_VERIFY, "", "", false, NULL));
}

/* What a retired one was called may be another one's by now. */
static void retired_comes_back_without_its_label(void **state)
{
	struct scene *s = *state;

	second_node(s, NODE_RETIRED);
	sql(s, "UPDATE node SET label = 'n1'");
	sql(s, "INSERT INTO node SELECT CAST(zeroblob(31) || x'33' AS BLOB), CAST(zeroblob(33) || x'33' AS BLOB),"
	       " ak_public, 0, '', basis, peer, created, approved, seen, implemented, clock_known, clock, reset_count,"
	       " restart_count, firmware, ask_enrol, last_directive, last_reason, verdicts, audit_until, unlisted, grp, board,"
	       " ek_set, ek_offers, '' FROM node WHERE state = 1");
	assert_ok(asked(s, ADMIN_NODE_REBIND, "00000000", ID_2, false, NULL));
	assert_value(s, "1", "SELECT count(*) FROM node WHERE label = 'n1'");
	assert_value(s, "", "SELECT label FROM node WHERE basis LIKE '%in place of 00000000'");
}

/* Two rebinds would make an enrolled node of it. */
static void revoked_stays_revoked(void **state)
{
	struct scene *s = *state;

	second_node(s, NODE_PENDING);
	assert_ok(asked(s, ADMIN_NODE_REVOKE, "n1", "", false, NULL));
	assert_reason(R_NODE_CONFLICT, asked(s, ADMIN_NODE_REBIND, "n1", ID_2, false, NULL));
	assert_value(s, "2", "SELECT state FROM node WHERE label = 'n1'");
	assert_value(s, "0", "SELECT count(*) FROM rebound");
}

#define A_20 "aaaaaaaaaaaaaaaaaaaa"
#define A_63 A_20 A_20 A_20 "aaa"

/* An approval may give names: the audit says which, and what they were, however long. */
static void names_are_in_the_audit(void **state)
{
	struct scene *s = *state;
	struct msg_admin m = admin_make(ADMIN_NODE_APPROVE, "n1");
	struct bytes body;

	assert_ok(asked(s, ADMIN_NODE_APPROVE, "n1", "n1", false, NULL));
	assert_value(s, "enrolled: test", "SELECT detail FROM audit ORDER BY number DESC LIMIT 1");
	assert_ok(asked(s, ADMIN_GROUP_ADD, "racks", "", false, NULL));
	sql(s, "UPDATE node SET label = '" A_63 "', grp = '" A_63 "'");
	snprintf(m.arg[0], sizeof(m.arg[0]), A_63);
	snprintf(m.arg[1], sizeof(m.arg[1]), "n7");
	snprintf(m.arg[2], sizeof(m.arg[2]), "racks");
	assert_ok(heard(&s->admin, ASK(s, &s->admin, MSG_ADMIN, &m, BYTES_NONE), &body));
	assert_value(s, "enrolled, label n7 was " A_63 ", group racks was " A_63 ": test",
		     "SELECT detail FROM audit ORDER BY number DESC LIMIT 1");
	assert_ok(asked(s, ADMIN_AUDIT_VERIFY, "", "", false, NULL));
}

static void listed_in_pages(void **state)
{
	struct scene *s = *state;
	const char *text, *next;
	char after[2 * SHA256_LEN + 1];

	sql(s, "WITH RECURSIVE k(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM k WHERE i < 5003)"
	       " INSERT INTO node (id, ak_name, ak_public, state, label, basis, peer, created, approved, seen,"
	       " implemented, clock_known, clock, reset_count, restart_count, firmware, ask_enrol, last_directive,"
	       " last_reason, verdicts)"
	       " SELECT CAST(printf('%032d', i) AS BLOB), CAST(printf('%034d', i) AS BLOB), ak_public, i % 2, '',"
	       " basis, peer, created, approved, seen, implemented, clock_known, clock, reset_count, restart_count,"
	       " firmware, ask_enrol, last_directive, last_reason, verdicts FROM k, node");
	assert_ok(asked(s, ADMIN_NODE_LIST, "", "", false, &text));
	assert_int_equal(times(text, "\"ak_name\""), 5000);
	next = strstr(text, "\"next\":\"");
	assert_non_null(next);
	snprintf(after, sizeof(after), "%.64s", next + 8);
	assert_ok(asked(s, ADMIN_NODE_LIST, "", after, false, &text));
	assert_int_equal(times(text, "\"ak_name\""), 4);
	assert_null(strstr(text, "\"next\""));
	/* What is passed over counts as well: a page costs the same whatever is asked for. */
	assert_ok(asked(s, ADMIN_NODE_LIST, "pending", "", false, &text));
	assert_int_equal(times(text, "\"ak_name\""), 2499);
	assert_non_null(strstr(text, "\"next\""));
	assert_reason(R_FORMAT_TEXT, asked(s, ADMIN_NODE_LIST, "", "xyz", false, NULL));
}

static void keys_of_a_list_are_removed(void **state)
{
	struct scene *s = *state;
	const char *text;

	sql(s, "INSERT INTO listed_ek (certificate, spki, name, label, list) VALUES"
	       " (x'01', NULL, NULL, '', 'papers'), (NULL, x'02', NULL, '', 'papers'),"
	       " (NULL, NULL, x'03', '', 'papers'), (x'04', x'05', NULL, '', 'papers'),"
	       " (x'06', NULL, NULL, '', 'others')");
	assert_reason(R_STORE_NOT_FOUND, asked(s, ADMIN_EK_REMOVE, "papers", "06", false, NULL));
	assert_reason(R_STORE_NOT_FOUND, asked(s, ADMIN_EK_REMOVE, "absent", "", false, NULL));
	assert_reason(R_FORMAT_TEXT, asked(s, ADMIN_EK_REMOVE, "papers", "zz", false, NULL));
	assert_ok(asked(s, ADMIN_EK_REMOVE, "papers", "", true, &text));
	assert_non_null(strstr(text, "\"removed\":4"));
	assert_value(s, "5", "SELECT count(*) FROM listed_ek");
	assert_ok(asked(s, ADMIN_EK_REMOVE, "papers", "03", false, NULL));
	assert_ok(asked(s, ADMIN_EK_REMOVE, "papers", "05", false, NULL));
	assert_value(s, "3", "SELECT count(*) FROM listed_ek");
	assert_ok(asked(s, ADMIN_EK_REMOVE, "papers", "", false, NULL));
	assert_value(s, "others", "SELECT list FROM listed_ek");
	assert_value(s, "3", "SELECT count(*) FROM audit WHERE action = 'ek.remove'");
	assert_value(s, "papers: 2 removed: test", "SELECT detail FROM audit ORDER BY number DESC LIMIT 1");
}

/* The longest name of a list, and the longest key: the audit has both as a whole. */
static void long_name_of_a_list(void **state)
{
	struct scene *s = *state;
	struct listed_ek e = { .name_len = EK_NAME_MAX, .line = 1 };
	char name[LIST_NAME_MAX + 1], key[2 * EK_NAME_MAX + 1];

	memset(e.name, 0xa7, sizeof(e.name));
	hex_encode(BYTES(e.name), key);
	memset(name, 'l', sizeof(name));
	name[LIST_NAME_MAX] = '\0';
	struct msg_admin m = admin_make(ADMIN_EK_LOAD, name);
	assert_reason(R_FORMAT_TOO_LARGE, admin_asks(s, &m, bytes_of(&e, sizeof(e))));
	assert_value(s, "0", "SELECT count(*) FROM listed_ek");
	name[LIST_NAME_MAX - 1] = '\0';
	m = admin_make(ADMIN_EK_LOAD, name);
	assert_ok(admin_asks(s, &m, bytes_of(&e, sizeof(e))));
	assert_ok(asked(s, ADMIN_EK_REMOVE, name, key, false, NULL));
	assert_value(s, key, "SELECT target FROM audit WHERE action = 'ek.remove'");
	assert_value(s, name, "SELECT substr(detail, 1, 63) FROM audit WHERE action = 'ek.remove'");
	assert_value(s, ": 1 removed: test", "SELECT substr(detail, 64) FROM audit WHERE action = 'ek.remove'");
	/* Whole where operators read it, and in the chain. */
	const char *text;
	assert_ok(asked(s, ADMIN_AUDIT_LIST, "", "", false, &text));
	assert_non_null(strstr(text, key));
	assert_ok(asked(s, ADMIN_AUDIT_VERIFY, "", "", false, NULL));
}

/* Where a node came in by a list, the basis says what nobody has seen. */
static void basis_of_a_listed_node(void **state)
{
	struct scene *s = *state;

	sql(s, "INSERT INTO listed_ek (name, label, list) VALUES"
	       " (CAST(x'000b00' || zeroblob(31) AS BLOB), 'a', 'papers'),"
	       " (CAST(x'000b01' || zeroblob(31) AS BLOB), 'b', 'papers')");
	for (uint8_t i = 0; i < 2; i++) {
		struct arrival a = arriving(s, (uint8_t)(5 + i), i, i == 1);

		assert_ok(arrived(s, &a, DIRECTIVE_ADMIT));
	}
	assert_value(s, "EK list papers line 0, no certificate", "SELECT basis FROM node WHERE label = 'a'");
	assert_value(s, "EK list papers line 0", "SELECT basis FROM node WHERE label = 'b'");
}

/* What let a new node in is asked again when it is recorded. */
static void list_changes_while_judged(void **state)
{
	static const char *const change[] = {
		"DELETE FROM listed_ek",
		"UPDATE listed_ek SET label = 'b'",
		"UPDATE listed_ek SET grp = 'racks'",
		"UPDATE listed_ek SET list = 'others'",
		"DELETE FROM selected",
	};
	struct scene *s = *state;

	for (size_t i = 0; i < ARRAY_LEN(change); i++) {
		sql(s, "DELETE FROM listed_ek");
		sql(s, "INSERT INTO listed_ek (name, label, list) VALUES"
		       " (CAST(x'000b00' || zeroblob(31) AS BLOB), 'a', 'papers')");
		struct arrival a = arriving(s, 5, 0, false);
		sql(s, change[i]);
		assert_reason(R_SERVER_BUSY, arrived(s, &a, DIRECTIVE_ADMIT));
		assert_nothing_recorded(s);
	}

	/* As an operator does it. */
	struct arrival a = arriving(s, 5, 0, false);
	assert_ok(asked(s, ADMIN_EK_REMOVE, "papers", "", false, NULL));
	assert_reason(R_SERVER_BUSY, arrived(s, &a, DIRECTIVE_HOLD));
	assert_nothing_recorded(s);

	/* It comes again, and waits like any other; unless others that wait took the room. */
	a = arriving(s, 5, 0, false);
	sql(s, "UPDATE node SET state = 0");
	assert_reason(R_ENROL_FULL, arrived(s, &a, DIRECTIVE_HOLD));
	assert_nothing_recorded(s);
	sql(s, "UPDATE node SET state = 1");
	a = arriving(s, 5, 0, false);
	assert_ok(arrived(s, &a, DIRECTIVE_HOLD));
	assert_value(s, "1", "SELECT count(*) FROM node WHERE state = 0 AND label = ''");
}

/* As many wait as may: whom a list announces need not, and gets in. */
static void listed_node_passes_a_full_queue(void **state)
{
	struct scene *s = *state;
	struct msg_enrol e = { .peer = "192.0.2.9" };
	struct enrol_token t;
	struct ipc_message taken;

	sql(s, "UPDATE node SET state = 0");
	sql(s, "INSERT INTO listed_ek (name, label, list) VALUES"
	       " (CAST(x'000b00' || zeroblob(31) AS BLOB), 'a', 'papers')");
	/* Which key it has is known when a worker has seen it. */
	e.token = enrolling_make(s, &t, 5, proof).token;
	uint64_t asked_at = ASK(s, &s->front, MSG_ENROL, &e, bytes_str("enrol"));
	struct msg_enrolled nothing = { .result = R_FORMAT_TRUNCATED };
	uint64_t job = job_taken(s, 0, MSG_ENROLLING, &taken);
	say(s, 0, MSG_ENROLLED, job, &nothing, sizeof(nothing), BYTES_NONE);
	assert_reason(R_FORMAT_TRUNCATED, heard(&s->front, asked_at, NULL));

	struct arrival a = arriving(s, 5, 0, false);
	assert_ok(arrived(s, &a, DIRECTIVE_ADMIT));
	assert_value(s, "1", "SELECT state FROM node WHERE label = 'a'");

	/* Another one, of no list, still has to come again. */
	struct msg_attest m = enrolling_make(s, &t, 6, proof);
	t.ek[0].name[2] = m.proof[0].ek_name[2] = 1;
	seal_again(s, &t, &m);
	asked_at = ASK(s, &s->front, MSG_ATTEST, &m, BYTES(s->body));
	assert_reason(R_ENROL_FULL, heard(&s->front, asked_at, NULL));
	assert_value(s, "2", "SELECT count(*) FROM node");
}

/* A list names a node as another one is called that is not retired: a person says which it is now. */
static void label_of_a_list_is_taken(void **state)
{
	static const struct {
		const char *state, *label, *basis;
	} cases[] = { { "1", "", "label of list is 11111111's" }, { "2", "", "label of list is 11111111's" },
		      { "3", "n1", "EK list papers line 0, no certificate" } };
	struct scene *s = *state;
	char text[64];

	sql(s, "INSERT INTO listed_ek (name, label, list) VALUES"
	       " (CAST(x'000b00' || zeroblob(31) AS BLOB), 'n1', 'papers')");
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		bool waits = cases[i].label[0] == '\0';

		snprintf(text, sizeof(text), "UPDATE node SET state = %s", cases[i].state);
		sql(s, text);
		struct arrival a = arriving(s, 5, 0, false);
		assert_ok(arrived(s, &a, waits ? DIRECTIVE_HOLD : DIRECTIVE_ADMIT));
		assert_value(s, waits ? "0" : "1", "SELECT state FROM node WHERE lower(hex(id)) <> '" ID_1 "'");
		assert_value(s, cases[i].label, "SELECT label FROM node WHERE lower(hex(id)) <> '" ID_1 "'");
		assert_value(s, cases[i].basis, "SELECT basis FROM node WHERE lower(hex(id)) <> '" ID_1 "'");
		sql(s, "DELETE FROM attestation; DELETE FROM node_ek; DELETE FROM node WHERE lower(hex(id)) <> '" ID_1 "'");
	}
}

#define SCENE(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCENE(label_of_a_list_is_taken),   SCENE(retired_comes_back_without_its_label),
		SCENE(revoked_stays_revoked),	   SCENE(names_are_in_the_audit),
		SCENE(basis_of_a_listed_node),	   SCENE(list_changes_while_judged),
		SCENE(listed_node_passes_a_full_queue),
		SCENE(conflicts_are_shown),	   SCENE(claims_are_no_conflict),     SCENE(renamed),
		SCENE(rebound_to_another_tpm),	   SCENE(listed_in_pages),	      SCENE(keys_of_a_list_are_removed),
		SCENE(long_name_of_a_list),
	};

	log_set_sinks(NULL, 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
