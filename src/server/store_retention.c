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
		"DELETE FROM conflict WHERE node = ?",
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

/* The n-th newest of its kind, 0 the newest. */
static enum reason nth_newest(struct store *s, const uint8_t id[SHA256_LEN], const struct retention *k,
			      unsigned n, int64_t *ret)
{
	_statement_ st = NULL;

	TRY(db_get(s, "SELECT number FROM attestation WHERE node = ? AND stage = ? AND directive = ?"
		      " ORDER BY number DESC LIMIT 1 OFFSET ?", &st));
	db_bytes(st, 1, bytes_of(id, SHA256_LEN));
	db_int(st, 2, k->stage);
	db_int(st, 3, k->directive);
	db_int(st, 4, n);
	TRY(db_row(s, st));
	*ret = sqlite3_column_int64(st, 0);
	return R_OK;
}

/* Only a gate that may boot something says how that ended. */
static bool has_receipts(const struct retention *k)
{
	return k->stage == STAGE_GATE && (k->directive == DIRECTIVE_ADMIT || k->directive == DIRECTIVE_UPDATE);
}

/*
 * 0 for none, and where it is of another kind than is trimmed. Rows without a
 * directive to boot are passed over in the index: a node that waits has many.
 */
static enum reason newest_with_receipt(struct store *s, const uint8_t id[SHA256_LEN], const struct retention *k,
				       int64_t *ret)
{
	_statement_ st = NULL;

	*ret = 0;
	if (!has_receipts(k))
		return R_OK;
	TRY(db_get(s, "SELECT a.number FROM attestation a JOIN receipt r ON r.verdict_digest = a.verdict_digest"
		      " WHERE a.node = ? AND a.stage = ? AND a.directive IN (?, ?)"
		      " ORDER BY a.number DESC LIMIT 1", &st));
	db_bytes(st, 1, bytes_of(id, SHA256_LEN));
	db_int(st, 2, STAGE_GATE);
	db_int(st, 3, DIRECTIVE_ADMIT);
	db_int(st, 4, DIRECTIVE_UPDATE);
	enum reason r = db_row(s, st);
	if (r == R_OK)
		*ret = sqlite3_column_int64(st, 0);
	return r == R_STORE_NOT_FOUND ? R_OK : r;
}

/* Among the oldest few of its kind, up to `last`, one that nobody needs any more. */
static enum reason outdated(struct store *s, const uint8_t id[SHA256_LEN], const struct retention *k,
			    int64_t last, int64_t kept, int64_t *ret)
{
	_statement_ st = NULL;

	TRY(db_get(s, "SELECT number FROM (SELECT number, time FROM attestation WHERE node = ? AND stage = ?"
		      " AND directive = ? AND number <= ? ORDER BY number LIMIT 2)"
		      " WHERE time < ? AND number <> ? LIMIT 1", &st));
	db_bytes(st, 1, bytes_of(id, SHA256_LEN));
	db_int(st, 2, k->stage);
	db_int(st, 3, k->directive);
	db_int(st, 4, last);
	db_int(st, 5, k->since);
	db_int(st, 6, kept);
	TRY(db_row(s, st));
	*ret = sqlite3_column_int64(st, 0);
	return R_OK;
}

static enum reason run_on(struct store *s, const char *const sql[], size_t count, int64_t number)
{
	for (size_t i = 0; i < count; i++) {
		_statement_ st = NULL;

		TRY(db_get(s, sql[i], &st));
		db_int(st, 1, number);
		TRY(db_run(s, st));
	}
	return R_OK;
}

/* Rows that go in one call: more than come, so that what piled up melts. */
#define OUTDATED_AT_ONCE 4u

enum reason store_attestation_trim(struct store *s, const uint8_t id[SHA256_LEN], const struct retention *k)
{
	static const char evidence[] =
		"DELETE FROM evidence WHERE digest = (SELECT evidence FROM attestation WHERE number = ?)";
	static const char *const hollow[] = {
		evidence,
		"UPDATE attestation SET explanation = x'' WHERE number = ?",
	};
	static const char *const gone[] = {
		evidence,
		"DELETE FROM receipt WHERE verdict_digest ="
		" (SELECT verdict_digest FROM attestation WHERE number = ?)",
		"DELETE FROM attestation WHERE number = ?",
	};
	int64_t last, kept, number;
	enum reason r = nth_newest(s, id, k, k->keep, &last);

	if (r != R_OK)
		return r == R_STORE_NOT_FOUND ? R_OK : r;
	TRY(newest_with_receipt(s, id, k, &kept));
	/* Called for each new one, so one at a time is enough. */
	if (last != kept)
		TRY(run_on(s, hollow, ARRAY_LEN(hollow), last));
	for (unsigned i = 0; i < OUTDATED_AT_ONCE && (r = outdated(s, id, k, last, kept, &number)) == R_OK; i++)
		TRY(run_on(s, gone, ARRAY_LEN(gone), number));
	return r == R_STORE_NOT_FOUND ? R_OK : r;
}
