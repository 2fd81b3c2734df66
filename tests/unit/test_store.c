/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "crypto/digest.h"
#include "server/store_internal.h"
#include "store_kit.h"

static void test_node_round_trip(void **state)
{
	struct fixture *f = *state;
	struct node n = node_number(7, "rack1-n1"), have;

	n.state = NODE_ENROLLED;
	n.clock = (struct clock_record){ true, 1ull << 40, 5, 6, 0xffffffff00000001ull };
	n.ask_enrol = true;
	memset(n.ek_set, 0x5e, sizeof(n.ek_set));
	n.ek_offers = 2;
	snprintf(n.basis, sizeof(n.basis), "operator uid 0");
	assert_ok(store_node_add(f->store, &n));
	reopen(f);
	assert_ok(store_node_by_ak(f->store, n.ak_name, &have));
	assert_memory_equal(&have, &n, sizeof(n));

	n.state = NODE_REVOKED;
	n.verdicts = 9;
	n.ek_set[31] = 1;
	n.ek_offers = 1;
	assert_ok(store_node_update(f->store, &n));
	assert_ok(store_node_by_ak(f->store, n.ak_name, &have));
	assert_memory_equal(&have, &n, sizeof(n));

	struct node absent = node_number(8, "");
	assert_reason(R_STORE_NOT_FOUND, store_node_by_ak(f->store, absent.ak_name, &have));
	assert_reason(R_STORE_NOT_FOUND, store_node_update(f->store, &absent));
}

/* An AK name occurs once, in whatever state its node is. */
static void test_second_node_with_the_same_ak(void **state)
{
	struct fixture *f = *state;
	struct node a = node_number(1, ""), b = node_number(2, "");

	a.state = NODE_RETIRED;
	memcpy(b.ak_name, a.ak_name, sizeof(a.ak_name));
	assert_ok(store_node_add(f->store, &a));
	assert_reason(R_STORE_EXISTS, store_node_add(f->store, &b));
}

static void test_node_find(void **state)
{
	struct fixture *f = *state;
	struct node a = node_number(0xab, "one"), b = node_number(0xab, "two"), have;

	b.id[31] = 1;
	b.ak_name[0] = 1;
	assert_ok(store_node_add(f->store, &a));
	assert_ok(store_node_find(f->store, "abababab", &have));
	assert_ok(store_node_add(f->store, &b));
	assert_reason(R_STORE_AMBIGUOUS, store_node_find(f->store, "abababab", &have));
	assert_ok(store_node_find(f->store, "two", &have));
	assert_int_equal(have.id[31], 1);
	/* short prefixes, nothing, and wildcards of SQL fit nothing */
	assert_reason(R_STORE_NOT_FOUND, store_node_find(f->store, "ab", &have));
	assert_reason(R_STORE_NOT_FOUND, store_node_find(f->store, "", &have));
	assert_reason(R_STORE_NOT_FOUND, store_node_find(f->store, "%%%%%%%%", &have));
	assert_reason(R_STORE_NOT_FOUND, store_node_find(f->store, "' OR 1=1 --", &have));
	snprintf(b.label, sizeof(b.label), "one");
	assert_ok(store_node_update(f->store, &b));
	assert_reason(R_STORE_AMBIGUOUS, store_node_find(f->store, "one", &have));
}

static void test_ek_belongs_to_one_node(void **state)
{
	struct fixture *f = *state;
	struct node a = node_number(1, ""), b = node_number(2, ""), have;
	struct node_ek ek = { .name = { 0, 11, 5 }, .name_len = 34, .has_certificate = true };

	assert_ok(store_node_add(f->store, &a));
	assert_ok(store_node_add(f->store, &b));
	assert_ok(store_node_ek_add(f->store, a.id, &ek));
	assert_reason(R_STORE_EXISTS, store_node_ek_add(f->store, b.id, &ek));
	assert_ok(store_node_by_ek(f->store, bytes_of(ek.name, ek.name_len), &have));
	assert_memory_equal(have.id, a.id, sizeof(a.id));
	/* a node that is not there gets no key */
	struct node_ek other = { .name = { 0, 11, 6 }, .name_len = 34 };
	assert_reason(R_STORE_EXISTS, store_node_ek_add(f->store, node_number(3, "").id, &other));
}

