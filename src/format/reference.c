/* SPDX-License-Identifier: Apache-2.0 */
#include "format/reference.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "format/cbor.h"

static const char *const states[VARIANT_STATE_MAX] = {
	"staged", "active", "retiring", "revoked",
};

const char *variant_state_name(enum variant_state s)
{
	return s < VARIANT_STATE_MAX ? states[s] : "invalid";
}

/* [+ [algorithm, digest]], each algorithm once. */
static enum reason digests_read(struct cursor *c, struct reference_event *ret)
{
	size_t pair;
	uint32_t alg;

	TRY(cbor_array(c, 1, LIMIT_BANKS, &ret->digest_count));
	for (size_t i = 0; i < ret->digest_count; i++) {
		struct bytes digest;

		TRY(cbor_array(c, 2, 2, &pair));
		TRY(cbor_u32(c, 0, UINT16_MAX, &alg));
		/* A digest that is cut, or empty, is no reference. */
		if (digest_len((uint16_t)alg) == 0)
			return R_FORMAT_RANGE;
		TRY(cbor_bytes(c, digest_len((uint16_t)alg), digest_len((uint16_t)alg), &digest));
		for (size_t k = 0; k < i; k++)
			if (ret->digest[k].alg == alg)
				return R_FORMAT_DUPLICATE;
		ret->digest[i].alg = (uint16_t)alg;
		ret->digest[i].digest = digest;
	}
	return R_OK;
}

/* [register, type, digests, text] */
static enum reason event_read(struct cursor *c, struct reference_event *ret)
{
	size_t parts;
	uint32_t pcr;

	TRY(cbor_array(c, 4, 4, &parts));
	TRY(cbor_u32(c, 0, PCR_COUNT - 1, &pcr));
	ret->pcr = (uint8_t)pcr;
	TRY(cbor_u32(c, 0, UINT32_MAX, &ret->type));
	TRY(digests_read(c, ret));
	return cbor_text(c, 0, REFERENCE_EVENT_TEXT_MAX, CHARSET_PRINTABLE, &ret->text);
}

static enum reason events_read(struct cursor *c, struct reference_variant *ret)
{
	size_t count;

	/* A variant without events would equal what is not there. */
	TRY(cbor_array(c, 1, REFERENCE_EVENTS_MAX, &count));
	ret->event = calloc(count, sizeof *ret->event);
	if (!ret->event)
		return R_INTERNAL_MEMORY;
	ret->event_count = count;
	for (size_t i = 0; i < count; i++)
		TRY(event_read(c, &ret->event[i]));
	return R_OK;
}

static enum reason variant_read(struct cursor *c, struct reference_variant *ret)
{
	struct cbor_map map;
	uint32_t state;

	TRY(cbor_map_begin(c, &map));
	TRY(cbor_key_version(&map, PROTOCOL_VERSION));
	TRY(cbor_key(&map, 2));
	TRY(cbor_uint(c, 0, UINT64_MAX, &ret->id));
	TRY(cbor_key(&map, 3));
	TRY(cbor_string(c, 1, REFERENCE_TEXT_MAX, CHARSET_LABEL, ret->component));
	TRY(cbor_key(&map, 4));
	TRY(cbor_string(c, 1, REFERENCE_TEXT_MAX, CHARSET_PRINTABLE, ret->name));
	TRY(cbor_key(&map, 5));
	TRY(cbor_string(c, 0, REFERENCE_TEXT_MAX, CHARSET_PRINTABLE, ret->version));
	TRY(cbor_key(&map, 6));
	TRY(cbor_u32(c, 0, UINT32_MAX, &ret->security_version));
	TRY(cbor_key(&map, 7));
	TRY(cbor_string(c, 0, REFERENCE_TEXT_MAX, CHARSET_PRINTABLE, ret->source));
	TRY(cbor_key(&map, 8));
	TRY(cbor_u32(c, 0, VARIANT_STATE_MAX - 1, &state));
	ret->state = (enum variant_state)state;
	TRY(cbor_key(&map, 9));
	TRY(events_read(c, ret));
	return cbor_map_end(&map);
}

enum reason reference_variant_read(struct bytes in, struct reference_variant *ret)
{
	struct cursor c = cursor_of(in);
	struct reference_variant v = { 0 };
	enum reason r;

	if (in.n > LIMIT_REFERENCE)
		return R_FORMAT_TOO_LARGE;
	r = variant_read(&c, &v);
	if (r == R_OK)
		r = cursor_end(&c);
	if (r != R_OK) {
		reference_variant_free(&v);
		return r;
	}
	*ret = v;
	return R_OK;
}

