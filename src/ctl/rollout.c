/* SPDX-License-Identifier: Apache-2.0 */
/* Rollouts of new variants. */
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "ctl/client.h"
#include "ctl/ctl.h"

static void head(void)
{
	printf("%-20s  %-16s  %-8s  %7s  %8s  %7s  %6s\n", "ROLLOUT", "GROUP", "STATE", "WAITING", "UPDATING",
	       "UPDATED", "FAILED");
}

static void row(const json_t *r)
{
	const json_t *n = json_object_get(r, "nodes");

	printf("%-20s  %-16s  %-8s  %7lld  %8lld  %7lld  %6lld\n", member_text(r, "rollout"), member_text(r, "group"),
	       member_text(r, "state"), member_number(n, "waiting"), member_number(n, "updating"),
	       member_number(n, "updated"), member_number(n, "failed"));
}

int ctl_rollout_list(int argc, char **argv)
{
	static const struct option_rule rules[] = { READ_OPTIONS };
	_cleanup_(client_free) json_t *a = NULL;
	struct options o;
	json_t *r;
	size_t i;

	if (!options_read(argc, argv, rules, ARRAY_LEN(rules), &o) || o.arguments != 0)
		return CTL_USAGE;
	enum reason done = client_get(&o, CLIENT_PATH("rollout"), NULL, &a);
	if (done != R_OK || client_json(&o, a))
		return reason_exit(done);
	head();
	json_array_foreach(json_object_get(a, "rollouts"), i, r)
		row(r);
	return 0;
}

int ctl_rollout_show(int argc, char **argv)
{
	static const struct option_rule rules[] = { READ_OPTIONS };
	_cleanup_(client_free) json_t *a = NULL;
	struct options o;
	json_t *x;
	size_t i;

	if (!options_read(argc, argv, rules, ARRAY_LEN(rules), &o) || o.arguments != 1)
		return CTL_USAGE;
	enum reason done = client_get(&o, CLIENT_PATH("rollout", o.argument[0]), NULL, &a);
	if (done != R_OK || client_json(&o, a))
		return reason_exit(done);
	head();
	row(a);
	printf("\nmaintenance image %.12s; stops at %lld failed, %lld on their way at once, %lld tries of each\n",
	       member_text(a, "image"), member_number(a, "failures"), member_number(a, "at_once"),
	       member_number(a, "tries"));
	json_array_foreach(json_object_get(a, "variants"), i, x)
		printf("brings variant %lld of %s, %s (%s)\n", member_number(x, "id"), member_text(x, "component"),
		       member_text(x, "name"), member_text(x, "state"));
	printf("\n%-12s  %-20s  %-8s  %5s  %-20s  %s\n", "NODE", "LABEL", "PROGRESS", "TRIES", "SINCE", "REASON");
	json_array_foreach(json_object_get(a, "progress"), i, x)
		printf("%-12.12s  %-20s  %-8s  %5lld  %-20s  %s\n", member_text(x, "id"), member_text(x, "label"),
		       member_text(x, "progress"), member_number(x, "tries"), member_text(x, "since"),
		       member_text(x, "reason"));
	return 0;
}

/* Variants as the API wants them: numbers with a comma between two. */
static bool numbers(const struct options *o, char *ret, size_t n)
{
	const char *const *value;
	size_t count = option_all(o, "variant", &value), at = 0;

	for (size_t i = 0; i < count; i++) {
		int len = snprintf(ret + at, n - at, "%s%s", i ? "," : "", value[i]);

		if (len < 0 || (size_t)len >= n - at)
			return false;
		at += (size_t)len;
	}
	return count > 0;
}

int ctl_rollout_create(int argc, char **argv)
{
	static const struct option_rule rules[] = {
		CHANGE_OPTIONS, { "group", false, false }, { "image", false, false }, { "variant", false, true },
		{ "failures", false, false }, { "tries", false, false }, { "at-once", false, false },
	};
	static const char *const limits[][2] = { { "failures", "failures" }, { "tries", "tries" },
						 { "at-once", "at_once" } };
	_cleanup_(client_free) json_t *a = NULL;
	char variants[256];
	struct options o;

	if (!options_read(argc, argv, rules, ARRAY_LEN(rules), &o) || o.arguments != 1 || !option(&o, "group") ||
	    !option(&o, "image") || !numbers(&o, variants, sizeof(variants)))
		return CTL_USAGE;
	json_t *body = json_pack("{s:s, s:s, s:s}", "group", option(&o, "group"), "image", option(&o, "image"),
				 "variants", variants);
	for (size_t i = 0; i < ARRAY_LEN(limits); i++)
		if (option(&o, limits[i][0]))
			json_object_set_new(body, limits[i][1], json_string(option(&o, limits[i][0])));
	enum reason r = client_post(&o, CLIENT_PATH("rollout", o.argument[0], "create"), body, &a);
	if (r == R_OK && !client_json(&o, a))
		printf("rollout %s %s made, for group %s\n", member_text(a, "rollout"), client_is(&o),
		       member_text(a, "group"));
	return reason_exit(r);
}

static int drive(int argc, char **argv, const char *verb)
{
	static const struct option_rule rules[] = { CHANGE_OPTIONS };
	_cleanup_(client_free) json_t *a = NULL;
	struct options o;

	if (!options_read(argc, argv, rules, ARRAY_LEN(rules), &o) || o.arguments != 1)
		return CTL_USAGE;
	enum reason r = client_post(&o, CLIENT_PATH("rollout", o.argument[0], verb), NULL, &a);
	if (r == R_OK && !client_json(&o, a))
		printf("rollout %s %s %s\n", member_text(a, "rollout"), client_is(&o), member_text(a, "state"));
	return reason_exit(r);
}

int ctl_rollout_start(int argc, char **argv)
{
	return drive(argc, argv, "start");
}

int ctl_rollout_pause(int argc, char **argv)
{
	return drive(argc, argv, "pause");
}

int ctl_rollout_resume(int argc, char **argv)
{
	return drive(argc, argv, "resume");
}

int ctl_rollout_stop(int argc, char **argv)
{
	return drive(argc, argv, "stop");
}

int ctl_rollout_retry(int argc, char **argv)
{
	static const struct option_rule rules[] = { CHANGE_OPTIONS };
	_cleanup_(client_free) json_t *a = NULL;
	struct options o;

	if (!options_read(argc, argv, rules, ARRAY_LEN(rules), &o) || o.arguments != 2)
		return CTL_USAGE;
	json_t *body = json_pack("{s:s}", "node", o.argument[1]);
	enum reason r = client_post(&o, CLIENT_PATH("rollout", o.argument[0], "retry"), body, &a);
	if (r == R_OK && !client_json(&o, a))
		printf("%.12s %s as new to rollout %s\n", member_text(a, "id"), client_is(&o), member_text(a, "rollout"));
	return reason_exit(r);
}
