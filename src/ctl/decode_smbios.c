/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cleanup.h"
#include "ctl/decode.h"
#include "format/smbios.h"

static json_t *entry(const struct smbios_file *file)
{
	if (file->shape == SMBIOS_FILE_TABLE)
		return json_null();
	return json_pack("{s:o, s:o, s:I, s:I}", "version",
			 json_sprintf("%u.%u", file->entry.major, file->entry.minor), "address",
			 decode_hex(file->entry.address, 1), "table_size",
			 (json_int_t)file->entry.table_size, "structures",
			 (json_int_t)file->entry.structures);
}

static json_t *structure(const struct smbios_file *file, const struct smbios_structure *s, size_t offset)
{
	json_t *j = json_pack("{s:s, s:i, s:o, s:o, s:I}", "name", smbios_type_name(s->type), "type",
			      (int)s->type, "handle", decode_hex(s->handle, 4), "offset",
			      decode_hex(file->offset + offset, 1), "length", (json_int_t)s->formatted.n);
	struct fields f;

	smbios_fields(&file->entry, s, &f);
	decode_fields(j, &f);
	return j;
}

/* What firmware and tools get wrong without harm. */
static void notes(const struct smbios_file *file, const struct smbios_table *t, json_t *to)
{
	uint32_t found = t->count + t->marker;

	if (file->shape == SMBIOS_FILE_TABLE)
		decode_note(to, "there is no entry point: the version is taken for 3.0");
	else if (file->table.n < file->entry.table_size && file->entry.major < 3)
		decode_note(to, "the entry point states %u bytes, the file has %zu of them",
			    file->entry.table_size, file->table.n);
	if (file->entry.structures > found)
		decode_note(to, "the entry point states %u structures, there are %u", file->entry.structures,
			    found);
	if (!t->marker)
		decode_note(to, "no structure of type 127 marks the end");
}

enum reason decode_smbios(struct bytes in, json_t *ret)
{
	json_t *list = json_array();
	struct smbios_file file;
	struct smbios_structure s;
	struct smbios_table t;
	bool end = false;

	json_object_set_new(ret, "type", json_string("smbios"));
	enum reason r = smbios_file_open(in, &file);
	if (r == R_OK)
		r = smbios_table_open(&file.entry, file.table, &t);
	if (r != R_OK) {
		json_decref(list);
		return decode_refused(ret, r, 0, "structure", 0);
	}
	json_object_set_new(ret, "file", json_string(smbios_shape_name(file.shape)));
	json_object_set_new(ret, "entry", entry(&file));
	json_object_set_new(ret, "structures", list);
	while (!end) {
		size_t offset = t.rest.offset;

		r = smbios_next(&t, &s, &end);
		if (r != R_OK)
			return decode_refused(ret, r, file.offset + offset, "structure", t.count);
		if (!end)
			json_array_append_new(list, structure(&file, &s, offset));
	}
	notes(&file, &t, ret);
	return R_OK;
}
