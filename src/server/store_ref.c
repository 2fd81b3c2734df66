/* SPDX-License-Identifier: Apache-2.0 */
/* Reference variants and policy. */
#include <string.h>

#include "server/store_internal.h"

/* The state and id of the row win over what the encoded variant says. */
static enum reason variant_encode(sqlite3_stmt *st, struct blob *ret)
{
	struct bytes body = bytes_of(sqlite3_column_blob(st, 2), (size_t)sqlite3_column_bytes(st, 2));
	_cleanup_(reference_variant_free) struct reference_variant v = { 0 };
	int state = sqlite3_column_int(st, 1);

	if (state < 0 || state >= VARIANT_STATE_MAX)
		return R_STORE_IO;
	TRY(reference_variant_read(body, &v));
	v.id = (uint64_t)sqlite3_column_int64(st, 0);
	v.state = (enum variant_state)state;
	return reference_variant_write(&v, ret);
}

enum reason store_variant_add(struct store *s, const struct reference_variant *v, uint64_t *ret_id)
{
	_cleanup_(blob_free) struct blob body = BLOB(LIMIT_REFERENCE);
	_statement_ st = NULL;

	TRY(reference_variant_write(v, &body));
	TRY(db_get(s, "INSERT INTO variant (component, state, body) VALUES (?,?,?)", &st));
	db_text(st, 1, v->component);
	db_int(st, 2, v->state);
	db_bytes(st, 3, blob_bytes(&body));
	TRY(db_run(s, st));
	*ret_id = (uint64_t)sqlite3_last_insert_rowid(s->db);
	return R_OK;
}

enum reason store_variant_change(struct store *s, const struct reference_variant *v)
{
	_cleanup_(blob_free) struct blob body = BLOB(LIMIT_REFERENCE);
	_statement_ st = NULL;

	TRY(reference_variant_write(v, &body));
	TRY(db_get(s, "UPDATE variant SET state = ?, body = ? WHERE id = ?", &st));
	db_int(st, 1, v->state);
	db_bytes(st, 2, blob_bytes(&body));
	db_int(st, 3, (int64_t)v->id);
	TRY(db_run(s, st));
	return sqlite3_changes(s->db) == 1 ? R_OK : R_STORE_NOT_FOUND;
}

enum reason store_variant_get(struct store *s, uint64_t id, struct blob *ret)
{
	_statement_ st = NULL;

	TRY(db_get(s, "SELECT id, state, body FROM variant WHERE id = ?", &st));
	db_int(st, 1, (int64_t)id);
	TRY(db_row(s, st));
	return variant_encode(st, ret);
}

enum reason store_variant_each(struct store *s, bool live_only,
			       enum reason (*f)(void *ctx, struct bytes encoded), void *ctx)
{
	_statement_ st = NULL;
	enum reason r;

	TRY(db_get(s, "SELECT id, state, body FROM variant WHERE NOT ?1 OR state IN (?2, ?3)"
		      " ORDER BY component, id", &st));
	db_int(st, 1, live_only);
	db_int(st, 2, VARIANT_ACTIVE);
	db_int(st, 3, VARIANT_RETIRING);
	while ((r = db_row(s, st)) == R_OK) {
		_cleanup_(blob_free) struct blob one = BLOB(LIMIT_REFERENCE);

		TRY(variant_encode(st, &one));
		TRY(f(ctx, blob_bytes(&one)));
	}
	return r == R_STORE_NOT_FOUND ? R_OK : r;
}

enum reason store_policy_add(struct store *s, const char *group, struct bytes policy)
{
	_statement_ st = NULL;

	TRY(db_get(s, "INSERT INTO policy (grp, body) VALUES (?,?)", &st));
	db_text(st, 1, group);
	db_bytes(st, 2, policy);
	return db_run(s, st);
}

enum reason store_policy_each(struct store *s,
			      enum reason (*f)(void *ctx, const char *group, struct bytes policy), void *ctx)
{
	_statement_ st = NULL;
	enum reason r;

	TRY(db_get(s, "SELECT grp, body FROM policy WHERE version IN"
		      " (SELECT max(version) FROM policy GROUP BY grp) AND length(body) > 0", &st));
	while ((r = db_row(s, st)) == R_OK) {
		_cleanup_(blob_free) struct blob body = BLOB(LIMIT_REFERENCE);
		char group[GROUP_MAX];

		db_col_text(st, 0, group, sizeof(group));
		TRY(db_col_blob(st, 1, &body));
		TRY(f(ctx, group, blob_bytes(&body)));
	}
	return r == R_STORE_NOT_FOUND ? R_OK : r;
}
