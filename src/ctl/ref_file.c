/* SPDX-License-Identifier: Apache-2.0 */
/* References as files: docs/references.schema.json. */
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "ctl/client.h"
#include "ctl/ctl.h"

#define REFERENCES_MAX (8u << 20)	/* what the server takes */

/* What is of this server only does not go into a file. */
static enum reason export_one(const struct options *o, const char *id, json_t *variants)
{
	json_t *v = NULL;

	TRY(client_get(o, CLIENT_PATH("ref", id), NULL, &v));
	json_object_del(v, "id");
	json_object_del(v, "state");
	json_array_append_new(variants, v);
	return R_OK;
}

static enum reason export_active(const struct options *o, json_t *variants)
{
	_cleanup_(client_free) json_t *all = NULL;
	const json_t *row;
	size_t i;

	TRY(client_get(o, CLIENT_PATH("ref"), "state=active", &all));
	json_array_foreach(json_object_get(all, "variants"), i, row) {
		char id[24];

		snprintf(id, sizeof(id), "%lld", member_number(row, "id"));
		TRY(export_one(o, id, variants));
	}
	return R_OK;
}

static enum reason export_all(const struct options *o, json_t *variants)
{
	if (o->arguments == 1)
		return export_active(o, variants);
	for (size_t i = 1; i < o->arguments; i++)
		TRY(export_one(o, o->argument[i], variants));
	return R_OK;
}

int ctl_ref_export(int argc, char **argv)
{
	static const struct option_rule rules[] = { { "socket", false, false } };
	_cleanup_(client_free) json_t *file = NULL;
	_cleanup_free_ char *text = NULL;
	struct options o;

	if (!options_read(argc, argv, rules, ARRAY_LEN(rules), &o) || o.arguments == 0)
		return CTL_USAGE;
	json_t *variants = json_array();
	file = json_pack("{s:s, s:o}", "schema", "bootgate-references-1", "variants", variants);
	enum reason r = export_all(&o, variants);
	if (r != R_OK)
		return reason_exit(r);
	text = json_dumps(file, JSON_INDENT(1));
	r = text ? ctl_write_file(o.argument[0], bytes_str(text)) : R_INTERNAL_MEMORY;
	if (r != R_OK)
		return ctl_refused(r, o.argument[0]);
	printf("%s: %zu variants\n", o.argument[0], json_array_size(variants));
	return 0;
}

int ctl_ref_import(int argc, char **argv)
{
	static const struct option_rule rules[] = { CHANGE_OPTIONS };
	_cleanup_(blob_free) struct blob text = BLOB(REFERENCES_MAX);
	struct options o;
	json_error_t e;

	if (!options_read(argc, argv, rules, ARRAY_LEN(rules), &o) || o.arguments != 1)
		return CTL_USAGE;
	enum reason r = ctl_read_file(o.argument[0], REFERENCES_MAX, &text);
	if (r != R_OK)
		return ctl_refused(r, o.argument[0]);
	json_t *file = json_loadb((const char *)text.p, text.n, JSON_REJECT_DUPLICATES, &e);
	if (!file) {
		fprintf(stderr, "bootgatectl: %s line %d: %s\n", o.argument[0], e.line, e.text);
		return ctl_refused(R_FORMAT_TEXT, o.argument[0]);
	}
	json_t *body = json_object();
	json_object_set_new(body, "body", file);
	return reason_exit(ctl_ref_staged(&o, CLIENT_PATH("ref", "import"), body));
}