static void event_write(struct cbor_writer *w, const struct reference_event *e)
{
	cbor_put_array(w, 4, 4, 4);
	cbor_put_uint(w, 0, PCR_COUNT - 1, e->pcr);
	cbor_put_uint(w, 0, UINT32_MAX, e->type);
	cbor_put_array(w, 1, LIMIT_BANKS, e->digest_count);
	for (size_t i = 0; i < e->digest_count && i < LIMIT_BANKS; i++) {
		size_t len = digest_len(e->digest[i].alg);

		if (len == 0)
			cbor_put_refuse(w, R_FORMAT_RANGE);
		for (size_t k = 0; k < i; k++)
			if (e->digest[k].alg == e->digest[i].alg)
				cbor_put_refuse(w, R_FORMAT_DUPLICATE);
		cbor_put_array(w, 2, 2, 2);
		cbor_put_uint(w, 0, UINT16_MAX, e->digest[i].alg);
		cbor_put_bytes(w, len, len, e->digest[i].digest);
	}
	cbor_put_text(w, 0, REFERENCE_EVENT_TEXT_MAX, CHARSET_PRINTABLE, e->text);
}

static void variant_write(struct cbor_writer *w, const struct reference_variant *v)
{
	cbor_put_map(w, 9);
	cbor_put_version(w, PROTOCOL_VERSION);
	cbor_put_int(w, 2);
	cbor_put_uint(w, 0, UINT64_MAX, v->id);
	cbor_put_int(w, 3);
	cbor_put_string(w, 1, REFERENCE_TEXT_MAX, CHARSET_LABEL, v->component);
	cbor_put_int(w, 4);
	cbor_put_string(w, 1, REFERENCE_TEXT_MAX, CHARSET_PRINTABLE, v->name);
	cbor_put_int(w, 5);
	cbor_put_string(w, 0, REFERENCE_TEXT_MAX, CHARSET_PRINTABLE, v->version);
	cbor_put_int(w, 6);
	cbor_put_uint(w, 0, UINT32_MAX, v->security_version);
	cbor_put_int(w, 7);
	cbor_put_string(w, 0, REFERENCE_TEXT_MAX, CHARSET_PRINTABLE, v->source);
	cbor_put_int(w, 8);
	cbor_put_uint(w, 0, VARIANT_STATE_MAX - 1, v->state);
	cbor_put_int(w, 9);
	cbor_put_array(w, 1, REFERENCE_EVENTS_MAX, v->event_count);
	for (size_t i = 0; i < v->event_count; i++)
		event_write(w, &v->event[i]);
}

enum reason reference_variant_write(const struct reference_variant *v, struct blob *ret)
{
	struct cbor_writer w = cbor_write_begin(ret);

	variant_write(&w, v);
	return cbor_write_end(&w, LIMIT_REFERENCE);
}

void reference_variant_free(struct reference_variant *v)
{
	free(v->event);
	v->event = NULL;
	v->event_count = 0;
}

static enum reason set_read(struct cursor *c, struct reference_set *ret)
{
	size_t count;

	TRY(cbor_array(c, 0, REFERENCE_SET_MAX, &count));
	if (count == 0)
		return R_OK;
	ret->variant = calloc(count, sizeof *ret->variant);
	if (!ret->variant)
		return R_INTERNAL_MEMORY;
	for (size_t i = 0; i < count; i++) {
		ret->count++;
		TRY(variant_read(c, &ret->variant[i]));
	}
	return R_OK;
}

enum reason reference_set_read(struct bytes in, struct reference_set *ret)
{
	struct cursor c = cursor_of(in);
	struct reference_set s = { 0 };
	enum reason r;

	if (in.n > LIMIT_REFERENCE_SET)
		return R_FORMAT_TOO_LARGE;
	r = set_read(&c, &s);
	if (r == R_OK)
		r = cursor_end(&c);
	if (r != R_OK) {
		reference_set_free(&s);
		return r;
	}
	*ret = s;
	return R_OK;
}

enum reason reference_set_write(const struct reference_set *s, struct blob *ret)
{
	struct cbor_writer w = cbor_write_begin(ret);

	cbor_put_array(&w, 0, REFERENCE_SET_MAX, s->count);
	for (size_t i = 0; i < s->count; i++)
		variant_write(&w, &s->variant[i]);
	return cbor_write_end(&w, LIMIT_REFERENCE_SET);
}

void reference_set_free(struct reference_set *s)
{
	for (size_t i = 0; i < s->count; i++)
		reference_variant_free(&s->variant[i]);
	free(s->variant);
	s->variant = NULL;
	s->count = 0;
}
