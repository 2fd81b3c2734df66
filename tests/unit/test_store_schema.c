/* SPDX-License-Identifier: Apache-2.0 */
/* Databases of other releases. */
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/jail.h"
#include "base/proc.h"
#include "crypto/digest.h"
#include "ending.h"
#include "server/store_internal.h"
#include "store_kit.h"

static void test_newer_schema_is_refused(void **state)
{
	struct fixture *f = *state;
	struct store *s = NULL;
	char text[40];

	store_close(&f->store);
	sql(f, "PRAGMA user_version=99");
	assert_reason(R_STORE_NEWER, store_open(f->path, &s));
	assert_null(s);
	snprintf(text, sizeof(text), "PRAGMA user_version=%d", STORE_SCHEMA);
	sql(f, text);
	assert_ok(store_open(f->path, &f->store));
}

/* ---- T10: the tables of an older release, with rows ------------------------- */

/* Rows of this release in several tables. */
static struct node old_rows(struct fixture *f)
{
	struct node n = node_number(7, "rack1-n1");

	assert_ok(store_node_add(f->store, &n));
	struct attestation a = attestation_number(1, 2);
	assert_ok(store_attestation_add(f->store, &a, bytes_str("evidence")));
	for (unsigned i = 0; i < 3; i++) {
		struct audit_row row = { .time = 10 + i, .actor = "uid 0", .action = "node.approve" };

		assert_ok(store_audit_add(f->store, &row));
	}
	return n;
}

static void assert_old_rows(struct store *s, const struct node *n)
{
	struct attestation a;
	struct node have;
	uint64_t rows;
	uint8_t nonce[NONCE_LEN];

	assert_ok(store_node_by_ak(s, n->ak_name, &have));
	assert_memory_equal(&have, n, sizeof(have));
	memset(nonce, 1, sizeof(nonce));
	assert_ok(store_attestation_by_nonce(s, nonce, &a));
	assert_ok(store_audit_verify(s, 1, 100, &rows));
	assert_int_equal(rows, 3);
}

enum { NEXT = STORE_SCHEMA + 1, AFTER };

/* Steps of releases to come. */
static const char *const steps[AFTER] = {
	[STORE_SCHEMA] =
	"ALTER TABLE node ADD COLUMN rack TEXT NOT NULL DEFAULT 'none'",
	[NEXT] = "CREATE TABLE rack (name TEXT PRIMARY KEY); INSERT INTO rack VALUES ('r1')",
};

static void test_migration_keeps_the_rows(void **state)
{
	struct fixture *f = *state;
	struct node n = old_rows(f);
	struct store *copy = NULL;
	char path[96];

	/* What an earlier try left behind is in nobody's way. */
	for (int i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s.schema-%d%s", f->path, STORE_SCHEMA, i ? ".part" : "");
		FILE *out = fopen(path, "w");
		assert_non_null(out);
		fputs("half a copy", out);
		fclose(out);
	}
	assert_ok(store_migrate(f->store, f->path, steps, AFTER));
	assert_int_equal(number_of(f->store->db, "PRAGMA user_version"), AFTER);
	assert_int_equal(number_of(f->store->db, "SELECT count(*) FROM node WHERE rack = 'none'"), 1);
	assert_int_equal(number_of(f->store->db, "SELECT count(*) FROM rack"), 1);
	assert_old_rows(f->store, &n);
	/* Done is done. */
	assert_ok(store_migrate(f->store, f->path, steps, AFTER));

	/* The copy is of before, and a database of that release. */
	assert_int_equal(access(path, F_OK), -1);
	snprintf(path, sizeof(path), "%s.schema-%d", f->path, STORE_SCHEMA);
	assert_ok(store_open(path, &copy));
	assert_int_equal(number_of(copy->db, "PRAGMA user_version"), STORE_SCHEMA);
	assert_old_rows(copy, &n);
	store_close(&copy);

	/* The release before does not touch what this one wrote. */
	store_close(&f->store);
	assert_reason(R_STORE_NEWER, store_open(f->path, &f->store));
	assert_null(f->store);
}

