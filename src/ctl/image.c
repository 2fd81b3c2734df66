/* SPDX-License-Identifier: Apache-2.0 */
/* Host images at the server: adding and selecting. image_sign.c is what is done offline. */
#include <stdio.h>
#include <string.h>

#include "base/base64.h"
#include "base/cleanup.h"
#include "base/limits.h"
#include "ctl/client.h"
#include "ctl/ctl.h"

static void row(const json_t *m)
{
	printf("%.16s  %-12s  %-16s  %-12s  %6lld  %s", member_text(m, "digest"), member_text(m, "line"),
	       member_text(m, "version"), member_text(m, "purpose"), member_number(m, "security_version"),
	       member_text(m, "added"));
}

/* "  all, group gpu-hall, 2 nodes" */
static void selections(const json_t *targets)
{
	const char *before = "  ";
	const json_t *target;
	size_t i, nodes = 0;

	json_array_foreach(targets, i, target) {
		const char *t = json_string_value(target);

		if (!t)
			continue;
		if (strcmp(t, "*") == 0)
			printf("%sall", before);
		else if (strncmp(t, "group:", 6) == 0)
			printf("%sgroup %s", before, t + 6);
		else {
			nodes++;
			continue;
		}
		before = ", ";
	}
	if (nodes > 0)
		printf("%s%zu node%s", before, nodes, nodes == 1 ? "" : "s");
	printf("\n");
}

int ctl_image_add(int argc, char **argv)
{
	static const struct option_rule rules[] = { CHANGE_OPTIONS };
	_cleanup_(blob_free) struct blob cose = BLOB(LIMIT_MANIFEST), encoded = BLOB(2ul * LIMIT_MANIFEST);
	_cleanup_(client_free) json_t *a = NULL;
	struct options o;

	if (!options_read(argc, argv, rules, ARRAY_LEN(rules), &o) || o.arguments != 1)
		return CTL_USAGE;
	enum reason r = ctl_read_file(o.argument[0], LIMIT_MANIFEST, &cose);
	if (r == R_OK)
		r = base64_encode(blob_bytes(&cose), &encoded);
	if (r != R_OK)
		return ctl_refused(r, o.argument[0]);
	json_t *body = json_object();
	json_object_set_new(body, "body", json_stringn((const char *)encoded.p, encoded.n));
	r = client_post(&o, CLIENT_PATH("image"), body, &a);
	if (r == R_OK && !client_json(&o, a))
		printf("%s:%s %s at the server, digest %s\n", member_text(a, "line"), member_text(a, "version"),
		       client_is(&o), member_text(a, "digest"));
	return reason_exit(r);
}

/* `select` or `unselect` of an image, for whom the options say. */
static int choose(int argc, char **argv, const char *verb, const char *words)
{
	static const struct option_rule rules[] = { CHANGE_OPTIONS, { "node", false, false }, { "group", false, false } };
	_cleanup_(client_free) json_t *a = NULL;
	struct options o;

	if (!options_read(argc, argv, rules, ARRAY_LEN(rules), &o) || o.arguments != 1 ||
	    (option(&o, "node") && option(&o, "group")))
		return CTL_USAGE;
	json_t *body = json_object();
	if (option(&o, "group"))
		json_object_set_new(body, "group", json_string(option(&o, "group")));
	else
		json_object_set_new(body, "target", json_string(option(&o, "node") ? option(&o, "node") : "*"));
	enum reason r = client_post(&o, CLIENT_PATH("image", verb, o.argument[0]), body, &a);
	if (r == R_OK && !client_json(&o, a))
		printf("%s:%s %s %s for %s\n", member_text(a, "line"), member_text(a, "version"), client_is(&o), words,
		       strcmp(member_text(a, "target"), "*") == 0 ? "every node" : member_text(a, "target"));
	return reason_exit(r);
}

int ctl_image_select(int argc, char **argv)
{
	return choose(argc, argv, "select", "selected");
}

int ctl_image_unselect(int argc, char **argv)
{
	return choose(argc, argv, "unselect", "no longer selected");
}

int ctl_image_list(int argc, char **argv)
{
	static const struct option_rule rules[] = { READ_OPTIONS };
	_cleanup_(client_free) json_t *a = NULL;
	struct options o;
	json_t *m;
	size_t i;

	if (!options_read(argc, argv, rules, ARRAY_LEN(rules), &o) || o.arguments != 0)
		return CTL_USAGE;
	enum reason r = client_get(&o, CLIENT_PATH("image"), NULL, &a);
	if (r != R_OK || client_json(&o, a))
		return reason_exit(r);
	json_array_foreach(json_object_get(a, "images"), i, m) {
		row(m);
		selections(json_object_get(m, "selected_for"));
	}
	return 0;
}
