/* SPDX-License-Identifier: Apache-2.0 */
#include "format/rom.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"

#define UNIT 512u
#define PCIR_LEN 0x18u
#define LAST 0x80u

static bool signature_at(struct bytes in, size_t offset)
{
	uint64_t v;

	return le_at(in, offset, 2, &v) && v == 0xaa55;
}

static bool tag_at(struct bytes in, uint64_t offset, const char tag[4])
{
	return offset <= in.n && in.n - offset >= 4 && memcmp(in.p + offset, tag, 4) == 0;
}

/* The place of the PCI data structure; false when the image has none. */
static bool pcir_at(struct bytes image, uint64_t *ret)
{
	return le_at(image, 0x18, 2, ret) && tag_at(image, *ret, "PCIR") &&
	       image.n - *ret >= PCIR_LEN;
}

enum reason rom_open(struct bytes file, struct rom *ret)
{
	struct rom rom = { .file = file };
	uint64_t pcir;

	for (size_t at = 0; at < file.n; at += UNIT) {
		if (!signature_at(file, at))
			continue;
		/* in front of the first image two bytes alone may be anything */
		if (at > 0 && !pcir_at(bytes_of(file.p + at, file.n - at), &pcir))
			continue;
		rom.offset = at;
		*ret = rom;
		return R_OK;
	}
	return R_ROM_SIGNATURE;
}

/* NVIDIA: an image can be a part of what PCIR states, and end the list earlier or later. */
static void read_npde(struct bytes rest, size_t pcir_len, struct rom_image *image, uint64_t *length)
{
	size_t at = (image->pcir + pcir_len + 15) & ~(size_t)15;
	uint64_t size, flags;

	if (!tag_at(rest, at, "NPDE") || !le_at(rest, at + 8, 2, &size) ||
	    !le_at(rest, at + 10, 1, &flags))
		return;
	image->npde = true;
	image->last = (flags & LAST) != 0;
	*length = size;
}

static bool adds_up(struct bytes in)
{
	uint8_t sum = 0;

	for (size_t i = 0; i < in.n; i++)
		sum = (uint8_t)(sum + in.p[i]);
	return sum == 0;
}

static enum reason read_image(struct bytes rest, struct rom_image *ret)
{
	struct rom_image image = { 0 };
	uint64_t pcir, v[8], length, units;
	struct bytes summed;

	if (!signature_at(rest, 0))
		return R_ROM_SIGNATURE;
	if (!pcir_at(rest, &pcir))
		return R_ROM_STRUCTURE;
	image.pcir = (size_t)pcir;
	/* vendor, device, length of the structure, class, length, revision, code, indicator */
	if (!le_at(rest, pcir + 0x04, 2, &v[0]) || !le_at(rest, pcir + 0x06, 2, &v[1]) ||
	    !le_at(rest, pcir + 0x0a, 2, &v[2]) || !le_at(rest, pcir + 0x0d, 3, &v[3]) ||
	    !le_at(rest, pcir + 0x10, 2, &length) || !le_at(rest, pcir + 0x12, 2, &v[5]) ||
	    !le_at(rest, pcir + 0x14, 1, &v[6]) || !le_at(rest, pcir + 0x15, 1, &v[7]))
		return R_ROM_STRUCTURE;
	if (v[2] < PCIR_LEN)
		return R_ROM_STRUCTURE;
	image.vendor = (uint16_t)v[0];
	image.device = (uint16_t)v[1];
	image.class_code = (uint32_t)v[3];
	image.revision = (uint16_t)v[5];
	image.code = (uint8_t)v[6];
	image.last = (v[7] & LAST) != 0;
	read_npde(rest, (size_t)v[2], &image, &length);
	if (length == 0 || length * UNIT > rest.n)
		return R_ROM_LENGTH;
	image.bytes = bytes_of(rest.p, (size_t)length * UNIT);
	/* a BIOS adds up what the image's own third byte states */
	summed = image.bytes;
	if (le_at(rest, 2, 1, &units) && units != 0 && units < length)
		summed.n = (size_t)units * UNIT;
	image.checksum = adds_up(summed);
	*ret = image;
	return R_OK;
}

enum reason rom_next(struct rom *rom, struct rom_image *ret, bool *ret_end)
{
	struct rom_image image;

