/* SPDX-License-Identifier: Apache-2.0 */
/* Rules for new nodes, as operators make and remove them, and approve by them. */
#include "rule_kit.h"
#include "server/ledger.h"

#define BAD(reason, change)                                              \
	do {                                                             \
		struct rule r = rule_make(true);                         \
		change;                                                  \
		assert_reason(reason, rule_asked(s, "hall", &r, false)); \
		assert_value(s, "0", "SELECT count(*) FROM rule");       \
	} while (0)

static void refused_rules(void **state)
{
	static const char *const names[] = { "Hall", "-hall", "ha ll", "", "hall,3",
					     "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" };
	struct scene *s = *state;

	BAD(R_RULE_BOUNDS, r.expires = 0);
	BAD(R_RULE_BOUNDS, r.most = 0);
	BAD(R_RULE_BOUNDS, r.network_count = 0);
	/* With them one that only marks would look like more than it is. */
	BAD(R_RULE_BOUNDS, r.enrols = false);
	BAD(R_RULE_BOUNDS, (r.enrols = false, r.most = 0, r.network_count = 0));
	BAD(R_RULE_BOUNDS, (r.enrols = false, r.expires = 0, r.network_count = 0));
	BAD(R_RULE_BOUNDS, (r.enrols = false, r.expires = 0, r.most = 0));
	BAD(R_RULE_EXPIRY, r.expires = time(NULL));
	BAD(R_RULE_EXPIRY, r.expires = -1);
	BAD(R_RULE_EXPIRY, r.expires = time(NULL) + INT64_C(367) * 86400);
	BAD(R_FORMAT_RANGE, r.most = 100001);
	BAD(R_FORMAT_RANGE, r.most = UINT64_MAX);
	BAD(R_FORMAT_RANGE, r.network_count = RULE_NETWORKS_MAX + 1);
	BAD(R_RULE_CIDR, r.network[1].bits = 0);
	BAD(R_RULE_CIDR, r.network[1].address[15] = 1);
	BAD(R_RULE_LOOPBACK, (memset(&r.network[0].address[12], 0, 4), r.network[0].address[12] = 127));
	BAD(R_FORMAT_TEXT, r.model[0] = '\0');
	BAD(R_FORMAT_TEXT, r.manufacturer[0] = '\0');
	BAD(R_FORMAT_TEXT, r.model[0] = '\n');
	BAD(R_FORMAT_TEXT, r.manufacturer[0] = '\n');
	BAD(R_GROUP_UNKNOWN, strcpy(r.group, "absent"));
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		struct rule r = rule_make(true);
		assert_reason(R_FORMAT_TEXT, rule_asked(s, names[i], &r, false));
	}
	struct msg_admin m = admin_make(ADMIN_RULE_ADD, "hall");
	assert_reason(R_FORMAT_TRUNCATED, admin_asks(s, &m, bytes_str("rule")));
	assert_reason(R_RULE_UNKNOWN, asked(s, ADMIN_RULE_REMOVE, "hall", false, NULL));
	assert_reason(R_RULE_UNKNOWN, asked(s, ADMIN_RULE_APPROVE, "hall", false, NULL));
	assert_value(s, "0", "SELECT count(*) FROM rule");
	assert_value(s, "0", "SELECT count(*) FROM audit");
}

