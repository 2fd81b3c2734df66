/* SPDX-License-Identifier: Apache-2.0 */
/* What the fuzzers have in common. */
#ifndef BOOTGATE_TESTS_FUZZ_H
#define BOOTGATE_TESTS_FUZZ_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/cleanup.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A property that must hold for every input. */
static inline void must(bool holds)
{
	if (!holds)
		abort();
}

typedef enum reason rewrite_fn(struct bytes in, struct blob *out);

/*
 * What a reader accepted, written again, gives the same bytes: there is one
 * encoding for one meaning. So everything accepted has bounds that the
 * writer has too.
 */
static inline void same_again(rewrite_fn *rewrite, struct bytes in)
{
	_cleanup_(blob_free) struct blob out = BLOB(16u << 20);

	if (rewrite(in, &out) == R_OK)
		must(bytes_equal(blob_bytes(&out), in));
	else
		must(out.n == 0);
}

/* Reader and writer of `type`, one after the other. */
#define REWRITE(type)                                                         \
	static enum reason type##_again(struct bytes in, struct blob *out)    \
	{                                                                     \
		static struct type m;                                         \
		TRY(type##_read(in, &m));                                     \
		return type##_write(&m, out);                                 \
	}

/* As C string, for readers of texts; the caller frees it. */
static inline char *string_of(const uint8_t *data, size_t size)
{
	char *s = malloc(size + 1);

	must(s != NULL);
	if (size > 0)
		memcpy(s, data, size);
	s[size] = '\0';
	return s;
}

#endif
