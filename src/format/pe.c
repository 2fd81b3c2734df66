/* SPDX-License-Identifier: Apache-2.0 */
#include "format/pe.h"

#include <string.h>

#include "base/cleanup.h"

/* Offsets of the PE format, revision 11. */
#define DOS_PE_AT 0x3cu
#define DOS_SIZE 0x40u
#define COFF_SIZE 24u			/* with the signature in front */
#define MAGIC_PE32_PLUS 0x20bu
#define OPTIONAL_HEADERS_SIZE 60u
#define OPTIONAL_CHECKSUM 64u
#define OPTIONAL_DIRECTORIES 108u	/* their number, then they themselves */
#define DIRECTORY_CERTIFICATES 4u
#define DIRECTORY_SIZE 8u
#define OPTIONAL_LEAST (OPTIONAL_DIRECTORIES + 4 + (DIRECTORY_CERTIFICATES + 1) * DIRECTORY_SIZE)
#define SECTION_SIZE 40u

static enum reason cursor_at(struct bytes in, size_t at, struct cursor *ret)
{
	struct bytes skipped;

	*ret = cursor_of(in);
	return cursor_take(ret, at, &skipped);
}

static enum reason le32_at(struct bytes in, size_t at, uint32_t *ret)
{
	struct cursor c;

	TRY(cursor_at(in, at, &c));
	return cursor_le32(&c, ret);
}

/* Signature and COFF header: where the optional header stands, and how long it is. */
static enum reason coff_read(struct bytes in, size_t *ret_optional, uint16_t *ret_size, uint16_t *ret_sections)
{
	struct bytes magic, skipped;
	struct cursor c;
	uint32_t pe_at;

	TRY(cursor_at(in, 0, &c));
	TRY(cursor_take(&c, 2, &magic));
	if (memcmp(magic.p, "MZ", 2) != 0)
		return R_FORMAT_TYPE;
	TRY(le32_at(in, DOS_PE_AT, &pe_at));
	if (pe_at < DOS_SIZE)
		return R_FORMAT_RANGE;
	TRY(cursor_at(in, pe_at, &c));
	TRY(cursor_take(&c, 4, &magic));
	if (memcmp(magic.p, "PE\0\0", 4) != 0)
		return R_FORMAT_TYPE;
	TRY(cursor_take(&c, 2, &skipped));
	TRY(cursor_le16(&c, ret_sections));
	TRY(cursor_take(&c, 12, &skipped));
	TRY(cursor_le16(&c, ret_size));
	*ret_optional = (size_t)pe_at + COFF_SIZE;
	return R_OK;
}

/* Signatures are no part of what is signed: only at the end they can hide nothing else. */
static enum reason signatures_read(struct bytes in, struct pe *pe)
{
	uint32_t at, size;

	TRY(le32_at(in, pe->certificates_at, &at));
	TRY(le32_at(in, pe->certificates_at + 4, &size));
	if (at == 0 && size == 0)
		return R_OK;
	if (size == 0 || (uint64_t)at + size != in.n || at < pe->headers_size)
		return R_FORMAT_RANGE;
	pe->signatures_size = size;
	return R_OK;
}

static enum reason optional_read(struct bytes in, size_t optional, uint16_t size, struct pe *pe)
{
	uint32_t directories, headers;
	struct cursor c;
	uint16_t magic;

	TRY(cursor_at(in, optional, &c));
	TRY(cursor_le16(&c, &magic));
	if (magic != MAGIC_PE32_PLUS)
		return R_FORMAT_TYPE;
	TRY(le32_at(in, optional + OPTIONAL_DIRECTORIES, &directories));
	if (size < OPTIONAL_LEAST || directories <= DIRECTORY_CERTIFICATES)
		return R_FORMAT_RANGE;
	TRY(le32_at(in, optional + OPTIONAL_HEADERS_SIZE, &headers));
	pe->headers_size = headers;
	pe->checksum_at = optional + OPTIONAL_CHECKSUM;
	pe->certificates_at = optional + OPTIONAL_LEAST - DIRECTORY_SIZE;
	return signatures_read(in, pe);
}

static enum reason section_read(struct cursor *c, const struct pe *pe, struct pe_section *ret)
{
	struct bytes skipped, rest;
	struct cursor data;
	uint32_t raw_size, raw_at;

