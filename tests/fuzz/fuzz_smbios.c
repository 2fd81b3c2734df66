/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "format/smbios.h"

/* Every view lies in the table, and is read to its end. */
static void inside(struct bytes view, struct bytes table)
{
	volatile uint8_t sum = 0;

	if (view.n == 0)
		return;
	must(view.p >= table.p && view.p + view.n <= table.p + table.n);
	for (size_t i = 0; i < view.n; i++)
		sum = (uint8_t)(sum + view.p[i]);
}

static void walk(const struct smbios_entry *entry, struct bytes bytes)
{
	struct smbios_structure s;
	struct smbios_table t;
	struct fields f;
	bool end = false;

	if (smbios_table_open(entry, bytes, &t) != R_OK)
		return;
	while (!end && smbios_next(&t, &s, &end) == R_OK && !end) {
		inside(s.formatted, bytes);
		inside(s.strings, bytes);
		for (size_t offset = 0; offset < s.formatted.n + 2; offset++)
			inside(smbios_text(&s, offset), bytes);
		smbios_fields(entry, &s, &f);
		must(f.count <= FIELDS_MAX && smbios_type_name(s.type) != NULL);
		for (size_t i = 0; i < f.count; i++)
			inside(f.field[i].bytes, bytes);
	}
}

/* A file as people save it. */
static void whole(struct bytes in)
{
	struct smbios_file file;

	if (smbios_file_open(in, &file) != R_OK)
		return;
	must(file.offset + file.table.n <= in.n && smbios_shape_name(file.shape) != NULL);
	walk(&file.entry, file.table);
}

/* First byte: how many of the others are the entry point. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct smbios_entry entry = { .major = 3, .table_size = UINT32_MAX };
	struct bytes in, table;
	struct smbios s;
	size_t n;

	whole(bytes_of(data, size));
	if (size == 0)
		return 0;
	n = data[0] < size ? data[0] : size - 1;
	in = bytes_of(data + 1, n);
	table = bytes_of(data + 1 + n, size - 1 - n);
	if (smbios_read(in, table, &s) == R_OK) {
		char uuid[SMBIOS_UUID_TEXT];

		inside(s.bios_vendor, table);
		inside(s.board_serial, table);
		inside(s.cpu_version, table);
		must(s.system_uuid.n == 0 || s.system_uuid.n == 16);
		if (s.system_uuid.n == 16)
			smbios_uuid_text(&s.entry, s.system_uuid.p, uuid);
	}
	/* without the entry's checksum in the way */
	walk(&entry, table);
	return 0;
}
