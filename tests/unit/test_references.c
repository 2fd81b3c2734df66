/* SPDX-License-Identifier: Apache-2.0 */
/* References as JSON: what operators bring, before anything is stored of it. */
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "format/reference.h"
#include "server/front_json.h"
#include "unit.h"

#define DIGEST "0000000000000000000000000000000000000000000000000000000000000009"
#define SHA1 "0000000000000000000000000000000000000001"
#define EVENT "{\"pcr\":4,\"type\":\"EV_SEPARATOR\",\"type_number\":4,\"digests\":{\"sha256\":\"" DIGEST "\"},\"text\":\"t\"}"
#define VARIANT(events) "{\"component\":\"gate\",\"name\":\"n\",\"events\":" events "}"
#define FILE_OF(variants) "{\"schema\":\"bootgate-references-1\",\"variants\":" variants "}"

static enum reason taken(const char *text, char about[ABOUT_MAX], struct blob *ret)
{
	_cleanup_(front_json_free) json_t *in = json_loads(text, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, NULL);

	assert_non_null(in);
	return front_references(in, about, ret);
}

static void assert_refuses(const char *text, enum reason want, const char *want_about)
{
	_cleanup_(blob_free) struct blob set = BLOB(LIMIT_REFERENCE_SET);
	char about[ABOUT_MAX] = "";

	assert_reason(want, taken(text, about, &set));
	assert_string_equal(about, want_about);
	assert_int_equal(set.n, 0);
}

static void all_members(void **state)
{
	_cleanup_(blob_free) struct blob bytes = BLOB(LIMIT_REFERENCE_SET);
	_cleanup_(reference_set_free) struct reference_set set = { 0 };
	char about[ABOUT_MAX];
	uint8_t digest[SHA256_LEN] = { [31] = 9 };

	(void)state;
	assert_ok(taken(FILE_OF("[{\"component\":\"gate\",\"name\":\"n\",\"version\":\"v\",\"security_version\":4294967295,"
			       "\"source\":\"s\",\"events\":[" EVENT ",{\"pcr\":23,\"type_number\":4294967295,"
			       "\"type\":\"unknown\",\"digests\":{\"sha1\":\"" SHA1 "\",\"sha256\":\"" DIGEST "\"}}]},"
			       VARIANT("[" EVENT "]") "]"), about, &bytes));
	assert_ok(reference_set_read(blob_bytes(&bytes), &set));
	assert_int_equal(set.count, 2);
	const struct reference_variant *v = &set.variant[0];
	assert_string_equal(v->component, "gate");
	assert_string_equal(v->name, "n");
	assert_string_equal(v->version, "v");
	assert_int_equal(v->security_version, UINT32_MAX);
	assert_string_equal(v->source, "s");
	assert_int_equal(v->state, VARIANT_STAGED);
	assert_int_equal(v->event_count, 2);
	assert_int_equal(v->event[0].pcr, 4);
	assert_int_equal(v->event[0].type, 4);
	assert_bytes(v->event[0].text, "t", 1);
	assert_int_equal(v->event[1].pcr, 23);
	assert_int_equal(v->event[1].type, UINT32_MAX);
	assert_int_equal(v->event[1].digest_count, 2);
	assert_int_equal(v->event[1].digest[0].alg, ALG_SHA1);
	assert_int_equal(v->event[1].digest[1].alg, ALG_SHA256);
	assert_bytes(v->event[1].digest[1].digest, digest, sizeof(digest));
}

#define REFUSED_EVENT(event, reason, member) \
	assert_refuses(FILE_OF("[" VARIANT("[" EVENT "," event "]") "]"), reason, "variant 1 event 1" member)
#define REFUSED_VARIANT(variant, reason, member) assert_refuses(FILE_OF("[" variant "]"), reason, "variant 1" member)

static void refused_files(void **state)
{
	(void)state;
	assert_refuses("[]", R_FORMAT_TYPE, "references");
	assert_refuses("{\"variants\":[]}", R_FORMAT_TYPE, "schema");
	assert_refuses("{\"schema\":\"bootgate-references-2\",\"variants\":[" VARIANT("[" EVENT "]") "]}",
		       R_FORMAT_VERSION, "schema");
	assert_refuses("{\"schema\":\"bootgate-references-1\"}", R_FORMAT_MISSING_KEY, "variants");
	assert_refuses(FILE_OF("{}"), R_FORMAT_TYPE, "variants");
	assert_refuses(FILE_OF("[]"), R_FORMAT_RANGE, "variants");
	assert_refuses("{\"schema\":\"bootgate-references-1\",\"more\":1}", R_FORMAT_UNKNOWN_KEY, "more");
}

static void refused_variants(void **state)
{
	(void)state;
	REFUSED_VARIANT("7", R_FORMAT_TYPE, "");
	REFUSED_VARIANT("{\"component\":\"gates\",\"name\":\"n\",\"events\":[" EVENT "]}", R_FORMAT_RANGE, ": component");
	REFUSED_VARIANT("{\"name\":\"n\",\"events\":[" EVENT "]}", R_FORMAT_RANGE, ": component");
	REFUSED_VARIANT("{\"component\":\"gate\",\"events\":[" EVENT "]}", R_FORMAT_MISSING_KEY, ": name");
	REFUSED_VARIANT("{\"component\":\"gate\",\"name\":\"a\\nb\",\"events\":[" EVENT "]}", R_FORMAT_TEXT, ": name");
	/* Its state is not the file's to say. */
	REFUSED_VARIANT("{\"component\":\"gate\",\"name\":\"n\",\"state\":\"active\",\"events\":[" EVENT "]}",
			R_FORMAT_UNKNOWN_KEY, ": state");
	REFUSED_VARIANT("{\"component\":\"gate\",\"name\":\"n\",\"security_version\":-1,\"events\":[" EVENT "]}",
			R_FORMAT_RANGE, ": security_version");
	REFUSED_VARIANT("{\"component\":\"gate\",\"name\":\"n\",\"security_version\":4294967296,\"events\":[" EVENT "]}",
			R_FORMAT_RANGE, ": security_version");
	REFUSED_VARIANT("{\"component\":\"gate\",\"name\":\"n\"}", R_FORMAT_MISSING_KEY, ": events");
	REFUSED_VARIANT(VARIANT("{}"), R_FORMAT_TYPE, ": events");
	REFUSED_VARIANT(VARIANT("[]"), R_FORMAT_RANGE, ": events");
}

