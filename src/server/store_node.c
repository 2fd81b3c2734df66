/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes and their endorsement keys. */
#include <string.h>

#include "server/store_internal.h"

#define NODE_COLUMNS                                                              \
	"id, ak_name, ak_public, state, label, basis, peer, created, approved, "  \
	"seen, implemented, clock_known, clock, reset_count, restart_count, "     \
	"firmware, ask_enrol, last_directive, last_reason, verdicts, audit_until, unlisted, grp, board, "     \
	"ek_set, ek_offers, rule"

const char *node_state_name(enum node_state s)
{
	static const char *const name[NODE_STATE_MAX] = { "pending", "enrolled", "revoked", "retired" };

	return s < NODE_STATE_MAX ? name[s] : "?";
}

static enum reason node_of(sqlite3_stmt *st, struct node *ret)
{
	memset(ret, 0, sizeof(*ret));
	TRY(db_col_fixed(st, 0, ret->id, sizeof(ret->id)));
	TRY(db_col_fixed(st, 1, ret->ak_name, sizeof(ret->ak_name)));
	TRY(db_col_bounded(st, 2, ret->ak_public, sizeof(ret->ak_public), &ret->ak_public_len));
	int state = sqlite3_column_int(st, 3);
	if (state < 0 || state >= NODE_STATE_MAX)
		return R_STORE_IO;
	ret->state = (enum node_state)state;
	db_col_text(st, 4, ret->label, sizeof(ret->label));
	db_col_text(st, 5, ret->basis, sizeof(ret->basis));
	db_col_text(st, 6, ret->peer, sizeof(ret->peer));
	ret->created = sqlite3_column_int64(st, 7);
	ret->approved = sqlite3_column_int64(st, 8);
	ret->seen = sqlite3_column_int64(st, 9);
	TRY(db_col_selection(st, 10, &ret->implemented));
	ret->clock.known = sqlite3_column_int(st, 11) != 0;
	ret->clock.clock = (uint64_t)sqlite3_column_int64(st, 12);
	ret->clock.reset_count = (uint32_t)sqlite3_column_int64(st, 13);
	ret->clock.restart_count = (uint32_t)sqlite3_column_int64(st, 14);
	ret->clock.firmware_version = (uint64_t)sqlite3_column_int64(st, 15);
	ret->ask_enrol = sqlite3_column_int(st, 16) != 0;
	int directive = sqlite3_column_int(st, 17);
	if (directive < 0 || directive > DIRECTIVE_MAX)
		return R_STORE_IO;
	ret->last_directive = (enum directive)directive;
	db_col_text(st, 18, ret->last_reason, sizeof(ret->last_reason));
	ret->verdicts = (uint64_t)sqlite3_column_int64(st, 19);
	ret->audit_until = sqlite3_column_int64(st, 20);
	ret->unlisted = (uint64_t)sqlite3_column_int64(st, 21);
	db_col_text(st, 22, ret->group, sizeof(ret->group));
	db_col_text(st, 23, ret->board, sizeof(ret->board));
	ret->ek_offers = (uint32_t)sqlite3_column_int64(st, 25);
	db_col_text(st, 26, ret->rule, sizeof(ret->rule));
	return db_col_fixed(st, 24, ret->ek_set, sizeof(ret->ek_set));
}

static enum reason node_bind(sqlite3_stmt *st, const struct node *n, struct blob *keep)
{
	db_bytes(st, 1, BYTES(n->id));
	db_bytes(st, 2, BYTES(n->ak_name));
	db_bytes(st, 3, bytes_of(n->ak_public, n->ak_public_len));
	db_int(st, 4, n->state);
	db_text(st, 5, n->label);
	db_text(st, 6, n->basis);
	db_text(st, 7, n->peer);
	db_int(st, 8, n->created);
	db_int(st, 9, n->approved);
	db_int(st, 10, n->seen);
	TRY(db_selection(st, 11, &n->implemented, keep));
	db_int(st, 12, n->clock.known);
	db_int(st, 13, (int64_t)n->clock.clock);
	db_int(st, 14, n->clock.reset_count);
	db_int(st, 15, n->clock.restart_count);
	db_int(st, 16, (int64_t)n->clock.firmware_version);
	db_int(st, 17, n->ask_enrol);
	db_int(st, 18, n->last_directive);
	db_text(st, 19, n->last_reason);
	db_int(st, 20, (int64_t)n->verdicts);
	db_int(st, 21, n->audit_until);
	db_int(st, 22, (int64_t)n->unlisted);
	db_text(st, 23, n->group);
	db_text(st, 24, n->board);
	db_bytes(st, 25, BYTES(n->ek_set));
	db_int(st, 26, n->ek_offers);
	db_text(st, 27, n->rule);
	return R_OK;
}

enum reason store_node_by_ak(struct store *s, const uint8_t ak_name[AK_NAME_LEN], struct node *ret)
{
	_statement_ st = NULL;