/* Every column that a list fills must fit: half a match is none. */
static void test_listed_ek(void **state)
{
	struct fixture *f = *state;
	struct listed_ek e = { .has_certificate = true, .has_spki = true, .label = "n1", .list = "papers" }, have;
	struct node_ek ek = { .has_certificate = true, .name_len = 34 };

	e.certificate_digest[0] = ek.certificate_digest[0] = 1;
	e.spki_digest[0] = ek.spki_digest[0] = 2;
	assert_ok(store_listed_add(f->store, &e));
	assert_reason(R_STORE_EXISTS, store_listed_add(f->store, &e));
	assert_ok(store_listed_find(f->store, &ek, &have));
	assert_string_equal(have.label, "n1");
	ek.spki_digest[0] = 3;
	assert_reason(R_STORE_NOT_FOUND, store_listed_find(f->store, &ek, &have));
	ek.spki_digest[0] = 2;
	ek.has_certificate = false;
	assert_reason(R_STORE_NOT_FOUND, store_listed_find(f->store, &ek, &have));
}

/* One entry by the certificate, one by the key: both fit, and must say the same. */
static void test_listed_twice(void **state)
{
	struct fixture *f = *state;
	struct listed_ek a = { .has_certificate = true, .label = "n1", .group = "racks", .line = 7 }, have;
	struct listed_ek b = { .name_len = 34, .label = "n1", .group = "racks" };
	struct node_ek ek = { .has_certificate = true, .name_len = 34 };

	assert_reason(R_STORE_NOT_FOUND, store_listed_like(f->store, &a, &have));
	assert_ok(store_listed_add(f->store, &a));
	assert_ok(store_listed_add(f->store, &b));
	assert_ok(store_listed_find(f->store, &ek, &have));
	assert_int_equal(have.line, 7);
	assert_string_equal(have.group, "racks");
	a.has_spki = true;
	assert_ok(store_listed_like(f->store, &a, &have));
	assert_false(have.has_spki);
	sql(f, "UPDATE listed_ek SET grp = 'other' WHERE name IS NOT NULL");
	assert_reason(R_STORE_AMBIGUOUS, store_listed_find(f->store, &ek, &have));
	sql(f, "UPDATE listed_ek SET grp = 'racks', label = 'n2' WHERE name IS NOT NULL");
	assert_reason(R_STORE_AMBIGUOUS, store_listed_find(f->store, &ek, &have));
}

struct groups {
	char text[200];
};

static enum reason group_told(void *ctx, const struct node_group *g)
{
	struct groups *t = ctx;
	size_t n = strlen(t->text);

	snprintf(t->text + n, sizeof(t->text) - n, "%s:%u:%u ", g->name, (unsigned)g->nodes,
		 (unsigned)g->listed);
	return R_OK;
}

static enum reason policy_told(void *ctx, const char *group, struct bytes policy)
{
	struct groups *t = ctx;
	size_t n = strlen(t->text);

	snprintf(t->text + n, sizeof(t->text) - n, "%s=%.*s ", group, (int)policy.n, (const char *)policy.p);
	return R_OK;
}

static void test_groups(void **state)
{
	struct fixture *f = *state;
	struct node n = node_number(1, "n1");
	struct listed_ek e = { .has_spki = true, .group = "racks" };
	struct groups told = { "" };

	assert_ok(store_group_known(f->store, ""));
	assert_reason(R_GROUP_UNKNOWN, store_group_known(f->store, "racks"));
	assert_reason(R_GROUP_UNKNOWN, store_group_remove(f->store, "racks"));
	assert_reason(R_GROUP_UNKNOWN, store_group_remove(f->store, ""));
	assert_ok(store_group_add(f->store, "racks", 5));
	assert_reason(R_STORE_EXISTS, store_group_add(f->store, "racks", 6));
	assert_ok(store_group_add(f->store, "lab", 5));
	assert_ok(store_group_known(f->store, "racks"));
	snprintf(n.group, sizeof(n.group), "racks");
	assert_ok(store_node_add(f->store, &n));
	assert_ok(store_listed_add(f->store, &e));
	assert_ok(store_group_each(f->store, group_told, &told));
	assert_string_equal(told.text, "lab:0:0 racks:1:1 ");

	/* The newest of each, and none where it is empty. */
	assert_ok(store_policy_add(f->store, "", bytes_str("a")));
	assert_ok(store_policy_add(f->store, "racks", bytes_str("b")));
	assert_ok(store_policy_add(f->store, "lab", bytes_str("c")));
	assert_ok(store_policy_add(f->store, "racks", bytes_str("d")));
	told.text[0] = '\0';
	assert_ok(store_policy_each(f->store, policy_told, &told));
	assert_string_equal(told.text, "=a lab=c racks=d ");
	assert_ok(store_group_remove(f->store, "lab"));
	told.text[0] = '\0';
	assert_ok(store_policy_each(f->store, policy_told, &told));
	assert_string_equal(told.text, "=a racks=d ");

	/* Not while a node or a list names it; then with its choice of an image. */
	assert_reason(R_GROUP_USED, store_group_remove(f->store, "racks"));
	n.group[0] = '\0';
	assert_ok(store_node_update(f->store, &n));
	assert_reason(R_GROUP_USED, store_group_remove(f->store, "racks"));
	sql(f, "DELETE FROM listed_ek; PRAGMA foreign_keys=0; INSERT INTO selected VALUES ('group:racks', 0, '')");
	assert_ok(store_group_remove(f->store, "racks"));
	assert_int_equal(number_of(f->store->db, "SELECT count(*) FROM selected"), 0);
}

