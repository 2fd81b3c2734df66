/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What workers judge by: what changes while they do, and what is too much for
 * them.
 */
#include "ledger_kit.h"
#include "server/ledger.h"

/* As many as a ledger takes: groups with a policy, variants in force. */
enum { GROUPS = 1023, VARIANTS = 512 };

static enum reason administered(struct scene *s, enum admin_op op, const char *arg, struct bytes tail)
{
	struct msg_admin m = admin_make(op, arg);

	return admin_asks(s, &m, tail);
}

static enum reason tried(struct scene *s, enum admin_op op, const char *arg, struct bytes tail)
{
	struct msg_admin m = admin_make(op, arg);

	m.dry_run = true;
	return admin_asks(s, &m, tail);
}

static void policy_make(uint32_t lifetime, struct blob *ret)
{
	struct policy p;

	policy_default(&p);
	p.lifetime = lifetime;
	assert_ok(policy_write(&p, ret));
}

static uint64_t variant_add(struct store *store, enum variant_state state)
{
	uint8_t digest[SHA256_LEN] = { 9 };
	struct reference_event e = { .pcr = 4, .type = 4, .digest_count = 1 };
	struct reference_variant v = { .component = "gate", .name = "1.0", .source = "test", .state = state,
				       .event_count = 1, .event = &e };
	uint64_t id;

	e.digest[0].alg = ALG_SHA256;
	e.digest[0].digest = BYTES(digest);
	assert_ok(store_variant_add(store, &v, &id));
	return id;
}

static const char *number(uint64_t n)
{
	static char text[24];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)n);
	return text;
}

static void references_change_while_judged(void **state)
{
	_cleanup_(blob_free) struct blob policy = BLOB(LIMIT_REFERENCE);
	struct scene *s = *state;
	struct msg_judged g = judged_make(s);
	struct msg_admin m = admin_make(ADMIN_POLICY_SET, "");

	policy_make(300, &policy);
	uint64_t asked = attest(s), job = judging(s);
	assert_ok(administered(s, ADMIN_POLICY_SET, "", blob_bytes(&policy)));
	judged(s, 0, job, &g);
	signed_(s, job, DIRECTIVE_ADMIT);
	assert_reason(R_SERVER_BUSY, heard(&s->front, asked, NULL));
	assert_nothing_recorded(s);

	/* In the very turn that records. */
	asked = attest(s);
	job = judging(s);
	freeze(s);
	uint64_t set = ASK(s, &s->admin, MSG_ADMIN, &m, blob_bytes(&policy));
	judged(s, 0, job, &g);
	signed_(s, job, DIRECTIVE_ADMIT);
	thaw(s);
	assert_ok(heard(&s->admin, set, NULL));
	assert_reason(R_SERVER_BUSY, heard(&s->front, asked, NULL));
	assert_nothing_recorded(s);

	/* The next try is judged by the new ones. */
	admitted(s);
	assert_value(s, "1", "SELECT count(*) FROM attestation");
}

/* It waits for a worker meanwhile: all of its verdict is of the policy that it is judged by. */
static void policy_changes_while_waiting(void **state)
{
	_cleanup_(blob_free) struct blob policy = BLOB(LIMIT_REFERENCE);
	struct scene *s = *state;
	struct msg_judged g = judged_make(s);
	struct ipc_message m;
	struct msg_announce announced;
	uint64_t asked[WORKERS + 1], job[WORKERS];

	for (unsigned i = 0; i < WORKERS; i++) {
		asked[i] = attest(s);
		job[i] = judging_by(s, i);
	}
	asked[WORKERS] = attest(s);
	policy_make(777, &policy);
	/* It is answered behind the request that waits. */
	assert_serves(s);
	assert_ok(administered(s, ADMIN_POLICY_SET, "", blob_bytes(&policy)));
	judged(s, 0, job[0], &g);
	signed_(s, job[0], DIRECTIVE_ADMIT);
	assert_reason(R_SERVER_BUSY, heard(&s->front, asked[0], NULL));
	assert_ok(ipc_wait(&s->signer, PATIENCE_MS, &m));
	memcpy(&announced, m.body.p, sizeof(announced));
	assert_int_equal(announced.s.lifetime, 777);
	uint64_t last = job_taken(s, 0, MSG_JUDGE, &m);
	struct msg_judge told;
	memcpy(&told, m.body.p, sizeof(told));
	assert_int_equal(told.s.lifetime, 777);
	judged(s, 0, last, &g);
	signed_(s, last, DIRECTIVE_ADMIT);
	assert_ok(heard(&s->front, asked[WORKERS], NULL));
}