static void made_and_removed(void **state)
{
	struct scene *s = *state;
	struct rule r = rule_make(true);
	const char *text;

	sql(s, "INSERT INTO node_group VALUES ('racks', 1)");
	strcpy(r.group, "racks");
	assert_ok(rule_asked(s, "hall", &r, true));
	assert_value(s, "0", "SELECT count(*) FROM rule");
	assert_value(s, "0", "SELECT count(*) FROM audit");
	assert_ok(rule_asked(s, "hall", &r, false));
	assert_reason(R_STORE_EXISTS, rule_asked(s, "hall", &r, false));
	assert_reason(R_STORE_EXISTS, rule_asked(s, "hall", &r, true));
	text = value(s, "SELECT detail FROM audit WHERE action = 'rule.add'");
	assert_non_null(strstr(text, "hall: IFX SLB 9672, enrol 2 until "));
	assert_non_null(strstr(text, " from 192.0.2.0/24 10.20.0.0/16: test"));
	assert_ok(asked(s, ADMIN_RULE_LIST, "", false, &text));
	assert_non_null(strstr(text, "\"from\":[\"192.0.2.0/24\",\"10.20.0.0/16\"]"));
	assert_non_null(strstr(text, "\"state\":\"in force\""));
	assert_non_null(strstr(text, "\"max\":2"));
	assert_non_null(strstr(text, "\"enrolled\":0"));
	sql(s, "UPDATE rule SET used = most");
	assert_ok(asked(s, ADMIN_RULE_LIST, "", false, &text));
	assert_non_null(strstr(text, "\"state\":\"rule.exhausted\""));
	sql(s, "UPDATE rule SET used = 0");

	/* The group that it names stays as long as it does. */
	assert_reason(R_GROUP_USED, asked(s, ADMIN_GROUP_REMOVE, "racks", false, NULL));
	struct arrival a = coming(s, 5, INSIDE);
	assert_ok(arrived(s, &a, DIRECTIVE_ADMIT));
	a = coming(s, 6, "10.99.0.1");
	assert_ok(arrived(s, &a, DIRECTIVE_HOLD));
	assert_ok(asked(s, ADMIN_RULE_REMOVE, "hall", true, NULL));
	assert_value(s, "1", "SELECT count(*) FROM rule");
	assert_value(s, "1", "SELECT count(*) FROM node WHERE state = 0 AND rule = 'hall'");
	assert_ok(asked(s, ADMIN_RULE_REMOVE, "hall", false, NULL));
	assert_value(s, "hall: 1 enrolled, 1 waiting: test", "SELECT detail FROM audit WHERE action = 'rule.remove'");
	/* Who is in stays in, and says by what; whoever waits is marked by nothing any more. */
	assert_value(s, "rule hall", "SELECT basis FROM node WHERE state = 1 AND label = ''");
	assert_verdict_says(s, 5, "rule hall", DIRECTIVE_ADMIT);
	assert_value(s, "1", "SELECT count(*) FROM node WHERE state = 0 AND rule = '' AND basis = ''");
	assert_verdict_says(s, 6, "", DIRECTIVE_HOLD);
}

/* Those that wait with a mark, all at once. */
static void approved(void **state)
{
	struct scene *s = *state;
	const char *text;

	rule_add(s, "hall", false);
	struct arrival a = coming(s, 5, INSIDE);
	assert_ok(arrived(s, &a, DIRECTIVE_HOLD));
	/* More like it, one that another rule marked, one that is revoked, and one that conflicts. */
	sql(s, "CREATE TEMP TABLE other AS SELECT * " FRESH ";"
	       "UPDATE other SET id = zeroblob(32), ak_name = zeroblob(34); INSERT INTO node SELECT * FROM other;"
	       "UPDATE other SET id = CAST(x'01' || zeroblob(31) AS BLOB), ak_name = CAST(x'01' || zeroblob(33) AS BLOB),"
	       " rule = 'hall2'; INSERT INTO node SELECT * FROM other;"
	       "UPDATE other SET id = CAST(x'02' || zeroblob(31) AS BLOB), ak_name = CAST(x'02' || zeroblob(33) AS BLOB),"
	       " rule = 'hall', state = 2; INSERT INTO node SELECT * FROM other;"
	       "UPDATE other SET id = CAST(x'03' || zeroblob(31) AS BLOB), ak_name = CAST(x'03' || zeroblob(33) AS BLOB),"
	       " state = 0, label = 'n1'; INSERT INTO node SELECT * FROM other");
	assert_ok(asked(s, ADMIN_RULE_APPROVE, "hall", true, &text));
	assert_non_null(strstr(text, "\"passed_over\":1"));
	assert_non_null(strstr(text, "\"more\":false"));
	assert_value(s, "4", "SELECT count(*) FROM node WHERE state = 0");
	assert_value(s, "0", "SELECT count(*) FROM audit WHERE action = 'rule.approve'");
	assert_ok(asked(s, ADMIN_RULE_APPROVE, "hall", false, &text));
	assert_non_null(strstr(text, "\"passed_over\":1"));
	assert_non_null(strstr(text, "\"more\":false"));
	assert_value(s, "2", "SELECT count(*) FROM node WHERE state = 1 AND basis = 'operator uid 0, rule hall' AND approved > 0");
	assert_value(s, "2", "SELECT count(*) FROM node WHERE state = 0");
	assert_value(s, "1", "SELECT count(*) FROM node WHERE state = 2");
	assert_value(s, "2", "SELECT count(*) FROM audit WHERE action = 'rule.approve' AND detail = 'pending: test'");
	assert_verdict_says(s, 5, "operator uid 0, rule hall", DIRECTIVE_ADMIT);
}

#define SCENE(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCENE(refused_rules), SCENE(made_and_removed), SCENE(approved),
	};

	log_set_sinks(NULL, 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
