/* SPDX-License-Identifier: Apache-2.0 */
#include "format/jview.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"

static bool blank(uint8_t c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static void skip(struct bytes *in, size_t n)
{
	in->p += n;
	in->n -= n;
}

static void skip_blanks(struct bytes *in)
{
	while (in->n > 0 && blank(in->p[0]))
		skip(in, 1);
}

static bool take(struct bytes *in, uint8_t c)
{
	skip_blanks(in);
	if (in->n == 0 || in->p[0] != c)
		return false;
	skip(in, 1);
	return true;
}

/* Over a string that begins here. */
static enum reason skip_string(struct bytes *in)
{
	size_t i = 1;

	if (in->n == 0 || in->p[0] != '"')
		return in->n == 0 ? R_FORMAT_TRUNCATED : R_FORMAT_TEXT;
	for (; i < in->n && in->p[i] != '"'; i++) {
		if (in->p[i] < 0x20)
			return R_FORMAT_TEXT;
		if (in->p[i] == '\\')
			i++;
	}
	if (i >= in->n)
		return R_FORMAT_TRUNCATED;
	skip(in, i + 1);
	return R_OK;
}

/* Over a number, true, false or null; what exactly is looked at when it is used. */
static enum reason skip_word(struct bytes *in)
{
	size_t i = 0;

	while (i < in->n && in->p[i] != 0 &&
	       strchr("+-.0123456789abcdefghijklmnopqrstuvwxyzE", in->p[i]))
		i++;
	if (i == 0)
		return in->n == 0 ? R_FORMAT_TRUNCATED : R_FORMAT_TEXT;
	skip(in, i);
	return R_OK;
}

/* The name of a member with its colon. */
static enum reason skip_name(struct bytes *in)
{
	skip_blanks(in);
	TRY(skip_string(in));
	return take(in, ':') ? R_OK : R_FORMAT_TEXT;
}

struct nesting {
	bool object[JVIEW_DEPTH_MAX];
	size_t depth;
};

/* Opens an object or array that begins here; *ret_inside when it is not empty. */
static enum reason open_nested(struct bytes *in, struct nesting *n, bool *ret_inside)
{
	bool object = in->p[0] == '{';

	if (n->depth == JVIEW_DEPTH_MAX)
		return R_FORMAT_TOO_LARGE;
	skip(in, 1);
	*ret_inside = !take(in, object ? '}' : ']');
	if (!*ret_inside)
		return R_OK;
	n->object[n->depth++] = object;
	return object ? skip_name(in) : R_OK;
}

/* Behind a value: closes what ends here; *ret_more when another value follows. */
static enum reason close_nested(struct bytes *in, struct nesting *n, bool *ret_more)
{
	while (n->depth > 0) {
		bool object = n->object[n->depth - 1];

		if (take(in, ',')) {
			*ret_more = true;
			return object ? skip_name(in) : R_OK;
		}
		if (!take(in, object ? '}' : ']'))
			return in->n == 0 ? R_FORMAT_TRUNCATED : R_FORMAT_TEXT;
		n->depth--;
	}
	*ret_more = false;
	return R_OK;
}

/* Over one value. */
static enum reason skip_value(struct bytes *in)
{
	struct nesting n = { 0 };
	bool more = true;

	while (more) {
		bool inside = false;

		skip_blanks(in);
		if (in->n > 0 && (in->p[0] == '{' || in->p[0] == '['))
			TRY(open_nested(in, &n, &inside));
		else if (in->n > 0 && in->p[0] == '"')
			TRY(skip_string(in));
		else
			TRY(skip_word(in));
		if (!inside)
			TRY(close_nested(in, &n, &more));
	}
	return R_OK;
}

enum reason jview_read(struct bytes in, struct bytes *ret)
{
	struct bytes rest;

	skip_blanks(&in);
	rest = in;
	TRY(skip_value(&rest));
	*ret = bytes_of(in.p, in.n - rest.n);
	skip_blanks(&rest);
	return rest.n == 0 ? R_OK : R_FORMAT_TRAILING;
}

bool jview_is_object(struct bytes value)
{
	return value.n > 0 && value.p[0] == '{';
}

bool jview_is_array(struct bytes value)
{
	return value.n > 0 && value.p[0] == '[';
}

bool jview_is_string(struct bytes value)
{
	return value.n > 0 && value.p[0] == '"';
}

/* The value was read whole before, so nothing in it can be malformed. */
static bool item(struct jview_iterator *it)
{
	struct bytes start;

	it->name = BYTES_NONE;
	if (it->object) {
		skip_blanks(&it->rest);
		start = it->rest;
		if (skip_string(&it->rest) != R_OK)
			return false;
		it->name = bytes_of(start.p, start.n - it->rest.n);
		(void)take(&it->rest, ':');
	}
	skip_blanks(&it->rest);
	start = it->rest;
	if (skip_value(&it->rest) != R_OK)
		return false;
	it->value = bytes_of(start.p, start.n - it->rest.n);
	return true;
}

bool jview_first(struct bytes value, struct jview_iterator *ret)
{
	if (!jview_is_object(value) && !jview_is_array(value))
		return false;
	*ret = (struct jview_iterator){ .rest = value, .object = jview_is_object(value) };
	skip(&ret->rest, 1);
	return item(ret);
}

bool jview_next(struct jview_iterator *it)
{
	return take(&it->rest, ',') && item(it);
}

bool jview_scan(struct bytes *rest, struct bytes *ret)
{
	struct bytes end;

	while (rest->n > 0 && rest->p[0] != '{' && rest->p[0] != '"')
		skip(rest, 1);
	end = *rest;
	if (skip_value(&end) != R_OK)
		return false;
	*ret = bytes_of(rest->p, rest->n - end.n);
	if (jview_is_string(*ret))
		*rest = end;
	else
		skip(rest, 1);
	return true;
}

enum reason jview_member(struct bytes object, const char *name, struct bytes *ret)
{
	struct bytes found = BYTES_NONE, want = bytes_str(name);
	struct jview_iterator it;

	if (!jview_is_object(object))
		return R_FORMAT_TYPE;
	for (bool more = jview_first(object, &it); more; more = jview_next(&it)) {
		if (!bytes_equal(bytes_of(it.name.p + 1, it.name.n - 2), want))
			continue;
		if (found.p)
			return R_FORMAT_DUPLICATE;
		found = it.value;
	}
	if (!found.p)
		return R_FORMAT_MISSING_KEY;
	*ret = found;
	return R_OK;
}

static enum reason unescape(struct cursor *in, struct blob *ret)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	struct bytes digits;
	const char *at;
	uint8_t c, code[2];

	TRY(cursor_u8(in, &c));
	if (c == 'u') {
		TRY(cursor_take(in, 4, &digits));
		if (hex_decode(digits, code, sizeof(code)) != R_OK || code[0] != 0 ||
		    code[1] > 0x7f)
			return R_FORMAT_TEXT;
		return blob_u8(ret, code[1]);
	}
	at = c ? strchr(from, c) : NULL;
	return at ? blob_u8(ret, (uint8_t)to[at - from]) : R_FORMAT_TEXT;
}

