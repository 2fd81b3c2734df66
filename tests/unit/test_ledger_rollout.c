/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rollouts at the ledger: what it tells workers and signer of one, what they
 * may say of it, and what changes while they do.
 */
#include "ledger_kit.h"
#include "server/ledger.h"

static const uint8_t FW[SHA256_LEN] = { 0x77 };

/* A rollout of variant 1 for the group that the node is in, running. */
static int rolling(void **state)
{
	struct rollout r = { .name = "bios-2", .group = "canary", .failures = 1, .tries = 1, .at_once = 1,
			     .new_count = 1, .new_id = { 1 }, .created = 1, .changed = 1 };
	struct stored_manifest image = { .line = "fw", .version = "2", .purpose = PURPOSE_MAINTENANCE };
	struct reference_event e = { .pcr = 4, .type = 4, .digest_count = 1 };
	uint8_t digest[SHA256_LEN] = { 9 };
	struct store *store;
	uint64_t id;

	assert_int_equal(begin(state), 0);
	struct scene *s = *state;
	ledger_stop(s);
	assert_ok(store_open(s->path, &store));
	e.digest[0].alg = ALG_SHA256;
	e.digest[0].digest = BYTES(digest);
	/* what it brings, an older one, one of another component, one that is staged */
	static const struct {
		const char *component;
		enum variant_state state;
	} have[] = { { "firmware", VARIANT_ACTIVE }, { "firmware", VARIANT_ACTIVE }, { "gate", VARIANT_ACTIVE },
		     { "firmware", VARIANT_STAGED } };
	for (size_t i = 0; i < ARRAY_LEN(have); i++) {
		struct reference_variant v = { .name = "v", .source = "test", .state = have[i].state,
					       .event_count = 1, .event = &e };

		strcpy(v.component, have[i].component);
		assert_ok(store_variant_add(store, &v, &id));
		assert_int_equal(id, i + 1);
	}
	memcpy(image.digest, FW, SHA256_LEN);
	assert_ok(store_manifest_add(store, &image, bytes_str("maintenance")));
	memcpy(r.manifest, FW, SHA256_LEN);
	assert_ok(store_group_add(store, "canary", 1));
	assert_ok(store_rollout_add(store, &r));
	assert_ok(store_rollout_start(store, 1, 1));
	store_close(&store);
	sql(s, "UPDATE node SET grp = 'canary'");
	ledger_start(s);
	return 0;
}

static enum reason administered(struct scene *s, enum admin_op op, const char *arg)
{
	struct msg_admin m = admin_make(op, arg);

	return admin_asks(s, &m, BYTES_NONE);
}

/* What the worker is told of the next attestation. */
static struct msg_judge told(struct scene *s, uint64_t *ret_asked, uint64_t *ret_job)
{
	struct ipc_message m;
	struct msg_announce announced;
	struct msg_judge ret;

	*ret_asked = attest(s);
	assert_ok(ipc_wait(&s->signer, PATIENCE_MS, &m));
	memcpy(&announced, m.body.p, sizeof(announced));
	*ret_job = job_taken(s, 0, MSG_JUDGE, &m);
	memcpy(&ret, m.body.p, sizeof(ret));
	assert_memory_equal(&announced.s, &ret.s, sizeof(ret.s));
	return ret;
}

static struct msg_judged says(struct scene *s, enum directive d, enum reason r, enum rollout_seen seen,
			      uint32_t reset_count)
{
	struct msg_judged g = judged_make(s);

	g.directive = d;
	g.reason = r;
	g.rollout = seen;
	g.record.clock.reset_count = reset_count;
	return g;
}

static enum reason boot(struct scene *s, enum directive d, enum reason r, enum rollout_seen seen,
			uint32_t reset_count)
{
	struct msg_judged g = says(s, d, r, seen, reset_count);

	return judged_as(s, &g);
}

static enum reason updates(struct scene *s, uint32_t reset_count)
{
	return boot(s, DIRECTIVE_UPDATE, R_ROLLOUT_UPDATE, ROLLOUT_SEEN_OLD, reset_count);
}

