/* SPDX-License-Identifier: Apache-2.0 */
/* Groups of nodes. */
#include <stdio.h>

#include "base/cleanup.h"
#include "ctl/client.h"
#include "ctl/ctl.h"

int ctl_group_list(int argc, char **argv)
{
	static const struct option_rule rules[] = { READ_OPTIONS };
	_cleanup_(client_free) json_t *a = NULL;
	struct options o;
	json_t *g;
	size_t i;

	if (!options_read(argc, argv, rules, ARRAY_LEN(rules), &o) || o.arguments != 0)
		return CTL_USAGE;
	enum reason r = client_get(&o, CLIENT_PATH("group"), NULL, &a);
	if (r != R_OK || client_json(&o, a))
		return reason_exit(r);
	printf("%-24s  %6s  %6s  %s\n", "GROUP", "NODES", "LISTED", "POLICY");
	json_array_foreach(json_object_get(a, "groups"), i, g)
		printf("%-24s  %6lld  %6lld  %s\n", member_text(g, "group"), member_number(g, "nodes"),
		       member_number(g, "listed"),
		       member_text(g, "policy")[0] ? member_text(g, "policy") : "default");
	return 0;
}

/* add and remove: a name, and nothing else to say. */
static int named(int argc, char **argv, const char *verb, const char *done)
{
	static const struct option_rule rules[] = { CHANGE_OPTIONS };
	_cleanup_(client_free) json_t *a = NULL;
	struct options o;

	if (!options_read(argc, argv, rules, ARRAY_LEN(rules), &o) || o.arguments != 1)
		return CTL_USAGE;
	enum reason r = client_post(&o, CLIENT_PATH("group", o.argument[0], verb), NULL, &a);
	if (r == R_OK && !client_json(&o, a))
		printf("group %s %s %s\n", member_text(a, "group"), client_is(&o), done);
	return reason_exit(r);
}

int ctl_group_add(int argc, char **argv)
{
	return named(argc, argv, "add", "made");
}

int ctl_group_remove(int argc, char **argv)
{
	return named(argc, argv, "remove", "gone");
}

int ctl_group_assign(int argc, char **argv)
{
	static const struct option_rule rules[] = { CHANGE_OPTIONS, { "none", true, false } };
	_cleanup_(client_free) json_t *a = NULL;
	struct options o;

	if (!options_read(argc, argv, rules, ARRAY_LEN(rules), &o) ||
	    o.arguments != (option_flag(&o, "none") ? 1 : 2))
		return CTL_USAGE;
	json_t *body = json_pack("{s:s}", "group", option_flag(&o, "none") ? "" : o.argument[1]);
	enum reason r = client_post(&o, CLIENT_PATH("node", o.argument[0], "group"), body, &a);
	if (r == R_OK && !client_json(&o, a))
		printf("%.12s %s in %s\n", member_text(a, "id"), client_is(&o),
		       member_text(a, "group")[0] ? member_text(a, "group") : "no group");
	return reason_exit(r);
}
