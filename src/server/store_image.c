/* SPDX-License-Identifier: Apache-2.0 */
/* Signed manifests, and which one a node gets. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "server/store_internal.h"

#define MANIFEST_COLUMNS "digest, line, version, purpose, security_version, added, kernel, initrd"

static enum reason manifest_of(sqlite3_stmt *st, struct stored_manifest *ret)
{
	memset(ret, 0, sizeof(*ret));
	TRY(db_col_fixed(st, 0, ret->digest, SHA256_LEN));
	db_col_text(st, 1, ret->line, sizeof(ret->line));
	db_col_text(st, 2, ret->version, sizeof(ret->version));
	int purpose = sqlite3_column_int(st, 3);
	if (purpose < 0 || purpose >= PURPOSE_MAX)
		return R_STORE_IO;
	ret->purpose = (enum purpose)purpose;
	ret->security_version = (uint32_t)sqlite3_column_int64(st, 4);
	ret->added = sqlite3_column_int64(st, 5);
	TRY(db_col_fixed(st, 6, ret->kernel, SHA256_LEN));
	return db_col_fixed(st, 7, ret->initrd, SHA256_LEN);
}

enum reason store_manifest_add(struct store *s, const struct stored_manifest *m, struct bytes body)
{
	_statement_ st = NULL;

	TRY(db_get(s, "INSERT INTO manifest (" MANIFEST_COLUMNS ", body) VALUES (?,?,?,?,?,?,?,?,?)", &st));
	db_bytes(st, 1, BYTES(m->digest));
	db_text(st, 2, m->line);
	db_text(st, 3, m->version);
	db_int(st, 4, m->purpose);
	db_int(st, 5, m->security_version);
	db_int(st, 6, m->added);
	db_bytes(st, 7, BYTES(m->kernel));
	db_bytes(st, 8, BYTES(m->initrd));
	db_bytes(st, 9, body);
	return db_run(s, st);
}

enum reason store_manifest_body(struct store *s, const uint8_t digest[SHA256_LEN], struct blob *ret)
{
	_statement_ st = NULL;

	TRY(db_get(s, "SELECT body FROM manifest WHERE digest = ?", &st));
	db_bytes(st, 1, bytes_of(digest, SHA256_LEN));
	TRY(db_row(s, st));
	return db_col_blob(st, 0, ret);
}

enum reason store_manifest_get(struct store *s, const uint8_t digest[SHA256_LEN],
			       struct stored_manifest *ret)
{
	_statement_ st = NULL;

	TRY(db_get(s, "SELECT " MANIFEST_COLUMNS " FROM manifest WHERE digest = ?", &st));
	db_bytes(st, 1, bytes_of(digest, SHA256_LEN));
	TRY(db_row(s, st));
	return manifest_of(st, ret);
}

enum reason store_manifest_find(struct store *s, const char *name, struct stored_manifest *ret)
{
	_statement_ st = NULL;

	TRY(db_get(s, "SELECT " MANIFEST_COLUMNS " FROM manifest WHERE line || ':' || version = ?1"
		      " OR (length(?1) >= 8 AND substr(lower(hex(digest)), 1, length(?1)) = lower(?1))"
		      " LIMIT 2", &st));
	db_text(st, 1, name);
	TRY(db_row(s, st));
	TRY(manifest_of(st, ret));
	enum reason r = db_row(s, st);
	if (r == R_OK)
		return R_STORE_AMBIGUOUS;
	return r == R_STORE_NOT_FOUND ? R_OK : r;
}

enum reason store_manifest_each(struct store *s,
				enum reason (*f)(void *ctx, const struct stored_manifest *m), void *ctx)
{
	_statement_ st = NULL;
	enum reason r;

	TRY(db_get(s, "SELECT " MANIFEST_COLUMNS " FROM manifest ORDER BY added, digest", &st));
	while ((r = db_row(s, st)) == R_OK) {
		struct stored_manifest m;

		TRY(manifest_of(st, &m));
		TRY(f(ctx, &m));
	}
	return r == R_STORE_NOT_FOUND ? R_OK : r;
}

enum reason store_select(struct store *s, const char *target, enum purpose p,
			 const uint8_t digest[SHA256_LEN])
{
	_statement_ st = NULL;

	TRY(db_get(s, "INSERT INTO selected (target, purpose, digest) VALUES (?,?,?)"
		      " ON CONFLICT (target, purpose) DO UPDATE SET digest = excluded.digest", &st));
	db_text(st, 1, target);
	db_int(st, 2, p);
	db_bytes(st, 3, bytes_of(digest, SHA256_LEN));
	return db_run(s, st);
}

enum reason store_unselect(struct store *s, const char *target, enum purpose p,
			   const uint8_t digest[SHA256_LEN])
{
	_statement_ st = NULL;

	TRY(db_get(s, "DELETE FROM selected WHERE target = ? AND purpose = ? AND digest = ?", &st));
	db_text(st, 1, target);
	db_int(st, 2, p);
	db_bytes(st, 3, bytes_of(digest, SHA256_LEN));
	TRY(db_run(s, st));
	return sqlite3_changes(s->db) == 1 ? R_OK : R_STORE_NOT_FOUND;
}

enum reason store_selected(struct store *s, const struct node *n, enum purpose p, uint8_t ret[SHA256_LEN],
			   char ret_target[TARGET_MAX])
{
	char own[2 * SHA256_LEN + 1], group[TARGET_MAX];
	_statement_ st = NULL;

	hex_encode(BYTES(n->id), own);
	/* A node without a group has none that could be chosen for: no name is empty. */
	snprintf(group, sizeof(group), TARGET_GROUP "%s", n->group);
	TRY(db_get(s, "SELECT digest, target FROM selected WHERE purpose = ?1 AND target IN (?2, ?3, ?4)"
		      " ORDER BY CASE target WHEN ?2 THEN 0 WHEN ?3 THEN 1 ELSE 2 END LIMIT 1", &st));
	db_int(st, 1, p);
	db_text(st, 2, own);
	db_text(st, 3, group);
	db_text(st, 4, TARGET_ALL);
	TRY(db_row(s, st));
	if (ret_target)
		db_col_text(st, 1, ret_target, TARGET_MAX);
	return db_col_fixed(st, 0, ret, SHA256_LEN);
}

enum reason store_selected_each(struct store *s, const uint8_t digest[SHA256_LEN],
				enum reason (*f)(void *ctx, const char *target), void *ctx)
{
	_statement_ st = NULL;
	enum reason r;

	TRY(db_get(s, "SELECT target FROM selected WHERE digest = ? ORDER BY target", &st));
	db_bytes(st, 1, bytes_of(digest, SHA256_LEN));
	while ((r = db_row(s, st)) == R_OK) {
		char target[TARGET_MAX];

		db_col_text(st, 0, target, sizeof(target));
		TRY(f(ctx, target));
	}
	return r == R_STORE_NOT_FOUND ? R_OK : r;
}
