/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes that took another's place, and nodes whose keys do not agree with the record. */
#include <string.h>

#include "base/text.h"
#include "server/store_internal.h"

enum reason store_conflict_add(struct store *s, const uint8_t id[SHA256_LEN], const struct node_conflict *c)
{
	_statement_ st = NULL;

	TRY(db_get(s, "INSERT INTO conflict (node, other, ak_name, peer, time, count) VALUES (?,?,?,?,?,1)"
		      " ON CONFLICT (node) DO UPDATE SET other = excluded.other, ak_name = excluded.ak_name,"
		      " peer = excluded.peer, time = excluded.time, count = count + 1", &st));
	db_bytes(st, 1, bytes_of(id, SHA256_LEN));
	if (c->has_other)
		db_bytes(st, 2, BYTES(c->other));
	db_bytes(st, 3, BYTES(c->ak_name));
	db_text(st, 4, c->peer);
	db_int(st, 5, c->time);
	return db_run(s, st);
}

enum reason store_conflict_of(struct store *s, const uint8_t id[SHA256_LEN], struct node_conflict *ret)
{
	_statement_ st = NULL;

	TRY(db_get(s, "SELECT other, ak_name, peer, time, count FROM conflict WHERE node = ?", &st));
	db_bytes(st, 1, bytes_of(id, SHA256_LEN));
	TRY(db_row(s, st));
	memset(ret, 0, sizeof(*ret));
	ret->has_other = sqlite3_column_type(st, 0) != SQLITE_NULL;
	if (ret->has_other)
		TRY(db_col_fixed(st, 0, ret->other, SHA256_LEN));
	TRY(db_col_fixed(st, 1, ret->ak_name, AK_NAME_LEN));
	db_col_text(st, 2, ret->peer, sizeof(ret->peer));
	ret->time = sqlite3_column_int64(st, 3);
	ret->count = (uint64_t)sqlite3_column_int64(st, 4);
	return R_OK;
}

enum reason store_conflict_clear(struct store *s, const uint8_t id[SHA256_LEN])
{
	_statement_ st = NULL;

	TRY(db_get(s, "DELETE FROM conflict WHERE node = ?", &st));
	db_bytes(st, 1, bytes_of(id, SHA256_LEN));
	return db_run(s, st);
}

enum reason store_rebind(struct store *s, const struct rebound *r)
{
	char from[2 * SHA256_LEN + 1], to[2 * SHA256_LEN + 1];
	_statement_ st = NULL;
	_statement_ images = NULL;

	TRY(db_get(s, "INSERT INTO rebound (time, old, new) VALUES (?,?,?)", &st));
	db_int(st, 1, r->time);
	db_bytes(st, 2, BYTES(r->old_id));
	db_bytes(st, 3, BYTES(r->new_id));
	TRY(db_run(s, st));
	hex_encode(BYTES(r->old_id), from);
	hex_encode(BYTES(r->new_id), to);
	TRY(db_get(s, "UPDATE OR REPLACE selected SET target = ?2 WHERE target = ?1", &images));
	db_text(images, 1, from);
	db_text(images, 2, to);
	return db_run(s, images);
}

enum reason store_rebound_each(struct store *s, const uint8_t id[SHA256_LEN],
			       enum reason (*f)(void *ctx, const struct rebound *r), void *ctx)
{
	_statement_ st = NULL;
	enum reason r;

	TRY(db_get(s, "SELECT time, old, new FROM rebound WHERE old = ?1 OR new = ?1 ORDER BY number", &st));
	db_bytes(st, 1, bytes_of(id, SHA256_LEN));
	while ((r = db_row(s, st)) == R_OK) {
		struct rebound row = { .time = sqlite3_column_int64(st, 0) };

		TRY(db_col_fixed(st, 1, row.old_id, SHA256_LEN));
		TRY(db_col_fixed(st, 2, row.new_id, SHA256_LEN));
		TRY(f(ctx, &row));
	}
	return r == R_STORE_NOT_FOUND ? R_OK : r;
}