static void test_nonce_is_used_once(void **state)
{
	struct fixture *f = *state;
	struct attestation a = attestation_number(1, 1), b = attestation_number(1, 2), have;

	b.verdict_digest[0] = 9;
	assert_ok(store_attestation_add(f->store, &a, bytes_str("evidence")));
	assert_reason(R_SESSION_REPLAYED, store_attestation_add(f->store, &b, bytes_str("other")));
	reopen(f);
	assert_reason(R_SESSION_REPLAYED, store_attestation_add(f->store, &b, bytes_str("other")));
	assert_ok(store_attestation_by_nonce(f->store, a.nonce, &have));
	assert_memory_equal(have.evidence_digest, a.evidence_digest, SHA256_LEN);
	assert_true(bytes_equal(have.verdict, a.verdict));
	assert_true(pcr_values_equal(&have.values, &a.values));
	assert_true(pcr_selection_equal(&have.selection, &a.selection));
	assert_false(have.receipt);

	_cleanup_(blob_free) struct blob body = BLOB(64);
	assert_ok(store_evidence(f->store, a.evidence_digest, &body));
	assert_true(bytes_equal(blob_bytes(&body), bytes_str("evidence")));
	assert_reason(R_STORE_NOT_FOUND, store_evidence(f->store, b.evidence_digest, &body));
}

static void test_receipt_is_kept_once(void **state)
{
	struct fixture *f = *state;
	struct attestation a = attestation_number(1, 1), have;

	assert_ok(store_attestation_add(f->store, &a, bytes_str("evidence")));
	assert_ok(store_receipt_add(f->store, a.verdict_digest, 7, &a.values, bytes_str("receipt")));
	assert_ok(store_receipt_add(f->store, a.verdict_digest, 8, &a.values, bytes_str("again")));
	assert_ok(store_attestation_by_verdict(f->store, a.verdict_digest, &have));
	assert_true(have.receipt);
	assert_true(pcr_values_equal(&have.receipt_values, &a.values));
	assert_ok(store_attestation_of_node(f->store, a.node_id, 0, &have));
	assert_reason(R_STORE_NOT_FOUND, store_attestation_of_node(f->store, a.node_id, 1, &have));
}

static void test_last_boot_is_a_gates(void **state)
{
	struct fixture *f = *state;
	struct attestation a = attestation_number(1, 1), b = attestation_number(2, 1), have;

	assert_reason(R_STORE_NOT_FOUND, store_attestation_of_boot(f->store, a.node_id, &have));
	assert_ok(store_attestation_add(f->store, &a, bytes_str("gate")));
	b.stage = STAGE_HOST;
	assert_ok(store_attestation_add(f->store, &b, bytes_str("host")));
	assert_ok(store_attestation_of_node(f->store, a.node_id, 0, &have));
	assert_memory_equal(have.nonce, b.nonce, NONCE_LEN);
	assert_ok(store_attestation_of_boot(f->store, a.node_id, &have));
	assert_memory_equal(have.nonce, a.nonce, NONCE_LEN);
}