static enum reason comes_back(struct scene *s, uint32_t reset_count)
{
	return boot(s, DIRECTIVE_ADMIT, R_OK, ROLLOUT_SEEN_NEW, reset_count);
}

static void what_is_told(void **state)
{
	struct scene *s = *state;
	struct msg_judged g;
	uint64_t asked, job;

	struct msg_judge m = told(s, &asked, &job);
	assert_int_equal(m.rollout.mode, ROLLOUT_UPDATE);
	assert_string_equal(m.rollout.name, "bios-2");
	assert_int_equal(m.rollout.new_count, 1);
	assert_int_equal(m.rollout.new_id[0], 1);
	assert_int_equal(m.rollout.retired_count, 0);
	assert_false(m.rollout.last_try);
	assert_true(m.s.has_update);
	assert_memory_equal(m.s.update_digest, FW, SHA256_LEN);
	g = says(s, DIRECTIVE_UPDATE, R_ROLLOUT_UPDATE, ROLLOUT_SEEN_OLD, 1);
	judged(s, 0, job, &g);
	signed_(s, job, DIRECTIVE_UPDATE);
	assert_ok(heard(&s->front, asked, NULL));
	assert_value(s, "1", "SELECT hex(manifest) LIKE '77000000%' FROM attestation");
	/* its one try is this boot's */
	m = told(s, &asked, &job);
	assert_int_equal(m.rollout.mode, ROLLOUT_UPDATE);
	assert_true(m.rollout.last_try);
	assert_int_equal(m.rollout.reset_count, 1);
	g = says(s, DIRECTIVE_ADMIT, R_OK, ROLLOUT_SEEN_NEW, 2);
	judged(s, 0, job, &g);
	signed_(s, job, DIRECTIVE_ADMIT);
	assert_ok(heard(&s->front, asked, NULL));
	/* older ones of that component that are in force are retired: no others */
	m = told(s, &asked, &job);
	assert_int_equal(m.rollout.mode, ROLLOUT_CLOSED);
	assert_int_equal(m.rollout.retired_count, 1);
	assert_int_equal(m.rollout.retired[0], 2);
	assert_false(m.s.has_update);
	assert_value(s, "4", "SELECT state FROM rollout");
	assert_value(s, "1", "SELECT count(*) FROM audit WHERE action = 'rollout.done' AND actor = 'server'");
}

#define BAD(d, r, seen)                                                                      \
	do {                                                                                 \
		assert_reason(R_SERVER_WORKER, boot(s, d, r, seen, 1));                      \
		assert_nothing_recorded(s);                                                  \
		assert_value(s, "0", "SELECT count(*) FROM rollout_node");                   \
	} while (0)

static void a_worker_that_is_taken_over(void **state)
{
	struct scene *s = *state;

	BAD(DIRECTIVE_UPDATE, R_ROLLOUT_UPDATE, ROLLOUT_SEEN_NOTHING);
	BAD(DIRECTIVE_UPDATE, R_ROLLOUT_UPDATE, ROLLOUT_SEEN_NEW);
	BAD(DIRECTIVE_ADMIT, R_OK, ROLLOUT_SEEN_MAX);
	BAD(DIRECTIVE_ADMIT, R_OK, (enum rollout_seen)-1);
	/* No `update` in a pause, and none without a rollout. */
	assert_ok(administered(s, ADMIN_ROLLOUT_PAUSE, "bios-2"));
	BAD(DIRECTIVE_UPDATE, R_ROLLOUT_UPDATE, ROLLOUT_SEEN_OLD);
	sql(s, "UPDATE node SET grp = ''");
	BAD(DIRECTIVE_UPDATE, R_ROLLOUT_UPDATE, ROLLOUT_SEEN_OLD);
	BAD(DIRECTIVE_ADMIT, R_OK, ROLLOUT_SEEN_NEW);
}

