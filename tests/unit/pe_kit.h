/* SPDX-License-Identifier: Apache-2.0 */
/* PE images under construction: 0x40 bytes, headers up to 0x400, then what is put behind. */
#ifndef BOOTGATE_TESTS_PE_KIT_H
#define BOOTGATE_TESTS_PE_KIT_H

#include "message.h"

#define KIT_PE 0x40u
#define KIT_OPTIONAL (KIT_PE + 24u)
#define KIT_CHECKSUM (KIT_OPTIONAL + 64u)
#define KIT_DIRECTORIES (KIT_OPTIONAL + 108u)
#define KIT_CERTIFICATES (KIT_OPTIONAL + 144u)
#define KIT_OPTIONAL_SIZE 240u
#define KIT_SECTIONS (KIT_OPTIONAL + KIT_OPTIONAL_SIZE)
#define KIT_HEADERS 0x400u

struct image {
	uint8_t b[0x3000];
	size_t n;
	uint16_t sections;
};

static inline void set32(struct image *i, size_t at, uint32_t v)
{
	for (size_t k = 0; k < 4; k++)
		i->b[at + k] = (uint8_t)(v >> (8 * k));
}

static inline void set16(struct image *i, size_t at, uint16_t v)
{
	i->b[at] = (uint8_t)v;
	i->b[at + 1] = (uint8_t)(v >> 8);
}

static inline void image_begin(struct image *i)
{
	memset(i, 0, sizeof(*i));
	i->n = KIT_HEADERS;
	memcpy(i->b, "MZ", 2);
	set32(i, 0x3c, KIT_PE);
	memcpy(i->b + KIT_PE, "PE\0\0", 4);
	set16(i, KIT_PE + 20, KIT_OPTIONAL_SIZE);
	set16(i, KIT_OPTIONAL, 0x20b);
	set32(i, KIT_OPTIONAL + 60, KIT_HEADERS);
	set32(i, KIT_CHECKSUM, 0x11223344);
	set32(i, KIT_DIRECTORIES, 16);
}

static inline void image_append(struct image *i, const void *p, size_t n)
{
	assert_true(n <= sizeof(i->b) - i->n);
	memcpy(i->b + i->n, p, n);
	i->n += n;
}

/* The row of the table only; returns where it stands. */
static inline size_t image_row(struct image *i, const char *name, uint32_t memory, uint32_t raw, uint32_t at)
{
	size_t row = KIT_SECTIONS + 40u * i->sections;

	assert_true(row + 40 <= KIT_HEADERS);
	memcpy(i->b + row, name, strlen(name));
	set32(i, row + 8, memory);
	set32(i, row + 16, raw);
	set32(i, row + 20, at);
	set16(i, KIT_PE + 6, ++i->sections);
	return row;
}

/* A section behind what is there, filled up to 16 bytes with 0xee. */
static inline void image_section(struct image *i, const char *name, struct bytes content)
{
	static const uint8_t padding[16] = { 0xee, 0xee, 0xee, 0xee, 0xee, 0xee, 0xee, 0xee,
					     0xee, 0xee, 0xee, 0xee, 0xee, 0xee, 0xee, 0xee };
	size_t more = (16 - content.n % 16) % 16;

	image_row(i, name, (uint32_t)content.n, (uint32_t)(content.n + more), (uint32_t)i->n);
	image_append(i, content.p, content.n);
	image_append(i, padding, more);
}

static inline void image_text(struct image *i, const char *name, const char *content)
{
	image_section(i, name, bytes_str(content));
}

static inline void image_sign(struct image *i, const char *signature)
{
	set32(i, KIT_CERTIFICATES, (uint32_t)i->n);
	set32(i, KIT_CERTIFICATES + 4, (uint32_t)strlen(signature));
	image_append(i, signature, strlen(signature));
}

static inline struct bytes image_bytes(const struct image *i)
{
	return bytes_of(i->b, i->n);
}

#endif
