/* SPDX-License-Identifier: Apache-2.0 */
/* Endorsement keys that a list announced. */
#include <string.h>

#include "server/store_internal.h"

#define LISTED_COLUMNS "certificate, spki, name, label, list, grp, line"

static enum reason listed_of(sqlite3_stmt *st, struct listed_ek *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->has_certificate = sqlite3_column_type(st, 0) != SQLITE_NULL;
	if (ret->has_certificate)
		TRY(db_col_fixed(st, 0, ret->certificate_digest, SHA256_LEN));
	ret->has_spki = sqlite3_column_type(st, 1) != SQLITE_NULL;
	if (ret->has_spki)
		TRY(db_col_fixed(st, 1, ret->spki_digest, SHA256_LEN));
	TRY(db_col_bounded(st, 2, ret->name, sizeof(ret->name), &ret->name_len));
	db_col_text(st, 3, ret->label, sizeof(ret->label));
	db_col_text(st, 4, ret->list, sizeof(ret->list));
	db_col_text(st, 5, ret->group, sizeof(ret->group));
	ret->line = (uint32_t)sqlite3_column_int64(st, 6);
	return R_OK;
}

/* The three keys; what is not there stays NULL, which equals nothing. */
static void keys_bind(sqlite3_stmt *st, const struct listed_ek *e)
{
	if (e->has_certificate)
		db_bytes(st, 1, BYTES(e->certificate_digest));
	if (e->has_spki)
		db_bytes(st, 2, BYTES(e->spki_digest));
	if (e->name_len > 0)
		db_bytes(st, 3, bytes_of(e->name, e->name_len));
}

enum reason store_listed_add(struct store *s, const struct listed_ek *e)
{
	_statement_ st = NULL;

	TRY(db_get(s, "INSERT INTO listed_ek (" LISTED_COLUMNS ") VALUES (?,?,?,?,?,?,?)", &st));
	keys_bind(st, e);
	db_text(st, 4, e->label);
	db_text(st, 5, e->list);
	db_text(st, 6, e->group);
	db_int(st, 7, e->line);
	return db_run(s, st);
}

enum reason store_listed_like(struct store *s, const struct listed_ek *e, struct listed_ek *ret)
{
	_statement_ st = NULL;

	TRY(db_get(s, "SELECT " LISTED_COLUMNS " FROM listed_ek"
		      " WHERE certificate = ?1 OR spki = ?2 OR name = ?3 ORDER BY id LIMIT 1", &st));
	keys_bind(st, e);
	TRY(db_row(s, st));
	return listed_of(st, ret);
}

#define OF_LIST "FROM listed_ek WHERE list = ?1 AND (length(?2) = 0 OR ?2 IN (certificate, spki, name))"

enum reason store_listed_remove(struct store *s, const char *list, struct bytes key, bool really, uint64_t *ret)
{
	_statement_ st = NULL;
	_statement_ gone = NULL;

	TRY(db_get(s, "SELECT count(*) " OF_LIST, &st));
	db_text(st, 1, list);
	db_bytes(st, 2, key);
	TRY(db_row(s, st));
	*ret = (uint64_t)sqlite3_column_int64(st, 0);
	if (*ret == 0)
		return R_STORE_NOT_FOUND;
	if (!really)
		return R_OK;
	TRY(db_get(s, "DELETE " OF_LIST, &gone));
	db_text(gone, 1, list);
	db_bytes(gone, 2, key);
	return db_run(s, gone);
}

/* Every column that the list fills must fit: a half match is none. */
enum reason store_listed_find(struct store *s, const struct node_ek *ek, struct listed_ek *ret)
{
	_statement_ st = NULL;
	struct listed_ek first, other;
	enum reason r;

	TRY(db_get(s, "SELECT " LISTED_COLUMNS " FROM listed_ek"
		      " WHERE (certificate = ?1 OR spki = ?2 OR name = ?3)"
		      " AND (certificate IS NULL OR certificate = ?1)"
		      " AND (spki IS NULL OR spki = ?2)"
		      " AND (name IS NULL OR name = ?3) ORDER BY id", &st));
	if (ek->has_certificate)
		db_bytes(st, 1, BYTES(ek->certificate_digest));
	db_bytes(st, 2, BYTES(ek->spki_digest));
	db_bytes(st, 3, bytes_of(ek->name, ek->name_len));
	TRY(db_row(s, st));
	TRY(listed_of(st, &first));
	/* One entry may name the certificate, another the key: at most three. */
	while ((r = db_row(s, st)) == R_OK) {
		TRY(listed_of(st, &other));
		if (strcmp(first.label, other.label) != 0 || strcmp(first.group, other.group) != 0)
			return R_STORE_AMBIGUOUS;
	}
	if (r != R_STORE_NOT_FOUND)
		return r;
	*ret = first;
	return R_OK;
}