/* Judged by what is not so any more. */
static void changes_while_judged(void **state)
{
	struct scene *s = *state;
	struct msg_judged g = says(s, DIRECTIVE_UPDATE, R_ROLLOUT_UPDATE, ROLLOUT_SEEN_OLD, 1);
	uint64_t asked = attest(s), job = judging(s);

	assert_ok(administered(s, ADMIN_ROLLOUT_PAUSE, "bios-2"));
	judged(s, 0, job, &g);
	signed_(s, job, DIRECTIVE_UPDATE);
	assert_reason(R_SERVER_BUSY, heard(&s->front, asked, NULL));
	assert_nothing_recorded(s);
	assert_ok(administered(s, ADMIN_ROLLOUT_RESUME, "bios-2"));
	assert_ok(updates(s, 1));
	/* the same boot is the same try */
	assert_ok(updates(s, 1));
	assert_value(s, "1", "SELECT tries FROM rollout_node");
}

/* The one place that there is goes to one node. */
static void two_for_one_place(void **state)
{
	struct scene *s = *state;
	struct msg_judged g = says(s, DIRECTIVE_UPDATE, R_ROLLOUT_UPDATE, ROLLOUT_SEEN_OLD, 1);
	uint64_t asked = attest(s), job = judging(s);

	sql(s, "CREATE TEMP TABLE other AS SELECT * FROM node;"
	       "UPDATE other SET id = x'2222', ak_name = x'22', label = 'n2';"
	       "INSERT INTO node SELECT * FROM other");
	sql(s, "INSERT INTO rollout_node VALUES (1, x'2222', 1, 1, 1, 1, '')");
	judged(s, 0, job, &g);
	signed_(s, job, DIRECTIVE_UPDATE);
	assert_reason(R_SERVER_BUSY, heard(&s->front, asked, NULL));
	assert_value(s, "0", "SELECT count(*) FROM attestation");
	struct msg_judge m = told(s, &asked, &job);
	assert_int_equal(m.rollout.mode, ROLLOUT_ACCEPT);
	/* one that left the group or is revoked is on nobody's way */
	g = says(s, DIRECTIVE_ADMIT, R_OK, ROLLOUT_SEEN_OLD, 1);
	judged(s, 0, job, &g);
	signed_(s, job, DIRECTIVE_ADMIT);
	assert_ok(heard(&s->front, asked, NULL));
	sql(s, "UPDATE node SET state = 2 WHERE label = 'n2'");
	m = told(s, &asked, &job);
	assert_int_equal(m.rollout.mode, ROLLOUT_UPDATE);
}

static void a_failure_stops_it(void **state)
{
	struct scene *s = *state;

	assert_ok(updates(s, 1));
	/* in the boot of its try it has not come back yet */
	assert_ok(boot(s, DIRECTIVE_REFUSE, R_POLICY_VARIANT, ROLLOUT_SEEN_NEW, 1));
	assert_value(s, "1", "SELECT state FROM rollout_node");
	/* what is no fault of its firmware is none of the rollout's */
	assert_ok(boot(s, DIRECTIVE_HOLD, R_NODE_BOARD, ROLLOUT_SEEN_NEW, 2));
	assert_value(s, "1", "SELECT state FROM rollout_node");
	assert_ok(boot(s, DIRECTIVE_HOLD, R_ROLLOUT_UNKNOWN, ROLLOUT_SEEN_OTHER, 2));
	assert_value(s, "3", "SELECT state FROM rollout_node");
	assert_value(s, "rollout.unknown", "SELECT reason FROM rollout_node");
	assert_value(s, "3", "SELECT state FROM rollout");
	assert_value(s, "1", "SELECT count(*) FROM audit WHERE action = 'rollout.stop' AND actor = 'server'"
			     " AND reason = 'rollout.failed'");
	/* seen with what it brings when it is over: retired all the same, and nothing is done */
	assert_ok(comes_back(s, 3));
	assert_value(s, "2", "SELECT state FROM rollout_node");
	/* what is staged may be newer still: once it is in force, it is not found retired */
	assert_value(s, "2", "SELECT group_concat(variant) FROM node_retired");
	assert_value(s, "3", "SELECT state FROM rollout");
}

/* ---- receipts, and what continues a boot ------------------------------------------ */