static void refused_events(void **state)
{
	(void)state;
	REFUSED_EVENT("7", R_FORMAT_TYPE, "");
	REFUSED_EVENT("{\"type_number\":4,\"digests\":{\"sha256\":\"" DIGEST "\"}}", R_FORMAT_MISSING_KEY, ": pcr");
	REFUSED_EVENT("{\"pcr\":24,\"type_number\":4,\"digests\":{\"sha256\":\"" DIGEST "\"}}", R_FORMAT_RANGE, ": pcr");
	REFUSED_EVENT("{\"pcr\":\"4\",\"type_number\":4,\"digests\":{\"sha256\":\"" DIGEST "\"}}", R_FORMAT_TYPE, ": pcr");
	REFUSED_EVENT("{\"pcr\":4,\"digests\":{\"sha256\":\"" DIGEST "\"}}", R_FORMAT_MISSING_KEY, ": type");
	/* What people read is what is compared. */
	REFUSED_EVENT("{\"pcr\":4,\"type\":\"EV_IPL\",\"type_number\":4,\"digests\":{\"sha256\":\"" DIGEST "\"}}",
		      R_FORMAT_RANGE, ": type");
	REFUSED_EVENT("{\"pcr\":4,\"type\":4,\"type_number\":4,\"digests\":{\"sha256\":\"" DIGEST "\"}}", R_FORMAT_TYPE,
		      ": type");
	REFUSED_EVENT("{\"pcr\":4,\"type_number\":4}", R_FORMAT_MISSING_KEY, ": digests");
	REFUSED_EVENT("{\"pcr\":4,\"type_number\":4,\"digests\":[]}", R_FORMAT_TYPE, ": digests");
	REFUSED_EVENT("{\"pcr\":4,\"type_number\":4,\"digests\":{\"md5\":\"00\"}}", R_FORMAT_RANGE, ": digests");
	REFUSED_EVENT("{\"pcr\":4,\"type_number\":4,\"digests\":{\"sha256\":7}}", R_FORMAT_TYPE, ": digests");
	REFUSED_EVENT("{\"pcr\":4,\"type_number\":4,\"digests\":{\"sha256\":\"" SHA1 "\"}}", R_FORMAT_TEXT, ": digests");
	REFUSED_EVENT("{\"pcr\":4,\"type_number\":4,\"digests\":{\"sha256\":\"" DIGEST "\"},\"text\":7}", R_FORMAT_TYPE,
		      ": text");
	REFUSED_EVENT("{\"pcr\":4,\"type_number\":4,\"digests\":{\"sha256\":\"" DIGEST "\"},\"more\":7}",
		      R_FORMAT_UNKNOWN_KEY, ": more");
	/* What the encoded form has no place for is told of the variant as a whole. */
	REFUSED_VARIANT(VARIANT("[{\"pcr\":4,\"type_number\":4,\"digests\":{}}]"), R_FORMAT_RANGE, "");
	REFUSED_VARIANT(VARIANT("[{\"pcr\":4,\"type_number\":4,\"digests\":{\"sha256\":\"" DIGEST
				"\"},\"text\":\"a\\nb\"}]"), R_FORMAT_TEXT, "");
}

static void too_many(void **state)
{
	static const struct {
		size_t variants, events;
		enum reason want;
		const char *about;
	} cases[] = {
		{ REFERENCE_SET_MAX, 1, R_OK, "variant 512" },
		{ REFERENCE_SET_MAX + 1, 1, R_FORMAT_RANGE, "variants" },
		{ 1, REFERENCE_EVENTS_MAX, R_OK, "variant 1" },
		{ 1, REFERENCE_EVENTS_MAX + 1, R_FORMAT_RANGE, "variant 1: events" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		_cleanup_(blob_free) struct blob set = BLOB(LIMIT_REFERENCE_SET);
		_cleanup_(front_json_free) json_t *in = json_loads(FILE_OF("[" VARIANT("[]") "]"), 0, NULL);
		json_t *variants = json_object_get(in, "variants"), *one = json_array_get(variants, 0);
		json_t *event = json_loads(EVENT, 0, NULL);
		char about[ABOUT_MAX];

		for (size_t e = 0; e < cases[i].events; e++)
			json_array_append(json_object_get(one, "events"), event);
		json_decref(event);
		for (size_t v = 1; v < cases[i].variants; v++)
			json_array_append(variants, one);
		assert_reason(cases[i].want, front_references(in, about, &set));
		assert_string_equal(about, cases[i].about);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_members),
		cmocka_unit_test(refused_files),
		cmocka_unit_test(refused_variants),
		cmocka_unit_test(refused_events),
		cmocka_unit_test(too_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
