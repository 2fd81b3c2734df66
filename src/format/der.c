/* SPDX-License-Identifier: Apache-2.0 */
#include "format/der.h"

#include "base/cleanup.h"

enum { LENGTH_BYTES_MAX = 3 };

static enum reason length_read(struct cursor *c, size_t *ret)
{
	uint8_t first, b;
	size_t n = 0;

	TRY(cursor_u8(c, &first));
	if (first < 0x80) {
		*ret = first;
		return R_OK;
	}
	/* 0x80: indefinite, which DER does not have */
	if (first == 0x80 || (first & 0x7f) > LENGTH_BYTES_MAX)
		return R_FORMAT_CANONICAL;
	for (int i = 0; i < (first & 0x7f); i++) {
		TRY(cursor_u8(c, &b));
		if (i == 0 && b == 0)
			return R_FORMAT_CANONICAL;
		n = n << 8 | b;
	}
	if (n < 0x80)
		return R_FORMAT_CANONICAL;
	*ret = n;
	return R_OK;
}

enum reason der_next(struct cursor *c, uint8_t *ret_tag, struct bytes *ret)
{
	struct cursor in = *c;
	struct bytes value;
	uint8_t tag;
	size_t n;

	TRY(cursor_u8(&in, &tag));
	if ((tag & 0x1f) == 0x1f)
		return R_FORMAT_TYPE;
	TRY(length_read(&in, &n));
	TRY(cursor_take(&in, n, &value));
	*c = in;
	*ret_tag = tag;
	*ret = value;
	return R_OK;
}

enum reason der_take(struct cursor *c, uint8_t tag, struct bytes *ret)
{
	struct cursor in = *c;
	struct bytes value;
	uint8_t got;

	TRY(der_next(&in, &got, &value));
	if (got != tag)
		return R_FORMAT_TYPE;
	*c = in;
	*ret = value;
	return R_OK;
}

enum reason der_u32(struct cursor *c, uint8_t tag, uint32_t max, uint32_t *ret)
{
	struct cursor in = *c;
	struct bytes value;
	uint64_t v = 0;

	TRY(der_take(&in, tag, &value));
	/* a leading byte of zeros keeps the number positive */
	if (value.n == 0 || value.n > 5 || (value.p[0] & 0x80))
		return R_FORMAT_RANGE;
	if (value.n > 1 && value.p[0] == 0 && !(value.p[1] & 0x80))
		return R_FORMAT_CANONICAL;
	for (size_t i = 0; i < value.n; i++)
		v = v << 8 | value.p[i];
	if (v > max)
		return R_FORMAT_RANGE;
	*c = in;
	*ret = (uint32_t)v;
	return R_OK;
}
