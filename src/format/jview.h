/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON (RFC 8259) of other people, read in place: a value is the bytes that it
 * stands in, as signatures are over bytes. Nothing is converted before it is
 * asked for. Depth is limited to JVIEW_DEPTH_MAX.
 */
#ifndef BOOTGATE_FORMAT_JVIEW_H
#define BOOTGATE_FORMAT_JVIEW_H

#include "base/bytes.h"

#define JVIEW_DEPTH_MAX 32u

/*
 * One value with blanks around it, and nothing behind it: R_FORMAT_TEXT,
 * R_FORMAT_TRUNCATED, R_FORMAT_TRAILING, R_FORMAT_TOO_LARGE for its depth.
 */
enum reason jview_read(struct bytes in, struct bytes *ret) must_check;
/* What the others take: a value that jview_read or one of them gave. */
bool jview_is_object(struct bytes value);
bool jview_is_array(struct bytes value);
bool jview_is_string(struct bytes value);

/*
 * Members of an object and elements of an array, one after the other:
 * jview_first, then jview_next until it is false. An element has no name.
 */
struct jview_iterator {
	struct bytes rest;
	bool object;
	struct bytes name;		/* string, still escaped */
	struct bytes value;
};
bool jview_first(struct bytes value, struct jview_iterator *ret);
bool jview_next(struct jview_iterator *it);

/*
 * Every object and every string in a value, at any depth, in the order in
 * which they begin: false at the end. `rest` starts as the value.
 */
bool jview_scan(struct bytes *rest, struct bytes *ret);

/* Member by name: R_FORMAT_MISSING_KEY, R_FORMAT_DUPLICATE, R_FORMAT_TYPE. */
enum reason jview_member(struct bytes object, const char *name, struct bytes *ret) must_check;
/* A string without its escapes, appended; other than ASCII only as it stands. */
enum reason jview_string(struct bytes value, struct blob *ret) must_check;
/* A string without escapes, in place: R_FORMAT_TYPE. */
enum reason jview_plain(struct bytes value, struct bytes *ret) must_check;
/* A whole number from 0 to max: R_FORMAT_TYPE, R_FORMAT_RANGE. */
enum reason jview_u32(struct bytes value, uint32_t max, uint32_t *ret) must_check;
/* A string of exactly n bytes in hexadecimal digits of either case. */
enum reason jview_hex(struct bytes value, uint8_t *ret, size_t n) must_check;

#endif
