/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The admin API: routes of admin_ops.def, arguments from path, query or JSON
 * body. Here, and nowhere nearer to the database, JSON and manifests are
 * parsed.
 */
#include <jansson.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>

#include "base/base64.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "format/cose.h"
#include "format/manifest.h"
#include "format/policy.h"
#include "server/admin_ops.h"
#include "server/front.h"
#include "server/front_json.h"
#include "server/store.h"

#define PREFIX "/v1/admin/"
#define LIMIT_ADMIN_BODY (8u << 20)

/* Matches `path` against the pattern; the parts under `*` become arguments. */
static bool path_matches(const char *pattern, const char *path, char arg[ADMIN_ARGS][ADMIN_ARG_MAX],
			 size_t *ret_args)
{
	size_t n = 0;

	while (*pattern) {
		size_t have = strcspn(path, "/");

		if (*pattern == '*') {
			if (have == 0 || have >= ADMIN_ARG_MAX || n == ADMIN_ARGS)
				return false;
			memcpy(arg[n], path, have);
			arg[n++][have] = '\0';
			pattern++;
		} else {
			size_t want = strcspn(pattern, "/");

			if (have != want || strncmp(pattern, path, want) != 0)
				return false;
			pattern += want;
		}
		path += have;
		if (*pattern != *path)
			return false;
		if (*pattern == '/') {
			pattern++;
			path++;
		}
	}
	*ret_args = n;
	return *path == '\0';
}

/* A fixed word wins over `*`: "audit/verify" is not a node. */
static enum reason route_find(const char *method, const char *path, enum admin_op *ret,
			      char arg[ADMIN_ARGS][ADMIN_ARG_MAX], size_t *ret_args)
{
	bool found = false;
	size_t best = ADMIN_ARGS + 1;

	if (strncmp(path, PREFIX, strlen(PREFIX)) != 0)
		return R_SERVER_ROUTE;
	path += strlen(PREFIX);
	for (int op = 0; op < ADMIN_OP_MAX; op++) {
		char have[ADMIN_ARGS][ADMIN_ARG_MAX];
		size_t n;

		memset(have, 0, sizeof(have));
		if (strcmp(method, admin_route[op].method) != 0 ||
		    !path_matches(admin_route[op].path, path, have, &n) || n >= best)
			continue;
		best = n;
		found = true;
		*ret = (enum admin_op)op;
		*ret_args = n;
		memcpy(arg, have, sizeof(have));
	}
	return found ? R_OK : R_SERVER_ROUTE;
}

static enum reason limit_of(const char *method, const char *path, size_t *ret)
{
	char arg[ADMIN_ARGS][ADMIN_ARG_MAX];
	enum admin_op op;
	size_t n;

	TRY(route_find(method, path, &op, arg, &n));
	*ret = strcmp(method, "GET") == 0 ? 0 : LIMIT_ADMIN_BODY;
	return R_OK;
}

/* Text of an argument that is not in the path: from the query or the JSON body. */
static enum reason named_arg(const struct front_request *q, const json_t *body, const char *name, char *ret,
			     size_t n)
{
	const char *value = q->query(q, name);
	const json_t *member = json_object_get(body, name);

	snprintf(q->about, ABOUT_MAX, "%s", name);
	if (member && !json_is_string(member))
		return R_FORMAT_TYPE;
	if (member)
		value = json_string_value(member);
	if (!value)
		return R_OK;
	if (strlen(value) >= n)
		return R_FORMAT_TOO_LARGE;
	if (!text_printable(bytes_str(value)))
		return R_FORMAT_TEXT;
	snprintf(ret, n, "%s", value);
	return R_OK;
}

/* Every member of the body must be one that this operation knows. */
static enum reason members_known(const struct front_request *q, const json_t *body, const char *args,
				 enum admin_body kind)
{
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)(uintptr_t)body, key, value) {
		size_t n = strlen(key);
		bool known = strcmp(key, "reason") == 0 || strcmp(key, "dry_run") == 0 ||
			     (kind != BODY_NONE && strcmp(key, "body") == 0);

		for (const char *p = args; !known && *p;) {
			size_t word = strcspn(p, " ");

			known = word == n && strncmp(p, key, n) == 0;
			p += word;
			p += strspn(p, " ");
		}
		if (!known) {
			front_about(q->about, "", key);
			return R_FORMAT_UNKNOWN_KEY;
		}
	}
	return R_OK;
}

static enum reason arguments(const struct front_request *q, const json_t *body, enum admin_op op, size_t from,
			     struct msg_admin *m)
{
	const char *p = admin_route[op].args;

