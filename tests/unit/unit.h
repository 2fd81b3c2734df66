/* SPDX-License-Identifier: Apache-2.0 */
/* What every unit test starts with: cmocka, and reasons told by name. */
#ifndef BOOTGATE_TESTS_UNIT_H
#define BOOTGATE_TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/reason.h"
#include "base/text.h"

/* The expression gives this reason; the names are shown when it does not. */
#define assert_reason(want, expr)                                             \
	do {                                                                  \
		enum reason got_ = (expr);                                    \
		assert_string_equal(reason_name(got_), reason_name(want));    \
	} while (0)
#define assert_ok(expr) assert_reason(R_OK, expr)

/* Exactly these bytes. */
#define assert_bytes(b, data, len)                                            \
	do {                                                                  \
		struct bytes b_ = (b);                                        \
		assert_int_equal(b_.n, (len));                                \
		if (b_.n > 0)                                                 \
			assert_memory_equal(b_.p, (data), b_.n);              \
	} while (0)

/*
 * The allocation after `after` others returns NULL, once; -1: none. Counts
 * only what our own objects and the archives ask for.
 */
void unit_fail_allocation(long after);

/* Bytes out of hexadecimal digits, for vectors; the blob is the caller's. */
static inline struct blob unhex(const char *digits)
{
	struct blob b = BLOB(1u << 20);
	size_t n = strlen(digits) / 2;
	uint8_t *to;

	assert_ok(blob_extend(&b, n, &to));
	assert_ok(hex_decode(bytes_str(digits), to, n));
	return b;
}

#endif
