/* SPDX-License-Identifier: Apache-2.0 */
#include "format/verdict.h"

#include <string.h>

#include "base/cleanup.h"
#include "format/cbor.h"

/* CWT and EAR labels, then our own; ascending in encoded form. */
enum label {
	L_IAT = 6,
	L_NONCE = 10,
	L_PROFILE = 265,
	L_SUBMODS = 266,
	L_STATUS = 1000,
	L_VECTOR = 1001,
	L_POLICY = 1003,
	L_VERIFIER = 1004,
	L_STAGE = -70001,
	L_AK_NAME = -70002,
	L_EVIDENCE = -70003,
	L_DIRECTIVE = -70004,
	L_MANIFEST = -70005,
	L_LIFETIME = -70006,
	L_REASONS = -70007,
	L_RETRY_AFTER = -70008,
	L_PARAMETERS = -70009,
	L_NODE = -70010,
	L_BASIS = -70011,
};

#define MEMBERS 18u		/* with the manifest digest */
#define LIFETIME_MAX 86400u
#define BUILD_OWN "bootgate " BOOTGATE_VERSION

static bool status_known(int64_t v)
{
	return v == EAR_NONE || v == EAR_AFFIRMING || v == EAR_WARNING || v == EAR_CONTRAINDICATED;
}

/* The tier that a claim of the vector belongs to (AR4SI section 2.3.2). */
static int8_t tier(int8_t claim)
{
	if (claim >= -1 && claim <= 1)
		return EAR_NONE;
	if (claim >= -32 && claim < EAR_WARNING)
		return EAR_AFFIRMING;
	if (claim >= -96 && claim < EAR_CONTRAINDICATED)
		return EAR_WARNING;
	return EAR_CONTRAINDICATED;
}

/* What must hold between members, for reader and writer alike. */
static enum reason consistent(const struct verdict *m)
{
	bool boots = m->directive == DIRECTIVE_ADMIT || m->directive == DIRECTIVE_UPDATE;

	if (m->has_manifest != (boots && m->stage == STAGE_GATE))
		return R_FORMAT_RANGE;
	if (!status_known(m->status))
		return R_FORMAT_RANGE;
	for (size_t i = 0; i < m->submod_count; i++) {
		const struct verdict_submod *s = &m->submod[i];

		if (!status_known(s->status) || m->status < s->status)
			return R_FORMAT_RANGE;
		for (size_t j = 0; j < AR4SI_MAX; j++)
			if (s->status < tier(s->vector[j]))
				return R_FORMAT_RANGE;
	}
	return R_OK;
}

static enum reason int8_read(struct cursor *c, int8_t *ret)
{
	int64_t v;

	TRY(cbor_int(c, INT8_MIN, INT8_MAX, &v));
	*ret = (int8_t)v;
	return R_OK;
}

/* {1000: status, ? 1001: {+ claim => value}}; a value 0 is not sent. */
static enum reason submod_read(struct cursor *c, struct verdict_submod *ret)
{
	struct cbor_map map, vector;
	bool found;

	TRY(cbor_map_begin(c, &map));
	TRY(cbor_key(&map, L_STATUS));
	TRY(int8_read(c, &ret->status));
	TRY(cbor_key_optional(&map, L_VECTOR, &found));
	if (found) {
		TRY(cbor_map_begin(c, &vector));
		if (vector.left == 0)
			return R_FORMAT_CANONICAL;
		while (vector.left > 0) {
			uint64_t claim;

			TRY(cbor_key_uint(&vector, AR4SI_MAX - 1, &claim));
			TRY(int8_read(c, &ret->vector[claim]));
			if (ret->vector[claim] == 0)
				return R_FORMAT_CANONICAL;
		}
	}
	return cbor_map_end(&map);
}

static enum reason submods_read(struct cursor *c, struct verdict *ret)
{
	struct cbor_map map;

	TRY(cbor_map_begin(c, &map));
	if (map.left < 1 || map.left > VERDICT_SUBMODS_MAX)
		return R_FORMAT_RANGE;
	while (map.left > 0) {
		struct verdict_submod *s = &ret->submod[ret->submod_count++];

		TRY(cbor_key_text(&map, 1, sizeof s->name, CHARSET_LABEL, s->name));
		TRY(submod_read(c, s));
	}
	return R_OK;
}

