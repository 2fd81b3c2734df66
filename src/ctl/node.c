/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/base64.h"
#include "base/cleanup.h"
#include "ctl/client.h"
#include "ctl/ctl.h"
#include "format/evidence.h"

static const char *state_of(const json_t *n)
{
	return member_true(n, "held") && strcmp(member_text(n, "state"), "enrolled") == 0 ? "held" :
											     member_text(n, "state");
}

/* With whom it conflicts: another node, keys that are nobody's, or its name. */
static void conflict_of(const json_t *n, char *ret, size_t size)
{
	const json_t *k = json_object_get(n, "conflict");

	if (k && member_text(k, "node")[0])
		snprintf(ret, size, "conflict with %.12s", member_text(k, "node"));
	else if (k)
		snprintf(ret, size, "conflict with keys from %s", member_text(k, "address"));
	else if (member_text(n, "label_also")[0])
		snprintf(ret, size, "label also of %.12s", member_text(n, "label_also"));
	else if (member_text(n, "board_also")[0])
		snprintf(ret, size, "board also of %.12s", member_text(n, "board_also"));
	else
		ret[0] = '\0';
}

static void row(const json_t *n)
{
	char conflict[128];

	conflict_of(n, conflict, sizeof(conflict));
	/* Who waits with the mark of a rule shows it. */
	if (!conflict[0] && member_text(n, "rule")[0] && strcmp(member_text(n, "state"), "pending") == 0)
		snprintf(conflict, sizeof(conflict), "%s", member_text(n, "basis"));
	printf("%.12s  %-16s  %-12s  %-8s  %-9s  %-24s  %-20s  %s\n", member_text(n, "id"),
	       member_text(n, "label")[0] ? member_text(n, "label") : "-",
	       member_text(n, "group")[0] ? member_text(n, "group") : "-", state_of(n),
	       member_text(n, "last_directive")[0] ? member_text(n, "last_directive") : "-",
	       member_text(n, "last_reason")[0] ? member_text(n, "last_reason") : "-", member_text(n, "seen"),
	       conflict);
}

/* The server answers in pages, in the order of ids. */
static enum reason all_nodes(const struct options *o, const char *filter, json_t **ret)
{
	_cleanup_(client_free) json_t *all = json_object(), *page = NULL;
	json_t *nodes = json_array();
	char query[400], next[80] = "";

	if (json_object_set_new(all, "nodes", nodes) != 0)
		return ctl_refused(R_INTERNAL_MEMORY, NULL), R_INTERNAL_MEMORY;
	do {
		client_free(&page);
		snprintf(query, sizeof(query), "%s", filter);
		if (next[0] && !client_query(query, sizeof(query), "after", next))
			return ctl_refused(R_NET_ANSWER, NULL), R_NET_ANSWER;
		TRY(client_get(o, CLIENT_PATH("node"), query[0] ? query : NULL, &page));
		if (json_array_extend(nodes, json_object_get(page, "nodes")) != 0)
			return ctl_refused(R_NET_ANSWER, NULL), R_NET_ANSWER;
		snprintf(next, sizeof(next), "%.64s", member_text(page, "next"));
	} while (next[0]);
	*ret = take_ptr(all);
	return R_OK;
}

int ctl_node_list(int argc, char **argv)
{
	static const struct option_rule rules[] = { READ_OPTIONS, { "state", false, false }, { "group", false, false },
						    { "rule", false, false } };
	static const char *const filters[] = { "state", "group", "rule" };
	static const char *const states[] = { "pending", "enrolled", "held", "conflict", "revoked", "retired" };
	_cleanup_(client_free) json_t *a = NULL;
	struct options o;
	char query[256] = "";
	json_t *n;
	size_t i;

	if (!options_read(argc, argv, rules, ARRAY_LEN(rules), &o) || o.arguments != 0)
		return CTL_USAGE;
	if (!option_one_of(&o, "state", states, ARRAY_LEN(states)))
		return CTL_USAGE;
	for (i = 0; i < ARRAY_LEN(filters); i++)
		if (option(&o, filters[i]) &&
		    !client_query(query, sizeof(query), filters[i], option(&o, filters[i])))
			return CTL_USAGE;
	enum reason r = all_nodes(&o, query, &a);
	if (r != R_OK || client_json(&o, a))
		return reason_exit(r);
	printf("%-12s  %-16s  %-12s  %-8s  %-9s  %-24s  %s\n", "ID", "LABEL", "GROUP", "STATE", "DIRECTIVE", "REASON", "SEEN");
	json_array_foreach(json_object_get(a, "nodes"), i, n)
		row(n);
	return 0;
}

