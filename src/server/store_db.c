/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "server/store_internal.h"

static enum reason reason_of(struct store *s)
{
	switch (sqlite3_errcode(s->db)) {
	case SQLITE_CONSTRAINT:
		return R_STORE_EXISTS;
	case SQLITE_FULL:
		return R_STORE_FULL;
	case SQLITE_NOMEM:
		return R_INTERNAL_MEMORY;
	default:
		return R_STORE_IO;
	}
}

enum reason db_get(struct store *s, const char *sql, sqlite3_stmt **ret)
{
	for (size_t i = 0; i < s->cached; i++) {
		if (s->cache[i].sql == sql) {
			*ret = s->cache[i].stmt;
			return R_OK;
		}
	}
	if (s->cached == STORE_STATEMENTS)
		return R_INTERNAL_TOO_LARGE;

	sqlite3_stmt *st = NULL;
	if (sqlite3_prepare_v3(s->db, sql, -1, SQLITE_PREPARE_PERSISTENT, &st, NULL) != SQLITE_OK)
		return reason_of(s);
	s->cache[s->cached].sql = sql;
	s->cache[s->cached].stmt = st;
	s->cached++;
	*ret = st;
	return R_OK;
}

void db_done(sqlite3_stmt **st)
{
	if (!*st)
		return;
	sqlite3_reset(*st);
	sqlite3_clear_bindings(*st);
	*st = NULL;
}

void db_bytes(sqlite3_stmt *st, int at, struct bytes b)
{
	/* A NULL pointer would bind NULL; an empty value is not an absent one. */
	sqlite3_bind_blob64(st, at, b.n ? (const void *)b.p : "", b.n, SQLITE_STATIC);
}

void db_text(sqlite3_stmt *st, int at, const char *text)
{
	sqlite3_bind_text(st, at, text, -1, SQLITE_STATIC);
}

void db_int(sqlite3_stmt *st, int at, int64_t v)
{
	sqlite3_bind_int64(st, at, v);
}

void db_null(sqlite3_stmt *st, int at)
{
	sqlite3_bind_null(st, at);
}

enum reason db_row(struct store *s, sqlite3_stmt *st)
{
	switch (sqlite3_step(st)) {
	case SQLITE_ROW:
		return R_OK;
	case SQLITE_DONE:
		return R_STORE_NOT_FOUND;
	default:
		return reason_of(s);
	}
}

enum reason db_run(struct store *s, sqlite3_stmt *st)
{
	return sqlite3_step(st) == SQLITE_DONE ? R_OK : reason_of(s);
}

enum reason db_exec(struct store *s, const char *sql)
{
	return sqlite3_exec(s->db, sql, NULL, NULL, NULL) == SQLITE_OK ? R_OK : reason_of(s);
}

enum reason db_col_bounded(sqlite3_stmt *st, int at, void *ret, size_t max, uint32_t *ret_n)
{
	const void *p = sqlite3_column_blob(st, at);
	size_t n = (size_t)sqlite3_column_bytes(st, at);

	if (n > max)
		return R_STORE_IO;
	if (n > 0)
		memcpy(ret, p, n);
	*ret_n = (uint32_t)n;
	return R_OK;
}

enum reason db_col_fixed(sqlite3_stmt *st, int at, void *ret, size_t n)
{
	if ((size_t)sqlite3_column_bytes(st, at) != n)
		return R_STORE_IO;
	uint32_t got;
	return db_col_bounded(st, at, ret, n, &got);
}

enum reason db_col_blob(sqlite3_stmt *st, int at, struct blob *ret)
{
	const void *p = sqlite3_column_blob(st, at);

	return blob_append(ret, p, (size_t)sqlite3_column_bytes(st, at));
}

void db_col_text(sqlite3_stmt *st, int at, char *ret, size_t n)
{
	const char *p = (const char *)sqlite3_column_text(st, at);
	size_t have = (size_t)sqlite3_column_bytes(st, at);

	if (have > n - 1)
		have = n - 1;
	if (have > 0)
		memcpy(ret, p, have);
	ret[have] = '\0';
}

enum reason db_values(sqlite3_stmt *st, int at, const struct pcr_values *v, struct blob *keep)
{
	for (size_t i = 0; i < v->count; i++) {
		const struct pcr_bank *b = &v->bank[i];

		TRY(blob_be16(keep, b->alg));
		TRY(blob_be32(keep, b->present));
		for (uint32_t pcr = 0; pcr < PCR_COUNT; pcr++)
			if (b->present & PCR_MASK(pcr))
				TRY(blob_append(keep, b->value[pcr], digest_len(b->alg)));
	}
	db_bytes(st, at, blob_bytes(keep));
	return R_OK;
}

enum reason db_col_values(sqlite3_stmt *st, int at, struct pcr_values *ret)
{
	struct cursor c = cursor_of(bytes_of(sqlite3_column_blob(st, at),
					     (size_t)sqlite3_column_bytes(st, at)));

	memset(ret, 0, sizeof(*ret));
	while (c.n > 0) {
		if (ret->count == LIMIT_BANKS)
			return R_STORE_IO;
		struct pcr_bank *b = &ret->bank[ret->count++];

		TRY(cursor_be16(&c, &b->alg));
		TRY(cursor_be32(&c, &b->present));
		for (uint32_t pcr = 0; pcr < PCR_COUNT; pcr++)
			if (b->present & PCR_MASK(pcr))
				TRY(cursor_copy(&c, b->value[pcr], digest_len(b->alg)));
	}
	return R_OK;
}

enum reason db_selection(sqlite3_stmt *st, int at, const struct pcr_selection *v, struct blob *keep)
{
	TRY(pcr_selection_write(v, keep));
	db_bytes(st, at, blob_bytes(keep));
	return R_OK;
}

enum reason db_col_selection(sqlite3_stmt *st, int at, struct pcr_selection *ret)
{
	struct cursor c = cursor_of(bytes_of(sqlite3_column_blob(st, at),
					     (size_t)sqlite3_column_bytes(st, at)));

	TRY(pcr_selection_read(&c, ret));
	return cursor_end(&c);
}