static enum reason verifier_read(struct cursor *c, struct verdict *ret)
{
	struct cbor_map map;

	TRY(cbor_map_begin(c, &map));
	TRY(cbor_key(&map, 0));
	TRY(cbor_string(c, 1, sizeof ret->build, CHARSET_PRINTABLE, ret->build));
	TRY(cbor_key(&map, 1));
	TRY(cbor_string(c, 1, sizeof ret->developer, CHARSET_PRINTABLE, ret->developer));
	return cbor_map_end(&map);
}

static enum reason reasons_read(struct cursor *c, struct verdict *ret)
{
	size_t pair;

	TRY(cbor_array(c, 0, VERDICT_REASONS_MAX, &ret->reason_count));
	for (size_t i = 0; i < ret->reason_count; i++) {
		struct verdict_reason *r = &ret->reason[i];

		TRY(cbor_array(c, 2, 2, &pair));
		TRY(cbor_string(c, 1, sizeof r->name, CHARSET_NAME, r->name));
		TRY(cbor_string(c, 0, sizeof r->detail, CHARSET_PRINTABLE, r->detail));
	}
	return R_OK;
}

static enum reason parameters_read(struct cursor *c, struct verdict *ret)
{
	struct cbor_map map;

	TRY(cbor_map_begin(c, &map));
	if (map.left > VERDICT_PARAMETERS_MAX)
		return R_FORMAT_RANGE;
	while (map.left > 0) {
		struct verdict_parameter *p = &ret->parameter[ret->parameter_count++];

		TRY(cbor_key_text(&map, 1, sizeof p->name, CHARSET_LABEL, p->name));
		TRY(cbor_string(c, 1, sizeof p->value, CHARSET_PRINTABLE, p->value));
	}
	return R_OK;
}

static enum reason profile_read(struct cursor *c)
{
	struct bytes profile;

	TRY(cbor_text(c, 1, VERDICT_TEXT_MAX, CHARSET_PRINTABLE, &profile));
	return bytes_equal(profile, bytes_str(VERDICT_PROFILE)) ? R_OK : R_FORMAT_VERSION;
}

/* The members that EAR has. */
static enum reason ear_read(struct cursor *c, struct cbor_map *map, struct verdict *ret)
{
	TRY(cbor_key(map, L_IAT));
	TRY(cbor_uint(c, 0, INT64_MAX, &ret->issued_at));
	TRY(cbor_key(map, L_NONCE));
	TRY(cbor_copy(c, ret->nonce, NONCE_LEN));
	TRY(cbor_key(map, L_PROFILE));
	TRY(profile_read(c));
	TRY(cbor_key(map, L_SUBMODS));
	TRY(submods_read(c, ret));
	TRY(cbor_key(map, L_STATUS));
	TRY(int8_read(c, &ret->status));
	TRY(cbor_key(map, L_POLICY));
	TRY(cbor_string(c, 1, sizeof ret->policy, CHARSET_PRINTABLE, ret->policy));
	TRY(cbor_key(map, L_VERIFIER));
	return verifier_read(c, ret);
}

/* The members that are ours. */
static enum reason own_read(struct cursor *c, struct cbor_map *map, struct verdict *ret)
{
	uint32_t stage, directive;

