/* SPDX-License-Identifier: Apache-2.0 */
/* Groups of nodes. A group is made before anything names it: a slip of the pen makes none. */
#include <stdio.h>

#include "server/store_internal.h"

enum reason store_group_add(struct store *s, const char *name, int64_t now)
{
	_statement_ st = NULL;

	TRY(db_get(s, "INSERT INTO node_group (name, created) VALUES (?,?)", &st));
	db_text(st, 1, name);
	db_int(st, 2, now);
	return db_run(s, st);
}

enum reason store_group_known(struct store *s, const char *name)
{
	_statement_ st = NULL;

	if (name[0] == '\0')
		return R_OK;
	TRY(db_get(s, "SELECT 1 FROM node_group WHERE name = ?", &st));
	db_text(st, 1, name);
	enum reason r = db_row(s, st);
	return r == R_STORE_NOT_FOUND ? R_GROUP_UNKNOWN : r;
}

static enum reason in_use(struct store *s, const char *name)
{
	_statement_ st = NULL;

	TRY(db_get(s, "SELECT EXISTS (SELECT 1 FROM node WHERE grp = ?1)"
		      " OR EXISTS (SELECT 1 FROM listed_ek WHERE grp = ?1)"
		      " OR EXISTS (SELECT 1 FROM rule WHERE grp = ?1)"
		      " OR EXISTS (SELECT 1 FROM rollout WHERE grp = ?1 AND state IN (?2, ?3))", &st));
	db_text(st, 1, name);
	db_int(st, 2, ROLLOUT_RUNNING);
	db_int(st, 3, ROLLOUT_PAUSED);
	TRY(db_row(s, st));
	return sqlite3_column_int(st, 0) ? R_GROUP_USED : R_OK;
}

enum reason store_group_remove(struct store *s, const char *name)
{
	char target[TARGET_MAX];

	if (name[0] == '\0')
		return R_GROUP_UNKNOWN;
	TRY(store_group_known(s, name));
	TRY(in_use(s, name));
	snprintf(target, sizeof(target), TARGET_GROUP "%s", name);
	/* A group of the same name that is made later begins with nothing. */
	static const char *const gone[] = {
		"DELETE FROM selected WHERE target = ?1",
		"DELETE FROM node_group WHERE name = ?2",
		"UPDATE rollout SET grp = '' WHERE grp = ?2",
	};
	for (size_t i = 0; i < ARRAY_LEN(gone); i++) {
		_statement_ st = NULL;

		TRY(db_get(s, gone[i], &st));
		db_text(st, 1, target);
		db_text(st, 2, name);
		TRY(db_run(s, st));
	}
	return store_policy_add(s, name, BYTES_NONE);
}

enum reason store_group_each(struct store *s, enum reason (*f)(void *ctx, const struct node_group *g), void *ctx)
{
	_statement_ st = NULL;
	enum reason r;

	TRY(db_get(s, "SELECT g.name, g.created, (SELECT count(*) FROM node WHERE grp = g.name AND grp <> ''),"
		      " (SELECT count(*) FROM listed_ek WHERE grp = g.name),"
		      " (SELECT count(*) FROM rule WHERE grp = g.name) FROM node_group AS g ORDER BY g.name", &st));
	while ((r = db_row(s, st)) == R_OK) {
		struct node_group g;

		db_col_text(st, 0, g.name, sizeof(g.name));
		g.created = sqlite3_column_int64(st, 1);
		g.nodes = (uint64_t)sqlite3_column_int64(st, 2);
		g.listed = (uint64_t)sqlite3_column_int64(st, 3);
		g.rules = (uint64_t)sqlite3_column_int64(st, 4);
		TRY(f(ctx, &g));
	}
	return r == R_STORE_NOT_FOUND ? R_OK : r;
}
