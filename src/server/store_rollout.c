/* SPDX-License-Identifier: Apache-2.0 */
/* Rollouts, how far each node is, and what is retired for it. */
#include <string.h>

#include "server/store_internal.h"

#define ROLLOUT_COLUMNS "id, name, grp, state, manifest, failures, tries, at_once, created, changed"

static enum reason variants_of(struct store *s, struct rollout *r)
{
	_statement_ st = NULL;
	enum reason done;

	r->new_count = 0;
	TRY(db_get(s, "SELECT variant FROM rollout_variant WHERE rollout = ? ORDER BY variant", &st));
	db_int(st, 1, r->id);
	while ((done = db_row(s, st)) == R_OK) {
		if (r->new_count == ROLLOUT_NEW_MAX)
			return R_STORE_IO;
		r->new_id[r->new_count++] = (uint64_t)sqlite3_column_int64(st, 0);
	}
	return done == R_STORE_NOT_FOUND ? R_OK : done;
}

static enum reason rollout_of(struct store *s, sqlite3_stmt *st, struct rollout *ret)
{
	int state = sqlite3_column_int(st, 3);

	memset(ret, 0, sizeof(*ret));
	if (state < 0 || state >= ROLLOUT_STATE_MAX)
		return R_STORE_IO;
	ret->id = sqlite3_column_int64(st, 0);
	db_col_text(st, 1, ret->name, sizeof(ret->name));
	db_col_text(st, 2, ret->group, sizeof(ret->group));
	ret->state = (enum rollout_state)state;
	TRY(db_col_fixed(st, 4, ret->manifest, sizeof(ret->manifest)));
	ret->failures = (uint32_t)sqlite3_column_int64(st, 5);
	ret->tries = (uint32_t)sqlite3_column_int64(st, 6);
	ret->at_once = (uint32_t)sqlite3_column_int64(st, 7);
	ret->created = sqlite3_column_int64(st, 8);
	ret->changed = sqlite3_column_int64(st, 9);
	return variants_of(s, ret);
}

enum reason store_rollout_add(struct store *s, const struct rollout *r)
{
	_statement_ st = NULL;

	TRY(db_get(s, "INSERT INTO rollout (name, grp, state, manifest, failures, tries, at_once, created, changed)"
		      " VALUES (?,?,?,?,?,?,?,?,?)", &st));
	db_text(st, 1, r->name);
	db_text(st, 2, r->group);
	db_int(st, 3, r->state);
	db_bytes(st, 4, BYTES(r->manifest));
	db_int(st, 5, r->failures);
	db_int(st, 6, r->tries);
	db_int(st, 7, r->at_once);
	db_int(st, 8, r->created);
	db_int(st, 9, r->changed);
	TRY(db_run(s, st));
	int64_t id = sqlite3_last_insert_rowid(s->db);
	for (size_t i = 0; i < r->new_count; i++) {
		_statement_ one = NULL;

		TRY(db_get(s, "INSERT INTO rollout_variant (rollout, variant) VALUES (?,?)", &one));
		db_int(one, 1, id);
		db_int(one, 2, (int64_t)r->new_id[i]);
		TRY(db_run(s, one));
	}
	return R_OK;
}

enum reason store_rollout_find(struct store *s, const char *name, struct rollout *ret)
{
	_statement_ st = NULL;

	TRY(db_get(s, "SELECT " ROLLOUT_COLUMNS " FROM rollout WHERE name = ?", &st));
	db_text(st, 1, name);
	TRY(db_row(s, st));
	return rollout_of(s, st, ret);
}

enum reason store_rollout_of(struct store *s, const char *group, struct rollout *ret)
{
	_statement_ st = NULL;

	if (group[0] == '\0')
		return R_STORE_NOT_FOUND;
	TRY(db_get(s, "SELECT " ROLLOUT_COLUMNS " FROM rollout WHERE grp = ? AND started > 0"
		      " ORDER BY started DESC LIMIT 1", &st));
	db_text(st, 1, group);
	TRY(db_row(s, st));
	return rollout_of(s, st, ret);
}

enum reason store_rollout_each(struct store *s, enum reason (*f)(void *ctx, const struct rollout *r), void *ctx)
{
	_statement_ st = NULL;
	enum reason r;

	TRY(db_get(s, "SELECT " ROLLOUT_COLUMNS " FROM rollout ORDER BY id", &st));
	while ((r = db_row(s, st)) == R_OK) {
		struct rollout one;

		TRY(rollout_of(s, st, &one));
		TRY(f(ctx, &one));
	}
	return r == R_STORE_NOT_FOUND ? R_OK : r;
}