/* A boot that was admitted ends with a receipt, or the image was never started. */
static const char *receipt_of(const json_t *boot)
{
	if (member_true(boot, "receipt"))
		return "receipt";
	return strcmp(member_text(boot, "directive"), "admit") == 0 &&
		       strcmp(member_text(boot, "stage"), "gate") == 0 ? "no receipt" : "";
}

static void show(const json_t *a)
{
	static const char *const names[] = { "id",	"label", "group", "state",    "basis",	       "address",    "ak_name",
					     "created", "approved", "seen", "last_directive", "last_reason" };
	char conflict[128];
	json_t *e;
	size_t i;

	for (i = 0; i < ARRAY_LEN(names); i++)
		printf("%-16s %s\n", names[i], member_text(a, names[i]));
	e = json_object_get(a, "policy");
	printf("%-16s %s version %lld (%s)\n", "policy", member_text(e, "id"), member_number(e, "version"),
	       member_text(e, "from"));
	json_array_foreach(json_object_get(a, "images"), i, e)
		printf("%-16s %s: %s:%s (%s)\n", i ? "" : "image", member_text(e, "purpose"), member_text(e, "line"),
		       member_text(e, "version"), member_text(e, "from"));
	conflict_of(a, conflict, sizeof(conflict));
	if (conflict[0])
		printf("%-16s %s %s\n", "conflict", conflict,
		       member_text(json_object_get(a, "conflict"), "time"));
	json_array_foreach(json_object_get(a, "rebound"), i, e)
		printf("%-16s %s %s\n", member_text(e, "replaces")[0] ? "replaces" : "replaced_by",
		       member_text(e, member_text(e, "replaces")[0] ? "replaces" : "replaced_by"), member_text(e, "time"));
	printf("%-16s reset %lld, restart %lld, firmware %016llx\n", "tpm", member_number(a, "reset_count"),
	       member_number(a, "restart_count"), (unsigned long long)member_number(a, "tpm_firmware"));
	printf("%-16s", "banks");
	json_array_foreach(json_object_get(a, "banks"), i, e)
		printf(" %s", json_string_value(e));
	printf("\n");
	json_array_foreach(json_object_get(a, "endorsement_keys"), i, e)
		printf("%-16s name %s\n%-16s certificate %s\n", i ? "" : "endorsement", member_text(e, "name"), "",
		       member_text(e, "certificate_sha256")[0] ? member_text(e, "certificate_sha256") : "none");
	json_array_foreach(json_object_get(a, "boots"), i, e)
		printf("%-16s %s  %-6s %-8s %-24s %s\n", i ? "" : "boots", member_text(e, "time"),
		       member_text(e, "stage"), member_text(e, "directive"), member_text(e, "reason"), receipt_of(e));
}

int ctl_node_show(int argc, char **argv)
{
	static const struct option_rule rules[] = { READ_OPTIONS };
	_cleanup_(client_free) json_t *a = NULL;
	struct options o;

	if (!options_read(argc, argv, rules, ARRAY_LEN(rules), &o) || o.arguments != 1)
		return CTL_USAGE;
	enum reason r = client_get(&o, CLIENT_PATH("node", o.argument[0]), NULL, &a);
	if (r == R_OK && !client_json(&o, a))
		show(a);
	return reason_exit(r);
}

static int change(const struct options *o, const char *verb, json_t *body)
{
	_cleanup_(client_free) json_t *a = NULL;
	enum reason r = client_post(o, CLIENT_PATH("node", o->argument[0], verb), body, &a);

	if (r == R_OK && !client_json(o, a))
		printf("%.12s %s %s\n", member_text(a, "id"), client_is(o), member_text(a, "state"));
	return reason_exit(r);
}

