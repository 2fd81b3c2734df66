/* SPDX-License-Identifier: Apache-2.0 */
/* Attestations, their evidence, receipts, and failures that gates report. */
#include <string.h>

#include "server/store_internal.h"

#define ATTESTATION_COLUMNS                                                        \
	"a.nonce, a.evidence, a.node, a.ak_name, a.stage, a.time, a.directive, "   \
	"a.reason, a.verdict, a.verdict_digest, a.manifest, a.explanation, a.pcrs, " \
	"a.selection, a.clock, a.reset_count, a.restart_count, a.firmware, r.pcrs"
#define ATTESTATION_FROM \
	" FROM attestation a LEFT JOIN receipt r ON r.verdict_digest = a.verdict_digest "

/* Failures kept: a flood of unproven messages must not fill the disk. */
#define FAILURES_KEPT "10000"

static enum reason attestation_of(struct store *s, sqlite3_stmt *st, struct attestation *ret)
{
	memset(ret, 0, sizeof(*ret));
	TRY(db_col_fixed(st, 0, ret->nonce, sizeof(ret->nonce)));
	TRY(db_col_fixed(st, 1, ret->evidence_digest, SHA256_LEN));
	TRY(db_col_fixed(st, 2, ret->node_id, SHA256_LEN));
	TRY(db_col_fixed(st, 3, ret->ak_name, AK_NAME_LEN));
	int stage = sqlite3_column_int(st, 4), directive = sqlite3_column_int(st, 6);
	if (stage < 0 || stage >= STAGE_MAX || directive < 0 || directive >= DIRECTIVE_MAX)
		return R_STORE_IO;
	ret->stage = (enum stage)stage;
	ret->time = sqlite3_column_int64(st, 5);
	ret->directive = (enum directive)directive;
	db_col_text(st, 7, ret->reason, sizeof(ret->reason));
	blob_reset(&s->verdict);
	TRY(db_col_blob(st, 8, &s->verdict));
	ret->verdict = blob_bytes(&s->verdict);
	TRY(db_col_fixed(st, 9, ret->verdict_digest, SHA256_LEN));
	ret->has_manifest = sqlite3_column_type(st, 10) != SQLITE_NULL;
	if (ret->has_manifest)
		TRY(db_col_fixed(st, 10, ret->manifest_digest, SHA256_LEN));
	blob_reset(&s->explanation);
	TRY(db_col_blob(st, 11, &s->explanation));
	ret->explanation = blob_bytes(&s->explanation);
	TRY(db_col_values(st, 12, &ret->values));
	TRY(db_col_selection(st, 13, &ret->selection));
	ret->clock.known = true;
	ret->clock.clock = (uint64_t)sqlite3_column_int64(st, 14);
	ret->clock.reset_count = (uint32_t)sqlite3_column_int64(st, 15);
	ret->clock.restart_count = (uint32_t)sqlite3_column_int64(st, 16);
	ret->clock.firmware_version = (uint64_t)sqlite3_column_int64(st, 17);
	ret->receipt = sqlite3_column_type(st, 18) != SQLITE_NULL;
	if (ret->receipt)
		TRY(db_col_values(st, 18, &ret->receipt_values));
	return R_OK;
}

static enum reason evidence_add(struct store *s, const uint8_t digest[SHA256_LEN], struct bytes body)
{
	_statement_ st = NULL;

	TRY(db_get(s, "INSERT OR IGNORE INTO evidence (digest, body) VALUES (?,?)", &st));
	db_bytes(st, 1, bytes_of(digest, SHA256_LEN));
	db_bytes(st, 2, body);
	return db_run(s, st);
}

enum reason store_attestation_add(struct store *s, const struct attestation *a, struct bytes evidence)
{
	_cleanup_(blob_free) struct blob pcrs = BLOB(COLUMN_VALUES_MAX), selection = BLOB(256);
	_statement_ st = NULL;

