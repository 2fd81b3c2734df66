/* SPDX-License-Identifier: Apache-2.0 */
#include "format/policy.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "format/cbor.h"

#define LIFETIME_DEFAULT 600u		/* seconds: time to fetch an image */
#define LIFETIME_MAX 86400u
#define LIMIT_POLICY (64u << 10)

/*
 * Each of these has at least its separator on every machine that measures at
 * all; a gate whose image is not measured must not pass for one that is.
 */
static const char *const default_required[] = {
	"firmware", "firmware-config", "option-roms", "option-rom-config", "boot-path",
	"boot-data", "platform", "secure-boot", "gate",
};

void policy_default(struct policy *ret)
{
	*ret = (struct policy){ .version = 1, .lifetime = LIFETIME_DEFAULT };
	snprintf(ret->id, sizeof ret->id, "default");
	ret->required_count = ARRAY_LEN(default_required);
	for (size_t i = 0; i < ARRAY_LEN(default_required); i++)
		snprintf(ret->required[i], sizeof ret->required[i], "%s", default_required[i]);
}

static const enum reason may_warn[] = {
	R_LOG_CRTM_MISSING, R_LOG_SECURE_BOOT_MISSING, R_LOG_SECURE_BOOT_EVENT,
	R_LOG_DEBUG_MODE,   R_LOG_BOOT_ATTEMPT,	       R_LOG_BOOT_SERVICES,
};

bool policy_may_warn(enum reason r)
{
	for (size_t i = 0; i < ARRAY_LEN(may_warn); i++)
		if (may_warn[i] == r)
			return true;
	return false;
}

static enum reason rule_read(struct cursor *c, struct fact_rule *ret)
{
	size_t parts;
	uint32_t kind;

	TRY(cbor_array(c, 3, 4, &parts));
	TRY(cbor_string(c, 1, sizeof ret->fact, CHARSET_NAME, ret->fact));
	TRY(cbor_u32(c, 0, FACT_RULE_MAX - 1, &kind));
	ret->kind = (enum fact_rule_kind)kind;
	/* A rule without values could never be satisfied, nor could two minima differ. */
	TRY(cbor_array(c, 1, kind == FACT_MINIMUM ? 1 : ARRAY_LEN(ret->value),
		       &ret->value_count));
	for (size_t i = 0; i < ret->value_count; i++)
		TRY(cbor_string(c, 1, sizeof ret->value[i], CHARSET_PRINTABLE, ret->value[i]));
	ret->warn_only = parts == 4;
	return ret->warn_only ? cbor_u32(c, 1, 1, &kind) : R_OK;
}

static enum reason lists_read(struct cursor *c, struct cbor_map *map, struct policy *ret)
{
	TRY(cbor_key(map, 5));
	TRY(cbor_array(c, 0, POLICY_NAMES_MAX, &ret->required_count));
	for (size_t i = 0; i < ret->required_count; i++)
		TRY(cbor_string(c, 1, sizeof ret->required[i], CHARSET_LABEL, ret->required[i]));
	TRY(cbor_key(map, 6));
	TRY(cbor_array(c, 0, POLICY_NAMES_MAX, &ret->parameter_count));
	for (size_t i = 0; i < ret->parameter_count; i++) {
		TRY(cbor_string(c, 1, sizeof ret->parameter[i], CHARSET_PRINTABLE,
				ret->parameter[i]));
		/* One entry is one word of a command line. */
		if (strpbrk(ret->parameter[i], " \""))
			return R_FORMAT_TEXT;
	}
	TRY(cbor_key(map, 7));
	TRY(cbor_array(c, 0, POLICY_FACTS_MAX, &ret->fact_count));
	for (size_t i = 0; i < ret->fact_count; i++)
		TRY(rule_read(c, &ret->fact[i]));
	return R_OK;
}

static enum reason warn_read(struct cursor *c, struct policy *ret)
{
	char name[REASON_NAME_MAX];

	TRY(cbor_array(c, 1, POLICY_NAMES_MAX, &ret->warn_count));
	for (size_t i = 0; i < ret->warn_count; i++) {
		TRY(cbor_string(c, 1, sizeof name, CHARSET_NAME, name));
		if (!reason_find(name, &ret->warn[i]) || !policy_may_warn(ret->warn[i]))
			return R_POLICY_WARN_ONLY;
	}
	return R_OK;
}

static enum reason floors_read(struct cursor *c, struct policy *ret)
{
	size_t parts;

	TRY(cbor_array(c, 1, POLICY_NAMES_MAX, &ret->floor_count));
	for (size_t i = 0; i < ret->floor_count; i++) {
		struct policy_floor *f = &ret->floor[i];

		TRY(cbor_array(c, 2, 2, &parts));
		TRY(cbor_string(c, 1, sizeof f->component, CHARSET_LABEL, f->component));
		TRY(cbor_u32(c, 1, UINT32_MAX, &f->least));
	}
	return R_OK;
}

/* Members that came later: each is there only when it says something. */
static enum reason later_read(struct cursor *c, struct cbor_map *map, struct policy *ret)
{
	bool there;

	TRY(cbor_key_optional(map, 8, &there));
	if (there)
		TRY(warn_read(c, ret));
	TRY(cbor_key_optional(map, 9, &there));
	if (there) {
		TRY(cbor_array(c, 1, POLICY_NAMES_MAX, &ret->affirm_count));
		for (size_t i = 0; i < ret->affirm_count; i++)
			TRY(cbor_string(c, 1, sizeof ret->affirm[i], CHARSET_LABEL, ret->affirm[i]));
	}
	TRY(cbor_key_optional(map, 10, &there));
	return there ? floors_read(c, ret) : R_OK;
}

