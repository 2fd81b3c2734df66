/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes.h"

#include <stdlib.h>
#include <string.h>

struct bytes bytes_str(const char *s)
{
	return (struct bytes){ (const uint8_t *)s, strlen(s) };
}

bool bytes_equal(struct bytes a, struct bytes b)
{
	return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

bool bytes_equal_secret(struct bytes a, struct bytes b)
{
	/* volatile: the compiler must not leave the loop at a difference */
	volatile uint8_t different = 0;

	if (a.n != b.n)
		return false;
	for (size_t i = 0; i < a.n; i++)
		different = (uint8_t)(different | (a.p[i] ^ b.p[i]));
	return different == 0;
}

/* Moves to a larger place by hand: realloc would leave a copy unwiped. */
static enum reason grow(struct blob *b, size_t want)
{
	size_t cap = b->cap > b->max / 2 ? b->max : b->cap * 2;
	uint8_t *p;

	if (cap < 64)
		cap = 64;
	if (cap < want)
		cap = want;
	if (cap > b->max)
		cap = b->max;
	p = malloc(cap);
	if (p == NULL)
		return R_INTERNAL_MEMORY;
	if (b->n > 0)
		memcpy(p, b->p, b->n);
	if (b->p != NULL)
		explicit_bzero(b->p, b->cap);
	free(b->p);
	b->p = p;
	b->cap = cap;
	return R_OK;
}

enum reason blob_extend(struct blob *b, size_t n, uint8_t **ret)
{
	if (b->n > b->max || n > b->max - b->n)
		return R_INTERNAL_TOO_LARGE;
	if (n > b->cap - b->n) {
		enum reason r = grow(b, b->n + n);
		if (r != R_OK)
			return r;
	}
	*ret = b->p + b->n;
	b->n += n;
	return R_OK;
}

enum reason blob_append(struct blob *b, const void *p, size_t n)
{
	uint8_t *to;
	enum reason r = blob_extend(b, n, &to);

	if (r == R_OK && n > 0)
		memcpy(to, p, n);
	return r;
}

static enum reason append_be(struct blob *b, uint64_t v, size_t n)
{
	uint8_t wire[8];

	for (size_t i = 0; i < n; i++)
		wire[i] = (uint8_t)(v >> (8 * (n - 1 - i)));
	return blob_append(b, wire, n);
}

static enum reason append_le(struct blob *b, uint64_t v, size_t n)
{
	uint8_t wire[8];

	for (size_t i = 0; i < n; i++)
		wire[i] = (uint8_t)(v >> (8 * i));
	return blob_append(b, wire, n);
}

enum reason blob_u8(struct blob *b, uint8_t v)
{
	return blob_append(b, &v, 1);
}

enum reason blob_be16(struct blob *b, uint16_t v)
{
	return append_be(b, v, 2);
}

enum reason blob_be32(struct blob *b, uint32_t v)
{
	return append_be(b, v, 4);
}

enum reason blob_be64(struct blob *b, uint64_t v)
{
	return append_be(b, v, 8);
}

enum reason blob_le16(struct blob *b, uint16_t v)
{
	return append_le(b, v, 2);
}

enum reason blob_le32(struct blob *b, uint32_t v)
{
	return append_le(b, v, 4);
}

enum reason blob_le64(struct blob *b, uint64_t v)
{
	return append_le(b, v, 8);
}

void blob_reset(struct blob *b)
{
	if (b->p != NULL)
		explicit_bzero(b->p, b->cap);
	b->n = 0;
}

void blob_free(struct blob *b)
{
	blob_reset(b);
	free(b->p);
	b->p = NULL;
	b->cap = 0;
}

enum reason cursor_take(struct cursor *c, size_t n, struct bytes *ret)
{
	if (n > c->n)
		return R_FORMAT_TRUNCATED;
	*ret = (struct bytes){ c->p, n };
	if (n > 0)
		c->p += n;
	c->n -= n;
	c->offset += n;
	return R_OK;
}

enum reason cursor_copy(struct cursor *c, void *to, size_t n)
{
	struct bytes b;
	enum reason r = cursor_take(c, n, &b);

	if (r == R_OK && n > 0)
		memcpy(to, b.p, n);
	return r;
}

static enum reason take_be(struct cursor *c, size_t n, uint64_t *ret)
{
	struct bytes b;
	enum reason r = cursor_take(c, n, &b);

	if (r != R_OK)
		return r;
	*ret = 0;
	for (size_t i = 0; i < n; i++)
		*ret = *ret << 8 | b.p[i];
	return R_OK;
}

static enum reason take_le(struct cursor *c, size_t n, uint64_t *ret)
{
	struct bytes b;
	enum reason r = cursor_take(c, n, &b);

	if (r != R_OK)
		return r;
	*ret = 0;
	for (size_t i = n; i > 0; i--)
		*ret = *ret << 8 | b.p[i - 1];
	return R_OK;
}

enum reason cursor_u8(struct cursor *c, uint8_t *ret)
{
	return cursor_copy(c, ret, 1);
}

enum reason cursor_be16(struct cursor *c, uint16_t *ret)
{
	uint64_t v;
	enum reason r = take_be(c, 2, &v);

	if (r == R_OK)
		*ret = (uint16_t)v;
	return r;
}

enum reason cursor_be32(struct cursor *c, uint32_t *ret)
{
	uint64_t v;
	enum reason r = take_be(c, 4, &v);

	if (r == R_OK)
		*ret = (uint32_t)v;
	return r;
}

enum reason cursor_be64(struct cursor *c, uint64_t *ret)
{
	return take_be(c, 8, ret);
}

enum reason cursor_le16(struct cursor *c, uint16_t *ret)
{
	uint64_t v;
	enum reason r = take_le(c, 2, &v);

	if (r == R_OK)
		*ret = (uint16_t)v;
	return r;
}

enum reason cursor_le32(struct cursor *c, uint32_t *ret)
{
	uint64_t v;
	enum reason r = take_le(c, 4, &v);

	if (r == R_OK)
		*ret = (uint32_t)v;
	return r;
}

enum reason cursor_le64(struct cursor *c, uint64_t *ret)
{
	return take_le(c, 8, ret);
}

enum reason cursor_end(const struct cursor *c)
{
	return c->n == 0 ? R_OK : R_FORMAT_TRAILING;
}
