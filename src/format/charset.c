/* SPDX-License-Identifier: Apache-2.0 */
#include "format/charset.h"

static bool has(enum charset set, uint8_t c)
{
	if (set == CHARSET_PRINTABLE)
		return c >= 0x20 && c <= 0x7e;
	if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-')
		return true;
	return c == '.' && set == CHARSET_NAME;
}

bool charset_has(enum charset set, struct bytes text)
{
	for (size_t i = 0; i < text.n; i++)
		if (!has(set, text.p[i]))
			return false;
	return true;
}
