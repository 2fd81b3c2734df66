/* SPDX-License-Identifier: Apache-2.0 */
#include "format/fields.h"

static struct field *add(struct fields *f, const char *name, enum field_kind kind)
{
	struct field *one = &f->field[f->count];

	if (f->count < FIELDS_MAX)
		f->count++;

	*one = (struct field){ .name = name, .index = -1, .kind = kind };
	return one;
}

void fields_number(struct fields *f, const char *name, uint64_t number)
{
	add(f, name, FIELD_NUMBER)->number = number;
}

void fields_hex(struct fields *f, const char *name, uint64_t number, unsigned digits)
{
	struct field *one = add(f, name, FIELD_HEX);

	one->number = number;
	one->digits = digits;
}

void fields_flag(struct fields *f, const char *name, bool set)
{
	add(f, name, FIELD_FLAG)->number = set;
}

void fields_version(struct fields *f, const char *name, uint16_t major, uint16_t minor)
{
	add(f, name, FIELD_VERSION)->number = (uint64_t)major << 16 | minor;
}

void fields_word(struct fields *f, const char *name, const char *word)
{
	add(f, name, FIELD_WORD)->word = word;
}

void fields_text(struct fields *f, const char *name, struct bytes text)
{
	add(f, name, FIELD_TEXT)->bytes = text;
}

void fields_bytes(struct fields *f, const char *name, struct bytes bytes)
{
	add(f, name, FIELD_BYTES)->bytes = bytes;
}

void fields_index(struct fields *f, int index)
{
	f->field[f->count - 1].index = index;
}

void fields_enum(struct fields *f, const char *name, uint64_t number, const char *const *words,
		 size_t count)
{
	if (number < count && words[number])
		fields_word(f, name, words[number]);
	else
		fields_hex(f, name, number, 2);
}

bool le_at(struct bytes b, size_t offset, unsigned size, uint64_t *ret)
{
	uint64_t v = 0;

	if (offset > b.n || b.n - offset < size)
		return false;
	for (unsigned i = size; i-- > 0;)
		v = v << 8 | b.p[offset + i];
	*ret = v;
	return true;
}
