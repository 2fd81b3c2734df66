/* SPDX-License-Identifier: Apache-2.0 */
#include "format/smbios.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"

/* Offsets of DSP0134 3.7, sections 5.2.1 (2.x) and 5.2.2 (3.x). */
#define ENTRY2_LEN 31u
#define ENTRY2_LEN_OLD 30u		/* an error of version 2.1, still met */
#define ENTRY3_LEN 24u

static enum reason checksum(struct bytes in)
{
	uint8_t sum = 0;

	for (size_t i = 0; i < in.n; i++)
		sum = (uint8_t)(sum + in.p[i]);
	return sum == 0 ? R_OK : R_SMBIOS_CHECKSUM;
}

static bool starts_with(struct bytes in, const char *anchor)
{
	size_t n = strlen(anchor);

	return in.n >= n && memcmp(in.p, anchor, n) == 0;
}

static enum reason entry2_read(struct bytes in, struct smbios_entry *ret)
{
	struct cursor c = cursor_of(in);
	struct smbios_entry e = { 0 };
	struct bytes skipped, middle;
	uint16_t size, structures;
	uint32_t address;
	uint8_t length;

	TRY(cursor_take(&c, 5, &skipped));
	TRY(cursor_u8(&c, &length));
	if (length != ENTRY2_LEN && length != ENTRY2_LEN_OLD)
		return R_SMBIOS_ENTRY;
	if (in.n < length)
		return R_FORMAT_TRUNCATED;
	TRY(checksum(bytes_of(in.p, length)));
	TRY(cursor_u8(&c, &e.major));
	TRY(cursor_u8(&c, &e.minor));
	TRY(cursor_take(&c, 8, &skipped));
	TRY(cursor_take(&c, 6, &middle));
	if (!starts_with(middle, "_DMI_"))
		return R_SMBIOS_ENTRY;
	TRY(cursor_le16(&c, &size));
	TRY(cursor_le32(&c, &address));
	TRY(cursor_le16(&c, &structures));
	e.length = length;
	e.address = address;
	e.table_size = size;
	e.structures = structures;
	*ret = e;
	return R_OK;
}

static enum reason entry3_read(struct bytes in, struct smbios_entry *ret)
{
	struct cursor c = cursor_of(in);
	struct smbios_entry e = { 0 };
	struct bytes skipped;
	uint8_t length;

	TRY(cursor_take(&c, 6, &skipped));
	TRY(cursor_u8(&c, &length));
	if (length < ENTRY3_LEN)
		return R_SMBIOS_ENTRY;
	if (in.n < length)
		return R_FORMAT_TRUNCATED;
	TRY(checksum(bytes_of(in.p, length)));
	TRY(cursor_u8(&c, &e.major));
	TRY(cursor_u8(&c, &e.minor));
	TRY(cursor_take(&c, 3, &skipped));
	TRY(cursor_le32(&c, &e.table_size));
	TRY(cursor_le64(&c, &e.address));
	e.length = length;
	*ret = e;
	return R_OK;
}

enum reason smbios_entry_read(struct bytes in, struct smbios_entry *ret)
{
	if (starts_with(in, "_SM3_"))
		return entry3_read(in, ret);
	if (starts_with(in, "_SM_"))
		return entry2_read(in, ret);
	return in.n < 5 ? R_FORMAT_TRUNCATED : R_SMBIOS_ENTRY;
}

enum reason smbios_table_open(const struct smbios_entry *entry, struct bytes table,
			      struct smbios_table *ret)
{
	if (table.n > SMBIOS_TABLE_MAX)
		return R_FORMAT_TOO_LARGE;
	/* What lies behind the size that was stated is not the table's. */
	if (table.n > entry->table_size)
		table.n = entry->table_size;
	*ret = (struct smbios_table){
		.rest = cursor_of(table),
		.limit = entry->structures,
	};
	return R_OK;
}

/* The strings of a structure end with an empty one. */
static enum reason take_strings(struct cursor *c, struct bytes *ret)
{
	for (size_t i = 0; i + 1 < c->n; i++) {
		struct bytes strings, end;

		if (c->p[i] != 0 || c->p[i + 1] != 0)
			continue;
		TRY(cursor_take(c, i, &strings));
		TRY(cursor_take(c, 2, &end));
		*ret = strings;
		return R_OK;
	}
	return R_SMBIOS_STRINGS;
}

enum reason smbios_next(struct smbios_table *t, struct smbios_structure *ret, bool *ret_end)
{
	struct smbios_structure s = { 0 };
	struct cursor c = t->rest, header = c;
	uint8_t length;

