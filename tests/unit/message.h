/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What must hold for the reader and writer of every message: one encoding for
 * one meaning, and a name for everything else. A test gives a good message
 * and a function that reads it and writes it again.
 */
#ifndef BOOTGATE_TESTS_MESSAGE_H
#define BOOTGATE_TESTS_MESSAGE_H

#include <stdio.h>
#include <sys/stat.h>

#include "format/cbor.h"
#include "unit.h"

typedef enum reason rewrite_fn(struct bytes in, struct blob *out);

#define MESSAGE_MAX (8u << 20)

/*
 * Saves a message as seed of a fuzzer when BOOTGATE_SEEDS names the folder of
 * corpora: BOOTGATE_SEEDS=tests/fuzz/corpus build/test/unit/test_NAME
 */
static inline void seed(const char *fuzzer, const char *name, struct bytes b)
{
	const char *folder = getenv("BOOTGATE_SEEDS");
	char path[512];
	FILE *f;

	if (folder == NULL)
		return;
	snprintf(path, sizeof path, "%s/%s", folder, fuzzer);
	mkdir(path, 0755);
	snprintf(path, sizeof path, "%s/%s/%s", folder, fuzzer, name);
	f = fopen(path, "wb");
	assert_non_null(f);
	assert_int_equal(fwrite(b.p, 1, b.n, f), b.n);
	assert_int_equal(fclose(f), 0);
}

/* n bytes that count up from `first`. */
static inline void fill(uint8_t *p, size_t n, uint8_t first)
{
	for (size_t i = 0; i < n; i++)
		p[i] = (uint8_t)(first + i);
}

/* Accepted means: written again it is the same. */
static inline void message_same(rewrite_fn *rewrite, struct bytes in)
{
	_cleanup_(blob_free) struct blob out = BLOB(MESSAGE_MAX);

	if (rewrite(in, &out) == R_OK)
		assert_bytes(blob_bytes(&out), in.p, in.n);
	else
		assert_int_equal(out.n, 0);
}

static inline enum reason message_read(rewrite_fn *rewrite, struct bytes in)
{
	_cleanup_(blob_free) struct blob out = BLOB(MESSAGE_MAX);

	return rewrite(in, &out);
}

/* Length of the item at the start; for messages that we wrote ourselves. */
static inline size_t item_len(struct bytes b)
{
	uint8_t major = b.p[0] >> 5, info = b.p[0] & 0x1f;
	size_t head = info < 24 ? 1 : 1 + ((size_t)1 << (info - 24));
	uint64_t v = info < 24 ? info : 0;
	size_t items, n = head;

	for (size_t i = 1; i < head; i++)
		v = v << 8 | b.p[i];
	if (major == 2 || major == 3)
		return head + (size_t)v;
	items = major == 4 ? (size_t)v : major == 5 ? 2 * (size_t)v : major == 6 ? 1 : 0;
	while (items-- > 0)
		n += item_len(bytes_of(b.p + n, b.n - n));
	return n;
}

/* The pairs of the map at `at`. */
#define PAIRS_MAX 24u
static inline size_t pairs_of(struct bytes map, struct bytes pair[PAIRS_MAX])
{
	struct cursor c = cursor_of(map);
	struct cbor_map m;
	size_t n = 0;

	assert_ok(cbor_map_begin(&c, &m));
	for (size_t i = 0; i < m.left; i++) {
		size_t key = item_len(bytes_of(c.p, c.n));
		size_t value = item_len(bytes_of(c.p + key, c.n - key));

		assert_true(n < PAIRS_MAX);
		assert_ok(cursor_take(&c, key + value, &pair[n++]));
	}
	return n;
}

/* The map of these pairs in this order. */
static inline void map_build(struct blob *out, const struct bytes *pair, size_t n)
{
	struct cbor_writer w = cbor_write_begin(out);

	cbor_put_map(&w, n);
	assert_ok(cbor_write_end(&w, 16));
	for (size_t i = 0; i < n; i++)
		assert_ok(blob_append(out, pair[i].p, pair[i].n));
}

static inline enum reason map_variant(rewrite_fn *rewrite, const struct bytes *pair, size_t n)
{
	_cleanup_(blob_free) struct blob in = BLOB(MESSAGE_MAX);

	map_build(&in, pair, n);
	return message_read(rewrite, blob_bytes(&in));
}

/*
 * A top-level map without, with twice, and with swapped pairs. Bit n of
 * `optional`: pair n may be left out as far as the form goes.
 */
static inline void message_map_check(rewrite_fn *rewrite, struct bytes good, uint32_t optional)
{
	struct bytes pair[PAIRS_MAX], v[PAIRS_MAX + 1];
	size_t n = pairs_of(good, pair);

	for (size_t i = 0; i < n; i++) {
		size_t k = 0;

		for (size_t j = 0; j < n; j++)
			if (j != i)
				v[k++] = pair[j];
		if (!(optional & 1u << i))
			assert_reason(R_FORMAT_MISSING_KEY, map_variant(rewrite, v, k));
		k = 0;
		for (size_t j = 0; j < n; j++) {
			v[k++] = pair[j];
			if (j == i)
				v[k++] = pair[j];
		}
		assert_reason(R_FORMAT_DUPLICATE, map_variant(rewrite, v, k));
		if (i + 1 < n) {
			memcpy(v, pair, n * sizeof *v);
			v[i] = pair[i + 1];
			v[i + 1] = pair[i];
			assert_true(map_variant(rewrite, v, n) != R_OK);
		}
	}
	/* one more key, greater than all others */
	memcpy(v, pair, n * sizeof *v);
	v[n] = bytes_str("\x78\x20~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~\x01");
	assert_reason(R_FORMAT_UNKNOWN_KEY, map_variant(rewrite, v, n + 1));
}

/* Every truncation, one byte more, and every bit the other way round. */
static inline void message_check(rewrite_fn *rewrite, struct bytes good)
{
	_cleanup_(blob_free) struct blob in = BLOB(MESSAGE_MAX);

	assert_ok(message_read(rewrite, good));
	message_same(rewrite, good);
	for (size_t n = 0; n < good.n; n++) {
		/* a copy of that size, so that ASan sees a read past it */
		_cleanup_free_ uint8_t *cut = malloc(n + (n == 0));

		memcpy(cut, good.p, n);
		assert_true(message_read(rewrite, bytes_of(cut, n)) != R_OK);
	}
	assert_ok(blob_append(&in, good.p, good.n));
	assert_ok(blob_u8(&in, 0));
	assert_reason(R_FORMAT_TRAILING, message_read(rewrite, blob_bytes(&in)));
	in.n--;
	for (size_t bit = 0; bit < 8 * in.n; bit++) {
		in.p[bit / 8] ^= (uint8_t)(1u << bit % 8);
		message_same(rewrite, blob_bytes(&in));
		in.p[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
}

/* Where `what` first stands in the message. */
static inline uint8_t *find(struct blob *b, const void *what, size_t n)
{
	uint8_t *p = memmem(b->p, b->n, what, n);

	assert_non_null(p);
	return p;
}

#endif
