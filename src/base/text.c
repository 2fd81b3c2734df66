/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"

#include <stdio.h>
#include <string.h>

static const char digits[] = "0123456789abcdef";

void hex_encode(struct bytes in, char *ret)
{
	for (size_t i = 0; i < in.n; i++) {
		ret[2 * i] = digits[in.p[i] >> 4];
		ret[2 * i + 1] = digits[in.p[i] & 15];
	}
	ret[2 * in.n] = '\0';
}

enum { NO_DIGIT = 16 };

static unsigned int digit_value(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return c - (unsigned int)'0';
	if (c >= 'a' && c <= 'f')
		return c - (unsigned int)'a' + 10;
	return NO_DIGIT;
}

enum reason hex_decode_upto(struct bytes text, uint8_t *ret, size_t max, size_t *ret_n)
{
	if (text.n % 2 != 0)
		return R_FORMAT_TEXT;
	if (text.n / 2 > max)
		return R_FORMAT_TOO_LARGE;
	for (size_t i = 0; i < text.n; i++) {
		if (digit_value(text.p[i]) == NO_DIGIT)
			return R_FORMAT_TEXT;
	}
	for (size_t i = 0; i < text.n / 2; i++) {
		ret[i] = (uint8_t)(digit_value(text.p[2 * i]) << 4 |
				   digit_value(text.p[2 * i + 1]));
	}
	*ret_n = text.n / 2;
	return R_OK;
}

enum reason hex_decode(struct bytes text, uint8_t *ret, size_t n)
{
	size_t got;

	if (text.n / 2 != n)
		return R_FORMAT_TEXT;
	return hex_decode_upto(text, ret, n, &got);
}

static bool printable(uint8_t c)
{
	return c >= 0x20 && c <= 0x7e;
}

bool text_printable(struct bytes in)
{
	for (size_t i = 0; i < in.n; i++) {
		if (!printable(in.p[i]))
			return false;
	}
	return true;
}

bool text_escape(struct bytes in, char *ret, size_t n)
{
	size_t out = 0;
	size_t i;

	for (i = 0; i < in.n; i++) {
		uint8_t c = in.p[i];
		bool plain = printable(c) && c != '\\';

		if (n - 1 - out < (plain ? 1u : 4u))
			break;
		if (plain) {
			ret[out++] = (char)c;
		} else {
			ret[out++] = '\\';
			ret[out++] = 'x';
			ret[out++] = digits[c >> 4];
			ret[out++] = digits[c & 15];
		}
	}
	ret[out] = '\0';
	return i == in.n;
}

enum reason text_line(struct bytes in, char *ret, size_t n)
{
	const uint8_t *end = in.n > 0 ? memchr(in.p, '\n', in.n) : NULL;
	size_t length = end ? (size_t)(end - in.p) : in.n;

	if (length >= n)
		return R_FORMAT_TOO_LARGE;
	if (length > 0)
		memcpy(ret, in.p, length);
	ret[length] = '\0';
	return R_OK;
}

enum reason text_u64(struct bytes text, uint64_t max, uint64_t *ret)
{
	uint64_t v = 0;

	if (text.n == 0 || (text.n > 1 && text.p[0] == '0'))
		return R_FORMAT_TEXT;
	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] < '0' || text.p[i] > '9')
			return R_FORMAT_TEXT;
	}
	for (size_t i = 0; i < text.n; i++) {
		unsigned int digit = text.p[i] - (unsigned int)'0';

		if (v > (UINT64_MAX - digit) / 10)
			return R_FORMAT_RANGE;
		v = v * 10 + digit;
	}
	if (v > max)
		return R_FORMAT_RANGE;
	*ret = v;
	return R_OK;
}

void text_print_json(struct bytes printable)
{
	putchar('"');
	for (size_t i = 0; i < printable.n; i++) {
		if (printable.p[i] == '"' || printable.p[i] == '\\')
			putchar('\\');
		putchar(printable.p[i]);
	}
	putchar('"');
}
