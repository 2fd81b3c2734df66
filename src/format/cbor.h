/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CBOR (RFC 8949) in deterministic form (section 4.2.1), the only form we
 * write and the only one we read. The one wrapper of tinycbor.
 *
 * A message reader reads like the field list of its message:
 *
 *	struct cbor_map map;
 *	TRY(cbor_map_begin(&c, &map));
 *	TRY(cbor_key(&map, 2));
 *	TRY(cbor_copy(&c, ret->nonce, NONCE_LEN));
 *	TRY(cbor_map_end(&map));
 *	TRY(cursor_end(&c));
 *
 * Nothing is skipped and nothing recurses: each call takes the one item that
 * the format has at this place, so input cannot nest deeper than the code
 * does. Floats, null, undefined and other simple values are never right.
 */
#ifndef BOOTGATE_FORMAT_CBOR_H
#define BOOTGATE_FORMAT_CBOR_H

#include "base/bytes.h"
#include "format/charset.h"

/*
 * Reading. Each call leaves the cursor where it was unless it returns R_OK.
 *
 *	R_FORMAT_TRUNCATED	the item is not all there
 *	R_FORMAT_TYPE		another type than asked for, a tag among them
 *	R_FORMAT_CANONICAL	not the shortest form, indefinite, keys unsorted
 *	R_FORMAT_RANGE		a number, length or count outside its bounds
 *	R_FORMAT_TEXT		characters outside the set
 */
enum reason cbor_uint(struct cursor *c, uint64_t min, uint64_t max, uint64_t *ret) must_check;
enum reason cbor_u32(struct cursor *c, uint32_t min, uint32_t max, uint32_t *ret) must_check;
enum reason cbor_int(struct cursor *c, int64_t min, int64_t max, int64_t *ret) must_check;
enum reason cbor_bool(struct cursor *c, bool *ret) must_check;
/* A byte string of min..max bytes; the view points into the input. */
enum reason cbor_bytes(struct cursor *c, size_t min, size_t max, struct bytes *ret) must_check;
/* A byte string of exactly n bytes. */
enum reason cbor_copy(struct cursor *c, void *to, size_t n) must_check;
enum reason cbor_text(struct cursor *c, size_t min, size_t max, enum charset set,
		      struct bytes *ret) must_check;
/* A text as C string: min..size - 1 characters. */
enum reason cbor_string(struct cursor *c, size_t min, size_t size, enum charset set,
			char *ret) must_check;
/* The head of an array; its `ret` items follow, and the caller reads them all. */
enum reason cbor_array(struct cursor *c, size_t min, size_t max, size_t *ret) must_check;
/* The tag with this number; the tagged item follows. */
enum reason cbor_tag(struct cursor *c, uint64_t number) must_check;

/*
 * A map: each key is asked for in ascending order of its encoded form (0, 1,
 * .. 23, 24, .. -1, -2, .. "a", "b", "aa"), and its value read right after.
 *
 *	R_FORMAT_MISSING_KEY	the key is not there
 *	R_FORMAT_UNKNOWN_KEY	a key that nobody asked for comes first
 *	R_FORMAT_DUPLICATE	the next key equals the one before
 */
struct cbor_map {
	struct cursor *in;
	size_t left;			/* keys that were not read yet */
	struct bytes last;		/* key before, encoded; none at first */
};
enum reason cbor_map_begin(struct cursor *c, struct cbor_map *ret) must_check;
enum reason cbor_key(struct cbor_map *m, int64_t label) must_check;
enum reason cbor_key_optional(struct cbor_map *m, int64_t label, bool *ret) must_check;
/* The key is this text, at most 64 characters. */
enum reason cbor_key_named(struct cbor_map *m, const char *name) must_check;
/* Any key of type text resp. unsigned number, for maps that are lists. */
enum reason cbor_key_text(struct cbor_map *m, size_t min, size_t size, enum charset set,
			  char *ret) must_check;
enum reason cbor_key_uint(struct cbor_map *m, uint64_t max, uint64_t *ret) must_check;
enum reason cbor_map_end(const struct cbor_map *m) must_check;
/* Key 1 with the version of the message: R_FORMAT_VERSION for another. */
enum reason cbor_key_version(struct cbor_map *m, uint32_t version) must_check;

/*
 * Writing. The first failure sticks and is told by cbor_write_end, which
 * then also takes back what was appended. The bounds are the reader's: what
 * it would refuse is not written. Map keys are the caller's to sort.
 */
struct cbor_writer {
	struct blob *out;
	size_t start;			/* of out, before the first item */
	enum reason reason;
};
struct cbor_writer cbor_write_begin(struct blob *out);
void cbor_put_uint(struct cbor_writer *w, uint64_t min, uint64_t max, uint64_t v);
void cbor_put_int(struct cbor_writer *w, int64_t v);	/* also a map's key */
void cbor_put_bool(struct cbor_writer *w, bool v);
void cbor_put_bytes(struct cbor_writer *w, size_t min, size_t max, struct bytes v);
void cbor_put_copy(struct cbor_writer *w, const void *p, size_t n);
void cbor_put_text(struct cbor_writer *w, size_t min, size_t max, enum charset set,
		   struct bytes v);
/* A C string in an array of `size`: min..size - 1 characters. */
void cbor_put_string(struct cbor_writer *w, size_t min, size_t size, enum charset set,
		     const char *v);
void cbor_put_array(struct cbor_writer *w, size_t min, size_t max, size_t count);
void cbor_put_map(struct cbor_writer *w, size_t count);
void cbor_put_tag(struct cbor_writer *w, uint64_t number);
/*
 * Fills `order` with the indices of `names` in the order in which they must
 * stand as keys: by length, which is in front when encoded, then by bytes.
 * False when a name occurs twice.
 */
bool cbor_key_order(const char *const *names, size_t count, size_t *order) must_check;
/* Key and version number. */
void cbor_put_version(struct cbor_writer *w, uint32_t version);
/* Refuses for a reason of the caller's own, unless one sticks already. */
void cbor_put_refuse(struct cbor_writer *w, enum reason r);
/* R_FORMAT_TOO_LARGE when more than `limit` bytes were written. */
enum reason cbor_write_end(struct cbor_writer *w, size_t limit) must_check;

#endif
