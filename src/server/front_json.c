/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "server/front_json.h"

#define EK_LIST_MAX 20000u

void front_about(char about[ABOUT_MAX], const char *where, const char *member)
{
	char shown[128];

	text_escape(bytes_str(member), shown, sizeof(shown));
	snprintf(about, ABOUT_MAX, "%.64s%s%s", where, where[0] && shown[0] ? ": " : "", shown);
}

enum reason front_json(struct bytes in, json_t **ret)
{
	json_error_t e;
	json_t *j = json_loadb((const char *)in.p, in.n, JSON_REJECT_DUPLICATES, &e);

	if (!j)
		return R_FORMAT_TEXT;
	if (!json_is_object(j)) {
		json_decref(j);
		return R_FORMAT_TYPE;
	}
	*ret = j;
	return R_OK;
}

void front_json_free(json_t **j)
{
	json_decref(*j);
	*j = NULL;
}

enum reason front_members(const json_t *object, const char *const *names, size_t count, const char *where,
			  char about[ABOUT_MAX])
{
	const char *key;
	json_t *value;

	if (!json_is_object(object))
		return R_FORMAT_TYPE;
	json_object_foreach((json_t *)(uintptr_t)object, key, value) {
		size_t i = 0;

		while (i < count && strcmp(names[i], key) != 0)
			i++;
		if (i == count) {
			front_about(about, where, key);
			return R_FORMAT_UNKNOWN_KEY;
		}
	}
	return R_OK;
}

enum reason front_text(const json_t *value, char *ret, size_t n)
{
	if (!json_is_string(value))
		return R_FORMAT_TYPE;
	const char *text = json_string_value(value);
	if (strlen(text) != json_string_length(value) || !text_printable(bytes_str(text)))
		return R_FORMAT_TEXT;
	if (strlen(text) >= n)
		return R_FORMAT_TOO_LARGE;
	snprintf(ret, n, "%s", text);
	return R_OK;
}

static enum reason texts(const json_t *array, char *ret, size_t each, size_t max, size_t *ret_count)
{
	if (!array)
		return R_OK;
	if (!json_is_array(array))
		return R_FORMAT_TYPE;
	if (json_array_size(array) > max)
		return R_FORMAT_TOO_LARGE;
	for (size_t i = 0; i < json_array_size(array); i++)
		TRY(front_text(json_array_get(array, i), ret + i * each, each));
	*ret_count = json_array_size(array);
	return R_OK;
}

static enum reason fact_of(const json_t *in, struct fact_rule *ret, const char *where, char about[ABOUT_MAX])
{
	static const char *const names[] = { "fact", "kind", "values", "warn_only" };
	const json_t *warn_only = json_object_get(in, "warn_only");
	char kind[16];

	front_about(about, where, "");
	TRY(front_members(in, names, ARRAY_LEN(names), where, about));
	front_about(about, where, "fact");
	TRY(front_text(json_object_get(in, "fact"), ret->fact, sizeof(ret->fact)));
	front_about(about, where, "kind");
	TRY(front_text(json_object_get(in, "kind"), kind, sizeof(kind)));
	if (strcmp(kind, "allowed") == 0)
		ret->kind = FACT_ALLOWED;
	else if (strcmp(kind, "minimum") == 0)
		ret->kind = FACT_MINIMUM;
	else
		return R_FORMAT_RANGE;
	front_about(about, where, "warn_only");
	if (warn_only && !json_is_boolean(warn_only))
		return R_FORMAT_TYPE;
	ret->warn_only = json_is_true(warn_only);
	front_about(about, where, "values");
	return texts(json_object_get(in, "values"), ret->value[0], sizeof(ret->value[0]), ARRAY_LEN(ret->value),
		     &ret->value_count);
}

static enum reason warnings_of(const json_t *in, struct policy *ret)
{
	char name[POLICY_NAMES_MAX][REASON_NAME_MAX];

	TRY(texts(in, name[0], sizeof(name[0]), POLICY_NAMES_MAX, &ret->warn_count));
	for (size_t i = 0; i < ret->warn_count; i++)
		if (!reason_find(name[i], &ret->warn[i]) || !policy_may_warn(ret->warn[i]))
			return R_POLICY_WARN_ONLY;
	return R_OK;
}

/* An object: the component's name is the key, so none is there twice. */
static enum reason floors_of(const json_t *in, struct policy *ret)
{
	const char *component;
	json_t *least;

