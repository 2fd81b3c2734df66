/* SPDX-License-Identifier: Apache-2.0 */
/* Why a node got its verdict: event by event, with the remedy. */
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "ctl/client.h"
#include "ctl/ctl.h"

static void finding(const json_t *f)
{
	const json_t *e = json_object_get(f, "event");

	/* Nothing is wrong and nothing is to be done: only what was seen. */
	if (strcmp(member_text(f, "severity"), "info") == 0) {
		printf("\nnote: %s%s%s\n", member_text(f, "component"), member_text(f, "component")[0] ? ": " : "",
		       member_text(f, "observed"));
		return;
	}
	printf("\n%s: %s\n  %s\n", member_text(f, "severity"), member_text(f, "reason"), member_text(f, "sentence"));
	if (member_text(f, "component")[0])
		printf("  component  %s\n", member_text(f, "component"));
	if (e) {
		printf("  event      %lld of the %s log, pcr %lld, %s\n", member_number(e, "number"),
		       member_text(e, "log"), member_number(e, "pcr"), member_text(e, "type"));
		if (member_text(e, "digest")[0])
			printf("  digest     %s %s\n", member_text(e, "bank"), member_text(e, "digest"));
	}
	if (member_text(f, "observed")[0])
		printf("  observed   %s\n", member_text(f, "observed"));
	if (member_text(f, "expected")[0])
		printf("  expected   %s\n", member_text(f, "expected"));
	if (member_text(f, "nearest")[0])
		printf("  nearest    %s\n", member_text(f, "nearest"));
	printf("  what to do %s\n", member_text(f, "remedy"));
}

int ctl_explain(int argc, char **argv)
{
	static const struct option_rule rules[] = { READ_OPTIONS, { "boot", false, false } };
	_cleanup_(client_free) json_t *a = NULL;
	char query[64];
	struct options o;
	json_t *f;
	size_t i;

	if (!options_read(argc, argv, rules, ARRAY_LEN(rules), &o) || o.arguments != 1)
		return CTL_USAGE;
	snprintf(query, sizeof(query), "boot=%.10s", option(&o, "boot") ? option(&o, "boot") : "0");
	enum reason r = client_get(&o, CLIENT_PATH("explain", o.argument[0]), query, &a);
	if (r != R_OK || client_json(&o, a))
		return reason_exit(r);
	const json_t *n = json_object_get(a, "node");
	printf("node %.12s %s: %s (%s) at %s\n", member_text(n, "id"), member_text(n, "label"),
	       member_text(a, "directive"), member_text(a, "reason"), member_text(a, "time"));
	json_array_foreach(json_object_get(a, "findings"), i, f)
		finding(f);
	if (json_array_size(json_object_get(a, "matches")) > 0)
		printf("\nmatched\n");
	json_array_foreach(json_object_get(a, "matches"), i, f)
		printf("  %-20s variant %lld %s\n", member_text(f, "component"), member_number(f, "id"),
		       member_text(f, "variant"));
	return 0;
}
