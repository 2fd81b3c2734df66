/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tinycbor decodes and encodes one item at a time; the rules of deterministic
 * form, the order of keys and all bounds are kept here. Its own iteration and
 * validation recurse and accept more than we do, so they are not used.
 */
#include "format/cbor.h"

#include <string.h>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#include <tinycbor/cbor.h>
#pragma GCC diagnostic pop

#include "base/cleanup.h"

/* The longest key by name, with its head. */
#define KEY_ENCODED_MAX 66u

enum kind {
	KIND_UINT,
	KIND_NEGATIVE,		/* value n stands for -1 - n */
	KIND_BYTES,
	KIND_TEXT,
	KIND_ARRAY,
	KIND_MAP,
	KIND_TAG,
	KIND_BOOL,
	KIND_OTHER,
};

struct item {
	enum kind kind;
	uint64_t value;		/* number, length, count */
	size_t head;		/* bytes of type and value */
};

/* Length of a head in shortest form, and the low bits of its first byte. */
static size_t shortest(uint64_t value, uint8_t *ret_info)
{
	if (value < 24) {
		*ret_info = (uint8_t)value;
		return 1;
	}
	if (value <= UINT8_MAX) {
		*ret_info = 24;
		return 2;
	}
	if (value <= UINT16_MAX) {
		*ret_info = 25;
		return 3;
	}
	if (value <= UINT32_MAX) {
		*ret_info = 26;
		return 5;
	}
	*ret_info = 27;
	return 9;
}

/* Kind and value of the item that tinycbor stands at. */
static CborError item_value(const CborValue *it, struct item *ret)
{
	size_t n = 0;
	bool truth = false;
	CborError e;

	switch (cbor_value_get_type(it)) {
	case CborIntegerType:
		ret->kind = cbor_value_is_unsigned_integer(it) ? KIND_UINT : KIND_NEGATIVE;
		return cbor_value_get_raw_integer(it, &ret->value);
	case CborTagType:
		ret->kind = KIND_TAG;
		return cbor_value_get_tag(it, &ret->value);
	case CborByteStringType:
	case CborTextStringType:
		ret->kind = cbor_value_is_byte_string(it) ? KIND_BYTES : KIND_TEXT;
		e = cbor_value_get_string_length(it, &n);
		ret->value = n;
		return e;
	case CborArrayType:
		ret->kind = KIND_ARRAY;
		e = cbor_value_get_array_length(it, &n);
		ret->value = n;
		return e;
	case CborMapType:
		ret->kind = KIND_MAP;
		e = cbor_value_get_map_length(it, &n);
		ret->value = n;
		return e;
	case CborBooleanType:
		ret->kind = KIND_BOOL;
		e = cbor_value_get_boolean(it, &truth);
		ret->value = truth;
		return e;
	default:
		ret->kind = KIND_OTHER;
		return CborNoError;
	}
}

static enum reason item_peek(const struct cursor *c, struct item *ret)
{
	CborParser parser;
	CborValue it;
	CborError e;
	struct item item = { KIND_OTHER, 0, 1 };
	uint8_t info;

	if (c->n == 0)
		return R_FORMAT_TRUNCATED;
	e = cbor_parser_init(c->p, c->n, 0, &parser, &it);
	if (e == CborErrorUnexpectedEOF)
		return R_FORMAT_TRUNCATED;
	if (e != CborNoError)
		return R_FORMAT_TYPE;
	e = item_value(&it, &item);
	if (e == CborErrorUnknownLength)
		return R_FORMAT_CANONICAL;
	if (e != CborNoError)
		return R_FORMAT_TYPE;
	if (item.kind != KIND_BOOL && item.kind != KIND_OTHER) {
		item.head = shortest(item.value, &info);
		if ((c->p[0] & 0x1fu) != info)
			return R_FORMAT_CANONICAL;
	}
	*ret = item;
	return R_OK;
}

static void advance(struct cursor *c, size_t n)
{
	c->p += n;
	c->n -= n;
	c->offset += n;
}

/* Takes a head of this kind with a value in min..max. */
static enum reason head_take(struct cursor *c, enum kind kind, uint64_t min, uint64_t max,
			     uint64_t *ret)
{
	struct item item;

	TRY(item_peek(c, &item));
	if (item.kind != kind)
		return R_FORMAT_TYPE;
	if (item.value < min || item.value > max)
		return R_FORMAT_RANGE;
	advance(c, item.head);
	*ret = item.value;
	return R_OK;
}

