/* SPDX-License-Identifier: Apache-2.0 */
/* Which function does which operation, and what all of them need. */
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "server/admin.h"

enum reason admin_change(struct call *c, bool *ret_do)
{
	*ret_do = !c->m->dry_run;
	return c->m->dry_run ? R_OK : ledger_write(c->l);
}

enum reason admin_note(struct call *c, struct bytes target, const char *detail)
{
	char text[512];

	snprintf(text, sizeof(text), "%.200s%s%.200s", detail, detail[0] && c->m->reason[0] ? ": " : "",
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

typedef enum reason (*operation)(struct call *c);

static const operation operations[ADMIN_OP_MAX] = {
	[ADMIN_NODE_LIST] = op_node_list,
	[ADMIN_NODE_SHOW] = op_node_show,
	[ADMIN_NODE_APPROVE] = op_node_approve,
	[ADMIN_NODE_REVOKE] = op_node_revoke,
	[ADMIN_EXPLAIN] = op_explain,
	[ADMIN_EVIDENCE] = op_evidence,
	[ADMIN_VERDICT] = op_verdict,
	[ADMIN_REF_LIST] = op_ref_list,
	[ADMIN_REF_SHOW] = op_ref_show,
	[ADMIN_REF_LEARN] = op_ref_learn,
	[ADMIN_REF_ACTIVATE] = op_ref_activate,
	[ADMIN_REF_REVOKE] = op_ref_revoke,
	[ADMIN_IMAGE_LIST] = op_image_list,
	[ADMIN_IMAGE_ADD] = op_image_add,
	[ADMIN_IMAGE_SELECT] = op_image_select,
	[ADMIN_POLICY_SHOW] = op_policy_show,
	[ADMIN_POLICY_SET] = op_policy_set,
	[ADMIN_EK_LOAD] = op_ek_load,
	[ADMIN_FAILURE_LIST] = op_failure_list,
	[ADMIN_AUDIT_LIST] = op_audit_list,
	[ADMIN_AUDIT_VERIFY] = op_audit_verify,
	[ADMIN_STATUS] = op_status,
};

/*
 * A change is a savepoint of its own: what fails half-way leaves nothing,
 * and the requests beside it in this turn are not touched.
 */
static enum reason perform(struct call *c)
{
	bool changes = strcmp(admin_route[c->m->op].method, "GET") != 0 && !c->m->dry_run;

	if (!changes)
		return operations[c->m->op](c);
	TRY(ledger_savepoint(c->l));
	return ledger_release(c->l, operations[c->m->op](c));
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
		out_answer(l, from, id, r, &c.out);
	out_free(&c.out);
}
