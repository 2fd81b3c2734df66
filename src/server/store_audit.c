/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The audit: rows that form a hash chain.
 *
 *   hash(n) = SHA-256(hash(n-1) || row(n)), hash(0) = 32 zero bytes
 *   row     = number, time as u64 big-endian, then actor, action, target,
 *             reason, detail, each as u16 length and bytes
 */
#include <string.h>

#include "crypto/digest.h"
#include "server/store_internal.h"

static enum reason text_append(struct blob *b, const char *text)
{
	size_t n = strlen(text);

	TRY(blob_be16(b, (uint16_t)n));
	return blob_append(b, text, n);
}

static enum reason chain(const uint8_t before[SHA256_LEN], const struct audit_row *row,
			 uint8_t ret[SHA256_LEN])
{
	_cleanup_(blob_free) struct blob b = BLOB(1024);

	TRY(blob_append(&b, before, SHA256_LEN));
	TRY(blob_be64(&b, row->number));
	TRY(blob_be64(&b, (uint64_t)row->time));
	TRY(text_append(&b, row->actor));
	TRY(text_append(&b, row->action));
	TRY(text_append(&b, row->target));
	TRY(text_append(&b, row->reason));
	TRY(text_append(&b, row->detail));
	return sha256(blob_bytes(&b), ret);
}

static enum reason row_of(sqlite3_stmt *st, struct audit_row *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->number = (uint64_t)sqlite3_column_int64(st, 0);
	ret->time = sqlite3_column_int64(st, 1);
	db_col_text(st, 2, ret->actor, sizeof(ret->actor));
	db_col_text(st, 3, ret->action, sizeof(ret->action));
	db_col_text(st, 4, ret->target, sizeof(ret->target));
	db_col_text(st, 5, ret->reason, sizeof(ret->reason));
	db_col_text(st, 6, ret->detail, sizeof(ret->detail));
	return db_col_fixed(st, 7, ret->hash, SHA256_LEN);
}

#define AUDIT_COLUMNS "number, time, actor, action, target, reason, detail, hash"

static enum reason last_row(struct store *s, struct audit_row *ret)
{
	_statement_ st = NULL;

	TRY(db_get(s, "SELECT " AUDIT_COLUMNS " FROM audit ORDER BY number DESC LIMIT 1", &st));
	enum reason r = db_row(s, st);
	if (r == R_STORE_NOT_FOUND) {
		memset(ret, 0, sizeof(*ret));
		return R_OK;
	}
	if (r != R_OK)
		return r;
	return row_of(st, ret);
}

enum reason store_audit_add(struct store *s, struct audit_row *row)
{
	struct audit_row last;
	_statement_ st = NULL;

	TRY(last_row(s, &last));
	row->number = last.number + 1;
	TRY(chain(last.hash, row, row->hash));
	TRY(db_get(s, "INSERT INTO audit (" AUDIT_COLUMNS ") VALUES (?,?,?,?,?,?,?,?)", &st));
	db_int(st, 1, (int64_t)row->number);
	db_int(st, 2, row->time);
	db_text(st, 3, row->actor);
	db_text(st, 4, row->action);
	db_text(st, 5, row->target);
	db_text(st, 6, row->reason);
	db_text(st, 7, row->detail);
	db_bytes(st, 8, BYTES(row->hash));
	return db_run(s, st);
}

enum reason store_audit_each(struct store *s, uint64_t from, unsigned limit,
			     enum reason (*f)(void *ctx, const struct audit_row *row), void *ctx)
{
	_statement_ st = NULL;
	enum reason r;

	TRY(db_get(s, "SELECT " AUDIT_COLUMNS " FROM audit WHERE number >= ? ORDER BY number LIMIT ?", &st));
	db_int(st, 1, (int64_t)from);
	db_int(st, 2, limit);
	while ((r = db_row(s, st)) == R_OK) {
		struct audit_row row;

		TRY(row_of(st, &row));
		TRY(f(ctx, &row));
	}
	return r == R_STORE_NOT_FOUND ? R_OK : r;
}

struct walk {
	uint64_t rows;
	uint8_t hash[SHA256_LEN];
};

static enum reason walk_row(void *ctx, const struct audit_row *row)
{
	struct walk *w = ctx;
	uint8_t expected[SHA256_LEN];

	TRY(chain(w->hash, row, expected));
	if (row->number != w->rows + 1 || memcmp(expected, row->hash, SHA256_LEN) != 0)
		return R_AUDIT_CHAIN;
	memcpy(w->hash, expected, SHA256_LEN);
	w->rows++;
	return R_OK;
}

static enum reason hash_of_row(void *ctx, const struct audit_row *row)
{
	struct walk *w = ctx;

	w->rows = row->number;
	memcpy(w->hash, row->hash, SHA256_LEN);
	return R_OK;
}

enum reason store_audit_verify(struct store *s, uint64_t from, unsigned limit, uint64_t *ret_rows)
{
	struct walk w = { 0 };

	/* What the slice rests on was verified by the slice before. */
	if (from > 1)
		TRY(store_audit_each(s, from - 1, 1, hash_of_row, &w));
	if (from == 0 || w.rows != from - 1)
		return R_STORE_NOT_FOUND;
	enum reason r = store_audit_each(s, from, limit, walk_row, &w);
	*ret_rows = w.rows - (from - 1);
	return r;
}