	TRY(db_get(s, "SELECT " NODE_COLUMNS " FROM node WHERE ak_name = ?", &st));
	db_bytes(st, 1, bytes_of(ak_name, AK_NAME_LEN));
	TRY(db_row(s, st));
	return node_of(st, ret);
}

enum reason store_node_by_ek(struct store *s, struct bytes ek_name, struct node *ret)
{
	_statement_ st = NULL;

	TRY(db_get(s, "SELECT " NODE_COLUMNS " FROM node WHERE id ="
		      " (SELECT node FROM node_ek WHERE name = ?)", &st));
	db_bytes(st, 1, ek_name);
	TRY(db_row(s, st));
	return node_of(st, ret);
}

/* Exactly one row, or the reason why not. */
static enum reason only_node(struct store *s, sqlite3_stmt *st, struct node *ret)
{
	TRY(db_row(s, st));
	TRY(node_of(st, ret));
	enum reason r = db_row(s, st);
	if (r == R_OK)
		return R_STORE_AMBIGUOUS;
	return r == R_STORE_NOT_FOUND ? R_OK : r;
}

enum reason store_node_find(struct store *s, const char *name, struct node *ret)
{
	_statement_ by_label = NULL;

	if (name[0] == '\0')
		return R_STORE_NOT_FOUND;
	TRY(db_get(s, "SELECT " NODE_COLUMNS " FROM node WHERE label = ? AND label <> '' AND state <> ? LIMIT 2",
		   &by_label));
	db_text(by_label, 1, name);
	db_int(by_label, 2, NODE_RETIRED);
	enum reason r = only_node(s, by_label, ret);
	if (r != R_STORE_NOT_FOUND)
		return r;
	/* A shorter prefix than 8 would fit by accident in a large fleet. */
	if (strlen(name) < 8)
		return R_STORE_NOT_FOUND;

	_statement_ by_id = NULL;
	TRY(db_get(s, "SELECT " NODE_COLUMNS " FROM node"
		      " WHERE substr(lower(hex(id)), 1, length(?1)) = lower(?1) LIMIT 2", &by_id));
	db_text(by_id, 1, name);
	return only_node(s, by_id, ret);
}

enum reason store_node_add(struct store *s, const struct node *n)
{
	_cleanup_(blob_free) struct blob keep = BLOB(256);
	_statement_ st = NULL;

	TRY(db_get(s, "INSERT INTO node (" NODE_COLUMNS ")"
		      " VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16,?17,?18,?19,?20,"
		      "?21,?22,?23,?24,?25,?26,?27)",
		   &st));
	TRY(node_bind(st, n, &keep));
	return db_run(s, st);
}

/* The first is what an attestation changes, the second the rest. */
#define SET_ATTESTED                                                               \
	"seen=?10, implemented=?11, clock_known=?12, clock=?13, reset_count=?14, " \
	"restart_count=?15, firmware=?16, ask_enrol=?17, last_directive=?18, "     \
	"last_reason=?19, verdicts=?20, audit_until=?21, unlisted=?22, ek_set=?25, ek_offers=?26"
#define SET_REST                                                                   \
	"ak_name=?2, ak_public=?3, state=?4, label=?5, basis=?6, peer=?7, "        \
	"created=?8, approved=?9, grp=?23, board=?24, rule=?27"

static enum reason update(struct store *s, sqlite3_stmt *st, const struct node *n)
{
	_cleanup_(blob_free) struct blob keep = BLOB(256);

	TRY(node_bind(st, n, &keep));
	TRY(db_run(s, st));
	return sqlite3_changes(s->db) == 1 ? R_OK : R_STORE_NOT_FOUND;
}

enum reason store_node_update(struct store *s, const struct node *n)
{
	_statement_ st = NULL;

	TRY(db_get(s, "UPDATE node SET " SET_REST ", " SET_ATTESTED " WHERE id=?1", &st));
	return update(s, st, n);
}

enum reason store_node_attested(struct store *s, const struct node *n)
{
	_statement_ st = NULL;

	TRY(db_get(s, "UPDATE node SET " SET_ATTESTED " WHERE id=?1", &st));
	return update(s, st, n);
}

enum reason store_node_marked(struct store *s, const char *rule, const uint8_t *after, struct node *ret)
{
	_statement_ st = NULL;

	TRY(db_get(s, "SELECT " NODE_COLUMNS " FROM node WHERE rule = ? AND rule <> '' AND state = ? AND id > ?"
		      " ORDER BY id LIMIT 1", &st));
	db_text(st, 1, rule);
	db_int(st, 2, NODE_PENDING);
	db_bytes(st, 3, bytes_of(after, after ? SHA256_LEN : 0));
	TRY(db_row(s, st));
	return node_of(st, ret);
}

enum reason store_node_count(struct store *s, enum node_state state, uint64_t *ret)
{
	_statement_ st = NULL;

	TRY(db_get(s, "SELECT count(*) FROM node WHERE state = ?", &st));
	db_int(st, 1, state);
	TRY(db_row(s, st));
	*ret = (uint64_t)sqlite3_column_int64(st, 0);
	return R_OK;
}

