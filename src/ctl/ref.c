/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "ctl/client.h"
#include "ctl/ctl.h"

static void row(const json_t *v)
{
	printf("%6lld  %-20s  %-9s  %6lld  %-20s  %s\n", member_number(v, "id"), member_text(v, "component"),
	       member_text(v, "state"), member_number(v, "events"), member_text(v, "name"), member_text(v, "source"));
}

static void head(void)
{
	printf("%6s  %-20s  %-9s  %6s  %-20s  %s\n", "ID", "COMPONENT", "STATE", "EVENTS", "NAME", "SOURCE");
}

static enum reason list(const struct options *o, json_t **ret)
{
	return client_get(o, CLIENT_PATH("ref"), NULL, ret);
}

int ctl_ref_list(int argc, char **argv)
{
	static const struct option_rule rules[] = { READ_OPTIONS, { "component", false, false },
						    { "state", false, false } };
	static const char *const states[] = { "staged", "active", "retiring", "revoked" };
	_cleanup_(client_free) json_t *a = NULL;
	struct options o;
	json_t *v;
	size_t i;

	if (!options_read(argc, argv, rules, ARRAY_LEN(rules), &o) || o.arguments != 0)
		return CTL_USAGE;
	if (!option_one_of(&o, "state", states, ARRAY_LEN(states)))
		return CTL_USAGE;
	enum reason r = list(&o, &a);
	if (r != R_OK || client_json(&o, a))
		return reason_exit(r);
	head();
	json_array_foreach(json_object_get(a, "variants"), i, v) {
		const char *component = option(&o, "component"), *state = option(&o, "state");

		if ((!component || strcmp(component, member_text(v, "component")) == 0) &&
		    (!state || strcmp(state, member_text(v, "state")) == 0))
			row(v);
	}
	return 0;
}

int ctl_ref_show(int argc, char **argv)
{
	static const struct option_rule rules[] = { READ_OPTIONS };
	_cleanup_(client_free) json_t *a = NULL;
	const char *key;
	struct options o;
	json_t *e, *d;
	size_t i;

	if (!options_read(argc, argv, rules, ARRAY_LEN(rules), &o) || o.arguments != 1)
		return CTL_USAGE;
	enum reason r = client_get(&o, CLIENT_PATH("ref", o.argument[0]), NULL, &a);
	if (r != R_OK || client_json(&o, a))
		return reason_exit(r);
	printf("variant %lld of %s: %s, %s, %s\n", member_number(a, "id"), member_text(a, "component"),
	       member_text(a, "name"), member_text(a, "state"), member_text(a, "source"));
	json_array_foreach(json_object_get(a, "events"), i, e) {
		printf("%5zu  pcr %-2lld  %-34s  %s\n", i, member_number(e, "pcr"), member_text(e, "type"),
		       member_text(e, "text"));
		json_object_foreach(json_object_get(e, "digests"), key, d)
			printf("       %-7s %s\n", key, json_string_value(d));
	}
	return 0;
}

enum reason ctl_ref_staged(const struct options *o, const char *const *path, json_t *body)
{
	_cleanup_(client_free) json_t *a = NULL;
	json_t *v;
	size_t i;

	TRY(client_post(o, path, body, &a));
	if (client_json(o, a))
		return R_OK;
	json_array_foreach(json_object_get(a, "variants"), i, v)
		printf("%6lld  %-20s  %s %-9s  %s\n", member_number(v, "id"), member_text(v, "component"), client_is(o),
		       member_text(v, "state"), member_true(v, "known") ? "known already" : "new");
	return R_OK;
}

int ctl_ref_learn(int argc, char **argv)
{
	static const struct option_rule rules[] = { CHANGE_OPTIONS, { "name", false, false } };
	struct options o;

	if (!options_read(argc, argv, rules, ARRAY_LEN(rules), &o) || o.arguments != 1)
		return CTL_USAGE;
	json_t *body = json_object();
	if (option(&o, "name"))
		json_object_set_new(body, "name", json_string(option(&o, "name")));
	return reason_exit(ctl_ref_staged(&o, CLIENT_PATH("ref", "learn", o.argument[0]), body));
}

static enum reason change_one(const struct options *o, const char *verb, const char *id)
{
	_cleanup_(client_free) json_t *a = NULL;

	if (strcmp(verb, "activate") == 0 && !option_flag(o, "json"))
		TRY(ctl_ref_against_active(o, id));
	json_t *body = json_object();
	if (option(o, "security-version"))
		json_object_set_new(body, "security_version", json_string(option(o, "security-version")));
	enum reason r = client_post(o, CLIENT_PATH("ref", verb, id), body, &a);
	if (r == R_OK && !client_json(o, a))
		printf("variant %lld of %s %s %s\n", member_number(a, "id"), member_text(a, "component"), client_is(o),
		       member_text(a, "state"));
	return r;
}

static enum reason change_staged(const struct options *o, const char *verb)
{
	_cleanup_(client_free) json_t *a = NULL;
	size_t i, count = 0;
	json_t *v;

	TRY(list(o, &a));
	json_array_foreach(json_object_get(a, "variants"), i, v) {
		char id[24];

		if (strcmp(member_text(v, "state"), "staged") != 0)
			continue;
		snprintf(id, sizeof(id), "%lld", member_number(v, "id"));
		TRY(change_one(o, verb, id));
		count++;
	}
	if (count == 0 && !option_flag(o, "json"))
		printf("nothing is staged\n");
	return R_OK;
}

static int change(int argc, char **argv, const char *verb, const struct option_rule *rules, size_t count)
{
	struct options o;
	enum reason r = R_OK;

	if (!options_read(argc, argv, rules, count, &o) ||
	    (o.arguments == 0) != option_flag(&o, "all-staged"))
		return CTL_USAGE;
	if (option_flag(&o, "all-staged"))
		return reason_exit(change_staged(&o, verb));
	for (size_t i = 0; i < o.arguments && r == R_OK; i++)
		r = change_one(&o, verb, o.argument[i]);
	return reason_exit(r);
}

int ctl_ref_activate(int argc, char **argv)
{
	static const struct option_rule rules[] = { CHANGE_OPTIONS, { "all-staged", true, false },
						    { "security-version", false, false } };

	return change(argc, argv, "activate", rules, ARRAY_LEN(rules));
}

int ctl_ref_revoke(int argc, char **argv)
{
	static const struct option_rule rules[] = { CHANGE_OPTIONS, { "all-staged", true, false } };

	return change(argc, argv, "revoke", rules, ARRAY_LEN(rules));
}
