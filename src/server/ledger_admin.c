/* SPDX-License-Identifier: Apache-2.0 */
/* Which function does which operation, and what all of them need. */
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "server/admin.h"

enum reason admin_note(struct call *c, struct bytes target, const char *detail)
{
	char text[AUDIT_DETAIL_MAX];

	snprintf(text, sizeof(text), "%.511s%s%.200s", detail, detail[0] && c->m->reason[0] ? ": " : "",
		 c->m->reason);
	return audit(c->l, c->m->actor, admin_op_name((enum admin_op)c->m->op), target, R_OK, text);
}

enum reason admin_number(const char *text, uint64_t fallback, uint64_t *ret)
{
	if (text[0] == '\0') {
		*ret = fallback;
		return R_OK;
	}
	return text_u64(bytes_str(text), INT64_MAX, ret);
}

void admin_about(struct call *c, const char *kind, const char *name)
{
	snprintf(c->about, sizeof(c->about), "%s %.200s", kind, name);
}

enum reason admin_node(struct call *c, const char *name, struct node *ret)
{
	admin_about(c, "node", name);
	return store_node_find(c->l->store, name, ret);
}

enum reason admin_group(struct call *c, const char *name)
{
	if (name[0])
		admin_about(c, "group", name);
	return store_group_known(c->l->store, name);
}

bool admin_name_good(const char *name, size_t max)
{
	static const char first[] = "abcdefghijklmnopqrstuvwxyz0123456789";
	size_t n = strlen(name);

	return n > 0 && n < max && strchr(first, name[0]) &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-_.") == n;
}

typedef enum reason (*operation)(struct call *c);

static const operation operations[ADMIN_OP_MAX] = {
#define ADMIN_OP(symbol, function, name, method, path, args, body) [ADMIN_##symbol] = op_##function,
#include "server/admin_ops.def"
#undef ADMIN_OP
};

/*
 * A change is a savepoint of its own: what fails half-way leaves nothing,
 * and the requests beside it in this turn are not touched. Whatever a dry run
 * has tried is taken back.
 */
static enum reason perform(struct call *c)
{
	if (strcmp(admin_route[c->m->op].method, "GET") == 0)
		return operations[c->m->op](c);
	TRY(ledger_savepoint(c->l));
	enum reason r = operations[c->m->op](c);
	return r == R_OK && c->m->dry_run ? ledger_undo(c->l) : ledger_release(c->l, r);
}

/* They go into labels, verdicts and the audit; parts of a path were not looked at yet. */
static enum reason texts_check(const struct msg_admin *m)
{
	for (size_t i = 0; i < ADMIN_ARGS; i++)
		if (!text_printable(bytes_str(m->arg[i])))
			return R_FORMAT_TEXT;
	return text_printable(bytes_str(m->reason)) ? R_OK : R_FORMAT_TEXT;
}

void on_admin(struct ledger *l, struct ipc *from, uint64_t id, const struct msg_admin *m, struct bytes body)
{
	struct call c = { .l = l, .m = m, .body = body, .from = from, .id = id };

	out_begin(&c.out);
	enum reason r = m->op < ADMIN_OP_MAX ? texts_check(m) : R_SERVER_ROUTE;
	if (r == R_OK)
		r = perform(&c);
	if (r != R_OK || !c.deferred)
		out_answer(l, from, id, r, c.about, &c.out);
	out_free(&c.out);
}