	if (!in)
		return R_OK;
	if (!json_is_object(in))
		return R_FORMAT_TYPE;
	if (json_object_size(in) > POLICY_NAMES_MAX)
		return R_FORMAT_TOO_LARGE;
	json_object_foreach((json_t *)(uintptr_t)in, component, least) {
		struct policy_floor *f = &ret->floor[ret->floor_count];

		if (!json_is_integer(least))
			return R_FORMAT_TYPE;
		if (json_integer_value(least) < 1 || json_integer_value(least) > UINT32_MAX)
			return R_FORMAT_RANGE;
		if (strlen(component) >= sizeof(f->component))
			return R_FORMAT_TOO_LARGE;
		snprintf(f->component, sizeof(f->component), "%s", component);
		f->least = (uint32_t)json_integer_value(least);
		ret->floor_count++;
	}
	return R_OK;
}

enum reason front_policy(const json_t *in, struct policy *ret, char about[ABOUT_MAX])
{
	/* `version` and `group` are shown; where a policy goes is said beside it: what is sent is not looked at. */
	static const char *const names[] = { "id", "version", "group", "lifetime",
					     "required", "parameters", "facts", "warn_only", "affirm",
					     "security_versions" };
	const json_t *lifetime = json_object_get(in, "lifetime"), *facts = json_object_get(in, "facts");

	TRY(front_members(in, names, ARRAY_LEN(names), "", about));
	policy_default(ret);
	front_about(about, "", "id");
	TRY(front_text(json_object_get(in, "id"), ret->id, sizeof(ret->id)));
	front_about(about, "", "lifetime");
	if (lifetime) {
		if (!json_is_integer(lifetime))
			return R_FORMAT_TYPE;
		json_int_t v = json_integer_value(lifetime);
		if (v < 30 || v > 86400)
			return R_FORMAT_RANGE;
		ret->lifetime = (uint32_t)v;
	}
	front_about(about, "", "required");
	TRY(texts(json_object_get(in, "required"), ret->required[0], sizeof(ret->required[0]),
		  POLICY_NAMES_MAX, &ret->required_count));
	front_about(about, "", "parameters");
	TRY(texts(json_object_get(in, "parameters"), ret->parameter[0], sizeof(ret->parameter[0]),
		  POLICY_NAMES_MAX, &ret->parameter_count));
	front_about(about, "", "warn_only");
	TRY(warnings_of(json_object_get(in, "warn_only"), ret));
	front_about(about, "", "affirm");
	TRY(texts(json_object_get(in, "affirm"), ret->affirm[0], sizeof(ret->affirm[0]), POLICY_NAMES_MAX,
		  &ret->affirm_count));
	front_about(about, "", "security_versions");
	TRY(floors_of(json_object_get(in, "security_versions"), ret));
	front_about(about, "", "facts");
	if (!facts)
		return R_OK;
	if (!json_is_array(facts))
		return R_FORMAT_TYPE;
	if (json_array_size(facts) > POLICY_FACTS_MAX)
		return R_FORMAT_TOO_LARGE;
	ret->fact_count = json_array_size(facts);
	for (size_t i = 0; i < ret->fact_count; i++) {
		char where[32];

		memset(&ret->fact[i], 0, sizeof(ret->fact[i]));
		snprintf(where, sizeof(where), "facts %zu", i + 1);
		TRY(fact_of(json_array_get(facts, i), &ret->fact[i], where, about));
	}
	return R_OK;
}

static enum reason digest_of_text(const json_t *value, uint8_t ret[SHA256_LEN], bool *ret_has)
{
	if (!value)
		return R_OK;
	if (!json_is_string(value))
		return R_FORMAT_TYPE;
	TRY(hex_decode(bytes_str(json_string_value(value)), ret, SHA256_LEN));
	*ret_has = true;
	return R_OK;
}

static enum reason ek_of(const json_t *in, struct listed_ek *ret, const char *where, char about[ABOUT_MAX])
{
	static const char *const names[] = { "line", "ek_cert_sha256", "ek_spki_sha256", "ek_name", "label", "group" };
	const json_t *name = json_object_get(in, "ek_name"), *label = json_object_get(in, "label");
	const json_t *group = json_object_get(in, "group"), *line = json_object_get(in, "line");
	size_t n = 0;

