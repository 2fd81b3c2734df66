/* SPDX-License-Identifier: Apache-2.0 */
/* Rules for new nodes. */
#include <string.h>

#include "server/store_internal.h"

/* A network in the column: its address, then the length of its prefix. */
#define NETWORK_LEN 17u

enum reason store_rule_add(struct store *s, const struct rule *r, const uint8_t origin[SHA256_LEN], int64_t now)
{
	uint8_t networks[RULE_NETWORKS_MAX * NETWORK_LEN];
	_statement_ st = NULL;

	if (r->network_count > RULE_NETWORKS_MAX)
		return R_FORMAT_RANGE;
	for (size_t i = 0; i < r->network_count; i++) {
		memcpy(networks + i * NETWORK_LEN, r->network[i].address, sizeof(r->network[i].address));
		networks[i * NETWORK_LEN + NETWORK_LEN - 1] = r->network[i].bits;
	}
	TRY(db_get(s, "INSERT INTO rule (name, origin, anchor, manufacturer, model, grp, enrols, expires, most,"
		      " networks, used, latest) VALUES (?,?,?,?,?,?,?,?,?,?,0,?)", &st));
	db_text(st, 1, r->name);
	db_bytes(st, 2, bytes_of(origin, SHA256_LEN));
	db_bytes(st, 3, BYTES(r->anchor));
	db_text(st, 4, r->manufacturer);
	db_text(st, 5, r->model);
	db_text(st, 6, r->group);
	db_int(st, 7, r->enrols);
	db_int(st, 8, r->expires);
	db_int(st, 9, (int64_t)r->most);
	db_bytes(st, 10, bytes_of(networks, (size_t)r->network_count * NETWORK_LEN));
	db_int(st, 11, now);
	return db_run(s, st);
}

#define RULE_COLUMNS                                                                            \
	"name, anchor, manufacturer, model, grp, enrols, expires, most, networks, used, latest," \
	" (SELECT count(*) FROM node WHERE node.rule = rule.name AND node.rule <> '' AND node.state = 0)"

static enum reason rule_of(sqlite3_stmt *st, struct rule *ret)
{
	uint8_t networks[RULE_NETWORKS_MAX * NETWORK_LEN];
	uint32_t n;

	memset(ret, 0, sizeof(*ret));
	db_col_text(st, 0, ret->name, sizeof(ret->name));
	TRY(db_col_fixed(st, 1, ret->anchor, sizeof(ret->anchor)));
	db_col_text(st, 2, ret->manufacturer, sizeof(ret->manufacturer));
	db_col_text(st, 3, ret->model, sizeof(ret->model));
	db_col_text(st, 4, ret->group, sizeof(ret->group));
	ret->enrols = sqlite3_column_int(st, 5) != 0;
	ret->expires = sqlite3_column_int64(st, 6);
	ret->most = (uint64_t)sqlite3_column_int64(st, 7);
	TRY(db_col_bounded(st, 8, networks, sizeof(networks), &n));
	ret->network_count = n / NETWORK_LEN;
	for (size_t i = 0; i < ret->network_count; i++) {
		memcpy(ret->network[i].address, networks + i * NETWORK_LEN, sizeof(ret->network[i].address));
		ret->network[i].bits = networks[i * NETWORK_LEN + NETWORK_LEN - 1];
	}
	ret->used = (uint64_t)sqlite3_column_int64(st, 9);
	ret->latest = sqlite3_column_int64(st, 10);
	ret->waiting = (uint64_t)sqlite3_column_int64(st, 11);
	return R_OK;
}

enum reason store_rule_get(struct store *s, const char *name, struct rule *ret)
{
	_statement_ st = NULL;

	TRY(db_get(s, "SELECT " RULE_COLUMNS " FROM rule WHERE name = ?", &st));
	db_text(st, 1, name);
	enum reason r = db_row(s, st);
	if (r != R_OK)
		return r == R_STORE_NOT_FOUND ? R_RULE_UNKNOWN : r;
	return rule_of(st, ret);
}

enum reason store_rule_each(struct store *s, const uint8_t *origin,
			    enum reason (*f)(void *ctx, const struct rule *r), void *ctx)
{
	_statement_ st = NULL;
	enum reason r;

	TRY(db_get(s, "SELECT " RULE_COLUMNS " FROM rule WHERE ?1 IS NULL OR origin = ?1"
		      " ORDER BY enrols DESC, name", &st));
	if (origin)
		db_bytes(st, 1, bytes_of(origin, SHA256_LEN));
	while ((r = db_row(s, st)) == R_OK) {
		struct rule rule;

		TRY(rule_of(st, &rule));
		TRY(f(ctx, &rule));
	}
	return r == R_STORE_NOT_FOUND ? R_OK : r;
}

enum reason store_rule_remove(struct store *s, const char *name)
{
	_statement_ marks = NULL;
	_statement_ st = NULL;

	TRY(db_get(s, "DELETE FROM rule WHERE name = ?", &st));
	db_text(st, 1, name);
	TRY(db_run(s, st));
	if (sqlite3_changes(s->db) != 1)
		return R_RULE_UNKNOWN;
	TRY(db_get(s, "UPDATE node SET rule = '', basis = '' WHERE rule = ? AND rule <> '' AND state = ?", &marks));
	db_text(marks, 1, name);
	db_int(marks, 2, NODE_PENDING);
	return db_run(s, marks);
}

enum reason store_rule_use(struct store *s, const char *name, int64_t now)
{
	_statement_ st = NULL;

	TRY(db_get(s, "UPDATE rule SET used = used + 1, latest = max(latest, ?2) WHERE name = ?1 AND used < most",
		   &st));
	db_text(st, 1, name);
	db_int(st, 2, now);
	TRY(db_run(s, st));
	return sqlite3_changes(s->db) == 1 ? R_OK : R_RULE_EXHAUSTED;
}

#define BEHIND "enrols AND latest < ?1 AND latest < expires"

enum reason store_rule_behind(struct store *s, int64_t now, bool *ret)
{
	_statement_ st = NULL;

	TRY(db_get(s, "SELECT EXISTS (SELECT 1 FROM rule WHERE " BEHIND ")", &st));
	db_int(st, 1, now);
	TRY(db_row(s, st));
	*ret = sqlite3_column_int(st, 0) != 0;
	return R_OK;
}

enum reason store_rule_seen(struct store *s, int64_t now)
{
	_statement_ st = NULL;

	TRY(db_get(s, "UPDATE rule SET latest = ?1 WHERE " BEHIND, &st));
	db_int(st, 1, now);
	return db_run(s, st);
}
