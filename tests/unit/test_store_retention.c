/* SPDX-License-Identifier: Apache-2.0 */
/* What is kept of what a node sends, and what is not. */
#include "server/store_internal.h"
#include "store_kit.h"

static bool has_evidence(struct fixture *f, uint8_t number)
{
	_cleanup_(blob_free) struct blob body = BLOB(64);
	uint8_t digest[SHA256_LEN];

	memset(digest, number, sizeof(digest));
	return store_evidence(f->store, digest, &body) == R_OK;
}

static bool has_nonce(struct fixture *f, uint8_t number, size_t explanation)
{
	uint8_t nonce[NONCE_LEN];
	struct attestation a;

	memset(nonce, number, sizeof(nonce));
	return store_attestation_by_nonce(f->store, nonce, &a) == R_OK && a.explanation.n == explanation;
}

/* Node 1, pending or not, with attestations 1 to n at the times 1 to n. */
static struct node attested_node(struct fixture *f, enum node_state state, uint8_t n)
{
	struct node node = node_number(1, "");
	struct node_ek ek = { .name = "ek", .name_len = 2 };

	node.state = state;
	node.seen = n;
	assert_ok(store_node_add(f->store, &node));
	assert_ok(store_node_ek_add(f->store, node.id, &ek));
	for (uint8_t i = 1; i <= n; i++) {
		struct attestation a = attestation_number(i, i);

		a.time = i;
		assert_ok(store_attestation_add(f->store, &a, bytes_str("evidence")));
	}
	return node;
}

static void test_pending_node_is_forgotten(void **state)
{
	struct fixture *f = *state;
	struct node n = attested_node(f, NODE_PENDING, 3), have;
	uint8_t id[SHA256_LEN];

	assert_reason(R_STORE_NOT_FOUND, store_pending_stale(f->store, 3, id));
	assert_ok(store_pending_stale(f->store, 4, id));
	assert_memory_equal(id, n.id, sizeof(id));
	assert_ok(store_pending_forget(f->store, id));
	assert_reason(R_STORE_NOT_FOUND, store_node_by_ak(f->store, n.ak_name, &have));
	assert_reason(R_STORE_NOT_FOUND, store_node_by_ek(f->store, bytes_str("ek"), &have));
	assert_false(has_evidence(f, 3));
	assert_false(has_nonce(f, 3, 5));
	assert_reason(R_STORE_NOT_FOUND, store_pending_forget(f->store, id));
}

static void test_no_other_node_is_forgotten(void **state)
{
	struct fixture *f = *state;
	struct node n = attested_node(f, NODE_ENROLLED, 3), have;
	uint8_t id[SHA256_LEN];

	for (enum node_state s = NODE_ENROLLED; s < NODE_STATE_MAX; s++) {
		n.state = s;
		assert_ok(store_node_update(f->store, &n));
		assert_reason(R_STORE_NOT_FOUND, store_pending_stale(f->store, INT64_MAX, id));
		assert_reason(R_STORE_NOT_FOUND, store_pending_forget(f->store, n.id));
	}
	assert_ok(store_node_by_ak(f->store, n.ak_name, &have));
	assert_true(has_evidence(f, 1) && has_nonce(f, 1, 5));
}

/* One of this kind; its nonce and evidence have the number, and so its time. */
static void attested(struct fixture *f, enum stage stage, enum directive d, uint8_t number)
{
	struct attestation a = attestation_number(number, number);

	a.stage = stage;
	a.directive = d;
	a.time = number;
	assert_ok(store_attestation_add(f->store, &a, bytes_str("evidence")));
}

static void receipted(struct fixture *f, uint8_t number)
{
	struct attestation a = attestation_number(number, number);

	assert_ok(store_receipt_add(f->store, a.verdict_digest, 7, &a.values, bytes_str("receipt")));
}

static void trim(struct fixture *f, enum stage stage, enum directive d, int64_t since)
{
	const struct retention k = { .stage = stage, .directive = d, .keep = 2, .since = since };

	assert_ok(store_attestation_trim(f->store, node_number(1, "").id, &k));
}

static void test_newest_are_kept_whole(void **state)
{
	struct fixture *f = *state;

	for (uint8_t i = 1; i <= 3; i++) {
		attested(f, STAGE_GATE, DIRECTIVE_HOLD, i);
		trim(f, STAGE_GATE, DIRECTIVE_HOLD, 1);
	}
	assert_false(has_evidence(f, 1));
	assert_true(has_evidence(f, 2) && has_evidence(f, 3) && has_nonce(f, 2, 5) && has_nonce(f, 3, 5));
	/* What was used stays used, until nobody could use it. */
	assert_true(has_nonce(f, 1, 0));
	trim(f, STAGE_GATE, DIRECTIVE_HOLD, 2);
	assert_false(has_nonce(f, 1, 0));
	/* However old the newest are. */
	trim(f, STAGE_GATE, DIRECTIVE_HOLD, INT64_MAX);
	assert_true(has_nonce(f, 2, 5) && has_nonce(f, 3, 5));
}