	TRY(db_get(s, "INSERT INTO attestation (nonce, evidence, node, ak_name, stage, time,"
		      " directive, reason, verdict, verdict_digest, manifest, explanation, pcrs,"
		      " selection, clock, reset_count, restart_count, firmware)"
		      " VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)", &st));
	db_bytes(st, 1, BYTES(a->nonce));
	db_bytes(st, 2, BYTES(a->evidence_digest));
	db_bytes(st, 3, BYTES(a->node_id));
	db_bytes(st, 4, BYTES(a->ak_name));
	db_int(st, 5, a->stage);
	db_int(st, 6, a->time);
	db_int(st, 7, a->directive);
	db_text(st, 8, a->reason);
	db_bytes(st, 9, a->verdict);
	db_bytes(st, 10, BYTES(a->verdict_digest));
	if (a->has_manifest)
		db_bytes(st, 11, BYTES(a->manifest_digest));
	db_bytes(st, 12, a->explanation);
	TRY(db_values(st, 13, &a->values, &pcrs));
	TRY(db_selection(st, 14, &a->selection, &selection));
	db_int(st, 15, (int64_t)a->clock.clock);
	db_int(st, 16, a->clock.reset_count);
	db_int(st, 17, a->clock.restart_count);
	db_int(st, 18, (int64_t)a->clock.firmware_version);
	enum reason r = db_run(s, st);
	if (r == R_STORE_EXISTS)
		return R_SESSION_REPLAYED;
	if (r != R_OK)
		return r;
	return evidence_add(s, a->evidence_digest, evidence);
}

enum reason store_attestation_by_nonce(struct store *s, const uint8_t nonce[NONCE_LEN],
				       struct attestation *ret)
{
	_statement_ st = NULL;

	TRY(db_get(s, "SELECT " ATTESTATION_COLUMNS ATTESTATION_FROM "WHERE a.nonce = ?", &st));
	db_bytes(st, 1, bytes_of(nonce, NONCE_LEN));
	TRY(db_row(s, st));
	return attestation_of(s, st, ret);
}

enum reason store_attestation_by_verdict(struct store *s, const uint8_t digest[SHA256_LEN],
					 struct attestation *ret)
{
	_statement_ st = NULL;

	TRY(db_get(s, "SELECT " ATTESTATION_COLUMNS ATTESTATION_FROM "WHERE a.verdict_digest = ?", &st));
	db_bytes(st, 1, bytes_of(digest, SHA256_LEN));
	TRY(db_row(s, st));
	return attestation_of(s, st, ret);
}

enum reason store_attestation_of_node(struct store *s, const uint8_t node_id[SHA256_LEN],
				      unsigned n, struct attestation *ret)
{
	_statement_ st = NULL;

	TRY(db_get(s, "SELECT " ATTESTATION_COLUMNS ATTESTATION_FROM
		      "WHERE a.number = (SELECT number FROM attestation WHERE node = ?"
		      " ORDER BY number DESC LIMIT 1 OFFSET ?)", &st));
	db_bytes(st, 1, bytes_of(node_id, SHA256_LEN));
	db_int(st, 2, n);
	TRY(db_row(s, st));
	return attestation_of(s, st, ret);
}

enum reason store_attestation_of_boot(struct store *s, const uint8_t node_id[SHA256_LEN],
				      struct attestation *ret)
{
	_statement_ st = NULL;

	TRY(db_get(s, "SELECT " ATTESTATION_COLUMNS ATTESTATION_FROM
		      "WHERE a.node = ? AND a.stage = ? ORDER BY a.number DESC LIMIT 1", &st));
	db_bytes(st, 1, bytes_of(node_id, SHA256_LEN));
	db_int(st, 2, STAGE_GATE);
	TRY(db_row(s, st));
	return attestation_of(s, st, ret);
}

