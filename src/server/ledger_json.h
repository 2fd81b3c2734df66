/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers of the admin API, built member by member. A failure (memory) is
 * remembered and reported once, by out_answer.
 */
#ifndef BOOTGATE_SERVER_LEDGER_JSON_H
#define BOOTGATE_SERVER_LEDGER_JSON_H

#include <jansson.h>

#include "server/ledger.h"

#define JSON_DEPTH 8u
#define LIMIT_ADMIN_ANSWER (32u << 20)

struct out {
	json_t *open[JSON_DEPTH];	/* open[0] is the whole answer, an object */
	size_t depth;
	bool failed;
};

void out_begin(struct out *o);
void out_free(struct out *o);

/* `key` is ignored (NULL) inside an array. */
void out_text(struct out *o, const char *key, const char *value);
void out_number(struct out *o, const char *key, uint64_t value);
void out_bool(struct out *o, const char *key, bool value);
void out_hex(struct out *o, const char *key, struct bytes value);
void out_base64(struct out *o, const char *key, struct bytes value);
/* RFC 3339 in UTC; nothing for 0. */
void out_time(struct out *o, const char *key, int64_t value);
void out_object(struct out *o, const char *key);
void out_array(struct out *o, const char *key);
void out_end(struct out *o);	/* of the innermost object or array */

/* Sends the answer, or, where r is not R_OK, {"error": {...}} with its status and what it is about. */
void out_answer(struct ledger *l, struct ipc *to, uint64_t id, enum reason r, const char *about,
		const struct out *o);

/*
 * ledger_stage.c: a variant that is staged, whatever it says of its state, as
 * an object of `out`; with `known` where one that is not revoked has the same
 * events, and then it is that one.
 */
enum reason variant_stage(struct ledger *l, struct reference_variant *v, bool really, struct out *out) must_check;

#endif