	/* the file may end where the image that was not the last did */
	*ret_end = rom->last || (rom->count > 0 && rom->offset == rom->file.n);
	if (*ret_end)
		return R_OK;
	TRY(read_image(bytes_of(rom->file.p + rom->offset, rom->file.n - rom->offset), &image));
	image.offset = rom->offset;
	rom->offset += image.bytes.n;
	rom->last = image.last;
	rom->count++;
	*ret = image;
	return R_OK;
}

/* The table of NVIDIA's BIOS information: tokens, of which `i` leads to the version. */
bool rom_nvidia_version(const struct rom_image *image, char ret[ROM_VERSION_TEXT])
{
	static const uint8_t mark[] = { 0xff, 0xb8, 'B', 'I', 'T', 0 };
	struct bytes b = image->bytes;
	const uint8_t *found = memmem(b.p, b.n, mark, sizeof(mark));
	uint64_t header, size, count, token, where, v;
	size_t at = found ? (size_t)(found - b.p) : 0;

	if (!found || !le_at(b, at + 8, 1, &header) || !le_at(b, at + 9, 1, &size) ||
	    !le_at(b, at + 10, 1, &count))
		return false;
	for (uint64_t i = 0; i < count; i++) {
		size_t entry = (size_t)(at + header + i * size);

		if (!le_at(b, entry, 1, &token) || token != 'i' || !le_at(b, entry + 4, 2, &where) ||
		    !le_at(b, (size_t)where, 5, &v))
			continue;
		snprintf(ret, ROM_VERSION_TEXT, "%02x.%02x.%02x.%02x.%02x", (unsigned)(v >> 24 & 0xff),
			 (unsigned)(v >> 16 & 0xff), (unsigned)(v >> 8 & 0xff), (unsigned)(v & 0xff),
			 (unsigned)(v >> 32 & 0xff));
		return true;
	}
	return false;
}

static void efi_fields(struct bytes b, struct fields *f)
{
	static const char *const subsystem[] = { [10] = "application", "boot-driver", "runtime-driver" };
	static const char *const compression[] = { "none", "uefi" };
	uint64_t signature, v;

	if (!le_at(b, 4, 4, &signature) || signature != 0x0ef1) {
		fields_flag(f, "efi_header", false);
		return;
	}
	fields_flag(f, "efi_header", true);
	if (le_at(b, 2, 2, &v))
		fields_number(f, "efi_bytes", v * UNIT);
	if (le_at(b, 8, 2, &v))
		fields_enum(f, "subsystem", v, subsystem, ARRAY_LEN(subsystem));
	if (le_at(b, 0x0a, 2, &v)) {
		if (v == 0x014c || v == 0x8664 || v == 0xaa64 || v == 0x0ebc)
			fields_word(f, "machine", v == 0x014c ? "ia32" : v == 0x8664 ? "x64" :
				    v == 0xaa64 ? "arm64" : "ebc");
		else
			fields_hex(f, "machine", v, 4);
	}
	if (le_at(b, 0x0c, 2, &v))
		fields_enum(f, "compression", v, compression, ARRAY_LEN(compression));
	if (le_at(b, 0x16, 2, &v))
		fields_hex(f, "image_offset", v, 4);
}

void rom_fields(const struct rom_image *image, struct fields *ret)
{
	static const char *const code[] = { "bios", "open-firmware", "pa-risc", "efi" };

	ret->count = 0;
	fields_enum(ret, "code", image->code, code, ARRAY_LEN(code));
	fields_number(ret, "bytes", image->bytes.n);
	fields_hex(ret, "vendor", image->vendor, 4);
	fields_hex(ret, "device", image->device, 4);
	fields_hex(ret, "class", image->class_code, 6);
	fields_hex(ret, "revision", image->revision, 4);
	fields_flag(ret, "last", image->last);
	fields_flag(ret, "npde", image->npde);
	if (image->code == ROM_CODE_BIOS)
		fields_word(ret, "checksum", image->checksum ? "right" : "wrong");
	if (image->code == ROM_CODE_EFI)
		efi_fields(image->bytes, ret);
	if (rom_nvidia_version(image, ret->room))
		fields_word(ret, "nvidia_version", ret->room);
}