static void test_refused_in_a_row(void **state)
{
	static const struct {
		enum stage stage;
		enum directive directive;
		unsigned count;		/* from here back */
	} boots[] = {
		{ STAGE_GATE, DIRECTIVE_REFUSE, 1 }, { STAGE_GATE, DIRECTIVE_ADMIT, 0 },
		{ STAGE_GATE, DIRECTIVE_REFUSE, 1 }, { STAGE_HOST, DIRECTIVE_ADMIT, 1 },
		{ STAGE_GATE, DIRECTIVE_REFUSE, 2 }, { STAGE_GATE, DIRECTIVE_REFUSE, 3 },
		{ STAGE_GATE, DIRECTIVE_REFUSE, 3 }, { STAGE_GATE, DIRECTIVE_HOLD, 0 },
	};
	struct fixture *f = *state;
	uint8_t other[SHA256_LEN] = { 1 };
	unsigned count = 9;

	for (size_t i = 0; i < ARRAY_LEN(boots); i++) {
		struct attestation a = attestation_number((uint8_t)(i + 1), 1);

		a.stage = boots[i].stage;
		a.directive = boots[i].directive;
		assert_ok(store_attestation_add(f->store, &a, bytes_str("evidence")));
		assert_ok(store_refused_in_a_row(f->store, a.node_id, 3, &count));
		assert_int_equal(count, boots[i].count);
	}
	assert_ok(store_refused_in_a_row(f->store, other, 3, &count));
	assert_int_equal(count, 0);
}

static void test_savepoint_undoes_one_request_only(void **state)
{
	struct fixture *f = *state;
	struct node a = node_number(1, ""), b = node_number(2, ""), have;

	assert_ok(store_begin(f->store));
	assert_ok(store_savepoint(f->store));
	assert_ok(store_node_add(f->store, &a));
	assert_ok(store_release(f->store, true));
	assert_ok(store_savepoint(f->store));
	assert_ok(store_node_add(f->store, &b));
	assert_ok(store_release(f->store, false));
	assert_ok(store_commit(f->store));
	reopen(f);
	assert_ok(store_node_by_ak(f->store, a.ak_name, &have));
	assert_reason(R_STORE_NOT_FOUND, store_node_by_ak(f->store, b.ak_name, &have));
}

static void test_not_a_database(void **state)
{
	struct fixture *f = *state;
	struct store *s = NULL;
	char path[96];

	snprintf(path, sizeof(path), "%s/other", f->dir);
	FILE *out = fopen(path, "w");
	assert_non_null(out);
	for (int i = 0; i < 200; i++)
		fputs("this is not a database\n", out);
	fclose(out);
	assert_reason(R_STORE_OPEN, store_open(path, &s));
	snprintf(path, sizeof(path), "%s/absent/db", f->dir);
	assert_reason(R_STORE_OPEN, store_open(path, &s));
}

static void audit_rows(struct fixture *f, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		struct audit_row row = { .time = 10 + i, .actor = "uid 0", .action = "node.approve" };

		assert_ok(store_audit_add(f->store, &row));
		assert_int_equal(row.number, i + 1);
	}
}

/* Slices are as good as the whole. */
static void test_audit_chain_in_slices(void **state)
{
	struct fixture *f = *state;
	uint64_t rows;

	audit_rows(f, 5);
	assert_ok(store_audit_verify(f->store, 1, 2, &rows));
	assert_int_equal(rows, 2);
	assert_ok(store_audit_verify(f->store, 3, 100, &rows));
	assert_int_equal(rows, 3);
	assert_ok(store_audit_verify(f->store, 6, 100, &rows));
	assert_int_equal(rows, 0);
	assert_reason(R_STORE_NOT_FOUND, store_audit_verify(f->store, 7, 100, &rows));
	assert_reason(R_STORE_NOT_FOUND, store_audit_verify(f->store, 0, 100, &rows));
	sql(f, "UPDATE audit SET detail = 'x' WHERE number = 3");
	assert_ok(store_audit_verify(f->store, 1, 2, &rows));
	assert_reason(R_AUDIT_CHAIN, store_audit_verify(f->store, 3, 100, &rows));
}

