/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes: a borrowed view (struct bytes), an owned growing buffer with a
 * mandatory ceiling (struct blob), and the one cursor through which received
 * bytes are read (struct cursor).
 */
#ifndef BOOTGATE_BASE_BYTES_H
#define BOOTGATE_BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/reason.h"

/* A view of bytes that somebody else owns. p may be NULL only when n is 0. */
struct bytes {
	const uint8_t *p;
	size_t n;
};

#define BYTES(array) ((struct bytes){ (array), sizeof(array) })
#define BYTES_NONE ((struct bytes){ NULL, 0 })
static inline struct bytes bytes_of(const void *p, size_t n)
{
	return (struct bytes){ p, n };
}
/* The characters of a C string, without its NUL. */
struct bytes bytes_str(const char *s);
bool bytes_equal(struct bytes a, struct bytes b);
/* Same, in time that depends on the lengths only. */
bool bytes_equal_secret(struct bytes a, struct bytes b);

/*
 * Owned bytes. `max` is the ceiling that the owner chose: an append that
 * would pass it fails with R_INTERNAL_TOO_LARGE and leaves the blob as it
 * was. Freed, and wiped, by blob_free or _cleanup_(blob_free).
 */
struct blob {
	uint8_t *p;
	size_t n;
	size_t cap;
	size_t max;
};

#define BLOB(ceiling) ((struct blob){ NULL, 0, 0, (ceiling) })
enum reason blob_append(struct blob *b, const void *p, size_t n) must_check;
enum reason blob_u8(struct blob *b, uint8_t v) must_check;
enum reason blob_be16(struct blob *b, uint16_t v) must_check;
enum reason blob_be32(struct blob *b, uint32_t v) must_check;
enum reason blob_be64(struct blob *b, uint64_t v) must_check;
enum reason blob_le16(struct blob *b, uint16_t v) must_check;
enum reason blob_le32(struct blob *b, uint32_t v) must_check;
enum reason blob_le64(struct blob *b, uint64_t v) must_check;
/*
 * Makes room for n more bytes and returns where they go; counts them. What
 * pointed into the blob before is no longer valid.
 */
enum reason blob_extend(struct blob *b, size_t n, uint8_t **ret) must_check;
void blob_reset(struct blob *b);	/* wipes, keeps the memory */
void blob_free(struct blob *b);		/* wipes and frees */
static inline struct bytes blob_bytes(const struct blob *b)
{
	return (struct bytes){ b->p, b->n };
}

/*
 * Read cursor: each call takes bytes from the front or fails with
 * R_FORMAT_TRUNCATED and leaves the cursor where it was. `offset` counts
 * from the start of the whole input, for messages.
 */
struct cursor {
	const uint8_t *p;
	size_t n;
	size_t offset;
};

static inline struct cursor cursor_of(struct bytes b)
{
	return (struct cursor){ b.p, b.n, 0 };
}
enum reason cursor_u8(struct cursor *c, uint8_t *ret) must_check;
enum reason cursor_be16(struct cursor *c, uint16_t *ret) must_check;
enum reason cursor_be32(struct cursor *c, uint32_t *ret) must_check;
enum reason cursor_be64(struct cursor *c, uint64_t *ret) must_check;
enum reason cursor_le16(struct cursor *c, uint16_t *ret) must_check;
enum reason cursor_le32(struct cursor *c, uint32_t *ret) must_check;
enum reason cursor_le64(struct cursor *c, uint64_t *ret) must_check;
enum reason cursor_take(struct cursor *c, size_t n, struct bytes *ret) must_check;
enum reason cursor_copy(struct cursor *c, void *to, size_t n) must_check;
/* R_FORMAT_TRAILING unless everything was consumed. */
enum reason cursor_end(const struct cursor *c) must_check;

#endif
