/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/cleanup.h"
#include "format/smbios.h"

#define RANGE_BIOS 0x10000u		/* F0000h to FFFFFh */
#define RANGE_ALL 0x100000u		/* all below 1 MiB */

const char *smbios_shape_name(enum smbios_shape shape)
{
	static const char *const name[] = {
		[SMBIOS_FILE_DUMP] = "dump", [SMBIOS_FILE_JOINED] = "joined",
		[SMBIOS_FILE_RANGE] = "memory", [SMBIOS_FILE_TABLE] = "table",
	};

	return name[shape];
}

static bool anchor_at(struct bytes in, size_t offset)
{
	return in.n - offset >= 5 && (memcmp(in.p + offset, "_SM3_", 5) == 0 ||
				      memcmp(in.p + offset, "_SM_", 4) == 0);
}

/* The table of this entry, which lies at this offset of the file. */
static enum reason table_at(struct bytes in, uint64_t offset, struct smbios_file *file)
{
	if (offset >= in.n)
		return R_SMBIOS_PLACE;
	file->offset = (size_t)offset;
	file->table = bytes_of(in.p + file->offset, in.n - file->offset);
	if (file->table.n > file->entry.table_size)
		file->table.n = file->entry.table_size;
	return R_OK;
}

/*
 * Entry points begin at multiples of 16. What only looks like one has a wrong
 * checksum, so the search goes on; that of 3.x is taken before that of 2.x.
 */
static enum reason range_open(struct bytes in, struct smbios_file *ret)
{
	uint64_t base = in.n == RANGE_BIOS ? 0xf0000 : 0;
	struct smbios_file out = { .shape = SMBIOS_FILE_RANGE };
	enum reason first = R_SMBIOS_ENTRY;

	for (size_t at = 0; at < in.n; at += 16) {
		struct smbios_entry e;

		if (!anchor_at(in, at))
			continue;
		enum reason r = smbios_entry_read(bytes_of(in.p + at, in.n - at), &e);
		if (r != R_OK && first == R_SMBIOS_ENTRY)
			first = r;
		if (r == R_OK && (out.entry.major == 0 || (out.entry.major < 3 && e.major >= 3)))
			out.entry = e;
	}
	if (out.entry.major == 0)
		return first;
	TRY(table_at(in, out.entry.address - base, &out));
	*ret = out;
	return R_OK;
}

enum reason smbios_file_open(struct bytes in, struct smbios_file *ret)
{
	struct smbios_file out = { .shape = SMBIOS_FILE_DUMP };

	if (in.n == 0)
		return R_FORMAT_TRUNCATED;
	if (anchor_at(in, 0)) {
		TRY(smbios_entry_read(in, &out.entry));
		/* an address of memory is far behind the end of a file */
		if (out.entry.address < out.entry.length || out.entry.address >= in.n) {
			out.shape = SMBIOS_FILE_JOINED;
			out.entry.address = out.entry.length;
		}
		TRY(table_at(in, out.entry.address, &out));
	} else if (in.n == RANGE_BIOS || in.n == RANGE_ALL) {
		return range_open(in, ret);
	} else {
		out.shape = SMBIOS_FILE_TABLE;
		out.entry = (struct smbios_entry){ .major = 3, .table_size = UINT32_MAX };
		out.table = in;
	}
	*ret = out;
	return R_OK;
}
