/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "base/cleanup.h"
#include "ctl/client.h"
#include "ctl/ctl.h"

#define POLICY_FILE_MAX (1u << 20)

int ctl_policy_show(int argc, char **argv)
{
	static const struct option_rule rules[] = { READ_OPTIONS, { "group", false, false } };
	_cleanup_(client_free) json_t *a = NULL;
	struct options o;
	char query[256] = "";

	if (!options_read(argc, argv, rules, ARRAY_LEN(rules), &o) || o.arguments != 0 ||
	    (option(&o, "group") && !client_query(query, sizeof(query), "group", option(&o, "group"))))
		return CTL_USAGE;
	enum reason r = client_get(&o, CLIENT_PATH("policy"), query[0] ? query : NULL, &a);
	/* What is shown is what `policy set` takes. */
	if (r == R_OK && !client_json(&o, a)) {
		json_dumpf(a, stdout, JSON_INDENT(2));
		putchar('\n');
	}
	return reason_exit(r);
}

int ctl_policy_set(int argc, char **argv)
{
	static const struct option_rule rules[] = { CHANGE_OPTIONS, { "group", false, false } };
	_cleanup_(blob_free) struct blob text = BLOB(POLICY_FILE_MAX);
	_cleanup_(client_free) json_t *a = NULL;
	struct options o;
	json_error_t e;

	if (!options_read(argc, argv, rules, ARRAY_LEN(rules), &o) || o.arguments != 1)
		return CTL_USAGE;
	enum reason r = ctl_read_file(o.argument[0], POLICY_FILE_MAX, &text);
	if (r != R_OK)
		return ctl_refused(r, o.argument[0]);
	json_t *policy = json_loadb((const char *)text.p, text.n, JSON_REJECT_DUPLICATES, &e);
	if (!policy) {
		fprintf(stderr, "bootgatectl: %s line %d: %s\n", o.argument[0], e.line, e.text);
		return ctl_refused(R_FORMAT_TEXT, o.argument[0]);
	}
	json_t *body = json_object();
	json_object_set_new(body, "body", policy);
	if (option(&o, "group"))
		json_object_set_new(body, "group", json_string(option(&o, "group")));
	r = client_post(&o, CLIENT_PATH("policy"), body, &a);
	if (r == R_OK && !client_json(&o, a))
		printf("policy %s version %lld %s in force for %s\n", member_text(a, "id"), member_number(a, "version"),
		       client_is(&o),
		       member_text(a, "group")[0] ? member_text(a, "group") : "every node whose group has no other");
	return reason_exit(r);
}