enum reason cbor_uint(struct cursor *c, uint64_t min, uint64_t max, uint64_t *ret)
{
	return head_take(c, KIND_UINT, min, max, ret);
}

enum reason cbor_u32(struct cursor *c, uint32_t min, uint32_t max, uint32_t *ret)
{
	uint64_t v;

	TRY(head_take(c, KIND_UINT, min, max, &v));
	*ret = (uint32_t)v;
	return R_OK;
}

enum reason cbor_int(struct cursor *c, int64_t min, int64_t max, int64_t *ret)
{
	struct item item;
	int64_t v;

	TRY(item_peek(c, &item));
	if (item.kind != KIND_UINT && item.kind != KIND_NEGATIVE)
		return R_FORMAT_TYPE;
	if (item.value > INT64_MAX)
		return R_FORMAT_RANGE;
	v = (int64_t)item.value;
	if (item.kind == KIND_NEGATIVE)
		v = -1 - v;
	if (v < min || v > max)
		return R_FORMAT_RANGE;
	advance(c, item.head);
	*ret = v;
	return R_OK;
}

enum reason cbor_bool(struct cursor *c, bool *ret)
{
	uint64_t v;

	TRY(head_take(c, KIND_BOOL, 0, 1, &v));
	*ret = v != 0;
	return R_OK;
}

/* Takes a whole string; the cursor moves only when all of it is there. */
static enum reason string_take(struct cursor *c, enum kind kind, size_t min, size_t max,
			       struct bytes *ret)
{
	struct cursor at = *c;
	uint64_t n;

	TRY(head_take(&at, kind, min, max, &n));
	TRY(cursor_take(&at, (size_t)n, ret));
	*c = at;
	return R_OK;
}

enum reason cbor_bytes(struct cursor *c, size_t min, size_t max, struct bytes *ret)
{
	return string_take(c, KIND_BYTES, min, max, ret);
}

enum reason cbor_copy(struct cursor *c, void *to, size_t n)
{
	struct bytes v;

	TRY(string_take(c, KIND_BYTES, n, n, &v));
	if (n > 0)
		memcpy(to, v.p, n);
	return R_OK;
}

enum reason cbor_text(struct cursor *c, size_t min, size_t max, enum charset set,
		      struct bytes *ret)
{
	struct cursor at = *c;
	struct bytes v;

	TRY(string_take(&at, KIND_TEXT, min, max, &v));
	if (!charset_has(set, v))
		return R_FORMAT_TEXT;
	*c = at;
	*ret = v;
	return R_OK;
}

enum reason cbor_string(struct cursor *c, size_t min, size_t size, enum charset set, char *ret)
{
	struct bytes v;

	TRY(cbor_text(c, min, size - 1, set, &v));
	if (v.n > 0)
		memcpy(ret, v.p, v.n);
	ret[v.n] = '\0';
	return R_OK;
}

enum reason cbor_array(struct cursor *c, size_t min, size_t max, size_t *ret)
{
	uint64_t n;

	TRY(head_take(c, KIND_ARRAY, min, max, &n));
	*ret = (size_t)n;
	return R_OK;
}

enum reason cbor_tag(struct cursor *c, uint64_t number)
{
	uint64_t v;

	return head_take(c, KIND_TAG, number, number, &v);
}

enum reason cbor_map_begin(struct cursor *c, struct cbor_map *ret)
{
	uint64_t n;

	TRY(head_take(c, KIND_MAP, 0, SIZE_MAX, &n));
	*ret = (struct cbor_map){ c, (size_t)n, BYTES_NONE };
	return R_OK;
}

/* Order of encoded keys: bytewise, a prefix before what it begins. */
static int encoded_compare(struct bytes a, struct bytes b)
{
	size_t n = a.n < b.n ? a.n : b.n;
	int d = memcmp(a.p, b.p, n);

	if (d != 0)
		return d;
	return (a.n > b.n) - (a.n < b.n);
}

/* The next key as it is encoded: number or text, and after the one before. */
static enum reason key_peek(const struct cbor_map *m, struct bytes *ret)
{
	struct cursor at = *m->in;
	struct item item;
	uint64_t n;
	struct bytes key;
	int d;