enum reason store_rollout_state(struct store *s, int64_t id, enum rollout_state state, int64_t now)
{
	_statement_ st = NULL;

	TRY(db_get(s, "UPDATE rollout SET state = ?, changed = ? WHERE id = ?", &st));
	db_int(st, 1, state);
	db_int(st, 2, now);
	db_int(st, 3, id);
	return db_run(s, st);
}

enum reason store_rollout_start(struct store *s, int64_t id, int64_t now)
{
	_statement_ st = NULL;
	_statement_ begin = NULL;

	TRY(db_get(s, "UPDATE rollout SET started = 1 + (SELECT max(started) FROM rollout) WHERE id = ?", &st));
	db_int(st, 1, id);
	TRY(db_run(s, st));
	TRY(db_get(s, "DELETE FROM rollout_node WHERE rollout = ? AND state <> ?", &begin));
	db_int(begin, 1, id);
	db_int(begin, 2, PROGRESS_UPDATED);
	TRY(db_run(s, begin));
	return store_rollout_state(s, id, ROLLOUT_RUNNING, now);
}

/* ---- nodes ------------------------------------------------------------------ */

enum reason store_progress(struct store *s, int64_t rollout, const uint8_t node[SHA256_LEN], struct progress *ret)
{
	_statement_ st = NULL;

	*ret = (struct progress){ 0 };
	TRY(db_get(s, "SELECT state, tries, reset_count, time, reason FROM rollout_node"
		      " WHERE rollout = ? AND node = ?", &st));
	db_int(st, 1, rollout);
	db_bytes(st, 2, bytes_of(node, SHA256_LEN));
	enum reason r = db_row(s, st);
	if (r != R_OK)
		return r == R_STORE_NOT_FOUND ? R_OK : r;
	int state = sqlite3_column_int(st, 0);
	if (state < 0 || state >= PROGRESS_MAX)
		return R_STORE_IO;
	ret->state = (enum progress_state)state;
	ret->tries = (uint32_t)sqlite3_column_int64(st, 1);
	ret->reset_count = (uint32_t)sqlite3_column_int64(st, 2);
	ret->time = sqlite3_column_int64(st, 3);
	db_col_text(st, 4, ret->reason, sizeof(ret->reason));
	return R_OK;
}

enum reason store_progress_set(struct store *s, int64_t rollout, const uint8_t node[SHA256_LEN],
			       const struct progress *p)
{
	_statement_ st = NULL;

	TRY(db_get(s, "INSERT OR REPLACE INTO rollout_node (rollout, node, state, tries, reset_count, time, reason)"
		      " VALUES (?,?,?,?,?,?,?)", &st));
	db_int(st, 1, rollout);
	db_bytes(st, 2, bytes_of(node, SHA256_LEN));
	db_int(st, 3, p->state);
	db_int(st, 4, p->tries);
	db_int(st, 5, p->reset_count);
	db_int(st, 6, p->time);
	db_text(st, 7, p->reason);
	return db_run(s, st);
}

enum reason store_progress_each(struct store *s, const struct rollout *r,
				enum reason (*f)(void *ctx, const struct node_progress *n), void *ctx)
{
	_statement_ st = NULL;
	enum reason done;

	TRY(db_get(s, "SELECT n.id, n.label, n.last_directive, n.seen, ifnull(p.state, 0), ifnull(p.tries, 0),"
		      " ifnull(p.time, 0), ifnull(p.reason, '') FROM node n"
		      " LEFT JOIN rollout_node p ON p.rollout = ? AND p.node = n.id"
		      " WHERE n.grp = ? AND n.grp <> '' AND n.state = ? ORDER BY n.label, n.id", &st));
	db_int(st, 1, r->id);
	db_text(st, 2, r->group);
	db_int(st, 3, NODE_ENROLLED);
	while ((done = db_row(s, st)) == R_OK) {
		struct node_progress n = { 0 };
		int directive = sqlite3_column_int(st, 2), state = sqlite3_column_int(st, 4);

		if (directive < 0 || directive >= DIRECTIVE_MAX || state < 0 || state >= PROGRESS_MAX)
			return R_STORE_IO;
		TRY(db_col_fixed(st, 0, n.id, sizeof(n.id)));
		db_col_text(st, 1, n.label, sizeof(n.label));
		n.last_directive = (enum directive)directive;
		n.seen = sqlite3_column_int64(st, 3);
		n.p.state = (enum progress_state)state;
		n.p.tries = (uint32_t)sqlite3_column_int64(st, 5);
		n.p.time = sqlite3_column_int64(st, 6);
		db_col_text(st, 7, n.p.reason, sizeof(n.p.reason));
		TRY(f(ctx, &n));
	}
	return done == R_STORE_NOT_FOUND ? R_OK : done;
}