	memset(ret, 0, sizeof(*ret));
	front_about(about, where, "");
	TRY(front_members(in, names, ARRAY_LEN(names), where, about));
	TRY(digest_of_text(json_object_get(in, "ek_cert_sha256"), ret->certificate_digest,
			   &ret->has_certificate));
	TRY(digest_of_text(json_object_get(in, "ek_spki_sha256"), ret->spki_digest, &ret->has_spki));
	if (name) {
		if (!json_is_string(name))
			return R_FORMAT_TYPE;
		TRY(hex_decode_upto(bytes_str(json_string_value(name)), ret->name, sizeof(ret->name), &n));
		ret->name_len = (uint32_t)n;
	}
	if (line) {
		if (!json_is_integer(line))
			return R_FORMAT_TYPE;
		if (json_integer_value(line) < 0 || json_integer_value(line) > INT32_MAX)
			return R_FORMAT_RANGE;
		ret->line = (uint32_t)json_integer_value(line);
	}
	if (!ret->has_certificate && !ret->has_spki && ret->name_len == 0)
		return R_FORMAT_MISSING_KEY;
	if (label)
		TRY(front_text(label, ret->label, sizeof(ret->label)));
	return group ? front_text(group, ret->group, sizeof(ret->group)) : R_OK;
}

enum reason front_ek_list(const json_t *in, char about[ABOUT_MAX], struct blob *ret)
{
	if (!json_is_array(in))
		return R_FORMAT_TYPE;
	if (json_array_size(in) > EK_LIST_MAX)
		return R_FORMAT_TOO_LARGE;
	for (size_t i = 0; i < json_array_size(in); i++) {
		struct listed_ek e;
		char where[32];

		snprintf(where, sizeof(where), "entry %zu", i + 1);
		TRY(ek_of(json_array_get(in, i), &e, where, about));
		TRY(blob_append(ret, &e, sizeof(e)));
	}
	return R_OK;
}

/* A positive number, 0 where it is not there. */
static enum reason number_of(const json_t *value, uint64_t *ret)
{
	*ret = 0;
	if (!value)
		return R_OK;
	if (!json_is_integer(value))
		return R_FORMAT_TYPE;
	if (json_integer_value(value) < 1)
		return R_FORMAT_RANGE;
	*ret = (uint64_t)json_integer_value(value);
	return R_OK;
}

enum reason front_rule(const json_t *in, struct rule *ret, char about[ABOUT_MAX])
{
	static const char *const names[] = { "anchor", "manufacturer", "model", "group", "enrol", "until", "max", "from" };
	const json_t *anchor = json_object_get(in, "anchor"), *group = json_object_get(in, "group");
	const json_t *enrol = json_object_get(in, "enrol");
	char from[RULE_NETWORKS_MAX][NETWORK_TEXT_MAX];
	size_t count = 0;
	uint64_t until;
	bool has;

	memset(ret, 0, sizeof(*ret));
	TRY(front_members(in, names, ARRAY_LEN(names), "", about));
	front_about(about, "", "anchor");
	if (!anchor)
		return R_FORMAT_MISSING_KEY;
	TRY(digest_of_text(anchor, ret->anchor, &has));
	front_about(about, "", "manufacturer");
	TRY(front_text(json_object_get(in, "manufacturer"), ret->manufacturer, sizeof(ret->manufacturer)));
	front_about(about, "", "model");
	TRY(front_text(json_object_get(in, "model"), ret->model, sizeof(ret->model)));
	front_about(about, "", "group");
	if (group)
		TRY(front_text(group, ret->group, sizeof(ret->group)));
	front_about(about, "", "enrol");
	if (enrol && !json_is_boolean(enrol))
		return R_FORMAT_TYPE;
	ret->enrols = json_is_true(enrol);
	front_about(about, "", "until");
	TRY(number_of(json_object_get(in, "until"), &until));
	ret->expires = (int64_t)until;
	front_about(about, "", "max");
	TRY(number_of(json_object_get(in, "max"), &ret->most));
	front_about(about, "", "from");
	TRY(texts(json_object_get(in, "from"), from[0], sizeof(from[0]), RULE_NETWORKS_MAX, &count));
	for (size_t i = 0; i < count; i++) {
		front_about(about, "from", from[i]);
		TRY(network_read(from[i], &ret->network[i]));
	}
	ret->network_count = (uint32_t)count;
	about[0] = '\0';
	return R_OK;
}