enum reason store_node_each(struct store *s, const uint8_t *after, unsigned limit,
			    enum reason (*f)(void *ctx, const struct node *n), void *ctx)
{
	_statement_ st = NULL;
	enum reason r;

	TRY(db_get(s, "SELECT " NODE_COLUMNS " FROM node WHERE id > ? ORDER BY id LIMIT ?", &st));
	db_bytes(st, 1, bytes_of(after, after ? SHA256_LEN : 0));
	db_int(st, 2, limit);
	while ((r = db_row(s, st)) == R_OK) {
		struct node n;

		TRY(node_of(st, &n));
		TRY(f(ctx, &n));
	}
	return r == R_STORE_NOT_FOUND ? R_OK : r;
}

enum reason store_node_labelled(struct store *s, const char *label, const uint8_t but_id[SHA256_LEN],
				uint8_t ret_id[SHA256_LEN])
{
	_statement_ st = NULL;

	TRY(db_get(s, "SELECT id FROM node WHERE label = ? AND label <> '' AND id <> ? AND state <> ? LIMIT 1", &st));
	db_text(st, 1, label);
	db_bytes(st, 2, bytes_of(but_id, SHA256_LEN));
	db_int(st, 3, NODE_RETIRED);
	TRY(db_row(s, st));
	return db_col_fixed(st, 0, ret_id, SHA256_LEN);
}

enum reason store_node_on_board(struct store *s, const char *board, const uint8_t but_id[SHA256_LEN],
				uint8_t ret_id[SHA256_LEN])
{
	_statement_ st = NULL;

	TRY(db_get(s, "SELECT id FROM node WHERE board = ? AND board <> '' AND id <> ?"
		      " AND state NOT IN (?, ?) LIMIT 2", &st));
	db_text(st, 1, board);
	db_bytes(st, 2, bytes_of(but_id, SHA256_LEN));
	db_int(st, 3, NODE_RETIRED);
	db_int(st, 4, NODE_PENDING);
	TRY(db_row(s, st));
	TRY(db_col_fixed(st, 0, ret_id, SHA256_LEN));
	/* A number that two have already is a vendor's filler. */
	enum reason r = db_row(s, st);
	if (r == R_OK)
		return R_STORE_NOT_FOUND;
	return r == R_STORE_NOT_FOUND ? R_OK : r;
}

enum reason store_node_board(struct store *s, const struct node *n)
{
	_statement_ st = NULL;

	TRY(db_get(s, "UPDATE node SET board = ? WHERE id = ?", &st));
	db_text(st, 1, n->board);
	db_bytes(st, 2, BYTES(n->id));
	return db_run(s, st);
}

enum reason store_node_ek_add(struct store *s, const uint8_t node_id[SHA256_LEN], const struct node_ek *ek)
{
	_statement_ st = NULL;

	TRY(db_get(s, "INSERT INTO node_ek (name, node, certificate, spki) VALUES (?,?,?,?)", &st));
	db_bytes(st, 1, bytes_of(ek->name, ek->name_len));
	db_bytes(st, 2, bytes_of(node_id, SHA256_LEN));
	if (ek->has_certificate)
		db_bytes(st, 3, BYTES(ek->certificate_digest));
	else
		db_null(st, 3);
	db_bytes(st, 4, BYTES(ek->spki_digest));
	return db_run(s, st);
}

static enum reason ek_of(sqlite3_stmt *st, struct node_ek *ret)
{
	memset(ret, 0, sizeof(*ret));
	TRY(db_col_bounded(st, 0, ret->name, sizeof(ret->name), &ret->name_len));
	ret->has_certificate = sqlite3_column_type(st, 1) != SQLITE_NULL;
	if (ret->has_certificate)
		TRY(db_col_fixed(st, 1, ret->certificate_digest, SHA256_LEN));
	return db_col_fixed(st, 2, ret->spki_digest, SHA256_LEN);
}

enum reason store_node_ek(struct store *s, struct bytes name, struct node_ek *ret)
{
	_statement_ st = NULL;

	TRY(db_get(s, "SELECT name, certificate, spki FROM node_ek WHERE name = ?", &st));
	db_bytes(st, 1, name);
	TRY(db_row(s, st));
	return ek_of(st, ret);
}

enum reason store_node_ek_each(struct store *s, const uint8_t node_id[SHA256_LEN],
			       enum reason (*f)(void *ctx, const struct node_ek *ek), void *ctx)
{
	_statement_ st = NULL;
	enum reason r;

	TRY(db_get(s, "SELECT name, certificate, spki FROM node_ek WHERE node = ? ORDER BY name", &st));
	db_bytes(st, 1, bytes_of(node_id, SHA256_LEN));
	while ((r = db_row(s, st)) == R_OK) {
		struct node_ek ek;

		TRY(ek_of(st, &ek));
		TRY(f(ctx, &ek));
	}
	return r == R_STORE_NOT_FOUND ? R_OK : r;
}
