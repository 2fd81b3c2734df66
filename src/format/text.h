/* SPDX-License-Identifier: Apache-2.0 */
/* Which characters a text on the wire or in a file may hold: ASCII only. */
#ifndef BOOTGATE_FORMAT_TEXT_H
#define BOOTGATE_FORMAT_TEXT_H

#include "base/bytes.h"

enum text_set {
	TEXT_PRINTABLE,		/* 0x20 to 0x7e */
	TEXT_NAME,		/* lower-case letters, digits, `.` and `-` */
	TEXT_LABEL,		/* lower-case letters, digits and `-` */
};

/* True when every character is of the set; also for an empty text. */
bool text_is(struct bytes text, enum text_set set);
/* Copies at most n - 1 characters; `?` for each that is not printable. */
void text_clean(struct bytes text, char *ret, size_t n);
/*
 * Order of texts as keys of a deterministic map: by length, then by bytes
 * (the length stands in front in the encoded form). Fills `order` with the
 * indices of `names`.
 */
void text_order(const char *const *names, size_t count, size_t *order);
/* Decimal without sign or leading zeros, min..max: R_FORMAT_RANGE, R_FORMAT_TEXT. */
enum reason text_number(const char *text, uint32_t min, uint32_t max, uint32_t *ret) must_check;

#endif
