/* SPDX-License-Identifier: Apache-2.0 */
/* References as JSON (docs/references.schema.json) into a reference set. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "appraise/component.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "format/eventlog.h"
#include "server/front_json.h"

#define SCHEMA "bootgate-references-1"

static enum reason number(const json_t *value, uint32_t max, uint32_t *ret)
{
	if (!json_is_integer(value))
		return value ? R_FORMAT_TYPE : R_FORMAT_MISSING_KEY;
	if (json_integer_value(value) < 0 || json_integer_value(value) > (json_int_t)max)
		return R_FORMAT_RANGE;
	*ret = (uint32_t)json_integer_value(value);
	return R_OK;
}

/* {"sha256": "...", ...}; `room` is for LIMIT_BANKS digests. */
static enum reason digests(const json_t *in, uint8_t (*room)[DIGEST_MAX], struct reference_event *ret)
{
	const char *bank;
	json_t *value;

	if (!json_is_object(in))
		return in ? R_FORMAT_TYPE : R_FORMAT_MISSING_KEY;
	if (json_object_size(in) > LIMIT_BANKS)
		return R_FORMAT_TOO_LARGE;
	json_object_foreach((json_t *)(uintptr_t)in, bank, value) {
		uint8_t *digest = room[ret->digest_count];
		uint16_t alg = digest_find(bank);

		if (alg == 0)
			return R_FORMAT_RANGE;
		if (!json_is_string(value))
			return R_FORMAT_TYPE;
		TRY(hex_decode(bytes_str(json_string_value(value)), digest, digest_len(alg)));
		ret->digest[ret->digest_count].alg = alg;
		ret->digest[ret->digest_count].digest = bytes_of(digest, digest_len(alg));
		ret->digest_count++;
	}
	return R_OK;
}

/* Beside the number its name is for people: another one would mislead them. */
static enum reason type(const json_t *in, uint32_t *ret)
{
	const json_t *shown = json_object_get(in, "type");

	TRY(number(json_object_get(in, "type_number"), UINT32_MAX, ret));
	if (!shown)
		return R_OK;
	const char *name = eventlog_type_name(*ret);
	if (!json_is_string(shown))
		return R_FORMAT_TYPE;
	return strcmp(json_string_value(shown), name ? name : "unknown") == 0 ? R_OK : R_FORMAT_RANGE;
}

static enum reason event(const json_t *in, uint8_t (*room)[DIGEST_MAX], struct reference_event *ret,
			 const char *where, char about[ABOUT_MAX])
{
	static const char *const names[] = { "pcr", "type", "type_number", "digests", "text" };
	const json_t *text = json_object_get(in, "text");
	uint32_t pcr;

	front_about(about, where, "");
	TRY(front_members(in, names, ARRAY_LEN(names), where, about));
	front_about(about, where, "pcr");
	TRY(number(json_object_get(in, "pcr"), PCR_COUNT - 1, &pcr));
	ret->pcr = (uint8_t)pcr;
	front_about(about, where, "type");
	TRY(type(in, &ret->type));
	front_about(about, where, "digests");
	TRY(digests(json_object_get(in, "digests"), room, ret));
	front_about(about, where, "text");
	if (text && !json_is_string(text))
		return R_FORMAT_TYPE;
	ret->text = text ? bytes_of(json_string_value(text), json_string_length(text)) : BYTES_NONE;
	return R_OK;
}

static enum reason events(const json_t *in, struct reference_variant *ret, const char *where, char about[ABOUT_MAX])
{
	size_t count = json_array_size(in);
	uint8_t (*room)[DIGEST_MAX];

	if (!json_is_array(in))
		return in ? R_FORMAT_TYPE : R_FORMAT_MISSING_KEY;
	if (count == 0 || count > REFERENCE_EVENTS_MAX)
		return R_FORMAT_RANGE;
	/* One piece: the events, then room for their digests. */
	ret->event = calloc(count, sizeof(*ret->event) + LIMIT_BANKS * sizeof(*room));
	if (!ret->event)
		return R_INTERNAL_MEMORY;
	ret->event_count = count;
	room = (uint8_t (*)[DIGEST_MAX])(ret->event + count);
	for (size_t i = 0; i < count; i++) {
		char here[64];

		snprintf(here, sizeof(here), "%.32s event %zu", where, i);
		TRY(event(json_array_get(in, i), room + i * LIMIT_BANKS, &ret->event[i], here, about));
	}
	return R_OK;
}

/* Unless it is not there. */
static enum reason text(const json_t *in, const char *name, char ret[REFERENCE_TEXT_MAX], const char *where,
			char about[ABOUT_MAX])
{
	const json_t *value = json_object_get(in, name);

	front_about(about, where, name);
	return value ? front_text(value, ret, REFERENCE_TEXT_MAX) : R_OK;
}

static enum reason variant(const json_t *in, struct reference_variant *ret, const char *where,
			   char about[ABOUT_MAX])
{
	static const char *const names[] = { "component", "name", "version", "security_version", "source", "events" };
	const json_t *security_version = json_object_get(in, "security_version");

	front_about(about, where, "");
	TRY(front_members(in, names, ARRAY_LEN(names), where, about));
	TRY(text(in, "component", ret->component, where, about));
	if (component_find(ret->component) == COMPONENT_NONE)
		return R_FORMAT_RANGE;
	TRY(text(in, "name", ret->name, where, about));
	if (ret->name[0] == '\0')
		return R_FORMAT_MISSING_KEY;
	TRY(text(in, "version", ret->version, where, about));
	TRY(text(in, "source", ret->source, where, about));
	front_about(about, where, "security_version");
	if (security_version)
		TRY(number(security_version, UINT32_MAX, &ret->security_version));
	front_about(about, where, "events");
	TRY(events(json_object_get(in, "events"), ret, where, about));
	/* Alone first: what a writer refuses is then told of this one. */
	_cleanup_(blob_free) struct blob encoded = BLOB(LIMIT_REFERENCE);
	front_about(about, where, "");
	return reference_variant_write(ret, &encoded);
}

static enum reason variants(const json_t *in, struct reference_set *ret, char about[ABOUT_MAX])
{
	size_t count = json_array_size(in);

	if (!json_is_array(in))
		return in ? R_FORMAT_TYPE : R_FORMAT_MISSING_KEY;
	if (count == 0 || count > REFERENCE_SET_MAX)
		return R_FORMAT_RANGE;
	ret->variant = calloc(count, sizeof(*ret->variant));
	if (!ret->variant)
		return R_INTERNAL_MEMORY;
	for (size_t i = 0; i < count; i++) {
		char where[32];

		snprintf(where, sizeof(where), "variant %zu", i + 1);
		ret->count++;
		TRY(variant(json_array_get(in, i), &ret->variant[i], where, about));
	}
	return R_OK;
}

enum reason front_references(const json_t *in, char about[ABOUT_MAX], struct blob *ret)
{
	static const char *const names[] = { "schema", "variants" };
	_cleanup_(reference_set_free) struct reference_set set = { 0 };
	char schema[sizeof(SCHEMA)];

	front_about(about, "references", "");
	TRY(front_members(in, names, ARRAY_LEN(names), "", about));
	front_about(about, "", "schema");
	TRY(front_text(json_object_get(in, "schema"), schema, sizeof(schema)));
	if (strcmp(schema, SCHEMA) != 0)
		return R_FORMAT_VERSION;
	front_about(about, "", "variants");
	TRY(variants(json_object_get(in, "variants"), &set, about));
	return reference_set_write(&set, ret);
}