enum reason store_refused_in_a_row(struct store *s, const uint8_t node_id[SHA256_LEN], unsigned most,
				   unsigned *ret)
{
	_statement_ st = NULL;
	unsigned count = 0;
	enum reason r;

	TRY(db_get(s, "SELECT directive FROM attestation WHERE node = ? AND stage = ?"
		      " ORDER BY number DESC LIMIT ?", &st));
	db_bytes(st, 1, bytes_of(node_id, SHA256_LEN));
	db_int(st, 2, STAGE_GATE);
	db_int(st, 3, most);
	while ((r = db_row(s, st)) == R_OK && sqlite3_column_int(st, 0) == DIRECTIVE_REFUSE)
		count++;
	if (r != R_OK && r != R_STORE_NOT_FOUND)
		return r;
	*ret = count;
	return R_OK;
}

enum reason store_evidence(struct store *s, const uint8_t digest[SHA256_LEN], struct blob *ret)
{
	_statement_ st = NULL;

	TRY(db_get(s, "SELECT body FROM evidence WHERE digest = ?", &st));
	db_bytes(st, 1, bytes_of(digest, SHA256_LEN));
	TRY(db_row(s, st));
	return db_col_blob(st, 0, ret);
}

enum reason store_receipt_add(struct store *s, const uint8_t verdict_digest[SHA256_LEN],
			      int64_t time, const struct pcr_values *values, struct bytes body)
{
	_cleanup_(blob_free) struct blob pcrs = BLOB(COLUMN_VALUES_MAX);
	_statement_ st = NULL;

	/* A gate that lost the answer sends the same receipt again. */
	TRY(db_get(s, "INSERT OR IGNORE INTO receipt (verdict_digest, time, pcrs, body)"
		      " VALUES (?,?,?,?)", &st));
	db_bytes(st, 1, bytes_of(verdict_digest, SHA256_LEN));
	db_int(st, 2, time);
	TRY(db_values(st, 3, values, &pcrs));
	db_bytes(st, 4, body);
	return db_run(s, st);
}

enum reason store_failure_add(struct store *s, const struct stored_failure *f)
{
	_statement_ st = NULL;

	TRY(db_get(s, "INSERT INTO failure (time, peer, reason, step, ak_name, log)"
		      " VALUES (?,?,?,?,?,?)", &st));
	db_int(st, 1, f->time);
	db_text(st, 2, f->peer);
	db_text(st, 3, f->reason);
	db_text(st, 4, f->step);
	if (f->has_ak_name)
		db_bytes(st, 5, BYTES(f->ak_name));
	db_bytes(st, 6, f->log);
	TRY(db_run(s, st));

	_statement_ trim = NULL;
	TRY(db_get(s, "DELETE FROM failure WHERE number <="
		      " (SELECT max(number) FROM failure) - " FAILURES_KEPT, &trim));
	return db_run(s, trim);
}

enum reason store_failure_each(struct store *s, unsigned newest,
			       enum reason (*f)(void *ctx, const struct stored_failure *f), void *ctx)
{
	_statement_ st = NULL;
	enum reason r;

	TRY(db_get(s, "SELECT time, peer, reason, step, ak_name, log FROM failure"
		      " ORDER BY number DESC LIMIT ?", &st));
	db_int(st, 1, newest);
	while ((r = db_row(s, st)) == R_OK) {
		struct stored_failure row = { .time = sqlite3_column_int64(st, 0) };

		db_col_text(st, 1, row.peer, sizeof(row.peer));
		db_col_text(st, 2, row.reason, sizeof(row.reason));
		db_col_text(st, 3, row.step, sizeof(row.step));
		row.has_ak_name = sqlite3_column_type(st, 4) != SQLITE_NULL;
		if (row.has_ak_name)
			TRY(db_col_fixed(st, 4, row.ak_name, AK_NAME_LEN));
		row.log = bytes_of(sqlite3_column_blob(st, 5), (size_t)sqlite3_column_bytes(st, 5));
		TRY(f(ctx, &row));
	}
	return r == R_STORE_NOT_FOUND ? R_OK : r;
}
