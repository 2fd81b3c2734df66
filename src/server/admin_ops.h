/* SPDX-License-Identifier: Apache-2.0 */
/* The operations of the admin API: admin_ops.def as enum and table. */
#ifndef BOOTGATE_SERVER_ADMIN_OPS_H
#define BOOTGATE_SERVER_ADMIN_OPS_H

#include "server/msg.h"

enum admin_op {
#define ADMIN_OP(symbol, function, name, method, path, args, body) ADMIN_##symbol,
#include "server/admin_ops.def"
#undef ADMIN_OP
	ADMIN_OP_MAX
};

enum admin_body {
	BODY_NONE,
	BODY_MANIFEST,	/* struct stored_manifest, then the COSE_Sign bytes */
	BODY_POLICY,	/* policy, encoded (format/policy.h) */
	BODY_REFERENCES,	/* reference set, encoded (format/reference.h) */
	BODY_EK_LIST,	/* struct listed_ek, one after the other */
	BODY_RULE,	/* struct rule */
};

struct admin_route {
	const char *name;	/* in the audit */
	const char *method;
	const char *path;	/* below /v1/admin/ */
	const char *args;
	enum admin_body body;
};
/* Indexed by enum admin_op. */
extern const struct admin_route admin_route[ADMIN_OP_MAX];
const char *admin_op_name(enum admin_op op);

#endif
