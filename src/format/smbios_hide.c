/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/cleanup.h"
#include "format/smbios.h"

#define OEM_STRINGS 11u
#define CONFIGURATION_STRINGS 12u
#define HOST_INTERFACE 42u
#define OEM_FIRST 128u

/* Where serial numbers and asset tags are named. */
static const struct {
	uint8_t type, offset;
} unique[] = {
	{ 1, 0x07 }, { 2, 0x07 }, { 2, 0x08 }, { 3, 0x07 }, { 3, 0x08 }, { 4, 0x20 },
	{ 4, 0x21 }, { 17, 0x18 }, { 17, 0x19 }, { 22, 0x07 }, { 39, 0x08 }, { 39, 0x09 },
};

/* The views of a structure point into the table that they were read from. */
static void fill(uint8_t *table, const uint8_t *at, size_t n, uint8_t with)
{
	for (size_t i = 0; i < n; i++)
		if (at[i] != 0)
			table[at - table + (ptrdiff_t)i] = with;
}

static void hide_one(uint8_t *table, const struct smbios_structure *s)
{
	bool all = s->type >= OEM_FIRST || s->type == OEM_STRINGS ||
		   s->type == CONFIGURATION_STRINGS || s->type == HOST_INTERFACE;

	if (all)
		fill(table, s->strings.p, s->strings.n, 'X');
	if (s->type >= OEM_FIRST || s->type == HOST_INTERFACE)
		fill(table, s->formatted.p + 4, s->formatted.n - 4, 0);
	if (s->type == SMBIOS_SYSTEM && s->formatted.n >= 0x18)
		fill(table, s->formatted.p + 0x08, 16, 0);
	for (size_t i = 0; i < ARRAY_LEN(unique); i++) {
		struct bytes text;

		if (unique[i].type != s->type)
			continue;
		text = smbios_text(s, unique[i].offset);
		fill(table, text.p, text.n, 'X');
	}
}

enum reason smbios_hide(uint8_t *table, size_t n)
{
	const struct smbios_entry whole = { .major = 3, .table_size = (uint32_t)n };
	struct smbios_structure s;
	struct smbios_table t;
	bool end;

	TRY(smbios_table_open(&whole, bytes_of(table, n), &t));
	for (;;) {
		TRY(smbios_next(&t, &s, &end));
		if (end)
			return R_OK;
		hide_one(table, &s);
	}
}
