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

static void print_json(const struct prediction *p)
{
	json_t *all = json_object(), *events = json_array();
	char hex[2 * DIGEST_MAX + 1];

	for (size_t i = 0; i < p->count; i++) {
		const struct predicted_event *e = &p->event[i];
		json_t *one = json_object(), *digests = json_object();

		for (size_t bank = 0; bank < PREDICT_BANKS; bank++)
			json_object_set_new(digests, digest_name(predict_bank[bank]),
					    json_string(digest_text(e, bank, hex)));
		json_object_set_new(one, "component", json_string(component_name(e->component)));
		json_object_set_new(one, "pcr", json_integer(e->pcr));
		json_object_set_new(one, "type", json_string(eventlog_type_name(e->type)));
		json_object_set_new(one, "type_number", json_integer(e->type));
		json_object_set_new(one, "digests", digests);
		json_object_set_new(one, "text", json_string(e->text));
		json_array_append_new(events, one);
	}
	json_object_set_new(all, "events", events);
	json_dumpf(all, stdout, JSON_INDENT(2));
	printf("\n");
	json_decref(all);
}

int ctl_image_predict(int argc, char **argv)
{
	static const struct option_rule rules[] = { { "ipxe", false, false }, { "json", true, false } };
	_cleanup_(blob_free) struct blob image = BLOB(IMAGE_MAX);
	struct prediction p;
	struct options o;

	if (!options_read(argc, argv, rules, ARRAY_LEN(rules), &o) || o.arguments != 1)
		return CTL_USAGE;
	enum reason r = ctl_read_file(o.argument[0], IMAGE_MAX, &image);
	if (r == R_OK)
		r = predict_image(blob_bytes(&image), option(&o, "ipxe"), &p);
	if (r != R_OK)
		return ctl_refused(r, o.argument[0]);
	if (option_flag(&o, "json"))
		print_json(&p);
	else
		print(&p);
	return 0;
}
