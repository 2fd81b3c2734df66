/* SPDX-License-Identifier: Apache-2.0 */
#include "server/admin_ops.h"

const struct admin_route admin_route[ADMIN_OP_MAX] = {
#define ADMIN_OP(symbol, function, name, method, path, args, body) \
	[ADMIN_##symbol] = { name, method, path, args, body },
#include "server/admin_ops.def"
#undef ADMIN_OP
};

const char *admin_op_name(enum admin_op op)
{
	return op < ADMIN_OP_MAX ? admin_route[op].name : "?";
}