	TRY(item_peek(&at, &item));
	if (item.kind != KIND_UINT && item.kind != KIND_NEGATIVE && item.kind != KIND_TEXT)
		return R_FORMAT_TYPE;
	n = item.kind == KIND_TEXT ? item.value : 0;
	if (n > at.n - item.head)
		return R_FORMAT_TRUNCATED;
	TRY(cursor_take(&at, item.head + (size_t)n, &key));
	if (m->last.n > 0) {
		d = encoded_compare(m->last, key);
		if (d == 0)
			return R_FORMAT_DUPLICATE;
		if (d > 0)
			return R_FORMAT_CANONICAL;
	}
	*ret = key;
	return R_OK;
}

static void key_done(struct cbor_map *m, struct bytes key)
{
	advance(m->in, key.n);
	m->last = key;
	m->left--;
}

/* Takes the key that is encoded like `want`, if it is the next one. */
static enum reason key_take(struct cbor_map *m, struct bytes want, bool *ret)
{
	struct bytes key;
	int d;

	*ret = false;
	if (m->left == 0)
		return R_OK;
	TRY(key_peek(m, &key));
	d = encoded_compare(key, want);
	if (d < 0)
		return R_FORMAT_UNKNOWN_KEY;
	if (d > 0)
		return R_OK;
	key_done(m, key);
	*ret = true;
	return R_OK;
}

enum reason cbor_key_optional(struct cbor_map *m, int64_t label, bool *ret)
{
	uint8_t encoded[KEY_ENCODED_MAX];
	CborEncoder e;

	cbor_encoder_init(&e, encoded, sizeof encoded, 0);
	if (cbor_encode_int(&e, label) != CborNoError)
		return R_INTERNAL;
	return key_take(m, bytes_of(encoded, cbor_encoder_get_buffer_size(&e, encoded)), ret);
}

enum reason cbor_key(struct cbor_map *m, int64_t label)
{
	bool found;

	TRY(cbor_key_optional(m, label, &found));
	return found ? R_OK : R_FORMAT_MISSING_KEY;
}

enum reason cbor_key_named(struct cbor_map *m, const char *name)
{
	uint8_t encoded[KEY_ENCODED_MAX];
	CborEncoder e;
	bool found;

	cbor_encoder_init(&e, encoded, sizeof encoded, 0);
	if (cbor_encode_text_stringz(&e, name) != CborNoError)
		return R_INTERNAL;
	TRY(key_take(m, bytes_of(encoded, cbor_encoder_get_buffer_size(&e, encoded)), &found));
	return found ? R_OK : R_FORMAT_MISSING_KEY;
}

enum reason cbor_key_text(struct cbor_map *m, size_t min, size_t size, enum charset set, char *ret)
{
	struct cursor at = *m->in;
	struct bytes key;

	if (m->left == 0)
		return R_FORMAT_MISSING_KEY;
	TRY(key_peek(m, &key));
	TRY(cbor_string(&at, min, size, set, ret));
	key_done(m, key);
	return R_OK;
}

enum reason cbor_key_uint(struct cbor_map *m, uint64_t max, uint64_t *ret)
{
	struct cursor at = *m->in;
	struct bytes key;

	if (m->left == 0)
		return R_FORMAT_MISSING_KEY;
	TRY(key_peek(m, &key));
	TRY(cbor_uint(&at, 0, max, ret));
	key_done(m, key);
	return R_OK;
}

enum reason cbor_map_end(const struct cbor_map *m)
{
	struct bytes key;

	if (m->left == 0)
		return R_OK;
	/* Say that it is the same key again, where that is what is wrong. */
	TRY(key_peek(m, &key));
	return R_FORMAT_UNKNOWN_KEY;
}

enum reason cbor_key_version(struct cbor_map *m, uint32_t version)
{
	uint64_t v;

	TRY(cbor_key(m, 1));
	TRY(cbor_uint(m->in, 0, UINT64_MAX, &v));
	return v == version ? R_OK : R_FORMAT_VERSION;
}

/* tinycbor's way out: its reasons are too few, so ours goes into the writer. */
static CborError writer_append(void *token, const void *p, size_t n, CborEncoderAppendType type)
{
	struct cbor_writer *w = token;

	(void)type;
	if (w->reason == R_OK && n > 0)
		w->reason = blob_append(w->out, p, n);
	return CborNoError;
}

struct cbor_writer cbor_write_begin(struct blob *out)
{
	return (struct cbor_writer){ out, out->n, R_OK };
}

