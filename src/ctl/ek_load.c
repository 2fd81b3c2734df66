/* SPDX-License-Identifier: Apache-2.0 */
/* ek load: a list of endorsement keys that came another way. */
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "ctl/client.h"
#include "ctl/ctl.h"
#include "ctl/ek_list.h"

#define LIST_FILE_MAX (8u << 20)

/* The lines that the server did not see among its results: both are in the order of the file. */
static enum reason results_merge(json_t *answer, const json_t *bad)
{
	json_t *results = json_object_get(answer, "results"), *line;
	size_t i, at = 0;

	json_array_foreach(bad, i, line) {
		while (at < json_array_size(results) &&
		       member_number(json_array_get(results, at), "line") < member_number(line, "line"))
			at++;
		if (json_array_insert(results, at++, line) != 0)
			return R_INTERNAL_MEMORY;
	}
	json_object_set_new(answer, "bad", json_integer(member_number(answer, "bad") + (json_int_t)i));
	if (i > 0)
		json_object_set_new(answer, "good", json_false());
	return R_OK;
}

static void show(const json_t *a, bool dry_run)
{
	const json_t *line;
	size_t i;

	json_array_foreach(json_object_get(a, "results"), i, line)
		printf("line %-6lld %-8s %s%s%s\n", member_number(line, "line"), member_text(line, "result"),
		       member_text(line, "reason"), member_text(line, "reason")[0] ? ": " : "",
		       member_text(line, "detail"));
	printf("%lld new, %lld known, %lld conflict, %lld bad: %s\n", member_number(a, "new"),
	       member_number(a, "known"), member_number(a, "conflict"), member_number(a, "bad"),
	       member_true(a, "loaded") ? "loaded" :
	       member_true(a, "good") && dry_run ? "would be loaded" :
						   "nothing was loaded");
}

/* Takes over `good`. Lines that cannot be read make a trial of it: all or none. */
static enum reason load(const struct options *o, const char *list, json_t *good, const json_t *bad, json_t **ret)
{
	if (json_array_size(good) == 0) {
		json_decref(good);
		*ret = json_pack("{s:[] s:b s:b}", "results", "loaded", 0, "good", 0);
		return *ret ? R_OK : R_INTERNAL_MEMORY;
	}
	json_t *body = json_pack("{s:o}", "body", good);
	if (json_array_size(bad) > 0)
		json_object_set_new(body, "dry_run", json_true());
	return client_post(o, CLIENT_PATH("ek", "load", list), body, ret);
}

int ctl_ek_load(int argc, char **argv)
{
	static const struct option_rule rules[] = { CHANGE_OPTIONS };
	_cleanup_(blob_free) struct blob text = BLOB(LIST_FILE_MAX + 1);
	_cleanup_(client_free) json_t *a = NULL, *good = json_array(), *bad = json_array();
	struct options o;

	if (!options_read(argc, argv, rules, ARRAY_LEN(rules), &o) || o.arguments != 1)
		return CTL_USAGE;
	const char *path = o.argument[0], *name = strrchr(path, '/');
	enum reason r = ctl_read_file(path, LIST_FILE_MAX, &text);
	if (r == R_OK)
		r = blob_u8(&text, 0);
	if (r == R_OK)
		r = ek_list_read((char *)text.p, text.n, good, bad);
	if (r == R_OK && json_array_size(good) + json_array_size(bad) == 0)
		r = R_EK_NO_LINES;
	if (r != R_OK)
		return ctl_refused(r, path);
	r = load(&o, name ? name + 1 : path, json_incref(good), bad, &a);
	if (r == R_OK)
		r = results_merge(a, bad);
	if (r != R_OK)
		return reason_exit(r);
	if (!client_json(&o, a))
		show(a, option_flag(&o, "dry-run"));
	return member_true(a, "good") ? 0 : reason_exit(R_EK_LISTED);
}

int ctl_ek_remove(int argc, char **argv)
{
	static const struct option_rule rules[] = { CHANGE_OPTIONS, { "key", false, false } };
	_cleanup_(client_free) json_t *a = NULL;
	struct options o;

	if (!options_read(argc, argv, rules, ARRAY_LEN(rules), &o) || o.arguments != 1)
		return CTL_USAGE;
	json_t *body = json_object();
	if (option(&o, "key"))
		json_object_set_new(body, "key", json_string(option(&o, "key")));
	enum reason r = client_post(&o, CLIENT_PATH("ek", "remove", o.argument[0]), body, &a);
	if (r == R_OK && !client_json(&o, a))
		printf("%s%lld removed; nodes that are in stay in\n", option_flag(&o, "dry-run") ? "(dry run) " : "",
		       member_number(a, "removed"));
	return reason_exit(r);
}
