/* SPDX-License-Identifier: Apache-2.0 */
/* Fields that firmware spreads over several places, by type of structure. */
#include "format/smbios_types.h"

/* Both bytes say FFh where there is no such version. */
static void version_at(const struct smbios_structure *s, size_t offset, const char *name,
		       struct fields *f)
{
	uint64_t v;

	if (le_at(s->formatted, offset, 2, &v) && v != 0xffff)
		fields_version(f, name, v & 0xff, (uint16_t)(v >> 8));
}

void smbios_more_bios(const struct smbios_structure *s, struct fields *f)
{
	uint64_t small, extended;

	version_at(s, 0x14, "release", f);
	version_at(s, 0x16, "controller_release", f);
	if (!le_at(s->formatted, 0x09, 1, &small))
		return;
	if (small != 0xff || !le_at(s->formatted, 0x18, 2, &extended))
		fields_number(f, "rom_bytes", (small + 1) << 16);
	else
		fields_number(f, "rom_bytes", (extended & 0x3fff) << (extended >> 14 ? 30 : 20));
}

void smbios_more_chassis(const struct smbios_structure *s, struct fields *f)
{
	uint64_t count, size;

	/* the name of the SKU stands behind a list of contained elements */
	if (!le_at(s->formatted, 0x13, 1, &count) || !le_at(s->formatted, 0x14, 1, &size))
		return;
	fields_number(f, "contained", count);
	if (0x15 + count * size < s->formatted.n)
		fields_text(f, "sku", smbios_text(s, 0x15 + count * size));
}

/* Of counts above 254 a byte says FFh, and a field further behind the number. */
static void count_at(const struct smbios_structure *s, size_t small, size_t large, const char *name,
		     struct fields *f)
{
	uint64_t v;

	if (!le_at(s->formatted, small, 1, &v))
		return;
	if (v == 0xff)
		(void)le_at(s->formatted, large, 2, &v);
	fields_number(f, name, v);
}

void smbios_more_cpu(const struct smbios_structure *s, struct fields *f)
{
	uint64_t family;

	if (le_at(s->formatted, 0x06, 1, &family)) {
		if (family == 0xfe)
			(void)le_at(s->formatted, 0x28, 2, &family);
		fields_hex(f, "family", family, 2);
	}
	count_at(s, 0x23, 0x2a, "cores", f);
	count_at(s, 0x24, 0x2c, "cores_enabled", f);
	count_at(s, 0x25, 0x2e, "threads", f);
}

/* Top bit: 64 KiB and not 1 KiB; all ones in the small field: see the large one. */
static void cache_size(const struct smbios_structure *s, size_t small, size_t large,
		       const char *name, struct fields *f)
{
	uint64_t v, more;

	if (!le_at(s->formatted, small, 2, &v))
		return;
	if (v == 0xffff && le_at(s->formatted, large, 4, &more))
		fields_number(f, name, (more & 0x7fffffff) << (more >> 31 ? 16 : 10));
	else
		fields_number(f, name, (v & 0x7fff) << (v >> 15 ? 16 : 10));
}

void smbios_more_cache(const struct smbios_structure *s, struct fields *f)
{
	static const char *const mode[] = { "write-through", "write-back", "varies", "unknown" };
	uint64_t v;

	if (le_at(s->formatted, 0x05, 2, &v)) {
		fields_number(f, "level", (v & 7) + 1);
		fields_flag(f, "enabled", v >> 7 & 1);
		fields_word(f, "mode", mode[v >> 8 & 3]);
	}
	cache_size(s, 0x07, 0x13, "max_bytes", f);
	cache_size(s, 0x09, 0x17, "bytes", f);
}

/* Segment, bus and device with function, FFh where there is none. */
static void pci_place(const struct smbios_structure *s, size_t offset, struct fields *f)
{
	uint64_t segment, bus, function;

	if (!le_at(s->formatted, offset, 2, &segment) || !le_at(s->formatted, offset + 2, 1, &bus) ||
	    !le_at(s->formatted, offset + 3, 1, &function) || (bus == 0xff && function == 0xff))
		return;
	fields_hex(f, "pci_segment", segment, 4);
	fields_hex(f, "pci_bus", bus, 2);
	fields_hex(f, "pci_device", function >> 3, 2);
	fields_number(f, "pci_function", function & 7);
}

