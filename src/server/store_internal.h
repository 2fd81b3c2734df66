/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the store_*.c files talk to SQLite: statements are prepared once per
 * SQL text and kept; each call binds, steps and resets. Nothing outside
 * store*.c sees this.
 */
#ifndef BOOTGATE_SERVER_STORE_INTERNAL_H
#define BOOTGATE_SERVER_STORE_INTERNAL_H

#include <sqlite3.h>

#include "base/cleanup.h"
#include "server/store.h"

#define STORE_STATEMENTS 128u
#define STORE_PATH_MAX 512u

struct store {
	sqlite3 *db;
	struct {
		const char *sql;	/* the literal's address is the key */
		sqlite3_stmt *stmt;
	} cache[STORE_STATEMENTS];
	size_t cached;
	/* What store_attestation_* views point into. */
	struct blob verdict, explanation;
};

/*
 * From the schema that the file has, over step[n] from n to n + 1, to `to`:
 * all or nothing. store_schema is that with the steps of this release.
 */
enum reason store_migrate(struct store *s, const char *path, const char *const step[], int to) must_check;
enum reason store_schema(struct store *s, const char *path) must_check;

/* A statement ready to bind; db_done (or _cleanup_(db_done)) gives it back. */
enum reason db_get(struct store *s, const char *sql, sqlite3_stmt **ret) must_check;
void db_done(sqlite3_stmt **st);
#define _statement_ _cleanup_(db_done) sqlite3_stmt *

/* Binding cannot fail but for memory, which the step then reports. */
void db_bytes(sqlite3_stmt *st, int at, struct bytes b);
void db_text(sqlite3_stmt *st, int at, const char *text);
void db_int(sqlite3_stmt *st, int at, int64_t v);
void db_null(sqlite3_stmt *st, int at);

/* A row: R_OK, or R_STORE_NOT_FOUND when there is none. */
enum reason db_row(struct store *s, sqlite3_stmt *st) must_check;
/* No row is wanted. R_STORE_EXISTS when a constraint says no. */
enum reason db_run(struct store *s, sqlite3_stmt *st) must_check;
enum reason db_exec(struct store *s, const char *sql) must_check;

/* Columns. Fixed lengths are checked: R_STORE_IO when a row is not ours. */
enum reason db_col_fixed(sqlite3_stmt *st, int at, void *ret, size_t n) must_check;
/* Up to max bytes; the real length into ret_n. */
enum reason db_col_bounded(sqlite3_stmt *st, int at, void *ret, size_t max, uint32_t *ret_n) must_check;
enum reason db_col_blob(sqlite3_stmt *st, int at, struct blob *ret) must_check;
void db_col_text(sqlite3_stmt *st, int at, char *ret, size_t n);

/* Registers in a column: for each bank algorithm, mask, values. */
enum reason db_values(sqlite3_stmt *st, int at, const struct pcr_values *v, struct blob *keep) must_check;
enum reason db_col_values(sqlite3_stmt *st, int at, struct pcr_values *ret) must_check;
enum reason db_selection(sqlite3_stmt *st, int at, const struct pcr_selection *v, struct blob *keep) must_check;
enum reason db_col_selection(sqlite3_stmt *st, int at, struct pcr_selection *ret) must_check;

#define COLUMN_VALUES_MAX ((size_t)LIMIT_BANKS * (6u + PCR_COUNT * DIGEST_MAX))

#endif
