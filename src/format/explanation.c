/* SPDX-License-Identifier: Apache-2.0 */
#include "format/explanation.h"

#include <string.h>

#include "base/cleanup.h"
#include "format/cbor.h"
#include "format/pcr.h"

static enum reason reason_read(struct cursor *c, enum reason *ret)
{
	char name[REASON_NAME_MAX];

	TRY(cbor_string(c, 1, sizeof name, CHARSET_NAME, name));
	return reason_find(name, ret) ? R_OK : R_FORMAT_RANGE;
}

/* [has event, gate log, event, offset, register, type] */
static enum reason place_read(struct cursor *c, struct finding *ret)
{
	size_t parts;

	TRY(cbor_array(c, 6, 6, &parts));
	TRY(cbor_bool(c, &ret->has_event));
	TRY(cbor_bool(c, &ret->gate_log));
	TRY(cbor_u32(c, 0, UINT32_MAX, &ret->event));
	TRY(cbor_u32(c, 0, UINT32_MAX, &ret->offset));
	TRY(cbor_u32(c, 0, UINT32_MAX, &ret->pcr));
	return cbor_u32(c, 0, UINT32_MAX, &ret->type);
}

/* [bank, digest] */
static enum reason digest_read(struct cursor *c, struct finding *ret)
{
	struct bytes digest;
	size_t pair;
	uint32_t bank;

	TRY(cbor_array(c, 2, 2, &pair));
	TRY(cbor_u32(c, 0, UINT16_MAX, &bank));
	TRY(cbor_bytes(c, 0, DIGEST_MAX, &digest));
	ret->bank = (uint16_t)bank;
	ret->digest_len = (uint8_t)digest.n;
	if (digest.n > 0)
		memcpy(ret->digest, digest.p, digest.n);
	return R_OK;
}

static enum reason finding_read(struct cursor *c, struct finding *ret)
{
	size_t parts;
	uint32_t severity;

	TRY(cbor_array(c, 8, 8, &parts));
	TRY(reason_read(c, &ret->reason));
	TRY(cbor_u32(c, 0, SEVERITY_MAX - 1, &severity));
	ret->severity = (enum severity)severity;
	TRY(cbor_string(c, 0, sizeof ret->component, CHARSET_LABEL, ret->component));
	TRY(place_read(c, ret));
	TRY(digest_read(c, ret));
	TRY(cbor_string(c, 0, sizeof ret->observed, CHARSET_PRINTABLE, ret->observed));
	TRY(cbor_string(c, 0, sizeof ret->expected, CHARSET_PRINTABLE, ret->expected));
	return cbor_string(c, 0, sizeof ret->nearest, CHARSET_PRINTABLE, ret->nearest);
}

static enum reason matches_read(struct cursor *c, struct explanation *ret)
{
	size_t parts;

	TRY(cbor_array(c, 0, ARRAY_LEN(ret->match), &ret->match_count));
	for (size_t i = 0; i < ret->match_count; i++) {
		TRY(cbor_array(c, 3, 3, &parts));
		TRY(cbor_string(c, 1, sizeof ret->match[i].component, CHARSET_LABEL,
				ret->match[i].component));
		TRY(cbor_string(c, 0, sizeof ret->match[i].variant, CHARSET_PRINTABLE,
				ret->match[i].variant));
		TRY(cbor_uint(c, 0, UINT64_MAX, &ret->match[i].id));
	}
	return R_OK;
}

/* Fills *ret in place, for it is large: what it holds after a refusal is void. */
enum reason explanation_read(struct bytes in, struct explanation *ret)
{
	struct cursor c = cursor_of(in);
	struct cbor_map map;
	uint32_t dropped;

	if (in.n > LIMIT_EXPLANATION)
		return R_FORMAT_TOO_LARGE;
	memset(ret, 0, sizeof *ret);
	TRY(cbor_map_begin(&c, &map));
	TRY(cbor_key_version(&map, PROTOCOL_VERSION));
	TRY(cbor_key(&map, 2));
	TRY(cbor_array(&c, 0, FINDINGS_MAX, &ret->count));
	for (size_t i = 0; i < ret->count; i++)
		TRY(finding_read(&c, &ret->finding[i]));
	TRY(cbor_key(&map, 3));
	TRY(cbor_u32(&c, 0, UINT32_MAX, &dropped));
	ret->dropped = dropped;
	TRY(cbor_key(&map, 4));
	TRY(matches_read(&c, ret));
	TRY(cbor_map_end(&map));
	return cursor_end(&c);
}

static void finding_write(struct cbor_writer *w, const struct finding *f)
{
	cbor_put_array(w, 8, 8, 8);
	cbor_put_string(w, 1, REASON_NAME_MAX, CHARSET_NAME, reason_name(f->reason));
	cbor_put_uint(w, 0, SEVERITY_MAX - 1, f->severity);
	cbor_put_string(w, 0, sizeof f->component, CHARSET_LABEL, f->component);
	cbor_put_array(w, 6, 6, 6);
	cbor_put_bool(w, f->has_event);
	cbor_put_bool(w, f->gate_log);
	cbor_put_uint(w, 0, UINT32_MAX, f->event);
	cbor_put_uint(w, 0, UINT32_MAX, f->offset);
	cbor_put_uint(w, 0, UINT32_MAX, f->pcr);
	cbor_put_uint(w, 0, UINT32_MAX, f->type);
	cbor_put_array(w, 2, 2, 2);
	cbor_put_uint(w, 0, UINT16_MAX, f->bank);
	cbor_put_bytes(w, 0, DIGEST_MAX, bytes_of(f->digest, f->digest_len));
	cbor_put_string(w, 0, sizeof f->observed, CHARSET_PRINTABLE, f->observed);
	cbor_put_string(w, 0, sizeof f->expected, CHARSET_PRINTABLE, f->expected);
	cbor_put_string(w, 0, sizeof f->nearest, CHARSET_PRINTABLE, f->nearest);
}

enum reason explanation_write(const struct explanation *e, struct blob *ret)
{
	struct cbor_writer w = cbor_write_begin(ret);

	cbor_put_map(&w, 4);
	cbor_put_version(&w, PROTOCOL_VERSION);
	cbor_put_int(&w, 2);
	cbor_put_array(&w, 0, FINDINGS_MAX, e->count);
	for (size_t i = 0; i < e->count && i < FINDINGS_MAX; i++)
		finding_write(&w, &e->finding[i]);
	cbor_put_int(&w, 3);
	cbor_put_uint(&w, 0, UINT32_MAX, e->dropped);
	cbor_put_int(&w, 4);
	cbor_put_array(&w, 0, ARRAY_LEN(e->match), e->match_count);
	for (size_t i = 0; i < e->match_count && i < ARRAY_LEN(e->match); i++) {
		cbor_put_array(&w, 3, 3, 3);
		cbor_put_string(&w, 1, sizeof e->match[i].component, CHARSET_LABEL,
				e->match[i].component);
		cbor_put_string(&w, 0, sizeof e->match[i].variant, CHARSET_PRINTABLE,
				e->match[i].variant);
		cbor_put_uint(&w, 0, UINT64_MAX, e->match[i].id);
	}
	return cbor_write_end(&w, LIMIT_EXPLANATION);
}
