/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The operations of admin_ops.def, one small function each; ledger_admin.c
 * calls them by a table. What a changing operation does stands in a savepoint.
 */
#ifndef BOOTGATE_SERVER_ADMIN_H
#define BOOTGATE_SERVER_ADMIN_H

#include "server/ledger_json.h"

/* One request while it is carried out. */
struct call {
	struct ledger *l;
	const struct msg_admin *m;
	struct bytes body;
	struct out out;
	/* where a job answers later */
	struct ipc *from;
	uint64_t id;
	bool deferred;
	/* what was looked at last: a refusal names it */
	char about[ABOUT_MAX];
};

/* The change as a row of the audit, with the operator's reason. */
enum reason admin_note(struct call *c, struct bytes target, const char *detail) must_check;
/* A number in text, `fallback` where it is empty. */
enum reason admin_number(const char *text, uint64_t fallback, uint64_t *ret) must_check;

/* What is looked at next, for a refusal to name: "node n1". */
void admin_about(struct call *c, const char *kind, const char *name);
enum reason admin_node(struct call *c, const char *name, struct node *ret) must_check;
/* For command lines, addresses and verdicts: small letters, digits, `-`, `_` and `.` inside; shorter than `max`. */
bool admin_name_good(const char *name, size_t max);
/* As store_group_known. */
enum reason admin_group(struct call *c, const char *name) must_check;

#define ADMIN_OP(symbol, function, name, method, path, args, body) \
	enum reason op_##function(struct call *c) must_check;
#include "server/admin_ops.def"
#undef ADMIN_OP

/* admin_node.c */
void admin_node_out(struct out *o, const struct node *n);
/* Whether something does not agree with the record: then a person looks at this one. */
enum reason admin_node_conflict(struct call *c, const struct node *n, bool *ret) must_check;
/* admin_group.c: what the node gets by itself, by its group or as all do, and which of the three. */
enum reason admin_chosen_out(struct call *c, const struct node *n) must_check;

#endif
