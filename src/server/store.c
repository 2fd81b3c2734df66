/* SPDX-License-Identifier: Apache-2.0 */
/* Opening and committing. */
#include <string.h>

#include "server/store_internal.h"

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
	    /* the ledger's jail has no folder for temporary files */
	    db_exec(s, "PRAGMA temp_store=MEMORY") != R_OK ||
	    db_exec(s, "PRAGMA wal_autocheckpoint=4000") != R_OK)
		return R_STORE_OPEN;
	TRY(store_schema(s, path));
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
