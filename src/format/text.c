/* SPDX-License-Identifier: Apache-2.0 */
#include "format/text.h"

#include <string.h>

static bool char_is(uint8_t c, enum text_set set)
{
	if (set == TEXT_PRINTABLE)
		return c >= 0x20 && c <= 0x7e;
	if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-')
		return true;
	return c == '.' && set == TEXT_NAME;
}

bool text_is(struct bytes text, enum text_set set)
{
	for (size_t i = 0; i < text.n; i++)
		if (!char_is(text.p[i], set))
			return false;
	return true;
}

void text_clean(struct bytes text, char *ret, size_t n)
{
	size_t len = text.n < n - 1 ? text.n : n - 1;

	for (size_t i = 0; i < len; i++) {
		uint8_t c = text.p[i];
		ret[i] = char_is(c, TEXT_PRINTABLE) ? (char)c : '?';
	}
	ret[len] = '\0';
}

static bool key_before(const char *a, const char *b)
{
	size_t an = strlen(a), bn = strlen(b);

	return an != bn ? an < bn : memcmp(a, b, an) < 0;
}

/* Insertion sort: the maps of our messages have a few dozen entries at most. */
void text_order(const char *const *names, size_t count, size_t *order)
{
	for (size_t i = 0; i < count; i++) {
		size_t at = i;

		while (at > 0 && key_before(names[i], names[order[at - 1]])) {
			order[at] = order[at - 1];
			at--;
		}
		order[at] = i;
	}
}

enum reason text_number(const char *text, uint32_t min, uint32_t max, uint32_t *ret)
{
	uint64_t v = 0;
	size_t n = strlen(text);

	if (n == 0 || (n > 1 && text[0] == '0'))
		return R_FORMAT_TEXT;
	for (size_t i = 0; i < n; i++) {
		if (text[i] < '0' || text[i] > '9')
			return R_FORMAT_TEXT;
		v = v * 10 + (uint64_t)(text[i] - '0');
		if (v > max)
			return R_FORMAT_RANGE;
	}
	if (v < min)
		return R_FORMAT_RANGE;
	*ret = (uint32_t)v;
	return R_OK;
}
