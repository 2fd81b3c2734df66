/* SPDX-License-Identifier: Apache-2.0 */
#include "server/admin_ops.h"

const struct admin_route admin_route[ADMIN_OP_MAX] = {
#define ADMIN_OP(symbol, method, path, args, body) \
	[ADMIN_##symbol] = { method, path, args, body },
#include "server/admin_ops.def"
#undef ADMIN_OP
};

const char *admin_op_name(enum admin_op op)
{
	static const char *const name[ADMIN_OP_MAX] = {
		[ADMIN_NODE_LIST] = "node.list",
		[ADMIN_NODE_SHOW] = "node.show",
		[ADMIN_NODE_APPROVE] = "node.approve",
		[ADMIN_NODE_REVOKE] = "node.revoke",
		[ADMIN_EXPLAIN] = "explain",
		[ADMIN_EVIDENCE] = "evidence",
		[ADMIN_VERDICT] = "verdict.show",
		[ADMIN_REF_LIST] = "ref.list",
		[ADMIN_REF_SHOW] = "ref.show",
		[ADMIN_REF_LEARN] = "ref.learn",
		[ADMIN_REF_ACTIVATE] = "ref.activate",
		[ADMIN_REF_REVOKE] = "ref.revoke",
		[ADMIN_IMAGE_LIST] = "image.list",
		[ADMIN_IMAGE_ADD] = "image.add",
		[ADMIN_IMAGE_SELECT] = "image.select",
		[ADMIN_POLICY_SHOW] = "policy.show",
		[ADMIN_POLICY_SET] = "policy.set",
		[ADMIN_EK_LOAD] = "ek.load",
		[ADMIN_FAILURE_LIST] = "failure.list",
		[ADMIN_AUDIT_LIST] = "audit.list",
		[ADMIN_AUDIT_VERIFY] = "audit.verify",
		[ADMIN_STATUS] = "status",
	};

	return op < ADMIN_OP_MAX ? name[op] : "?";
}