	TRY(cbor_key(map, L_STAGE));
	TRY(cbor_u32(c, 0, STAGE_MAX - 1, &stage));
	ret->stage = (enum stage)stage;
	TRY(cbor_key(map, L_AK_NAME));
	TRY(cbor_copy(c, ret->ak_name, AK_NAME_LEN));
	TRY(cbor_key(map, L_EVIDENCE));
	TRY(cbor_copy(c, ret->evidence_digest, SHA256_LEN));
	TRY(cbor_key(map, L_DIRECTIVE));
	TRY(cbor_u32(c, 0, DIRECTIVE_MAX - 1, &directive));
	ret->directive = (enum directive)directive;
	TRY(cbor_key_optional(map, L_MANIFEST, &ret->has_manifest));
	if (ret->has_manifest)
		TRY(cbor_copy(c, ret->manifest_digest, SHA256_LEN));
	TRY(cbor_key(map, L_LIFETIME));
	TRY(cbor_u32(c, 0, LIFETIME_MAX, &ret->lifetime));
	TRY(cbor_key(map, L_REASONS));
	TRY(reasons_read(c, ret));
	TRY(cbor_key(map, L_RETRY_AFTER));
	TRY(cbor_u32(c, 0, UINT32_MAX, &ret->retry_after));
	TRY(cbor_key(map, L_PARAMETERS));
	TRY(parameters_read(c, ret));
	TRY(cbor_key(map, L_NODE));
	TRY(cbor_string(c, 0, sizeof ret->node, CHARSET_PRINTABLE, ret->node));
	TRY(cbor_key(map, L_BASIS));
	return cbor_string(c, 0, sizeof ret->basis, CHARSET_PRINTABLE, ret->basis);
}

/* Fills *ret in place, for it is large: what it holds after a refusal is void. */
enum reason verdict_read(struct bytes payload, struct verdict *ret)
{
	struct cursor c = cursor_of(payload);
	struct cbor_map map;

	if (payload.n > LIMIT_VERDICT)
		return R_FORMAT_TOO_LARGE;
	memset(ret, 0, sizeof *ret);
	TRY(cbor_map_begin(&c, &map));
	TRY(ear_read(&c, &map, ret));
	TRY(own_read(&c, &map, ret));
	TRY(cbor_map_end(&map));
	TRY(cursor_end(&c));
	return consistent(ret);
}

static void submod_write(struct cbor_writer *w, const struct verdict_submod *s)
{
	size_t claims = 0;

	for (size_t i = 0; i < AR4SI_MAX; i++)
		claims += s->vector[i] != 0;
	cbor_put_string(w, 1, sizeof s->name, CHARSET_LABEL, s->name);
	cbor_put_map(w, claims > 0 ? 2 : 1);
	cbor_put_int(w, L_STATUS);
	cbor_put_int(w, s->status);
	if (claims == 0)
		return;
	cbor_put_int(w, L_VECTOR);
	cbor_put_map(w, claims);
	for (size_t i = 0; i < AR4SI_MAX; i++) {
		if (s->vector[i] != 0) {
			cbor_put_int(w, (int64_t)i);
			cbor_put_int(w, s->vector[i]);
		}
	}
}

/* The caller's order is its own; on the wire a map is sorted. */
static void submods_write(struct cbor_writer *w, const struct verdict *m)
{
	const char *name[VERDICT_SUBMODS_MAX];
	size_t order[VERDICT_SUBMODS_MAX];

	for (size_t i = 0; i < m->submod_count; i++)
		name[i] = m->submod[i].name;
	if (!cbor_key_order(name, m->submod_count, order))
		cbor_put_refuse(w, R_FORMAT_DUPLICATE);
	cbor_put_map(w, m->submod_count);
	for (size_t i = 0; i < m->submod_count; i++)
		submod_write(w, &m->submod[order[i]]);
}

static void parameters_write(struct cbor_writer *w, const struct verdict *m)
{
	const char *name[VERDICT_PARAMETERS_MAX];
	size_t order[VERDICT_PARAMETERS_MAX];

	for (size_t i = 0; i < m->parameter_count; i++)
		name[i] = m->parameter[i].name;
	if (!cbor_key_order(name, m->parameter_count, order))
		cbor_put_refuse(w, R_FORMAT_DUPLICATE);
	cbor_put_map(w, m->parameter_count);
	for (size_t i = 0; i < m->parameter_count; i++) {
		const struct verdict_parameter *p = &m->parameter[order[i]];

		cbor_put_string(w, 1, sizeof p->name, CHARSET_LABEL, p->name);
		cbor_put_string(w, 1, sizeof p->value, CHARSET_PRINTABLE, p->value);
	}
}

