/* SPDX-License-Identifier: Apache-2.0 */
/* A store in a folder of its own, and rows for it. */
#ifndef BOOTGATE_TESTS_STORE_KIT_H
#define BOOTGATE_TESTS_STORE_KIT_H

#include <sqlite3.h>
#include <stdio.h>

#include "server/store_internal.h"
#include "unit.h"

struct fixture {
	char dir[32], path[64];
	struct store *store;
};

static inline int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	strcpy(f->dir, "/tmp/store-XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	snprintf(f->path, sizeof(f->path), "%s/db", f->dir);
	assert_ok(store_open(f->path, &f->store));
	*state = f;
	return 0;
}

static inline int tear_down(void **state)
{
	struct fixture *f = *state;
	char command[64];

	store_close(&f->store);
	snprintf(command, sizeof(command), "rm -rf %s", f->dir);
	assert_int_equal(system(command), 0);
	free(f);
	return 0;
}

static inline void reopen(struct fixture *f)
{
	store_close(&f->store);
	assert_ok(store_open(f->path, &f->store));
}

/* Changes the file behind the store's back. */
static inline void sql(struct fixture *f, const char *text)
{
	sqlite3 *db;

	assert_int_equal(sqlite3_open(f->path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, text, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

static inline struct node node_number(uint8_t i, const char *label)
{
	struct node n = { .state = NODE_PENDING, .created = 100 + i, .ak_public_len = 3 };

	memset(n.id, i, sizeof(n.id));
	memset(n.ak_name, i, sizeof(n.ak_name));
	memcpy(n.ak_public, "abc", 3);
	snprintf(n.label, sizeof(n.label), "%s", label);
	assert_ok(pcr_selection_add(&n.implemented, ALG_SHA256, PCR_ALL));
	return n;
}

static inline struct attestation attestation_number(uint8_t nonce, uint8_t evidence)
{
	struct attestation a = { .time = 5, .directive = DIRECTIVE_ADMIT, .verdict = bytes_str("verdict"),
				 .explanation = bytes_str("words"), .clock = { .known = true, .clock = 3 } };

	memset(a.nonce, nonce, sizeof(a.nonce));
	memset(a.evidence_digest, evidence, sizeof(a.evidence_digest));
	memset(a.verdict_digest, nonce, sizeof(a.verdict_digest));
	memset(a.node_id, 1, sizeof(a.node_id));
	snprintf(a.reason, sizeof(a.reason), "ok");
	uint8_t value[SHA256_LEN] = { nonce };
	assert_ok(pcr_values_set(&a.values, ALG_SHA256, 4, value));
	assert_ok(pcr_selection_add(&a.selection, ALG_SHA256, PCR_MASK(4)));
	return a;
}

static inline int64_t number_of(sqlite3 *db, const char *text)
{
	sqlite3_stmt *st = NULL;

	assert_int_equal(sqlite3_prepare_v2(db, text, -1, &st, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(st), SQLITE_ROW);
	int64_t n = sqlite3_column_int64(st, 0);
	sqlite3_finalize(st);
	return n;
}

static inline int64_t rows_of(struct fixture *f, const char *table)
{
	char text[64];

	snprintf(text, sizeof(text), "SELECT count(*) FROM %s", table);
	return number_of(f->store->db, text);
}

#define STORE_TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

#endif