enum reason jview_string(struct bytes value, struct blob *ret)
{
	struct cursor in;
	uint8_t c;

	if (!jview_is_string(value))
		return R_FORMAT_TYPE;
	in = cursor_of(bytes_of(value.p + 1, value.n - 2));
	while (cursor_u8(&in, &c) == R_OK) {
		if (c == '\\')
			TRY(unescape(&in, ret));
		else
			TRY(blob_u8(ret, c));
	}
	return R_OK;
}

enum reason jview_plain(struct bytes value, struct bytes *ret)
{
	if (!jview_is_string(value) || memchr(value.p, '\\', value.n))
		return R_FORMAT_TYPE;
	*ret = bytes_of(value.p + 1, value.n - 2);
	return R_OK;
}

enum reason jview_u32(struct bytes value, uint32_t max, uint32_t *ret)
{
	uint64_t v;

	if (value.n == 0 || value.p[0] < '0' || value.p[0] > '9')
		return R_FORMAT_TYPE;
	TRY(text_u64(value, max, &v));
	*ret = (uint32_t)v;
	return R_OK;
}

enum reason jview_hex(struct bytes value, uint8_t *ret, size_t n)
{
	struct bytes text;

	TRY(jview_plain(value, &text));
	if (text.n != 2 * n)
		return R_FORMAT_TEXT;
	for (size_t i = 0; i < n; i++) {
		uint8_t pair[2];

		for (size_t k = 0; k < 2; k++) {
			pair[k] = text.p[2 * i + k];
			if (pair[k] >= 'A' && pair[k] <= 'F')
				pair[k] |= 0x20;
		}
		TRY(hex_decode(BYTES(pair), ret + i, 1));
	}
	return R_OK;
}