static enum reason receipt(struct scene *s, uint64_t job)
{
	struct msg_receipt m = { .peer = "192.0.2.1" };
	char verdict[32];

	memcpy(m.ak_name, s->node.ak_name, AK_NAME_LEN);
	snprintf(verdict, sizeof(verdict), "verdict %llu", (unsigned long long)job);
	assert_ok(sha256(bytes_str(verdict), m.verdict_digest));
	return heard(&s->front, ASK(s, &s->front, MSG_RECEIPT, &m, bytes_str("receipt")), NULL);
}

static void over_at_the_receipt(void **state)
{
	struct scene *s = *state;
	assert_ok(updates(s, 1));
	static const char *const over[][2] = {
		{ "UPDATE rollout SET state = 2", "UPDATE rollout SET state = 1" },
		{ "UPDATE node SET grp = ''", "UPDATE node SET grp = 'canary'" },
		{ "UPDATE rollout_node SET reset_count = 2", "UPDATE rollout_node SET reset_count = 1" },
		{ "UPDATE rollout_node SET state = 3", "UPDATE rollout_node SET state = 1" },
		{ "UPDATE rollout SET manifest = x'1111111111111111111111111111111111111111111111111111111111111111'",
		  "UPDATE rollout SET manifest = (SELECT manifest FROM attestation)" },
	};
	for (size_t i = 0; i < ARRAY_LEN(over); i++) {
		sql(s, over[i][0]);
		assert_reason(R_ROLLOUT_OVER, receipt(s, 1));
		sql(s, over[i][1]);
	}
	assert_value(s, "0", "SELECT count(*) FROM receipt");
	assert_silence(&s->worker[0]);
}

static void over_while_the_receipt_is_judged(void **state)
{
	struct scene *s = *state;
	struct msg_receipt m = { .peer = "192.0.2.1" };
	struct msg_receipt_judged good = { .result = R_OK };
	struct ipc_message taken;

	assert_ok(updates(s, 1));
	memcpy(m.ak_name, s->node.ak_name, AK_NAME_LEN);
	assert_ok(sha256(bytes_str("verdict 1"), m.verdict_digest));
	uint64_t asked = ASK(s, &s->front, MSG_RECEIPT, &m, bytes_str("receipt"));
	uint64_t job = job_taken(s, 0, MSG_RECEIVED, &taken);
	assert_ok(administered(s, ADMIN_ROLLOUT_STOP, "bios-2"));
	say(s, 0, MSG_RECEIPT_JUDGED, job, &good, sizeof(good), BYTES_NONE);
	assert_reason(R_ROLLOUT_OVER, heard(&s->front, asked, NULL));
	assert_value(s, "0", "SELECT count(*) FROM receipt");
}

/* A maintenance image is nobody's host: there is nothing for relying parties. */
static void no_continuity(void **state)
{
	struct scene *s = *state;
	struct session_token t = session_make_new(s, s->node.ak_name);
	struct msg_attest m = { .stage = STAGE_HOST, .peer = "192.0.2.1" };

	assert_ok(updates(s, 1));
	sql(s, "INSERT INTO receipt SELECT verdict_digest, 1, pcrs, x'00' FROM attestation");
	t.stage = STAGE_HOST;
	token_seal(s, &t, &m.token);
	memcpy(m.ak_name, t.ak_name, AK_NAME_LEN);
	assert_reason(R_RECEIPT_UNKNOWN,
		      heard(&s->front, ASK(s, &s->front, MSG_ATTEST, &m, BYTES(s->body)), NULL));
	assert_silence(&s->worker[0]);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
#define SCENE(f) cmocka_unit_test_setup_teardown(f, rolling, end)
		SCENE(what_is_told), SCENE(a_worker_that_is_taken_over), SCENE(changes_while_judged),
		SCENE(two_for_one_place), SCENE(a_failure_stops_it), SCENE(over_at_the_receipt),
		SCENE(over_while_the_receipt_is_judged), SCENE(no_continuity),
	};

	log_set_sinks(NULL, 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
