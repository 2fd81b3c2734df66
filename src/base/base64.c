/* SPDX-License-Identifier: Apache-2.0 */
#include "base/base64.h"

#include "base/cleanup.h"

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

enum reason base64_encode(struct bytes in, struct blob *ret)
{
	uint8_t *p;

	TRY(blob_extend(ret, (in.n + 2) / 3 * 4, &p));
	for (size_t i = 0; i < in.n; i += 3) {
		uint32_t v = (uint32_t)in.p[i] << 16;
		size_t left = in.n - i;

		if (left > 1)
			v |= (uint32_t)in.p[i + 1] << 8;
		if (left > 2)
			v |= in.p[i + 2];
		*p++ = (uint8_t)digits[v >> 18];
		*p++ = (uint8_t)digits[v >> 12 & 63];
		*p++ = left > 1 ? (uint8_t)digits[v >> 6 & 63] : '=';
		*p++ = left > 2 ? (uint8_t)digits[v & 63] : '=';
	}
	return R_OK;
}

static int digit(uint8_t c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	if (c == '+')
		return 62;
	return c == '/' ? 63 : -1;
}

enum reason base64_decode(struct bytes text, struct blob *ret)
{
	if (text.n % 4 != 0)
		return R_FORMAT_TEXT;
	for (size_t i = 0; i < text.n; i += 4) {
		const uint8_t *t = text.p + i;
		size_t pad = 0;
		uint32_t v = 0;

		if (i + 4 == text.n)
			pad = t[3] != '=' ? 0 : t[2] != '=' ? 1 : 2;
		for (size_t k = 0; k < 4; k++) {
			int d = k >= 4 - pad ? 0 : digit(t[k]);

			if (d < 0)
				return R_FORMAT_TEXT;
			v = v << 6 | (uint32_t)d;
		}
		if ((pad == 1 && (v & 0xff)) || (pad == 2 && (v & 0xffff)))
			return R_FORMAT_TEXT;
		for (size_t k = 0; k < 3 - pad; k++)
			TRY(blob_u8(ret, (uint8_t)(v >> (16 - 8 * k))));
	}
	return R_OK;
}
