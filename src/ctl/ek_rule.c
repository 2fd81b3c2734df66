/* SPDX-License-Identifier: Apache-2.0 */
/* ek rule-*: what becomes of new TPMs of a vendor CA and model. */
#include <stdio.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "ctl/client.h"
#include "ctl/ctl.h"

static void row(const json_t *r)
{
	json_t *network;
	size_t i;

	printf("%-24s  %-5s  %-14s  %-8s  %-20s  %-12s  %7lld", member_text(r, "rule"), member_text(r, "does"),
	       member_text(r, "state"), member_text(r, "manufacturer"), member_text(r, "model"),
	       member_text(r, "group")[0] ? member_text(r, "group") : "-", member_number(r, "waiting"));
	if (member_text(r, "until")[0])
		printf("  %lld of %lld until %s from", member_number(r, "enrolled"), member_number(r, "max"),
		       member_text(r, "until"));
	json_array_foreach(json_object_get(r, "from"), i, network)
		printf(" %s", json_string_value(network));
	printf("\n%26sanchor %s\n", "", member_text(r, "anchor"));
}

int ctl_ek_rule_list(int argc, char **argv)
{
	static const struct option_rule rules[] = { READ_OPTIONS };
	_cleanup_(client_free) json_t *a = NULL;
	struct options o;
	json_t *r;
	size_t i;

	if (!options_read(argc, argv, rules, ARRAY_LEN(rules), &o) || o.arguments != 0)
		return CTL_USAGE;
	enum reason got = client_get(&o, CLIENT_PATH("rule"), NULL, &a);
	if (got != R_OK || client_json(&o, a))
		return reason_exit(got);
	printf("%-24s  %-5s  %-14s  %-8s  %-20s  %-12s  %7s  %s\n", "RULE", "DOES", "STATE", "MAKER", "MODEL", "GROUP",
	       "WAITING", "ENROLLED");
	json_array_foreach(json_object_get(a, "rules"), i, r)
		row(r);
	return 0;
}

/* What bounds it. False for a time or number that is none, which was said. */
static bool bounds(const struct options *o, json_t *body)
{
	const char *until = option(o, "until"), *max = option(o, "max"), *const *from;
	size_t networks = option_all(o, "from", &from);
	json_t *list = json_array();
	uint64_t most = 0;
	int64_t when = 0;

	for (size_t i = 0; i < networks; i++)
		json_array_append_new(list, json_string(from[i]));
	json_object_set_new(body, "from", list);
	if (until && !option_time(until, &when)) {
		fprintf(stderr, "bootgatectl: --until %s: a day, 2026-01-31, or a time, 2026-01-31T12:00:00Z\n", until);
		return false;
	}
	if (max && text_u64(bytes_str(max), INT32_MAX, &most) != R_OK) {
		fprintf(stderr, "bootgatectl: --max %s: not a number of nodes\n", max);
		return false;
	}
	if (until)
		json_object_set_new(body, "until", json_integer(when));
	if (max)
		json_object_set_new(body, "max", json_integer((json_int_t)most));
	return true;
}

int ctl_ek_rule_add(int argc, char **argv)
{
	static const struct option_rule rules[] = {
		CHANGE_OPTIONS,
		{ "anchor", false, false }, { "manufacturer", false, false }, { "model", false, false },
		{ "group", false, false }, { "enrol", true, false }, { "until", false, false },
		{ "max", false, false }, { "from", false, true },
	};
	static const char *const texts[] = { "anchor", "manufacturer", "model", "group" };
	_cleanup_(client_free) json_t *a = NULL, *rule = json_object();
	struct options o;

	if (!options_read(argc, argv, rules, ARRAY_LEN(rules), &o) || o.arguments != 1 || !option(&o, "anchor") ||
	    !option(&o, "manufacturer") || !option(&o, "model"))
		return CTL_USAGE;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		if (option(&o, texts[i]))
			json_object_set_new(rule, texts[i], json_string(option(&o, texts[i])));
	json_object_set_new(rule, "enrol", json_boolean(option_flag(&o, "enrol")));
	if (!bounds(&o, rule))
		return CTL_USAGE;
	enum reason r = client_post(&o, CLIENT_PATH("rule", o.argument[0], "add"), json_pack("{s:O}", "body", rule), &a);
	if (r == R_OK && !client_json(&o, a))
		printf("rule %s %s made\n", member_text(a, "rule"), client_is(&o));
	return reason_exit(r);
}

int ctl_ek_rule_remove(int argc, char **argv)
{
	static const struct option_rule rules[] = { CHANGE_OPTIONS };
	_cleanup_(client_free) json_t *a = NULL;
	struct options o;

	if (!options_read(argc, argv, rules, ARRAY_LEN(rules), &o) || o.arguments != 1)
		return CTL_USAGE;
	enum reason r = client_post(&o, CLIENT_PATH("rule", o.argument[0], "remove"), NULL, &a);
	if (r == R_OK && !client_json(&o, a))
		printf("rule %s %s gone; %lld nodes that it enrolled stay in, %lld that wait lose its mark\n",
		       member_text(a, "rule"), client_is(&o), member_number(a, "enrolled"), member_number(a, "waiting"));
	return reason_exit(r);
}
