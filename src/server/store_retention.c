/* SPDX-License-Identifier: Apache-2.0 */
/* How much is kept of what a node sends, above all when nobody approved it. */
#include "server/store_internal.h"

enum reason store_pending_stale(struct store *s, int64_t since, uint8_t ret_id[SHA256_LEN])
{
	_statement_ st = NULL;

	TRY(db_get(s, "SELECT id FROM node WHERE state = ? AND seen < ? LIMIT 1", &st));
	db_int(st, 1, NODE_PENDING);
	db_int(st, 2, since);
	TRY(db_row(s, st));
	return db_col_fixed(st, 0, ret_id, SHA256_LEN);
}

static enum reason pending(struct store *s, const uint8_t id[SHA256_LEN])
{
	_statement_ st = NULL;

	TRY(db_get(s, "SELECT 1 FROM node WHERE id = ? AND state = ?", &st));
	db_bytes(st, 1, bytes_of(id, SHA256_LEN));
	db_int(st, 2, NODE_PENDING);
	return db_row(s, st);
}

enum reason store_pending_forget(struct store *s, const uint8_t id[SHA256_LEN])
{
	/* In the order of what refers to what. */
	static const char *const gone[] = {
		"DELETE FROM evidence WHERE digest IN (SELECT evidence FROM attestation WHERE node = ?)",
		"DELETE FROM attestation WHERE node = ?",
		"DELETE FROM node_ek WHERE node = ?",
		"DELETE FROM node WHERE id = ?",
	};

	TRY(pending(s, id));
	for (size_t i = 0; i < ARRAY_LEN(gone); i++) {
		_statement_ st = NULL;

		TRY(db_get(s, gone[i], &st));
		db_bytes(st, 1, bytes_of(id, SHA256_LEN));
		TRY(db_run(s, st));
	}
	return R_OK;
}

static enum reason nth_newest(struct store *s, const uint8_t id[SHA256_LEN], unsigned n, int64_t *ret)
{
	_statement_ st = NULL;

	TRY(db_get(s, "SELECT number FROM attestation WHERE node = ? ORDER BY number DESC LIMIT 1 OFFSET ?",
		   &st));
	db_bytes(st, 1, bytes_of(id, SHA256_LEN));
	db_int(st, 2, n);
	TRY(db_row(s, st));
	*ret = sqlite3_column_int64(st, 0);
	return R_OK;
}

enum reason store_evidence_trim(struct store *s, const uint8_t id[SHA256_LEN], unsigned keep)
{
	/* Called for each new one, so one at a time is enough. */
	static const char *const gone[] = {
		"DELETE FROM evidence WHERE digest = (SELECT evidence FROM attestation WHERE number = ?)",
		"UPDATE attestation SET explanation = x'' WHERE number = ?",
	};
	int64_t number;
	enum reason r = nth_newest(s, id, keep, &number);

	if (r != R_OK)
		return r == R_STORE_NOT_FOUND ? R_OK : r;
	for (size_t i = 0; i < ARRAY_LEN(gone); i++) {
		_statement_ st = NULL;

		TRY(db_get(s, gone[i], &st));
		db_int(st, 1, number);
		TRY(db_run(s, st));
	}
	return R_OK;
}

enum reason store_pending_trim(struct store *s, const uint8_t id[SHA256_LEN], unsigned keep, int64_t since)
{
	_statement_ st = NULL;
	int64_t number;

	TRY(pending(s, id));
	enum reason r = nth_newest(s, id, keep, &number);
	if (r != R_OK)
		return r == R_STORE_NOT_FOUND ? R_OK : r;
	TRY(db_get(s, "DELETE FROM attestation WHERE node = ? AND number <= ? AND time < ?", &st));
	db_bytes(st, 1, bytes_of(id, SHA256_LEN));
	db_int(st, 2, number);
	db_int(st, 3, since);
	return db_run(s, st);
}
