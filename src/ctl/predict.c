/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "appraise/predict.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "ctl/client.h"
#include "ctl/ctl.h"
#include "format/eventlog.h"

#define IMAGE_MAX (512u << 20)

static const char *digest_text(const struct predicted_event *e, size_t bank, char ret[2 * DIGEST_MAX + 1])
{
	hex_encode(bytes_of(e->digest[bank], digest_len(predict_bank[bank])), ret);
	return ret;
}

static void print(const struct prediction *p)
{
	char hex[2 * DIGEST_MAX + 1];

	for (size_t i = 0; i < p->count; i++) {
		const struct predicted_event *e = &p->event[i];

		printf("pcr %-2u  %-32s  %-12s  %s\n", e->pcr, eventlog_type_name(e->type),
		       component_name(e->component), e->text);
		for (size_t bank = 0; bank < PREDICT_BANKS; bank++)
			printf("        %-6s  %s\n", digest_name(predict_bank[bank]), digest_text(e, bank, hex));
	}
}

static json_t *event_json(const struct predicted_event *e)
{
	json_t *one = json_object(), *digests = json_object();
	char hex[2 * DIGEST_MAX + 1];

	for (size_t bank = 0; bank < PREDICT_BANKS; bank++)
		json_object_set_new(digests, digest_name(predict_bank[bank]), json_string(digest_text(e, bank, hex)));
	json_object_set_new(one, "pcr", json_integer(e->pcr));
	json_object_set_new(one, "type", json_string(eventlog_type_name(e->type)));
	json_object_set_new(one, "type_number", json_integer(e->type));
	json_object_set_new(one, "digests", digests);
	json_object_set_new(one, "text", json_string(e->text));
	return one;
}

static void print_json(const struct prediction *p)
{
	json_t *all = json_object(), *events = json_array();

	for (size_t i = 0; i < p->count; i++) {
		json_t *one = event_json(&p->event[i]);

		json_object_set_new(one, "component", json_string(component_name(p->event[i].component)));
		json_array_append_new(events, one);
	}
	json_object_set_new(all, "events", events);
	json_dumpf(all, stdout, JSON_INDENT(2));
	printf("\n");
	json_decref(all);
}

static enum reason predict_file(const struct options *o, struct blob *image, struct prediction *ret)
{
	TRY(ctl_read_file(o->argument[0], IMAGE_MAX, image));
	return predict_image(blob_bytes(image), option(o, "ipxe"), ret);
}

int ctl_image_predict(int argc, char **argv)
{
	static const struct option_rule rules[] = { { "ipxe", false, false }, { "json", true, false } };
	_cleanup_(blob_free) struct blob image = BLOB(IMAGE_MAX);
	struct prediction p;
	struct options o;

	if (!options_read(argc, argv, rules, ARRAY_LEN(rules), &o) || o.arguments != 1)
		return CTL_USAGE;
	enum reason r = predict_file(&o, &image, &p);
	if (r != R_OK)
		return ctl_refused(r, o.argument[0]);
	if (option_flag(&o, "json"))
		print_json(&p);
	else
		print(&p);
	return 0;
}

/* ---- ref stage: the same as references at the server ------------------------- */

static json_t *variant_json(const struct prediction *p, enum component component, const struct options *o,
			    const char *digest)
{
	json_t *variant = json_object(), *events = json_array();
	char name[64];

	for (size_t i = 0; i < p->count; i++)
		if (p->event[i].component == component)
			json_array_append_new(events, event_json(&p->event[i]));
	snprintf(name, sizeof(name), "%s-%.8s", component_name(component), digest);
	json_object_set_new(variant, "component", json_string(component_name(component)));
	json_object_set_new(variant, "name", json_string(option(o, "name") ? option(o, "name") : name));
	json_object_set_new(variant, "version", json_string(option(o, "version") ? option(o, "version") : ""));
	json_object_set_new(variant, "events", events);
	return variant;
}

int ctl_ref_stage(int argc, char **argv)
{
	static const struct option_rule rules[] = { CHANGE_OPTIONS, { "ipxe", false, false },
						    { "name", false, false }, { "version", false, false } };
	static const enum component staged[] = { COMPONENT_GATE, COMPONENT_COMMAND_LINE };
	_cleanup_(blob_free) struct blob image = BLOB(IMAGE_MAX);
	uint8_t digest[SHA256_LEN];
	char hex[2 * SHA256_LEN + 1];
	struct prediction p;
	struct options o;

	if (!options_read(argc, argv, rules, ARRAY_LEN(rules), &o) || o.arguments != 1)
		return CTL_USAGE;
	enum reason r = predict_file(&o, &image, &p);
	if (r == R_OK)
		r = sha256(blob_bytes(&image), digest);
	if (r != R_OK)
		return ctl_refused(r, o.argument[0]);
	hex_encode(BYTES(digest), hex);
	json_t *body = json_object(), *variants = json_array();
	for (size_t i = 0; i < ARRAY_LEN(staged); i++)
		json_array_append_new(variants, variant_json(&p, staged[i], &o, hex));
	json_object_set_new(body, "sha256", json_string(hex));
	json_object_set_new(body, "body", json_pack("{s:s, s:o}", "schema", "bootgate-references-1",
						    "variants", variants));
	return reason_exit(ctl_ref_staged(&o, CLIENT_PATH("ref", "stage"), body));
}
