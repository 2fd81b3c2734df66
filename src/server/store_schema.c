/* SPDX-License-Identifier: Apache-2.0 */
/* Tables, and the way from the tables of an older release. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
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
 * What is kept of a node is counted by stage and directive, and its rows of
 * the audit come from a bucket; who took whose place, and who conflicts with whom.
 */
static const char KINDS[] =
	"DROP INDEX attestation_node;"
	"CREATE INDEX attestation_kind ON attestation(node, stage, number, directive);"
	"ALTER TABLE node ADD COLUMN audit_until INT NOT NULL DEFAULT 0;"
	"ALTER TABLE node ADD COLUMN unlisted INT NOT NULL DEFAULT 0;"
	"CREATE TABLE rebound ("
	" number INTEGER PRIMARY KEY, time INT NOT NULL, old BLOB NOT NULL REFERENCES node(id),"
	" new BLOB NOT NULL REFERENCES node(id));"
	"CREATE TABLE conflict ("
	" node BLOB PRIMARY KEY REFERENCES node(id), other BLOB, ak_name BLOB NOT NULL,"
	" peer TEXT NOT NULL, time INT NOT NULL, count INT NOT NULL) WITHOUT ROWID;";

/* Groups of nodes; where a line of a list stands. */
static const char GROUPS[] =
	"ALTER TABLE node ADD COLUMN grp TEXT NOT NULL DEFAULT '';"
	"CREATE INDEX node_grp ON node(grp) WHERE grp <> '';"
	"ALTER TABLE listed_ek ADD COLUMN grp TEXT NOT NULL DEFAULT '';"
	"ALTER TABLE listed_ek ADD COLUMN line INT NOT NULL DEFAULT 0;"
	"ALTER TABLE policy ADD COLUMN grp TEXT NOT NULL DEFAULT '';"
	"CREATE TABLE node_group (name TEXT PRIMARY KEY, created INT NOT NULL) WITHOUT ROWID;";

/* Which board the TPM of a node sits on. */
static const char BOARDS[] =
	"ALTER TABLE node ADD COLUMN board TEXT NOT NULL DEFAULT '';"
	"CREATE INDEX node_board ON node(board) WHERE board <> '';";

/* Which certificates a node showed last. */
static const char CERTIFICATES[] =
	"ALTER TABLE node ADD COLUMN ek_set BLOB NOT NULL"
	" DEFAULT x'0000000000000000000000000000000000000000000000000000000000000000';"
	"ALTER TABLE node ADD COLUMN ek_offers INT NOT NULL DEFAULT 0;";

/* Rules for new nodes, and which of them a node matched. */
static const char RULES[] =
	"ALTER TABLE node ADD COLUMN rule TEXT NOT NULL DEFAULT '';"
	"CREATE INDEX node_rule ON node(rule, state) WHERE rule <> '';"
	"CREATE TABLE rule ("
	" name TEXT PRIMARY KEY, origin BLOB NOT NULL, anchor BLOB NOT NULL, manufacturer TEXT NOT NULL,"
	" model TEXT NOT NULL, grp TEXT NOT NULL, enrols INT NOT NULL, expires INT NOT NULL,"
	" most INT NOT NULL, networks BLOB NOT NULL, used INT NOT NULL, latest INT NOT NULL) WITHOUT ROWID;";

/* Rollouts, how far each node is, and which variants are retired for it. */
static const char ROLLOUTS[] =
	"CREATE TABLE rollout ("
	" id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, grp TEXT NOT NULL,"
	" state INT NOT NULL, manifest BLOB NOT NULL REFERENCES manifest(digest), failures INT NOT NULL,"
	" tries INT NOT NULL, at_once INT NOT NULL, started INT NOT NULL DEFAULT 0,"
	" created INT NOT NULL, changed INT NOT NULL);"
	"CREATE INDEX rollout_grp ON rollout(grp, started);"
	"CREATE TABLE rollout_variant ("
	" rollout INT NOT NULL REFERENCES rollout(id), variant INT NOT NULL REFERENCES variant(id),"
	" PRIMARY KEY (rollout, variant)) WITHOUT ROWID;"
	"CREATE TABLE rollout_node ("
	" rollout INT NOT NULL REFERENCES rollout(id), node BLOB NOT NULL REFERENCES node(id),"
	" state INT NOT NULL, tries INT NOT NULL, reset_count INT NOT NULL, time INT NOT NULL,"
	" reason TEXT NOT NULL, PRIMARY KEY (rollout, node)) WITHOUT ROWID;"
	"CREATE TABLE node_retired ("
	" node BLOB NOT NULL REFERENCES node(id), variant INT NOT NULL REFERENCES variant(id),"
	" rollout INT NOT NULL REFERENCES rollout(id), PRIMARY KEY (node, variant)) WITHOUT ROWID;";

/*
 * migration[n] leads from schema n to n + 1; a new database walks all of
 * them, so that there is one way only to each schema.
 */
static const char *const migration[STORE_SCHEMA] = { SCHEMA, KINDS, GROUPS, BOARDS, CERTIFICATES, RULES,
						     ROLLOUTS };

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

/*
 * A copy beside the file before anything changes: PATH.schema-N. SQLite does
 * not sync it, and does not write over what an earlier try left behind.
 */
static enum reason copy_before(struct store *s, const char *path, int schema)
{
	char part[STORE_PATH_MAX], whole[STORE_PATH_MAX];

	if (snprintf(whole, sizeof(whole), "%s.schema-%d", path, schema) >= (int)sizeof(whole) ||
	    snprintf(part, sizeof(part), "%s.part", whole) >= (int)sizeof(part))
		return R_STORE_OPEN;
	unlink(part);
	char *sql = sqlite3_mprintf("VACUUM INTO '%q'", part);
	if (!sql)
		return R_INTERNAL_MEMORY;
	enum reason r = db_exec(s, sql);
	sqlite3_free(sql);
	if (r != R_OK)
		return r;
	return fd_move_file(part, whole) == R_OK ? R_OK : R_STORE_IO;
}

static enum reason walk(struct store *s, const char *const step[], int from, int to)
{
	char set[48];

	for (int i = from; i < to; i++)
		TRY(db_exec(s, step[i]));
	snprintf(set, sizeof(set), "PRAGMA user_version=%d", to);
	return db_exec(s, set);
}

enum reason store_migrate(struct store *s, const char *path, const char *const step[], int to)
{
	int from;

	TRY(schema_of(s, &from));
	if (from > to)
		return R_STORE_NEWER;
	if (from == to)
		return R_OK;
	if (from < 0)
		return R_STORE_OPEN;
	if (from > 0)
		TRY(copy_before(s, path, from));

	TRY(db_exec(s, "BEGIN EXCLUSIVE"));
	enum reason r = walk(s, step, from, to);
	if (r == R_OK)
		r = db_exec(s, "COMMIT");
	if (r != R_OK)
		store_rollback(s);
	return r;
}

enum reason store_schema(struct store *s, const char *path)
{
	return store_migrate(s, path, migration, STORE_SCHEMA);
}
