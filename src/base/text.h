/* SPDX-License-Identifier: Apache-2.0 */
/* Text out of bytes and bytes out of text: hexadecimal, escapes, numbers. */
#ifndef BOOTGATE_BASE_TEXT_H
#define BOOTGATE_BASE_TEXT_H

#include "base/bytes.h"

/* Lower-case digits and a NUL: ret holds 2 * in.n + 1 characters. */
void hex_encode(struct bytes in, char *ret);
/*
 * Strict: exactly 2 * n lower-case digits make exactly n bytes, anything else
 * is R_FORMAT_TEXT.
 */
enum reason hex_decode(struct bytes text, uint8_t *ret, size_t n) must_check;
/* Same for any number of bytes up to max: R_FORMAT_TOO_LARGE above it. */
enum reason hex_decode_upto(struct bytes text, uint8_t *ret, size_t max,
			    size_t *ret_n) must_check;

/* Every byte is one of the 95 printable ASCII characters. */
bool text_printable(struct bytes in);

/*
 * Printable ASCII stays, backslash and everything else becomes \xHH. Writes at
 * most n - 1 characters and a NUL, and never half an escape; n is at least 1.
 * Returns false when the text was cut.
 */
bool text_escape(struct bytes in, char *ret, size_t n);

/* Prints escaped text as a JSON string: of printable ASCII two characters need care. */
void text_print_json(struct bytes printable);

/* The first line without its newline, as a string; R_FORMAT_TOO_LARGE. */
enum reason text_line(struct bytes in, char *ret, size_t n) must_check;

/* A decimal number without sign, blanks or leading zeros: R_FORMAT_TEXT, R_FORMAT_RANGE. */
enum reason text_u64(struct bytes text, uint64_t max, uint64_t *ret) must_check;

#endif