void cbor_put_refuse(struct cbor_writer *w, enum reason r)
{
	if (w->reason == R_OK)
		w->reason = r;
}

/* An encoder for one item; what does not fit its bounds is never begun. */
static bool item_begin(struct cbor_writer *w, bool in_range, CborEncoder *ret)
{
	if (!in_range)
		cbor_put_refuse(w, R_FORMAT_RANGE);
	if (w->reason != R_OK)
		return false;
	cbor_encoder_init_writer(ret, writer_append, w);
	return true;
}

static void item_end(struct cbor_writer *w, CborError e)
{
	if (e != CborNoError)
		cbor_put_refuse(w, R_INTERNAL);
}

void cbor_put_uint(struct cbor_writer *w, uint64_t min, uint64_t max, uint64_t v)
{
	CborEncoder e;

	if (item_begin(w, v >= min && v <= max, &e))
		item_end(w, cbor_encode_uint(&e, v));
}

void cbor_put_int(struct cbor_writer *w, int64_t v)
{
	CborEncoder e;

	if (item_begin(w, true, &e))
		item_end(w, cbor_encode_int(&e, v));
}

void cbor_put_bool(struct cbor_writer *w, bool v)
{
	CborEncoder e;

	if (item_begin(w, true, &e))
		item_end(w, cbor_encode_boolean(&e, v));
}

void cbor_put_bytes(struct cbor_writer *w, size_t min, size_t max, struct bytes v)
{
	CborEncoder e;

	if (item_begin(w, v.n >= min && v.n <= max, &e))
		item_end(w, cbor_encode_byte_string(&e, v.p, v.n));
}

void cbor_put_copy(struct cbor_writer *w, const void *p, size_t n)
{
	cbor_put_bytes(w, n, n, bytes_of(p, n));
}

void cbor_put_text(struct cbor_writer *w, size_t min, size_t max, enum charset set,
		   struct bytes v)
{
	CborEncoder e;

	if (!charset_has(set, v))
		cbor_put_refuse(w, R_FORMAT_TEXT);
	if (item_begin(w, v.n >= min && v.n <= max, &e))
		item_end(w, cbor_encode_text_string(&e, (const char *)v.p, v.n));
}

void cbor_put_string(struct cbor_writer *w, size_t min, size_t size, enum charset set,
		     const char *v)
{
	cbor_put_text(w, min, size - 1, set, bytes_of(v, strnlen(v, size)));
}

void cbor_put_array(struct cbor_writer *w, size_t min, size_t max, size_t count)
{
	CborEncoder e, items;

	if (item_begin(w, count >= min && count <= max, &e))
		item_end(w, cbor_encoder_create_array(&e, &items, count));
}

void cbor_put_map(struct cbor_writer *w, size_t count)
{
	CborEncoder e, items;

	if (item_begin(w, true, &e))
		item_end(w, cbor_encoder_create_map(&e, &items, count));
}

void cbor_put_tag(struct cbor_writer *w, uint64_t number)
{
	CborEncoder e;

	if (item_begin(w, true, &e))
		item_end(w, cbor_encode_tag(&e, number));
}

static int name_compare(const char *a, const char *b)
{
	size_t an = strlen(a), bn = strlen(b);

	return an != bn ? (an > bn) - (an < bn) : memcmp(a, b, an);
}

/* Insertion sort: the maps of our messages have a few dozen entries at most. */
bool cbor_key_order(const char *const *names, size_t count, size_t *order)
{
	bool unique = true;

	for (size_t i = 0; i < count; i++) {
		size_t at = i;
		int d = 1;

		while (at > 0 && (d = name_compare(names[i], names[order[at - 1]])) < 0) {
			order[at] = order[at - 1];
			at--;
		}
		if (at > 0 && d == 0)
			unique = false;
		order[at] = i;
	}
	return unique;
}

void cbor_put_version(struct cbor_writer *w, uint32_t version)
{
	cbor_put_int(w, 1);
	cbor_put_uint(w, 0, UINT32_MAX, version);
}

enum reason cbor_write_end(struct cbor_writer *w, size_t limit)
{
	if (w->out->n - w->start > limit)
		cbor_put_refuse(w, R_FORMAT_TOO_LARGE);
	if (w->reason != R_OK)
		w->out->n = w->start;
	return w->reason;
}