static void test_audit_chain(void **state)
{
	static const char *const changes[] = {
		"UPDATE audit SET detail = 'x' WHERE number = 2",
		"UPDATE audit SET time = 1 WHERE number = 3",
		"UPDATE audit SET actor = 'uid ', action = '0node.approve' WHERE number = 2",
		"DELETE FROM audit WHERE number = 2",
	};
	struct fixture *f = *state;
	uint64_t rows;

	audit_rows(f, 4);
	assert_ok(store_audit_verify(f->store, 1, 100, &rows));
	assert_int_equal(rows, 4);
	for (size_t i = 0; i < ARRAY_LEN(changes); i++) {
		char text[256];

		snprintf(text, sizeof(text), "CREATE TABLE kept AS SELECT * FROM audit; %s", changes[i]);
		sql(f, text);
		assert_reason(R_AUDIT_CHAIN, store_audit_verify(f->store, 1, 100, &rows));
		assert_true(rows < 4);
		sql(f, "DELETE FROM audit; INSERT INTO audit SELECT * FROM kept; DROP TABLE kept");
		assert_ok(store_audit_verify(f->store, 1, 100, &rows));
	}
}

/* A full disk is a named reason, and what was there stays. */
static void test_full(void **state)
{
	struct fixture *f = *state;
	struct attestation a = attestation_number(1, 1), have;
	enum reason r = R_OK;

	assert_ok(store_attestation_add(f->store, &a, bytes_str("evidence")));
	store_close(&f->store);
	/* A limit on files stands for the disk: the write fails just the same. */
	struct rlimit old, small = { 256u << 10, RLIM_INFINITY };
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	small.rlim_max = old.rlim_max;
	signal(SIGXFSZ, SIG_IGN);
	assert_ok(store_open(f->path, &f->store));
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	for (uint8_t i = 2; i < 60 && r == R_OK; i++) {
		static uint8_t large[64u << 10];
		struct attestation more = attestation_number(i, i);

		r = store_begin(f->store);
		if (r == R_OK)
			r = store_attestation_add(f->store, &more, BYTES(large));
		if (r == R_OK)
			r = store_commit(f->store);
		else
			store_rollback(f->store);
	}
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	assert_true(r == R_STORE_FULL || r == R_STORE_IO);
	assert_int_equal(reason_class(r), REASON_TRANSIENT);
	store_rollback(f->store);
	reopen(f);
	assert_ok(store_attestation_by_nonce(f->store, a.nonce, &have));
}

static enum reason count_failure(void *ctx, const struct stored_failure *failure)
{
	assert_string_equal(failure->reason, "net.dns");
	++*(unsigned *)ctx;
	return R_OK;
}

static void test_failures_are_capped(void **state)
{
	struct fixture *f = *state;
	struct stored_failure one = { .time = 1, .peer = "192.0.2.1", .reason = "net.dns", .step = "network",
				      .log = bytes_str("log") };
	unsigned n = 0;

	assert_ok(store_begin(f->store));
	for (unsigned i = 0; i < 10050; i++)
		assert_ok(store_failure_add(f->store, &one));
	assert_ok(store_commit(f->store));
	assert_ok(store_failure_each(f->store, 20000, count_failure, &n));
	assert_int_equal(n, 10000);
}

static enum reason forget(void *ctx, struct bytes encoded)
{
	struct reference_variant v = { 0 };

	assert_ok(reference_variant_read(encoded, &v));
	*(enum variant_state *)ctx = v.state;
	reference_variant_free(&v);
	return R_OK;
}

static void test_variant_states(void **state)
{
	struct fixture *f = *state;
	static const uint8_t digest[SHA256_LEN];
	struct reference_event e = { .pcr = 4, .type = 0x80000003, .digest_count = 1,
				     .digest = { { ALG_SHA256, BYTES(digest) } } };
	struct reference_variant v = { .component = "gate", .name = "a", .source = "test", .event_count = 1,
				       .event = &e };
	enum variant_state seen = VARIANT_STATE_MAX;
	uint64_t id;

	assert_ok(store_variant_add(f->store, &v, &id));
	/* what is staged is not handed to workers */
	assert_ok(store_variant_each(f->store, true, forget, &seen));
	assert_int_equal(seen, VARIANT_STATE_MAX);
	v.id = id;
	v.state = VARIANT_ACTIVE;
	assert_ok(store_variant_change(f->store, &v));
	assert_ok(store_variant_each(f->store, true, forget, &seen));
	assert_int_equal(seen, VARIANT_ACTIVE);
	v.id = id + 1;
	assert_reason(R_STORE_NOT_FOUND, store_variant_change(f->store, &v));
}