/* Whoever can make one kind without end pushes no other out. */
static void test_kinds_are_counted_apart(void **state)
{
	static const struct {
		enum stage stage;
		enum directive directive;
	} flood[] = { { STAGE_HOST, DIRECTIVE_ADMIT }, { STAGE_HOST, DIRECTIVE_REFUSE },
		      { STAGE_GATE, DIRECTIVE_REFUSE } };
	struct fixture *f = *state;
	uint8_t number = 2;

	attested(f, STAGE_GATE, DIRECTIVE_ADMIT, 1);
	attested(f, STAGE_GATE, DIRECTIVE_HOLD, 2);
	for (size_t i = 0; i < ARRAY_LEN(flood); i++) {
		for (unsigned n = 0; n < 8; n++) {
			attested(f, flood[i].stage, flood[i].directive, ++number);
			trim(f, flood[i].stage, flood[i].directive, INT64_MAX);
		}
		assert_true(has_evidence(f, number) && has_evidence(f, (uint8_t)(number - 1)));
		assert_false(has_nonce(f, (uint8_t)(number - 2), 0));
	}
	assert_true(has_evidence(f, 1) && has_nonce(f, 1, 5) && has_evidence(f, 2) && has_nonce(f, 2, 5));
	assert_int_equal(rows_of(f, "attestation"), 2 + 2 * ARRAY_LEN(flood));
	assert_int_equal(rows_of(f, "evidence"), 2 + 2 * ARRAY_LEN(flood));
}

/* A boot that ended well, under ones that were admitted and got no further. */
static void test_last_receipt_is_kept(void **state)
{
	struct fixture *f = *state;
	struct attestation a;

	for (uint8_t i = 1; i <= 9; i++) {
		attested(f, STAGE_GATE, DIRECTIVE_ADMIT, i);
		if (i <= 2)
			receipted(f, i);
		trim(f, STAGE_GATE, DIRECTIVE_ADMIT, INT64_MAX);
	}
	assert_int_equal(rows_of(f, "attestation"), 3);
	assert_int_equal(rows_of(f, "receipt"), 1);
	assert_true(has_evidence(f, 2) && has_nonce(f, 2, 5));
	/* When there is another one its time has come, and it goes as a whole. */
	attested(f, STAGE_GATE, DIRECTIVE_ADMIT, 10);
	receipted(f, 10);
	trim(f, STAGE_GATE, DIRECTIVE_ADMIT, INT64_MAX);
	assert_int_equal(rows_of(f, "attestation"), 2);
	assert_int_equal(rows_of(f, "evidence"), 2);
	assert_int_equal(rows_of(f, "receipt"), 1);
	assert_ok(store_attestation_of_boot(f->store, node_number(1, "").id, &a));
	assert_true(a.receipt);
}

/* Steps of the search for a receipt since the last call. */
static int receipt_steps(struct fixture *f)
{
	int steps = 0;

	for (size_t i = 0; i < f->store->cached; i++)
		if (strstr(f->store->cache[i].sql, "JOIN receipt") &&
		    strncmp(f->store->cache[i].sql, "SELECT a.number ", 16) == 0)
			steps += sqlite3_stmt_status(f->store->cache[i].stmt, SQLITE_STMTSTATUS_VM_STEP, 1);
	return steps;
}

/* Pages that were looked at since the last call. */
static int pages_read(struct fixture *f)
{
	int now, most;

	assert_int_equal(sqlite3_db_status(f->store->db, SQLITE_DBSTATUS_CACHE_HIT, &now, &most, 1), SQLITE_OK);
	return now;
}

/* A node that waits sends what it likes: what is kept of it is not searched for what it cannot have. */
static void test_no_search_for_receipts(void **state)
{
	static const struct {
		enum stage stage;
		enum directive directive;
		bool searched;
	} kinds[] = { { STAGE_GATE, DIRECTIVE_HOLD, false },  { STAGE_GATE, DIRECTIVE_REFUSE, false },
		      { STAGE_HOST, DIRECTIVE_ADMIT, false }, { STAGE_GATE, DIRECTIVE_UPDATE, true },
		      { STAGE_GATE, DIRECTIVE_ADMIT, true } };
	struct fixture *f = *state;
	uint8_t number = 0;

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		for (unsigned n = 0; n < 3; n++)
			attested(f, kinds[i].stage, kinds[i].directive, ++number);
		trim(f, kinds[i].stage, kinds[i].directive, 0);
		assert_int_equal(receipt_steps(f) > 0, kinds[i].searched);
	}
	/* Nor where it is searched: the index is enough to pass over a hundred rows. */
	for (unsigned n = 0; n < 100; n++)
		attested(f, STAGE_GATE, DIRECTIVE_REFUSE, ++number);
	(void)pages_read(f);
	trim(f, STAGE_GATE, DIRECTIVE_ADMIT, 0);
	assert_in_range(pages_read(f), 1, 100);
}

/* More than one at a time goes, so that what piled up melts. */
static void test_what_piled_up_melts(void **state)
{
	struct fixture *f = *state;

	for (uint8_t i = 1; i <= 10; i++)
		attested(f, STAGE_HOST, DIRECTIVE_ADMIT, i);
	for (unsigned i = 0; i < 3; i++)
		trim(f, STAGE_HOST, DIRECTIVE_ADMIT, INT64_MAX);
	assert_int_equal(rows_of(f, "attestation"), 2);
	assert_int_equal(rows_of(f, "evidence"), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		STORE_TEST(test_pending_node_is_forgotten),
		STORE_TEST(test_no_other_node_is_forgotten),
		STORE_TEST(test_newest_are_kept_whole),
		STORE_TEST(test_kinds_are_counted_apart),
		STORE_TEST(test_last_receipt_is_kept),
		STORE_TEST(test_no_search_for_receipts),
		STORE_TEST(test_what_piled_up_melts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