/* Fills *ret in place, for it is large: what it holds after a refusal is void. */
enum reason policy_read(struct bytes in, struct policy *ret)
{
	struct cursor c = cursor_of(in);
	struct cbor_map map;

	if (in.n > LIMIT_POLICY)
		return R_FORMAT_TOO_LARGE;
	memset(ret, 0, sizeof *ret);
	TRY(cbor_map_begin(&c, &map));
	TRY(cbor_key_version(&map, PROTOCOL_VERSION));
	TRY(cbor_key(&map, 2));
	TRY(cbor_string(&c, 1, sizeof ret->id, CHARSET_NAME, ret->id));
	TRY(cbor_key(&map, 3));
	TRY(cbor_u32(&c, 1, UINT32_MAX, &ret->version));
	TRY(cbor_key(&map, 4));
	TRY(cbor_u32(&c, 1, LIFETIME_MAX, &ret->lifetime));
	TRY(lists_read(&c, &map, ret));
	TRY(later_read(&c, &map, ret));
	TRY(cbor_map_end(&map));
	return cursor_end(&c);
}

static void rule_write(struct cbor_writer *w, const struct fact_rule *r)
{
	size_t most = r->kind == FACT_MINIMUM ? 1 : ARRAY_LEN(r->value);

	cbor_put_array(w, 3, 4, r->warn_only ? 4 : 3);
	cbor_put_string(w, 1, sizeof r->fact, CHARSET_NAME, r->fact);
	cbor_put_uint(w, 0, FACT_RULE_MAX - 1, r->kind);
	cbor_put_array(w, 1, most, r->value_count);
	for (size_t i = 0; i < r->value_count && i < most; i++)
		cbor_put_string(w, 1, sizeof r->value[i], CHARSET_PRINTABLE, r->value[i]);
	if (r->warn_only)
		cbor_put_uint(w, 1, 1, 1);
}

static void later_write(struct cbor_writer *w, const struct policy *p)
{
	if (p->warn_count) {
		cbor_put_int(w, 8);
		cbor_put_array(w, 1, POLICY_NAMES_MAX, p->warn_count);
		for (size_t i = 0; i < p->warn_count && i < POLICY_NAMES_MAX; i++) {
			if (!policy_may_warn(p->warn[i]))
				cbor_put_refuse(w, R_POLICY_WARN_ONLY);
			cbor_put_string(w, 1, REASON_NAME_MAX, CHARSET_NAME, reason_name(p->warn[i]));
		}
	}
	if (p->affirm_count) {
		cbor_put_int(w, 9);
		cbor_put_array(w, 1, POLICY_NAMES_MAX, p->affirm_count);
		for (size_t i = 0; i < p->affirm_count && i < POLICY_NAMES_MAX; i++)
			cbor_put_string(w, 1, sizeof p->affirm[i], CHARSET_LABEL, p->affirm[i]);
	}
	if (p->floor_count) {
		cbor_put_int(w, 10);
		cbor_put_array(w, 1, POLICY_NAMES_MAX, p->floor_count);
		for (size_t i = 0; i < p->floor_count && i < POLICY_NAMES_MAX; i++) {
			const struct policy_floor *f = &p->floor[i];

			cbor_put_array(w, 2, 2, 2);
			cbor_put_string(w, 1, sizeof f->component, CHARSET_LABEL, f->component);
			cbor_put_uint(w, 1, UINT32_MAX, f->least);
		}
	}
}

enum reason policy_write(const struct policy *p, struct blob *ret)
{
	struct cbor_writer w = cbor_write_begin(ret);

	cbor_put_map(&w, 7u + (p->warn_count > 0) + (p->affirm_count > 0) + (p->floor_count > 0));
	cbor_put_version(&w, PROTOCOL_VERSION);
	cbor_put_int(&w, 2);
	cbor_put_string(&w, 1, sizeof p->id, CHARSET_NAME, p->id);
	cbor_put_int(&w, 3);
	cbor_put_uint(&w, 1, UINT32_MAX, p->version);
	cbor_put_int(&w, 4);
	cbor_put_uint(&w, 1, LIFETIME_MAX, p->lifetime);
	cbor_put_int(&w, 5);
	cbor_put_array(&w, 0, POLICY_NAMES_MAX, p->required_count);
	for (size_t i = 0; i < p->required_count && i < POLICY_NAMES_MAX; i++)
		cbor_put_string(&w, 1, sizeof p->required[i], CHARSET_LABEL, p->required[i]);
	cbor_put_int(&w, 6);
	cbor_put_array(&w, 0, POLICY_NAMES_MAX, p->parameter_count);
	for (size_t i = 0; i < p->parameter_count && i < POLICY_NAMES_MAX; i++) {
		if (strpbrk(p->parameter[i], " \""))
			cbor_put_refuse(&w, R_FORMAT_TEXT);
		cbor_put_string(&w, 1, sizeof p->parameter[i], CHARSET_PRINTABLE,
				p->parameter[i]);
	}
	cbor_put_int(&w, 7);
	cbor_put_array(&w, 0, POLICY_FACTS_MAX, p->fact_count);
	for (size_t i = 0; i < p->fact_count && i < POLICY_FACTS_MAX; i++)
		rule_write(&w, &p->fact[i]);
	later_write(&w, p);
	return cbor_write_end(&w, LIMIT_POLICY);
}
