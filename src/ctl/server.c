/* SPDX-License-Identifier: Apache-2.0 */
/* server status and failures; audit. */
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "ctl/client.h"
#include "ctl/ctl.h"


/* A reading command without arguments: the answer, or the exit code. */
static enum reason read_all(int argc, char **argv, const char *const *path, struct options *o, json_t **ret)
{
	static const struct option_rule rules[] = { READ_OPTIONS };

	if (!options_read(argc, argv, rules, ARRAY_LEN(rules), o) || o->arguments != 0)
		return R_USAGE;
	return client_get(o, path, NULL, ret);
}

int ctl_server_status(int argc, char **argv)
{
	_cleanup_(client_free) json_t *a = NULL;
	const char *key, *inner;
	struct options o;
	json_t *v, *w;
	enum reason r = read_all(argc, argv, CLIENT_PATH("status"), &o, &a);

	if (r == R_USAGE)
		return CTL_USAGE;
	if (r != R_OK || client_json(&o, a))
		return reason_exit(r);
	json_object_foreach(a, key, v) {
		if (json_is_integer(v))
			printf("%-16s %lld\n", key, (long long)json_integer_value(v));
		else if (json_is_string(v))
			printf("%-16s %s\n", key, json_string_value(v));
		json_object_foreach(v, inner, w)
			printf("%-16s %-10s %lld\n", key, inner, (long long)json_integer_value(w));
	}
	long long seen = member_number(a, "release_keys");
	if (seen > 0)
		printf("warning: %lld private release key%s can be seen, %s: move %s off that machine\n", seen,
		       seen == 1 ? "" : "s", member_text(a, "release_key_at"), seen == 1 ? "it" : "them");
	return 0;
}

int ctl_server_failures(int argc, char **argv)
{
	_cleanup_(client_free) json_t *a = NULL;
	struct options o;
	json_t *f;
	size_t i;
	enum reason r = read_all(argc, argv, CLIENT_PATH("failure"), &o, &a);

	if (r == R_USAGE)
		return CTL_USAGE;
	if (r != R_OK || client_json(&o, a))
		return reason_exit(r);
	printf("unproven: anybody on the network can send these\n");
	json_array_foreach(json_object_get(a, "failures"), i, f)
		printf("%s  %-16s  %-24s  %-10s  %.12s\n", member_text(f, "time"), member_text(f, "address"),
		       member_text(f, "reason"), member_text(f, "step"), member_text(f, "claimed_node"));
	return 0;
}

int ctl_audit_list(int argc, char **argv)
{
	_cleanup_(client_free) json_t *a = NULL;
	struct options o;
	json_t *row;
	size_t i;
	enum reason r = read_all(argc, argv, CLIENT_PATH("audit"), &o, &a);

	if (r == R_USAGE)
		return CTL_USAGE;
	if (r != R_OK || client_json(&o, a))
		return reason_exit(r);
	json_array_foreach(json_object_get(a, "rows"), i, row)
		printf("%6lld  %s  %-16s  %-14s  %-12.12s  %-24s  %s\n", member_number(row, "number"),
		       member_text(row, "time"), member_text(row, "actor"), member_text(row, "action"),
		       member_text(row, "target"), member_text(row, "reason"), member_text(row, "detail"));
	return 0;
}

int ctl_audit_verify(int argc, char **argv)
{
	_cleanup_(client_free) json_t *a = NULL;
	struct options o;
	long long rows = 0;
	enum reason r = read_all(argc, argv, CLIENT_PATH("audit", "verify"), &o, &a);

	if (r == R_USAGE)
		return CTL_USAGE;
	/* The server does it in slices, between its other work. */
	while (r == R_OK) {
		long long next = member_number(a, "next");
		char query[48];

		rows += member_number(a, "rows");
		if (next == 0)
			break;
		client_free(&a);
		snprintf(query, sizeof(query), "from=%lld", next);
		r = client_get(&o, CLIENT_PATH("audit", "verify"), query, &a);
	}
	if (r != R_OK)
		return reason_exit(r);
	if (json_object_set_new(a, "rows", json_integer(rows)) == 0 && !client_json(&o, a))
		printf("%lld rows, the chain holds\n", rows);
	return 0;
}
