/* SPDX-License-Identifier: Apache-2.0 */
/* What is stored for nodes that nobody approved, and how it goes away. */
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

enum reason store_pending_trim(struct store *s, const uint8_t id[SHA256_LEN], unsigned keep, int64_t since)
{
	_statement_ find = NULL;
	_statement_ evidence = NULL;
	_statement_ explanation = NULL;
	_statement_ old = NULL;

	TRY(pending(s, id));
	TRY(db_get(s, "SELECT number FROM attestation WHERE node = ? ORDER BY number DESC LIMIT 1 OFFSET ?",
		   &find));
	db_bytes(find, 1, bytes_of(id, SHA256_LEN));
	db_int(find, 2, keep);
	enum reason r = db_row(s, find);
	if (r != R_OK)
		return r == R_STORE_NOT_FOUND ? R_OK : r;
	int64_t number = sqlite3_column_int64(find, 0);

	TRY(db_get(s, "DELETE FROM evidence WHERE digest = (SELECT evidence FROM attestation WHERE number = ?)",
		   &evidence));
	db_int(evidence, 1, number);
	TRY(db_run(s, evidence));
	TRY(db_get(s, "UPDATE attestation SET explanation = x'' WHERE number = ?", &explanation));
	db_int(explanation, 1, number);
	TRY(db_run(s, explanation));
	TRY(db_get(s, "DELETE FROM attestation WHERE node = ? AND number <= ? AND time < ?", &old));
	db_bytes(old, 1, bytes_of(id, SHA256_LEN));
	db_int(old, 2, number);
	db_int(old, 3, since);
	return db_run(s, old);
}
