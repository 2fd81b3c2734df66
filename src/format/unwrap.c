/* SPDX-License-Identifier: Apache-2.0 */
#include "format/unwrap.h"

#include <string.h>

#include "base/base64.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "format/jview.h"

enum {
	/* shorter texts hold neither a certificate nor a list */
	TEXT_MIN = 64,
};

/* Pieces that wait, each with the number of its wrappings. */
struct pieces {
	struct {
		struct blob bytes;
		size_t level;
	} v[UNWRAP_ITEMS];
	size_t n, seen;
};

static void pieces_free(struct pieces **p)
{
	if (!*p)
		return;
	for (size_t i = 0; i < (*p)->n; i++)
		blob_free(&(*p)->v[i].bytes);
	free(*p);
}

/* Takes over the bytes. */
static enum reason push(struct pieces *p, struct blob *bytes, size_t level)
{
	if (p->n == UNWRAP_ITEMS || p->seen == UNWRAP_ITEMS)
		return R_FORMAT_TOO_LARGE;
	p->seen++;
	p->v[p->n].bytes = *bytes;
	p->v[p->n++].level = level;
	*bytes = BLOB(0);
	return R_OK;
}

static bool is_blank(uint8_t c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static bool is_text(struct bytes in)
{
	for (size_t i = 0; i < in.n; i++)
		if ((in.p[i] < 0x20 || in.p[i] > 0x7e) && !is_blank(in.p[i]))
			return false;
	return in.n > 0;
}

static const uint8_t *find(struct bytes in, const char *what)
{
	return in.n ? memmem(in.p, in.n, what, strlen(what)) : NULL;
}

/* ---- hexadecimal and base64 ------------------------------------------------- */

/* Without blanks, letters in one case (hexadecimal) or one alphabet (base64). */
static enum reason squeeze(struct bytes in, bool hex, struct blob *ret)
{
	for (size_t i = 0; i < in.n; i++) {
		uint8_t c = in.p[i];

		if (is_blank(c))
			continue;
		if (hex && c >= 'A' && c <= 'F')
			c |= 0x20;
		else if (!hex && (c == '-' || c == '_'))
			c = c == '-' ? '+' : '/';
		TRY(blob_u8(ret, c));
	}
	/* base64 of the other alphabet often lacks its padding */
	while (!hex && ret->n % 4)
		TRY(blob_u8(ret, '='));
	return R_OK;
}

static enum reason from_hex(struct bytes in, struct blob *ret)
{
	_cleanup_(blob_free) struct blob digits = BLOB(in.n + 1);
	struct bytes text;
	uint8_t *to;

	TRY(squeeze(in, true, &digits));
	text = blob_bytes(&digits);
	if (text.n >= 2 && text.p[0] == '0' && text.p[1] == 'x')
		text = bytes_of(text.p + 2, text.n - 2);
	if (text.n == 0 || text.n % 2)
		return R_FORMAT_TEXT;
	TRY(blob_extend(ret, text.n / 2, &to));
	return hex_decode(text, to, text.n / 2);
}

static enum reason from_base64(struct bytes in, struct blob *ret)
{
	_cleanup_(blob_free) struct blob text = BLOB(in.n + 4);

	TRY(squeeze(in, false, &text));
	return base64_decode(blob_bytes(&text), ret);
}

enum reason unwrap_text(struct bytes in, struct blob *ret)
{
	_cleanup_(blob_free) struct blob out = BLOB(in.n);

	if (from_hex(in, &out) != R_OK) {
		blob_reset(&out);
		TRY(from_base64(in, &out));
	}
	if (out.n == 0)
		return R_FORMAT_TEXT;
	*ret = out;
	out = BLOB(0);
	return R_OK;
}

/* ---- the wrappings ---------------------------------------------------------- */

static enum reason push_text(struct pieces *p, struct bytes text, size_t level)
{
	_cleanup_(blob_free) struct blob out = BLOB(0);
	enum reason r = unwrap_text(text, &out);

	/* a text that is no wrapping is just a text */
	if (r != R_OK)
		return r == R_INTERNAL_MEMORY ? r : R_OK;
	return push(p, &out, level);
}

/* "%0A" is a line end. */
static enum reason push_percent(struct pieces *p, struct bytes in, size_t level)
{
	_cleanup_(blob_free) struct blob out = BLOB(in.n);

	for (size_t i = 0; i < in.n; i++) {
		uint8_t c = in.p[i];

		if (c == '%' && in.n - i > 2) {
			uint8_t digits[2] = { in.p[i + 1], in.p[i + 2] };

			for (size_t k = 0; k < sizeof(digits); k++)
				if (digits[k] >= 'A' && digits[k] <= 'F')
					digits[k] |= 0x20;
			if (hex_decode(BYTES(digits), &c, 1) == R_OK)
				i += 2;
		}
		TRY(blob_u8(&out, c));
	}
	return push(p, &out, level);
}

static enum reason push_pem(struct pieces *p, struct bytes in, size_t level)
{
	const uint8_t *begin;

	while ((begin = find(in, "-----BEGIN "))) {
		struct bytes rest = bytes_of(begin + 11, in.n - (size_t)(begin - in.p) - 11);
		const uint8_t *body = find(rest, "-----");
		const uint8_t *end;

		if (!body)
			return R_OK;
		body += 5;
		rest = bytes_of(body, rest.n - (size_t)(body - rest.p));
		end = find(rest, "-----END ");
		if (!end)
			return R_OK;
		TRY(push_text(p, bytes_of(body, (size_t)(end - body)), level));
		in = bytes_of(end, rest.n - (size_t)(end - rest.p));
	}
	return R_OK;
}

static enum reason push_json(struct pieces *p, struct bytes document, size_t level,
			     const struct unwrap_sink *sink)
{
	struct bytes rest = document, value;

	while (jview_scan(&rest, &value)) {
		_cleanup_(blob_free) struct blob text = BLOB(value.n);

		if (jview_is_object(value)) {
			TRY(sink->object(sink->context, value));
		} else if (value.n >= TEXT_MIN && jview_string(value, &text) == R_OK) {
			TRY(push(p, &text, level));
		}
	}
	return R_OK;
}

static enum reason open_piece(struct pieces *p, struct bytes in, size_t level,
			      const struct unwrap_sink *sink)
{
	struct bytes document;

	bool text = is_text(in);

	if (!text)
		TRY(sink->binary(sink->context, in));
	if (level == UNWRAP_LEVELS)
		return R_OK;
	/* tables of certificates hold PEM, too */
	if (!text)
		return push_pem(p, in, level + 1);
	/* a word alone is read as JSON too, but it is more likely hexadecimal */
	if (jview_read(in, &document) == R_OK &&
	    (jview_is_object(document) || jview_is_array(document) || jview_is_string(document)))
		return push_json(p, document, level + 1, sink);
	if (find(in, "-----BEGIN%20"))
		return push_percent(p, in, level + 1);
	if (find(in, "-----BEGIN "))
		return push_pem(p, in, level + 1);
	return push_text(p, in, level + 1);
}

enum reason unwrap(struct bytes file, const struct unwrap_sink *sink)
{
	_cleanup_(pieces_free) struct pieces *p = calloc(1, sizeof(*p));

	if (!p)
		return R_INTERNAL_MEMORY;
	TRY(open_piece(p, file, 0, sink));
	while (p->n > 0) {
		_cleanup_(blob_free) struct blob piece = p->v[p->n - 1].bytes;
		size_t level = p->v[p->n - 1].level;

		p->n--;
		TRY(open_piece(p, blob_bytes(&piece), level, sink));
	}
	return R_OK;
}
