/* SPDX-License-Identifier: Apache-2.0 */
/* Opening, migrating and committing. */
#include <stdio.h>
#include <string.h>

#include "server/store_internal.h"

static const char SCHEMA[] =
	"CREATE TABLE node ("
	" id BLOB PRIMARY KEY, ak_name BLOB NOT NULL UNIQUE, ak_public BLOB NOT NULL,"
	" state INT NOT NULL, label TEXT NOT NULL, basis TEXT NOT NULL, peer TEXT NOT NULL,"
	" created INT NOT NULL, approved INT NOT NULL, seen INT NOT NULL,"
	" implemented BLOB NOT NULL, clock_known INT NOT NULL, clock INT NOT NULL,"
	" reset_count INT NOT NULL, restart_count INT NOT NULL, firmware INT NOT NULL,"
	" ask_enrol INT NOT NULL, last_directive INT NOT NULL, last_reason TEXT NOT NULL,"
	" verdicts INT NOT NULL) WITHOUT ROWID;"
	"CREATE INDEX node_label ON node(label) WHERE label <> '';"
	"CREATE INDEX node_state ON node(state);"
	"CREATE TABLE node_ek ("
	" name BLOB PRIMARY KEY, node BLOB NOT NULL REFERENCES node(id),"
	" certificate BLOB, spki BLOB NOT NULL) WITHOUT ROWID;"
	"CREATE INDEX node_ek_node ON node_ek(node);"
	"CREATE TABLE listed_ek ("
	" id INTEGER PRIMARY KEY, certificate BLOB UNIQUE, spki BLOB UNIQUE, name BLOB UNIQUE,"
	" label TEXT NOT NULL, list TEXT NOT NULL);"
	"CREATE TABLE evidence (digest BLOB PRIMARY KEY, body BLOB NOT NULL);"
	"CREATE TABLE attestation ("
	" number INTEGER PRIMARY KEY, nonce BLOB NOT NULL UNIQUE, evidence BLOB NOT NULL,"
	" node BLOB NOT NULL, ak_name BLOB NOT NULL, stage INT NOT NULL, time INT NOT NULL,"
	" directive INT NOT NULL, reason TEXT NOT NULL, verdict BLOB NOT NULL,"
	" verdict_digest BLOB NOT NULL UNIQUE, manifest BLOB, explanation BLOB NOT NULL,"
	" pcrs BLOB NOT NULL, selection BLOB NOT NULL, clock INT NOT NULL,"
	" reset_count INT NOT NULL, restart_count INT NOT NULL, firmware INT NOT NULL);"
	"CREATE INDEX attestation_node ON attestation(node, number);"
	"CREATE TABLE receipt ("
	" verdict_digest BLOB PRIMARY KEY REFERENCES attestation(verdict_digest),"
	" time INT NOT NULL, pcrs BLOB NOT NULL, body BLOB NOT NULL) WITHOUT ROWID;"
	"CREATE TABLE variant ("
	" id INTEGER PRIMARY KEY AUTOINCREMENT, component TEXT NOT NULL, state INT NOT NULL,"
	" body BLOB NOT NULL);"
	"CREATE TABLE manifest ("
	" digest BLOB PRIMARY KEY, line TEXT NOT NULL, version TEXT NOT NULL, purpose INT NOT NULL,"
	" security_version INT NOT NULL, added INT NOT NULL, kernel BLOB NOT NULL,"
	" initrd BLOB NOT NULL, body BLOB NOT NULL);"
	"CREATE TABLE selected ("
	" target TEXT NOT NULL, purpose INT NOT NULL, digest BLOB NOT NULL REFERENCES manifest(digest),"
	" PRIMARY KEY (target, purpose)) WITHOUT ROWID;"
	"CREATE TABLE policy (version INTEGER PRIMARY KEY AUTOINCREMENT, body BLOB NOT NULL);"
	"CREATE TABLE failure ("
	" number INTEGER PRIMARY KEY, time INT NOT NULL, peer TEXT NOT NULL, reason TEXT NOT NULL,"
	" step TEXT NOT NULL, ak_name BLOB, log BLOB NOT NULL);"
	"CREATE TABLE audit ("
	" number INTEGER PRIMARY KEY, time INT NOT NULL, actor TEXT NOT NULL, action TEXT NOT NULL,"
	" target TEXT NOT NULL, reason TEXT NOT NULL, detail TEXT NOT NULL, hash BLOB NOT NULL);";