/* All that a rule marked, but those that conflict with others. */
static int approve_marked(const struct options *o)
{
	_cleanup_(client_free) json_t *a = NULL;
	json_t *n;
	size_t i;

	if (o->arguments != 0 || option(o, "label") || option(o, "group"))
		return CTL_USAGE;
	enum reason r = client_post(o, CLIENT_PATH("rule", option(o, "rule"), "approve"), NULL, &a);
	if (r != R_OK || client_json(o, a))
		return reason_exit(r);
	json_array_foreach(json_object_get(a, "nodes"), i, n)
		printf("%.12s %s %s\n", member_text(n, "id"), client_is(o), member_text(n, "state"));
	printf("%zu approved, %lld passed over for a conflict%s\n", i, member_number(a, "passed_over"),
	       member_true(a, "more") ? "; more wait, run it again" : "");
	return 0;
}

int ctl_node_approve(int argc, char **argv)
{
	static const struct option_rule rules[] = { CHANGE_OPTIONS, { "label", false, false }, { "group", false, false },
						    { "rule", false, false } };
	static const char *const texts[] = { "label", "group" };
	struct options o;

	if (!options_read(argc, argv, rules, ARRAY_LEN(rules), &o))
		return CTL_USAGE;
	if (option(&o, "rule"))
		return approve_marked(&o);
	if (o.arguments != 1)
		return CTL_USAGE;
	json_t *body = json_object();
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		if (option(&o, texts[i]))
			json_object_set_new(body, texts[i], json_string(option(&o, texts[i])));
	return change(&o, "approve", body);
}

int ctl_node_revoke(int argc, char **argv)
{
	static const struct option_rule rules[] = { CHANGE_OPTIONS };
	struct options o;

	if (!options_read(argc, argv, rules, ARRAY_LEN(rules), &o) || o.arguments != 1)
		return CTL_USAGE;
	return change(&o, "revoke", NULL);
}

int ctl_node_rename(int argc, char **argv)
{
	static const struct option_rule rules[] = { CHANGE_OPTIONS };
	struct options o;

	if (!options_read(argc, argv, rules, ARRAY_LEN(rules), &o) || o.arguments != 2)
		return CTL_USAGE;
	return change(&o, "rename", json_pack("{s:s}", "label", o.argument[1]));
}

int ctl_node_rebind(int argc, char **argv)
{
	static const struct option_rule rules[] = { CHANGE_OPTIONS };
	struct options o;

	if (!options_read(argc, argv, rules, ARRAY_LEN(rules), &o) || o.arguments != 2)
		return CTL_USAGE;
	return change(&o, "rebind", json_pack("{s:s}", "to", o.argument[1]));
}

static enum reason put(const char *dir, const char *name, struct bytes content)
{
	char path[1024];

	TRY(ctl_path(dir, name, path, sizeof(path)));
	return ctl_write_file(path, content);
}

/* The evidence of a boot as files: for `log show`, `quote verify`, reports of faults. */
static enum reason save(const char *dir, const json_t *a)
{
	_cleanup_(blob_free) struct blob body = BLOB(LIMIT_EVIDENCE);
	_cleanup_free_ struct claims *c = calloc(1, sizeof(*c));
	struct evidence e;

	if (!c)
		return R_INTERNAL_MEMORY;
	TRY(base64_decode(bytes_str(member_text(a, "evidence")), &body));
	TRY(evidence_read(blob_bytes(&body), &e));
	TRY(claims_read(e.claims, c));
	if (mkdir(dir, 0755) != 0 && errno != EEXIST)
		return ctl_file_error(dir);
	TRY(put(dir, "evidence.cbor", blob_bytes(&body)));
	TRY(put(dir, "quote.msg", e.quote));
	TRY(put(dir, "quote.sig", e.signature));
	TRY(put(dir, "ak.pub", c->ak_public));
	TRY(put(dir, "firmware.log", c->firmware_log));
	TRY(put(dir, "gate.log", c->gate_log));
	return put(dir, "report.cbor", c->report);
}

int ctl_node_evidence(int argc, char **argv)
{
	static const struct option_rule rules[] = { READ_OPTIONS, { "boot", false, false } };
	_cleanup_(client_free) json_t *a = NULL;
	struct options o;
	char query[64];

	if (!options_read(argc, argv, rules, ARRAY_LEN(rules), &o) || o.arguments != 2)
		return CTL_USAGE;
	snprintf(query, sizeof(query), "boot=%.10s", option(&o, "boot") ? option(&o, "boot") : "0");
	enum reason r = client_get(&o, CLIENT_PATH("evidence", o.argument[0]), query, &a);
	if (r != R_OK)
		return reason_exit(r);
	r = save(o.argument[1], a);
	return r == R_OK ? 0 : ctl_refused(r, o.argument[1]);
}