	if (t->ended || c.n == 0 || (t->limit != 0 && t->count == t->limit)) {
		t->ended = true;
		*ret_end = true;
		return R_OK;
	}
	if (t->count == SMBIOS_STRUCTURES_MAX)
		return R_FORMAT_TOO_LARGE;
	if (cursor_u8(&header, &s.type) != R_OK || cursor_u8(&header, &length) != R_OK ||
	    cursor_le16(&header, &s.handle) != R_OK || length < 4 ||
	    cursor_take(&c, length, &s.formatted) != R_OK)
		return R_SMBIOS_STRUCTURE;
	if (s.type == SMBIOS_END) {
		t->ended = true;
		t->marker = true;
		*ret_end = true;
		return R_OK;
	}
	TRY(take_strings(&c, &s.strings));
	t->rest = c;
	t->count++;
	*ret = s;
	*ret_end = false;
	return R_OK;
}

bool smbios_byte(const struct smbios_structure *s, size_t offset, uint8_t *ret)
{
	if (offset >= s->formatted.n)
		return false;
	*ret = s->formatted.p[offset];
	return true;
}

struct bytes smbios_text(const struct smbios_structure *s, size_t offset)
{
	struct bytes rest = s->strings;
	uint8_t number;

	if (!smbios_byte(s, offset, &number) || number == 0)
		return BYTES_NONE;
	while (rest.n > 0) {
		const uint8_t *end = memchr(rest.p, 0, rest.n);
		size_t n = end ? (size_t)(end - rest.p) : rest.n;

		if (--number == 0)
			return bytes_of(rest.p, n);
		if (!end)
			break;
		rest = bytes_of(rest.p + n + 1, rest.n - n - 1);
	}
	return BYTES_NONE;
}

static void read_bios(const struct smbios_structure *s, struct smbios *ret)
{
	ret->bios_vendor = smbios_text(s, 0x04);
	ret->bios_version = smbios_text(s, 0x05);
	ret->bios_date = smbios_text(s, 0x08);
}

static void read_system(const struct smbios_structure *s, struct smbios *ret)
{
	ret->system_vendor = smbios_text(s, 0x04);
	ret->system_product = smbios_text(s, 0x05);
	ret->system_version = smbios_text(s, 0x06);
	ret->system_serial = smbios_text(s, 0x07);
	if (s->formatted.n >= 0x18)
		ret->system_uuid = bytes_of(s->formatted.p + 0x08, 16);
}

static void read_board(const struct smbios_structure *s, struct smbios *ret)
{
	ret->board_vendor = smbios_text(s, 0x04);
	ret->board_product = smbios_text(s, 0x05);
	ret->board_version = smbios_text(s, 0x06);
	ret->board_serial = smbios_text(s, 0x07);
}

static void read_cpu(const struct smbios_structure *s, struct smbios *ret)
{
	uint8_t status;

	/* bit 6: a processor is in this socket */
	if (!smbios_byte(s, 0x18, &status) || (status & 0x40) == 0)
		return;
	if (ret->cpu_sockets++ == 0)
		ret->cpu_version = smbios_text(s, 0x10);
}

enum reason smbios_read(struct bytes entry, struct bytes table, struct smbios *ret)
{
	struct smbios out = { 0 };
	struct smbios_structure s;
	struct smbios_table t;
	uint32_t seen = 0;
	bool end;

	TRY(smbios_entry_read(entry, &out.entry));
	TRY(smbios_table_open(&out.entry, table, &t));
	for (;;) {
		bool first;

		TRY(smbios_next(&t, &s, &end));
		if (end)
			break;
		if (s.type > SMBIOS_CPU)
			continue;
		first = (seen & UINT32_C(1) << s.type) == 0;
		seen |= UINT32_C(1) << s.type;
		if (s.type == SMBIOS_CPU)
			read_cpu(&s, &out);
		else if (first && s.type == SMBIOS_BIOS)
			read_bios(&s, &out);
		else if (first && s.type == SMBIOS_SYSTEM)
			read_system(&s, &out);
		else if (first && s.type == SMBIOS_BOARD)
			read_board(&s, &out);
		else if (first && s.type == SMBIOS_CHASSIS)
			out.chassis_serial = smbios_text(&s, 0x07);
	}
	*ret = out;
	return R_OK;
}

void smbios_uuid_text(const struct smbios_entry *entry, const uint8_t uuid[16],
		      char ret[SMBIOS_UUID_TEXT])
{
	/* Since 2.6 the first three fields are little-endian. */
	static const uint8_t plain[16] = { 0, 1, 2, 3, 4, 5, 6, 7,
					   8, 9, 10, 11, 12, 13, 14, 15 };
	static const uint8_t mixed[16] = { 3, 2, 1, 0, 5, 4, 7, 6,
					   8, 9, 10, 11, 12, 13, 14, 15 };
	const uint8_t *order =
		entry->major > 2 || (entry->major == 2 && entry->minor >= 6) ? mixed : plain;
	size_t at = 0;

	for (size_t i = 0; i < 16; i++) {
		if (i == 4 || i == 6 || i == 8 || i == 10)
			ret[at++] = '-';
		snprintf(ret + at, 3, "%02x", uuid[order[i]]);
		at += 2;
	}
}