/*
 * migration[n] leads from schema n to n + 1; a new database walks all of
 * them, so that there is one way only to each schema.
 */
static const char *const migration[STORE_SCHEMA] = { SCHEMA };

static enum reason schema_of(struct store *s, int *ret)
{
	sqlite3_stmt *st = NULL;

	if (sqlite3_prepare_v2(s->db, "PRAGMA user_version", -1, &st, NULL) != SQLITE_OK)
		return R_STORE_OPEN;
	enum reason r = db_row(s, st);
	*ret = sqlite3_column_int(st, 0);
	sqlite3_finalize(st);
	return r == R_OK ? R_OK : R_STORE_OPEN;
}

/* A copy beside the file before anything changes: PATH.schema-N. */
static enum reason copy_before(struct store *s, const char *path, int schema)
{
	char *sql = sqlite3_mprintf("VACUUM INTO '%q.schema-%d'", path, schema);

	if (!sql)
		return R_INTERNAL_MEMORY;
	enum reason r = db_exec(s, sql);
	sqlite3_free(sql);
	return r;
}

static enum reason migrate(struct store *s, const char *path)
{
	int schema;

	TRY(schema_of(s, &schema));
	if (schema > STORE_SCHEMA)
		return R_STORE_NEWER;
	if (schema == STORE_SCHEMA)
		return R_OK;
	if (schema < 0)
		return R_STORE_OPEN;
	if (schema > 0)
		TRY(copy_before(s, path, schema));

	TRY(db_exec(s, "BEGIN EXCLUSIVE"));
	for (; schema < STORE_SCHEMA; schema++) {
		enum reason r = db_exec(s, migration[schema]);
		if (r != R_OK) {
			store_rollback(s);
			return r;
		}
	}
	char set[48];
	snprintf(set, sizeof(set), "PRAGMA user_version=%d", STORE_SCHEMA);
	enum reason r = db_exec(s, set);
	if (r != R_OK) {
		store_rollback(s);
		return r;
	}
	return db_exec(s, "COMMIT");
}

enum reason store_open(const char *path, struct store **ret)
{
	_cleanup_(store_close) struct store *s = calloc(1, sizeof(*s));

	if (!s)
		return R_INTERNAL_MEMORY;
	s->verdict = BLOB(LIMIT_VERDICT);
	s->explanation = BLOB(LIMIT_EXPLANATION);
	/* The ledger has one thread and is the only process with the file open. */
	if (sqlite3_open_v2(path, &s->db,
			    SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX |
				    SQLITE_OPEN_NOFOLLOW,
			    NULL) != SQLITE_OK)
		return R_STORE_OPEN;
	sqlite3_extended_result_codes(s->db, 0);
	/*
	 * FULL: an acknowledged row must survive a power cut, and in WAL mode
	 * NORMAL syncs at checkpoints only. tests/server/powercut proves it.
	 */
	if (db_exec(s, "PRAGMA journal_mode=WAL") != R_OK ||
	    db_exec(s, "PRAGMA synchronous=FULL") != R_OK ||
	    db_exec(s, "PRAGMA foreign_keys=ON") != R_OK ||
	    db_exec(s, "PRAGMA trusted_schema=OFF") != R_OK ||
	    db_exec(s, "PRAGMA wal_autocheckpoint=4000") != R_OK)
		return R_STORE_OPEN;
	TRY(migrate(s, path));
	*ret = take_ptr(s);
	return R_OK;
}

void store_close(struct store **s)
{
	if (!*s)
		return;
	for (size_t i = 0; i < (*s)->cached; i++)
		sqlite3_finalize((*s)->cache[i].stmt);
	sqlite3_close((*s)->db);
	blob_free(&(*s)->verdict);
	blob_free(&(*s)->explanation);
	free(*s);
	*s = NULL;
}

enum reason store_begin(struct store *s)
{
	return db_exec(s, "BEGIN IMMEDIATE");
}

enum reason store_commit(struct store *s)
{
	return db_exec(s, "COMMIT");
}

void store_rollback(struct store *s)
{
	/* Already rolled back when the error did it: nothing is left to do. */
	if (!sqlite3_get_autocommit(s->db))
		sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
}

enum reason store_savepoint(struct store *s)
{
	return db_exec(s, "SAVEPOINT request");
}

enum reason store_release(struct store *s, bool keep)
{
	if (!keep)
		TRY(db_exec(s, "ROLLBACK TO request"));
	return db_exec(s, "RELEASE request");
}