static void reference_revoked_while_judged(void **state)
{
	struct scene *s = *state;
	struct msg_judged g = judged_make(s);
	struct store *store;

	ledger_stop(s);
	assert_ok(store_open(s->path, &store));
	uint64_t id = variant_add(store, VARIANT_ACTIVE);
	store_close(&store);
	ledger_start(s);

	uint64_t asked = attest(s), job = judging(s);
	assert_ok(administered(s, ADMIN_REF_REVOKE, number(id), BYTES_NONE));
	judged(s, 0, job, &g);
	signed_(s, job, DIRECTIVE_ADMIT);
	assert_reason(R_SERVER_BUSY, heard(&s->front, asked, NULL));
	assert_nothing_recorded(s);
}

static void too_many_policies(void **state)
{
	_cleanup_(blob_free) struct blob policy = BLOB(LIMIT_REFERENCE);
	struct scene *s = *state;
	struct msg_judged g = judged_make(s);
	char text[256];

	policy_make(300, &policy);
	assert_ok(administered(s, ADMIN_POLICY_SET, "", blob_bytes(&policy)));
	sql(s, "INSERT INTO node_group (name, created) VALUES ('more', 1), ('g1', 1)");
	snprintf(text, sizeof(text), "WITH RECURSIVE k(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM k WHERE i < %d)"
		 " INSERT INTO policy (grp, body) SELECT 'g' || i, body FROM k, policy", GROUPS);
	sql(s, text);
	/* One too many is taken back, and what follows it is done; a trial tells the same. */
	assert_reason(R_POLICY_FULL, tried(s, ADMIN_POLICY_SET, "more", blob_bytes(&policy)));
	assert_ok(tried(s, ADMIN_POLICY_SET, "g1", blob_bytes(&policy)));
	assert_value(s, "1", "SELECT count(*) FROM policy WHERE grp = 'g1'");
	assert_reason(R_POLICY_FULL, administered(s, ADMIN_POLICY_SET, "more", blob_bytes(&policy)));
	assert_value(s, "0", "SELECT count(*) FROM policy WHERE grp = 'more'");
	assert_value(s, "1", "SELECT count(*) FROM audit");
	assert_ok(administered(s, ADMIN_POLICY_SET, "g1", blob_bytes(&policy)));
	admitted(s);
	ledger_stop(s);
	ledger_start(s);
	sql(s, "DELETE FROM attestation");
	sql(s, "DELETE FROM evidence");
	sql(s, "UPDATE node SET verdicts = 0");

	/* However it came to be there: nothing is recorded by what is not in force. */
	sql(s, "INSERT INTO policy (grp, body) SELECT 'more', body FROM policy LIMIT 1");
	assert_reason(R_POLICY_FULL, administered(s, ADMIN_POLICY_SET, "g1", blob_bytes(&policy)));
	uint64_t asked = attest(s), job = judging(s);
	judged(s, 0, job, &g);
	signed_(s, job, DIRECTIVE_ADMIT);
	assert_reason(R_SERVER_BUSY, heard(&s->front, asked, NULL));
	assert_nothing_recorded(s);
	/* Less is the way out. */
	assert_ok(administered(s, ADMIN_GROUP_REMOVE, "g1", BYTES_NONE));
	admitted(s);
}