static void test_migration_is_whole_or_not_at_all(void **state)
{
	static const char *const bad[] = { [STORE_SCHEMA] = "CREATE TABLE rack (name TEXT)",
					       [NEXT] = "INSERT INTO absent VALUES (1)" };
	struct fixture *f = *state;
	struct node n = old_rows(f);
	char path[96];

	assert_reason(R_STORE_IO, store_migrate(f->store, f->path, bad, AFTER));
	assert_int_equal(number_of(f->store->db, "PRAGMA user_version"), STORE_SCHEMA);
	assert_int_equal(number_of(f->store->db,
				   "SELECT count(*) FROM sqlite_schema WHERE name = 'rack'"), 0);
	reopen(f);
	assert_old_rows(f->store, &n);

	/* No copy, no change. */
	snprintf(path, sizeof(path), "%s.schema-%d.part", f->path, STORE_SCHEMA);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_reason(R_STORE_IO, store_migrate(f->store, f->path, steps, AFTER));
	assert_int_equal(number_of(f->store->db, "PRAGMA user_version"), STORE_SCHEMA);
	assert_int_equal(rmdir(path), 0);
	assert_ok(store_migrate(f->store, f->path, steps, AFTER));
	assert_old_rows(f->store, &n);
}

/* A database of schema 1, as the release of then left it. */
static void first_release(struct fixture *f)
{
	_cleanup_(blob_free) struct blob text = BLOB(64u << 10);
	sqlite3 *db;

	store_close(&f->store);
	assert_int_equal(unlink(f->path), 0);
	assert_ok(fd_read_file("tests/data/store/schema-1.sql", &text));
	assert_ok(blob_u8(&text, 0));
	assert_int_equal(sqlite3_open(f->path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, (char *)text.p, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

static void assert_first_rows(struct fixture *f)
{
	struct attestation a;
	struct node n;
	uint64_t rows;

	assert_ok(store_node_find(f->store, "rack1-n1", &n));
	assert_int_equal(n.verdicts, 2);
	assert_int_equal(n.unlisted, 0);
	assert_string_equal(n.group, "");
	assert_int_equal(n.ek_offers, 0);
	struct listed_ek listed, like = { .name = { 0, ALG_SHA256 }, .name_len = 34 };
	memset(like.name + 2, 1, SHA256_LEN);
	assert_ok(store_listed_like(f->store, &like, &listed));
	assert_string_equal(listed.label, "n1");
	assert_string_equal(listed.group, "");
	assert_int_equal(n.implemented.count, 1);
	/* there was no rollout, and nothing is retired */
	struct rollout rollout;
	uint64_t retired;
	size_t count;
	assert_reason(R_STORE_NOT_FOUND, store_rollout_of(f->store, "racks", &rollout));
	assert_ok(store_retired(f->store, n.id, &retired, 1, &count));
	assert_int_equal(count, 0);
	assert_ok(store_attestation_of_node(f->store, n.id, 0, &a));
	assert_int_equal(a.stage, STAGE_HOST);
	assert_ok(store_attestation_of_boot(f->store, n.id, &a));
	assert_true(a.receipt);
	assert_ok(store_audit_verify(f->store, 1, 100, &rows));
	assert_int_equal(rows, 3);
}

/* The ledger does it after it has confined itself: copy, rename and all. */
static void test_first_release_in_the_jail(void **state)
{
	struct fixture *f = *state;
	struct jail j = { .profile = JAIL_LEDGER, .folder = f->dir };
	struct proc p = PROC_NONE;
	char path[96];

	first_release(f);
	if (geteuid() == 0) {
		j.uid = j.gid = 65534;
		assert_int_equal(chown(f->dir, j.uid, j.gid) | chown(f->path, j.uid, j.gid), 0);
	}
	ending_expected();
	assert_ok(proc_fork(NULL, 0, &p));
	if (p.pid == 0) {
		if (jail_enter(&j) != R_OK)
			_exit(255);
		enum reason r = store_open(f->path, &f->store);
		store_close(&f->store);
		ending_tell(r);
	}
	assert_ok(ending_of(&p, 30000));

	assert_ok(store_open(f->path, &f->store));
	assert_int_equal(number_of(f->store->db, "PRAGMA user_version"), STORE_SCHEMA);
	assert_first_rows(f);
	snprintf(path, sizeof(path), "%s.schema-1", f->path);
	assert_int_equal(access(path, F_OK), 0);
	store_close(&f->store);
	/* Back to the copy, and once more from there. */
	assert_int_equal(rename(path, f->path), 0);
	reopen(f);
	assert_first_rows(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		STORE_TEST(test_newer_schema_is_refused),
		STORE_TEST(test_migration_keeps_the_rows),
		STORE_TEST(test_migration_is_whole_or_not_at_all),
		STORE_TEST(test_first_release_in_the_jail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
