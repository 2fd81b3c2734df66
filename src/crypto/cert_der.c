/* SPDX-License-Identifier: Apache-2.0 */
#include "crypto/cert_der.h"

#include "base/cleanup.h"

enum {
	DER_INTEGER = 0x02,
	DER_SEQUENCE = 0x30,
	DER_VERSION = 0xa0,		/* [0] EXPLICIT */
};

/* One element: its content and, with `ret_all`, the whole of it. */
static enum reason element(struct cursor *c, uint8_t tag, struct bytes *ret, struct bytes *ret_all)
{
	const uint8_t *from = c->p;
	uint8_t found, first, next;
	size_t n = 0;

	if (cursor_u8(c, &found) != R_OK || found != tag || cursor_u8(c, &first) != R_OK)
		return R_EK_FORMAT;
	if (first < 0x80) {
		n = first;
	} else {
		/* 0x80 is "until an end mark", which no certificate has */
		if (first == 0x80 || first > 0x83)
			return R_EK_FORMAT;
		for (unsigned i = first & 0x7fu; i > 0; i--) {
			if (cursor_u8(c, &next) != R_OK)
				return R_EK_FORMAT;
			n = n << 8 | next;
		}
	}
	if (cursor_take(c, n, ret) != R_OK)
		return R_EK_FORMAT;
	*ret_all = bytes_of(from, (size_t)(c->p - from));
	return R_OK;
}

enum reason der_sequence(struct bytes in, struct bytes *ret, struct bytes *ret_rest)
{
	struct cursor c = cursor_of(in);
	struct bytes content;

	TRY(element(&c, DER_SEQUENCE, &content, ret));
	*ret_rest = bytes_of(c.p, c.n);
	return R_OK;
}

static bool all_are(struct bytes in, uint8_t value)
{
	for (size_t i = 0; i < in.n; i++)
		if (in.p[i] != value)
			return false;
	return true;
}

bool der_is_padding(struct bytes in)
{
	return all_are(in, 0x00) || all_are(in, 0xff);
}

enum reason der_cut(struct bytes nv, struct bytes *ret)
{
	struct bytes certificate, rest;

	TRY(der_sequence(nv, &certificate, &rest));
	if (!der_is_padding(rest))
		return R_EK_PADDING;
	*ret = certificate;
	return R_OK;
}

static enum reason open_certificate(struct bytes certificate, struct bytes *ret_signed,
				    struct bytes *ret_content, struct bytes *ret_rest)
{
	struct cursor outer = cursor_of(certificate);
	struct cursor inner;
	struct bytes content, all;

	TRY(element(&outer, DER_SEQUENCE, &content, &all));
	if (outer.n != 0)
		return R_EK_FORMAT;
	inner = cursor_of(content);
	TRY(element(&inner, DER_SEQUENCE, ret_content, ret_signed));
	*ret_rest = bytes_of(inner.p, inner.n);
	return R_OK;
}

enum reason der_signed_part(struct bytes certificate, struct bytes *ret)
{
	struct bytes content, rest, part;

	TRY(open_certificate(certificate, &part, &content, &rest));
	*ret = part;
	return R_OK;
}

static enum reason put_header(struct blob *b, uint8_t tag, size_t n)
{
	TRY(blob_u8(b, tag));
	if (n < 0x80)
		return blob_u8(b, (uint8_t)n);
	if (n <= 0xff) {
		TRY(blob_u8(b, 0x81));
		return blob_u8(b, (uint8_t)n);
	}
	if (n <= 0xffff) {
		TRY(blob_u8(b, 0x82));
		return blob_be16(b, (uint16_t)n);
	}
	TRY(blob_u8(b, 0x83));
	TRY(blob_u8(b, (uint8_t)(n >> 16)));
	return blob_be16(b, (uint16_t)n);
}

static enum reason put(struct blob *b, uint8_t tag, struct bytes content)
{
	TRY(put_header(b, tag, content.n));
	return blob_append(b, content.p, content.n);
}

/* A first byte of sign only, twice the same sign. */
static bool is_padded(struct bytes number)
{
	return number.n > 1 && ((number.p[0] == 0x00 && (number.p[1] & 0x80) == 0) ||
				(number.p[0] == 0xff && (number.p[1] & 0x80) != 0));
}

enum reason der_shorten_serial(struct bytes certificate, struct blob *ret)
{
	size_t max = certificate.n + 16;
	_cleanup_(blob_free) struct blob part = BLOB(max);
	_cleanup_(blob_free) struct blob body = BLOB(max);
	_cleanup_(blob_free) struct blob whole = BLOB(max);
	struct bytes all, content, rest, version, serial;
	struct cursor c;

	TRY(open_certificate(certificate, &all, &content, &rest));
	c = cursor_of(content);
	TRY(element(&c, DER_VERSION, &version, &all));
	TRY(blob_append(&part, all.p, all.n));
	TRY(element(&c, DER_INTEGER, &serial, &all));
	if (!is_padded(serial))
		return R_EK_FORMAT;
	while (is_padded(serial))
		serial = bytes_of(serial.p + 1, serial.n - 1);
	TRY(put(&part, DER_INTEGER, serial));
	TRY(blob_append(&part, c.p, c.n));
	TRY(put(&body, DER_SEQUENCE, blob_bytes(&part)));
	TRY(blob_append(&body, rest.p, rest.n));
	TRY(put(&whole, DER_SEQUENCE, blob_bytes(&body)));
	return blob_append(ret, whole.p, whole.n);
}