static void too_many_variants(void **state)
{
	struct scene *s = *state;
	struct store *store;
	uint64_t active = 0;

	ledger_stop(s);
	assert_ok(store_open(s->path, &store));
	assert_ok(store_begin(store));
	for (unsigned i = 0; i < VARIANTS; i++)
		active = variant_add(store, VARIANT_ACTIVE);
	uint64_t staged = variant_add(store, VARIANT_STAGED);
	assert_ok(store_commit(store));
	store_close(&store);
	ledger_start(s);

	assert_reason(R_POLICY_FULL, tried(s, ADMIN_REF_ACTIVATE, number(staged), BYTES_NONE));
	assert_reason(R_POLICY_FULL, administered(s, ADMIN_REF_ACTIVATE, number(staged), BYTES_NONE));
	assert_value(s, number(VARIANTS), "SELECT count(*) FROM variant WHERE state = (SELECT state"
		     " FROM variant WHERE id = 1)");
	assert_value(s, "0", "SELECT count(*) FROM audit");
	admitted(s);
	/* A trial changes nothing, neither here nor in what workers judge by. */
	uint64_t asked = attest(s), job = judging(s);
	struct msg_judged g = judged_make(s);
	assert_ok(tried(s, ADMIN_REF_REVOKE, number(active), BYTES_NONE));
	judged(s, 0, job, &g);
	signed_(s, job, DIRECTIVE_ADMIT);
	assert_ok(heard(&s->front, asked, NULL));
	assert_reason(R_POLICY_FULL, tried(s, ADMIN_REF_ACTIVATE, number(staged), BYTES_NONE));
	assert_ok(administered(s, ADMIN_REF_REVOKE, number(active), BYTES_NONE));
	assert_ok(administered(s, ADMIN_REF_ACTIVATE, number(staged), BYTES_NONE));
	admitted(s);
	ledger_stop(s);
	ledger_start(s);
}

/* Few enough, and yet more than workers are sent. */
static void too_large_variants(void **state)
{
	struct scene *s = *state;
	struct store *store;
	uint8_t digest[SHA256_LEN] = { 9 };
	char text[200];
	enum { ACTIVE = 30, STAGED = 8 };
	struct reference_variant v = { .component = "gate", .name = "1.0", .source = "test",
				       .state = VARIANT_ACTIVE, .event_count = REFERENCE_EVENTS_MAX };
	uint64_t id;

	v.event = calloc(v.event_count, sizeof(*v.event));
	assert_non_null(v.event);
	memset(text, 't', sizeof(text));
	for (size_t i = 0; i < v.event_count; i++) {
		v.event[i] = (struct reference_event){ .pcr = 4, .type = 4, .digest_count = 1,
						       .text = bytes_of(text, sizeof(text)) };
		v.event[i].digest[0].alg = ALG_SHA256;
		v.event[i].digest[0].digest = BYTES(digest);
	}
	ledger_stop(s);
	assert_ok(store_open(s->path, &store));
	assert_ok(store_begin(store));
	for (unsigned i = 0; i < ACTIVE; i++)
		assert_ok(store_variant_add(store, &v, &id));
	v.state = VARIANT_STAGED;
	for (unsigned i = 0; i < STAGED; i++)
		assert_ok(store_variant_add(store, &v, &id));
	assert_ok(store_commit(store));
	store_close(&store);
	free(v.event);
	ledger_start(s);

	enum reason r = R_OK;
	for (uint64_t at = id - STAGED + 1; at <= id && r == R_OK; at++)
		r = administered(s, ADMIN_REF_ACTIVATE, number(at), BYTES_NONE);
	assert_reason(R_POLICY_FULL, r);
	admitted(s);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
#define SCENE(f) cmocka_unit_test_setup_teardown(f, begin, end)
		SCENE(references_change_while_judged),
		SCENE(policy_changes_while_waiting),
		SCENE(reference_revoked_while_judged),
		SCENE(too_many_policies),
		SCENE(too_many_variants),
		SCENE(too_large_variants),
	};

	log_set_sinks(NULL, 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