static void test_selection_of_images(void **state)
{
	struct fixture *f = *state;
	struct stored_manifest m = { .line = "host", .version = "1", .purpose = PURPOSE_HOST }, have;
	struct node n = node_number(1, "");
	uint8_t digest[SHA256_LEN];
	char target[2 * SHA256_LEN + 1];

	m.digest[0] = 1;
	assert_reason(R_STORE_NOT_FOUND, store_selected(f->store, &n, PURPOSE_HOST, digest, NULL));
	/* only what is there can be selected */
	assert_reason(R_STORE_EXISTS, store_select(f->store, "*", PURPOSE_HOST, m.digest));
	assert_ok(store_manifest_add(f->store, &m, bytes_str("cose")));
	assert_reason(R_STORE_EXISTS, store_manifest_add(f->store, &m, bytes_str("cose")));
	assert_ok(store_manifest_find(f->store, "host:1", &have));
	assert_ok(store_select(f->store, "*", PURPOSE_HOST, m.digest));
	assert_ok(store_selected(f->store, &n, PURPOSE_HOST, digest, NULL));
	assert_int_equal(digest[0], 1);
	assert_reason(R_STORE_NOT_FOUND, store_selected(f->store, &n, PURPOSE_MAINTENANCE, digest, NULL));

	/* that of its group wins, and not that of another */
	char from[TARGET_MAX];
	m.digest[0] = 3;
	snprintf(m.version, sizeof(m.version), "3");
	assert_ok(store_manifest_add(f->store, &m, bytes_str("cose")));
	assert_ok(store_select(f->store, TARGET_GROUP "racks", PURPOSE_HOST, m.digest));
	assert_ok(store_selected(f->store, &n, PURPOSE_HOST, digest, from));
	assert_int_equal(digest[0], 1);
	assert_string_equal(from, TARGET_ALL);
	snprintf(n.group, sizeof(n.group), "racks");
	assert_ok(store_selected(f->store, &n, PURPOSE_HOST, digest, from));
	assert_int_equal(digest[0], 3);
	assert_string_equal(from, TARGET_GROUP "racks");
	/* taken back: only as it was chosen */
	assert_reason(R_STORE_NOT_FOUND, store_unselect(f->store, TARGET_ALL, PURPOSE_HOST, m.digest));
	assert_reason(R_STORE_NOT_FOUND, store_unselect(f->store, TARGET_GROUP "racks", PURPOSE_CVM, m.digest));
	assert_reason(R_STORE_NOT_FOUND, store_unselect(f->store, TARGET_GROUP "other", PURPOSE_HOST, m.digest));
	assert_ok(store_unselect(f->store, TARGET_GROUP "racks", PURPOSE_HOST, m.digest));
	assert_ok(store_selected(f->store, &n, PURPOSE_HOST, digest, from));
	assert_string_equal(from, TARGET_ALL);
	assert_ok(store_select(f->store, TARGET_GROUP "racks", PURPOSE_HOST, m.digest));

	/* the node's own choice wins */
	m.digest[0] = 2;
	snprintf(m.version, sizeof(m.version), "2");
	assert_ok(store_manifest_add(f->store, &m, bytes_str("cose")));
	hex_encode(BYTES(n.id), target);
	assert_ok(store_select(f->store, target, PURPOSE_HOST, m.digest));
	assert_ok(store_selected(f->store, &n, PURPOSE_HOST, digest, NULL));
	assert_int_equal(digest[0], 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		STORE_TEST(test_node_round_trip),
		STORE_TEST(test_second_node_with_the_same_ak),
		STORE_TEST(test_node_find),
		STORE_TEST(test_ek_belongs_to_one_node),
		STORE_TEST(test_listed_ek),
		STORE_TEST(test_listed_twice),
		STORE_TEST(test_groups),
		STORE_TEST(test_nonce_is_used_once),
		STORE_TEST(test_receipt_is_kept_once),
		STORE_TEST(test_last_boot_is_a_gates),
		STORE_TEST(test_refused_in_a_row),
		STORE_TEST(test_savepoint_undoes_one_request_only),
		STORE_TEST(test_not_a_database),
		STORE_TEST(test_audit_chain),
		STORE_TEST(test_audit_chain_in_slices),
		STORE_TEST(test_full),
		STORE_TEST(test_failures_are_capped),
		STORE_TEST(test_variant_states),
		STORE_TEST(test_selection_of_images),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