enum reason store_progress_count(struct store *s, const struct rollout *r, uint64_t ret[PROGRESS_MAX])
{
	_statement_ st = NULL;
	enum reason done;

	memset(ret, 0, PROGRESS_MAX * sizeof(ret[0]));
	TRY(db_get(s, "SELECT ifnull(p.state, 0) AS step, count(*) FROM node n"
		      " LEFT JOIN rollout_node p ON p.rollout = ? AND p.node = n.id"
		      " WHERE n.grp = ? AND n.grp <> '' AND n.state = ? GROUP BY step", &st));
	db_int(st, 1, r->id);
	db_text(st, 2, r->group);
	db_int(st, 3, NODE_ENROLLED);
	while ((done = db_row(s, st)) == R_OK) {
		int state = sqlite3_column_int(st, 0);

		if (state < 0 || state >= PROGRESS_MAX)
			return R_STORE_IO;
		ret[state] = (uint64_t)sqlite3_column_int64(st, 1);
	}
	return done == R_STORE_NOT_FOUND ? R_OK : done;
}

/* ---- variants that a node may not come back to -------------------------------- */

enum reason store_retired(struct store *s, const uint8_t node[SHA256_LEN], uint64_t *ret, size_t max,
			  size_t *ret_count)
{
	_statement_ st = NULL;
	size_t n = 0;
	enum reason r;

	TRY(db_get(s, "SELECT r.variant FROM node_retired r JOIN variant v ON v.id = r.variant"
		      " WHERE r.node = ? AND v.state IN (?, ?) ORDER BY r.variant", &st));
	db_bytes(st, 1, bytes_of(node, SHA256_LEN));
	db_int(st, 2, VARIANT_ACTIVE);
	db_int(st, 3, VARIANT_RETIRING);
	while ((r = db_row(s, st)) == R_OK) {
		if (n == max)
			return R_POLICY_FULL;
		ret[n++] = (uint64_t)sqlite3_column_int64(st, 0);
	}
	*ret_count = n;
	return r == R_STORE_NOT_FOUND ? R_OK : r;
}

enum reason store_retire(struct store *s, int64_t rollout, const uint8_t node[SHA256_LEN])
{
	/*
	 * What is brought is no longer retired; all else of its components that is
	 * in force is. What is staged may be newer still.
	 */
	static const char *const step[] = {
		"DELETE FROM node_retired WHERE node = ?2"
		" AND variant IN (SELECT variant FROM rollout_variant WHERE rollout = ?1)",
		"INSERT OR REPLACE INTO node_retired (node, variant, rollout) SELECT ?2, v.id, ?1 FROM variant v"
		" WHERE v.component IN (SELECT b.component FROM rollout_variant r JOIN variant b ON b.id = r.variant"
		"  WHERE r.rollout = ?1)"
		" AND v.id NOT IN (SELECT variant FROM rollout_variant WHERE rollout = ?1) AND v.state IN (?3, ?4)",
	};

	for (size_t i = 0; i < ARRAY_LEN(step); i++) {
		_statement_ st = NULL;

		TRY(db_get(s, step[i], &st));
		db_int(st, 1, rollout);
		db_bytes(st, 2, bytes_of(node, SHA256_LEN));
		if (i > 0) {
			db_int(st, 3, VARIANT_ACTIVE);
			db_int(st, 4, VARIANT_RETIRING);
		}
		TRY(db_run(s, st));
	}
	return R_OK;
}

enum reason store_progress_forget(struct store *s, int64_t rollout, const uint8_t node[SHA256_LEN])
{
	static const char *const step[] = {
		"DELETE FROM rollout_node WHERE rollout = ? AND node = ?",
		"DELETE FROM node_retired WHERE rollout = ? AND node = ?",
	};

	for (size_t i = 0; i < ARRAY_LEN(step); i++) {
		_statement_ st = NULL;

		TRY(db_get(s, step[i], &st));
		db_int(st, 1, rollout);
		db_bytes(st, 2, bytes_of(node, SHA256_LEN));
		TRY(db_run(s, st));
	}
	return R_OK;
}
