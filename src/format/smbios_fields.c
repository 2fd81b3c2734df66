/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cleanup.h"
#include "format/smbios_types.h"

const char *smbios_type_name(uint8_t type)
{
	const struct smbios_type *t = smbios_type_find(type);

	return t ? t->name : type == SMBIOS_INACTIVE ? "inactive" : type >= 128 ? "oem" : "other";
}

static void apply(const struct smbios_rule *rule, const struct smbios_structure *s,
		  struct fields *f)
{
	uint64_t v;

	if (!le_at(s->formatted, rule->offset, rule->size, &v))
		return;
	switch (rule->kind) {
	case SMBIOS_TEXT:
		/* a text that is not given is no field */
		if (v != 0)
			fields_text(f, rule->name, smbios_text(s, rule->offset));
		break;
	case SMBIOS_NUMBER:
		fields_number(f, rule->name, v);
		break;
	case SMBIOS_HEX:
		fields_hex(f, rule->name, v, 2u * rule->size);
		break;
	case SMBIOS_WORD:
		fields_enum(f, rule->name, rule->bit ? v & rule->bit : v, rule->words,
			    rule->word_count);
		break;
	case SMBIOS_FLAG:
		fields_flag(f, rule->name, v >> rule->bit & 1);
		break;
	}
}

/* All texts of the structure, in their order. */
static void all_texts(const struct smbios_structure *s, struct fields *f)
{
	struct bytes rest = s->strings;
	int number = 0;

	while (rest.n > 0 && number < 255) {
		size_t n = 0;

		while (n < rest.n && rest.p[n] != 0)
			n++;
		fields_text(f, "string", bytes_of(rest.p, n));
		fields_index(f, ++number);
		if (n == rest.n)
			break;
		rest = bytes_of(rest.p + n + 1, rest.n - n - 1);
	}
}

void smbios_fields(const struct smbios_entry *entry, const struct smbios_structure *s,
		   struct fields *ret)
{
	const struct smbios_type *t = smbios_type_find(s->type);

	ret->count = 0;
	for (size_t i = 0; t && i < t->rule_count; i++)
		apply(&t->rules[i], s, ret);
	if (t && t->more)
		t->more(s, ret);
	if (s->type == SMBIOS_SYSTEM && s->formatted.n >= 0x18) {
		smbios_uuid_text(entry, s->formatted.p + 0x08, ret->room);
		fields_word(ret, "uuid", ret->room);
	}
	/* of what is not decoded the bytes are all there is to tell */
	if (!t)
		fields_bytes(ret, "data", bytes_of(s->formatted.p + 4, s->formatted.n - 4));
	if (!t || s->type == SMBIOS_OEM_STRINGS || s->type == SMBIOS_OPTIONS)
		all_texts(s, ret);
}
