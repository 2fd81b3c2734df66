/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Option ROMs (PCI Firmware 3.3, section 5; UEFI 2.10, section 14.4): one
 * image behind the other, of which the last says so. Bytes in front of the
 * first, as dumps of a whole flash chip have them, are passed over.
 */
#ifndef BOOTGATE_FORMAT_ROM_H
#define BOOTGATE_FORMAT_ROM_H

#include "base/bytes.h"
#include "format/fields.h"

#define ROM_CODE_BIOS 0u
#define ROM_CODE_EFI 3u

struct rom_image {
	size_t offset;			/* in the file */
	struct bytes bytes;
	size_t pcir;			/* where its PCI data structure is in it */
	uint16_t vendor, device;
	uint32_t class_code;
	uint16_t revision;		/* of the code */
	uint8_t code;			/* ROM_CODE_BIOS, ... */
	bool last;
	bool npde;			/* NVIDIA's addition to the data structure is there */
	bool checksum;			/* the bytes add up to 0, as those of ROM_CODE_BIOS must */
};

struct rom {
	struct bytes file;
	size_t offset;			/* of the next image, or of the bad one */
	uint32_t count;
	bool last;			/* an image said that it is the last */
};

/* R_ROM_SIGNATURE when there is no image at any multiple of 512. */
enum reason rom_open(struct bytes file, struct rom *ret) must_check;
/* R_ROM_SIGNATURE, R_ROM_STRUCTURE, R_ROM_LENGTH. ret_end as of smbios_next. */
enum reason rom_next(struct rom *rom, struct rom_image *ret, bool *ret_end) must_check;
/* The version of an NVIDIA VBIOS as its driver shows it: "96.00.a5.00.01"; false where there is none. */
#define ROM_VERSION_TEXT 16u
bool rom_nvidia_version(const struct rom_image *image, char ret[ROM_VERSION_TEXT]);
void rom_fields(const struct rom_image *image, struct fields *ret);

#endif