	for (size_t i = 0; *p; i++) {
		char name[32];
		size_t n = strcspn(p, " ");

		if (i == ADMIN_ARGS || n >= sizeof(name))
			return R_INTERNAL;
		memcpy(name, p, n);
		name[n] = '\0';
		if (i >= from)
			TRY(named_arg(q, body, name, m->arg[i], ADMIN_ARG_MAX));
		p += n;
		p += strspn(p, " ");
	}
	TRY(named_arg(q, body, "reason", m->reason, sizeof(m->reason)));
	q->about[0] = '\0';
	m->dry_run = json_is_true(json_object_get(body, "dry_run"));
	return R_OK;
}

/* The manifest is read here for what the database shows of it; its signatures are the gate's business. */
static enum reason manifest_tail(struct bytes cose, struct blob *ret)
{
	_cleanup_free_ struct manifest *m = calloc(1, sizeof(*m));
	struct stored_manifest row;
	struct bytes payload;

	if (!m)
		return R_INTERNAL_MEMORY;
	if (cose.n > LIMIT_MANIFEST)
		return R_FORMAT_TOO_LARGE;
	TRY(cose_payload(cose, &payload));
	TRY(manifest_read(payload, m));
	memset(&row, 0, sizeof(row));
	snprintf(row.line, sizeof(row.line), "%s", m->line);
	snprintf(row.version, sizeof(row.version), "%s", m->version);
	row.purpose = m->purpose;
	row.security_version = m->security_version;
	memcpy(row.kernel, m->kernel.sha256, SHA256_LEN);
	memcpy(row.initrd, m->initrd.sha256, SHA256_LEN);
	TRY(blob_append(ret, &row, sizeof(row)));
	return blob_append(ret, cose.p, cose.n);
}

static enum reason tail_of(const json_t *body, enum admin_body kind, char about[ABOUT_MAX], struct blob *ret)
{
	const json_t *value = json_object_get(body, "body");

	switch (kind) {
	case BODY_NONE:
		return R_OK;
	case BODY_MANIFEST: {
		_cleanup_(blob_free) struct blob cose = BLOB(LIMIT_MANIFEST);

		if (!json_is_string(value))
			return R_FORMAT_TYPE;
		TRY(base64_decode(bytes_str(json_string_value(value)), &cose));
		return manifest_tail(blob_bytes(&cose), ret);
	}
	case BODY_POLICY: {
		_cleanup_free_ struct policy *p = calloc(1, sizeof(*p));

		if (!p)
			return R_INTERNAL_MEMORY;
		TRY(front_policy(value, p, about));
		return policy_write(p, ret);
	}
	case BODY_REFERENCES:
		return front_references(value, about, ret);
	case BODY_EK_LIST:
		return front_ek_list(value, about, ret);
	case BODY_RULE: {
		struct rule r;

		TRY(front_rule(value, &r, about));
		return blob_append(ret, &r, sizeof(r));
	}
	}
	return R_INTERNAL;
}

static enum reason message_of(const struct front_request *q, uint32_t *ret_type, struct blob *ret)
{
	_cleanup_(blob_free) struct blob tail = BLOB(LIMIT_REFERENCE_SET);
	_cleanup_free_ struct msg_admin *m = calloc(1, sizeof(*m));
	_cleanup_(front_json_free) json_t *body = NULL;
	enum admin_op op;
	size_t from;

	if (!m)
		return R_INTERNAL_MEMORY;
	if (!q->has_uid)
		return R_SERVER_DENIED;
	TRY(route_find(q->method, q->path, &op, m->arg, &from));
	if (q->body.n > 0)
		TRY(front_json(q->body, &body));
	TRY(members_known(q, body, admin_route[op].args, admin_route[op].body));
	TRY(arguments(q, body, op, from, m));
	TRY(tail_of(body, admin_route[op].body, q->about, &tail));
	m->op = op;
	snprintf(m->actor, sizeof(m->actor), "%s", q->peer);
	m->tail = (uint32_t)tail.n;
	*ret_type = MSG_ADMIN;
	TRY(blob_append(ret, m, sizeof(*m)));
	return blob_append(ret, tail.p, tail.n);
}

static bool local(const char *method, const char *path, const char **ret_text)
{
	*ret_text = "ok\n";
	return strcmp(method, "GET") == 0 && strcmp(path, "/healthz") == 0;
}

const struct front_app front_admin_app = {
	.name = "admin",
	.json = true,
	.limit = limit_of,
	.message = message_of,
	.local = local,
	.message_max = LIMIT_REFERENCE_SET + sizeof(struct msg_admin),
};