static void reasons_write(struct cbor_writer *w, const struct verdict *m)
{
	cbor_put_array(w, 0, VERDICT_REASONS_MAX, m->reason_count);
	for (size_t i = 0; i < m->reason_count; i++) {
		const struct verdict_reason *r = &m->reason[i];

		cbor_put_array(w, 2, 2, 2);
		cbor_put_string(w, 1, sizeof r->name, CHARSET_NAME, r->name);
		cbor_put_string(w, 0, sizeof r->detail, CHARSET_PRINTABLE, r->detail);
	}
}

static void ear_write(struct cbor_writer *w, const struct verdict *m)
{
	const char *build = m->build[0] != '\0' ? m->build : BUILD_OWN;
	const char *developer = m->developer[0] != '\0' ? m->developer : VERDICT_DEVELOPER;

	cbor_put_int(w, L_IAT);
	cbor_put_uint(w, 0, INT64_MAX, m->issued_at);
	cbor_put_int(w, L_NONCE);
	cbor_put_copy(w, m->nonce, NONCE_LEN);
	cbor_put_int(w, L_PROFILE);
	cbor_put_text(w, 1, VERDICT_TEXT_MAX, CHARSET_PRINTABLE, bytes_str(VERDICT_PROFILE));
	cbor_put_int(w, L_SUBMODS);
	submods_write(w, m);
	cbor_put_int(w, L_STATUS);
	cbor_put_int(w, m->status);
	cbor_put_int(w, L_POLICY);
	cbor_put_string(w, 1, sizeof m->policy, CHARSET_PRINTABLE, m->policy);
	cbor_put_int(w, L_VERIFIER);
	cbor_put_map(w, 2);
	cbor_put_int(w, 0);
	cbor_put_string(w, 1, sizeof m->build, CHARSET_PRINTABLE, build);
	cbor_put_int(w, 1);
	cbor_put_string(w, 1, sizeof m->developer, CHARSET_PRINTABLE, developer);
}

static void own_write(struct cbor_writer *w, const struct verdict *m)
{
	cbor_put_int(w, L_STAGE);
	cbor_put_uint(w, 0, STAGE_MAX - 1, m->stage);
	cbor_put_int(w, L_AK_NAME);
	cbor_put_copy(w, m->ak_name, AK_NAME_LEN);
	cbor_put_int(w, L_EVIDENCE);
	cbor_put_copy(w, m->evidence_digest, SHA256_LEN);
	cbor_put_int(w, L_DIRECTIVE);
	cbor_put_uint(w, 0, DIRECTIVE_MAX - 1, m->directive);
	if (m->has_manifest) {
		cbor_put_int(w, L_MANIFEST);
		cbor_put_copy(w, m->manifest_digest, SHA256_LEN);
	}
	cbor_put_int(w, L_LIFETIME);
	cbor_put_uint(w, 0, LIFETIME_MAX, m->lifetime);
	cbor_put_int(w, L_REASONS);
	reasons_write(w, m);
	cbor_put_int(w, L_RETRY_AFTER);
	cbor_put_uint(w, 0, UINT32_MAX, m->retry_after);
	cbor_put_int(w, L_PARAMETERS);
	parameters_write(w, m);
	cbor_put_int(w, L_NODE);
	cbor_put_string(w, 0, sizeof m->node, CHARSET_PRINTABLE, m->node);
	cbor_put_int(w, L_BASIS);
	cbor_put_string(w, 0, sizeof m->basis, CHARSET_PRINTABLE, m->basis);
}

enum reason verdict_write(const struct verdict *m, struct blob *ret)
{
	struct cbor_writer w = cbor_write_begin(ret);

	/* The counts first: they are how far the arrays are looked at. */
	if (m->submod_count < 1 || m->submod_count > VERDICT_SUBMODS_MAX ||
	    m->reason_count > VERDICT_REASONS_MAX ||
	    m->parameter_count > VERDICT_PARAMETERS_MAX)
		return R_FORMAT_RANGE;
	TRY(consistent(m));
	cbor_put_map(&w, m->has_manifest ? MEMBERS : MEMBERS - 1);
	ear_write(&w, m);
	own_write(&w, m);
	return cbor_write_end(&w, LIMIT_VERDICT);
}