void smbios_more_slot(const struct smbios_structure *s, struct fields *f)
{
	pci_place(s, 0x0d, f);
}

void smbios_more_onboard(const struct smbios_structure *s, struct fields *f)
{
	pci_place(s, 0x07, f);
}

void smbios_more_array(const struct smbios_structure *s, struct fields *f)
{
	uint64_t kib, bytes;

	if (!le_at(s->formatted, 0x07, 4, &kib))
		return;
	if (kib != 0x80000000)
		fields_number(f, "max_bytes", kib << 10);
	else if (le_at(s->formatted, 0x0f, 8, &bytes))
		fields_number(f, "max_bytes", bytes);
}

/* FFFFh: the number is in the large field, its top bit is reserved. */
static void speed_at(const struct smbios_structure *s, size_t small, size_t large, const char *name,
		     struct fields *f)
{
	uint64_t v, more;

	if (!le_at(s->formatted, small, 2, &v))
		return;
	if (v == 0xffff && le_at(s->formatted, large, 4, &more))
		v = more & 0x7fffffff;
	fields_number(f, name, v);
}

void smbios_more_memory(const struct smbios_structure *s, struct fields *f)
{
	uint64_t size, more, rank;

	/* FFFFh: not known */
	if (le_at(s->formatted, 0x0c, 2, &size) && size != 0xffff) {
		if (size == 0x7fff && le_at(s->formatted, 0x1c, 4, &more))
			fields_number(f, "bytes", (more & 0x7fffffff) << 20);
		else
			fields_number(f, "bytes", (size & 0x7fff) << (size >> 15 ? 10 : 20));
	}
	speed_at(s, 0x15, 0x54, "speed_mts", f);
	speed_at(s, 0x20, 0x58, "configured_mts", f);
	if (le_at(s->formatted, 0x1b, 1, &rank))
		fields_number(f, "rank", rank & 0xf);
}

void smbios_more_mapped(const struct smbios_structure *s, struct fields *f)
{
	uint64_t start, end;

	if (!le_at(s->formatted, 0x04, 4, &start) || !le_at(s->formatted, 0x08, 4, &end))
		return;
	if (start != 0xffffffff) {
		start <<= 10;
		end = (end << 10) + 0x3ff;
	} else if (!le_at(s->formatted, 0x0f, 8, &start) || !le_at(s->formatted, 0x17, 8, &end)) {
		return;
	}
	fields_hex(f, "start", start, 16);
	fields_hex(f, "end", end, 16);
}

void smbios_more_ipmi(const struct smbios_structure *s, struct fields *f)
{
	static const char *const spacing[] = { "1-byte", "4-byte", "16-byte", "reserved" };
	uint64_t kind, version, address, modifier;

	if (!le_at(s->formatted, 0x04, 1, &kind) || !le_at(s->formatted, 0x05, 1, &version))
		return;
	fields_version(f, "specification", (uint16_t)(version >> 4), version & 0xf);
	if (!le_at(s->formatted, 0x08, 8, &address))
		return;
	if (kind == 4) {
		/* SSIF: the address on the bus, in the upper seven bits */
		fields_hex(f, "slave_address", address >> 1 & 0x7f, 2);
		return;
	}
	/* bit 0 tells I/O from memory; the address' own bit 0 is in the modifier */
	fields_word(f, "space", address & 1 ? "io" : "memory");
	if (!le_at(s->formatted, 0x10, 1, &modifier))
		modifier = 0;
	fields_hex(f, "address", (address & ~UINT64_C(1)) | (modifier >> 4 & 1), 16);
	fields_word(f, "spacing", spacing[modifier >> 6]);
}

void smbios_more_tpm(const struct smbios_structure *s, struct fields *f)
{
	size_t n = 4;

	if (s->formatted.n < 0x0a)
		return;
	while (n > 0 && s->formatted.p[4 + n - 1] == 0)
		n--;
	fields_text(f, "vendor", bytes_of(s->formatted.p + 4, n));
	fields_version(f, "specification", s->formatted.p[8], s->formatted.p[9]);
}