	*ret = (struct pe_section){ 0 };
	TRY(cursor_copy(c, ret->name, PE_NAME_MAX));
	TRY(cursor_le32(c, &ret->memory_size));
	TRY(cursor_take(c, 4, &skipped));
	TRY(cursor_le32(c, &raw_size));
	TRY(cursor_le32(c, &raw_at));
	TRY(cursor_take(c, SECTION_SIZE - 24, &skipped));
	if (raw_size == 0)
		return R_OK;
	if (raw_at < pe->headers_size)
		return R_FORMAT_RANGE;
	rest = bytes_of(pe->file.p, pe->file.n - pe->signatures_size);
	TRY(cursor_at(rest, raw_at, &data));
	ret->at = raw_at;
	return cursor_take(&data, raw_size, &ret->raw);
}

/* Kept in the order of the file: firmware hashes them so, whatever the table's order is. */
static enum reason section_insert(struct pe *pe, const struct pe_section *s)
{
	size_t i = pe->section_count;

	if (pe_find(pe, s->name))
		return R_FORMAT_DUPLICATE;
	for (; i > 0 && pe->section[i - 1].at > s->at; i--)
		pe->section[i] = pe->section[i - 1];
	pe->section[i] = *s;
	pe->section_count++;
	return R_OK;
}

static enum reason sections_read(struct cursor *c, uint16_t count, struct pe *pe)
{
	size_t end = 0;

	if (count > PE_SECTIONS_MAX)
		return R_FORMAT_TOO_LARGE;
	for (uint16_t i = 0; i < count; i++) {
		struct pe_section s;

		TRY(section_read(c, pe, &s));
		TRY(section_insert(pe, &s));
	}
	for (size_t i = 0; i < pe->section_count; i++) {
		if (pe->section[i].at < end)
			return R_FORMAT_RANGE;
		end = pe->section[i].at + pe->section[i].raw.n;
	}
	return R_OK;
}

enum reason pe_read(struct bytes in, struct pe *ret)
{
	struct pe pe = { .file = in };
	uint16_t size, sections;
	struct bytes headers;
	struct cursor c;
	size_t optional;

	TRY(coff_read(in, &optional, &size, &sections));
	TRY(optional_read(in, optional, size, &pe));
	/* All that is read of the headers is measured with them. */
	TRY(cursor_at(in, 0, &c));
	TRY(cursor_take(&c, pe.headers_size, &headers));
	TRY(cursor_at(headers, optional + size, &c));
	TRY(sections_read(&c, sections, &pe));
	*ret = pe;
	return R_OK;
}

const struct pe_section *pe_find(const struct pe *pe, const char *name)
{
	for (size_t i = 0; i < pe->section_count; i++) {
		if (strcmp(pe->section[i].name, name) == 0)
			return &pe->section[i];
	}
	return NULL;
}

enum reason pe_content(const struct pe_section *s, struct bytes *ret)
{
	if (s->memory_size > s->raw.n)
		return R_FORMAT_RANGE;
	*ret = bytes_of(s->raw.p, s->memory_size);
	return R_OK;
}

static struct bytes range(const struct pe *pe, size_t from, size_t to)
{
	return bytes_of(pe->file.p + from, to - from);
}

enum reason pe_digest(const struct pe *pe, uint16_t alg, uint8_t ret[DIGEST_MAX])
{
	struct bytes piece[PE_SECTIONS_MAX + 4];
	size_t n = 0, hashed = pe->headers_size;

	piece[n++] = range(pe, 0, pe->checksum_at);
	piece[n++] = range(pe, pe->checksum_at + 4, pe->certificates_at);
	piece[n++] = range(pe, pe->certificates_at + DIRECTORY_SIZE, pe->headers_size);
	for (size_t i = 0; i < pe->section_count; i++) {
		piece[n++] = pe->section[i].raw;
		hashed += pe->section[i].raw.n;
	}
	/*
	 * What is behind the sections. Firmware finds it by the bytes hashed so
	 * far; where there are gaps between sections it begins earlier.
	 */
	piece[n++] = range(pe, hashed, pe->file.n - pe->signatures_size);
	return digest_of(alg, piece, n, ret);
}
