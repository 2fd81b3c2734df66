/* SPDX-License-Identifier: Apache-2.0 */
/*
 * UEFI variables as event logs carry them (UEFI_VARIABLE_DATA of the TCG PC
 * Client Platform Firmware Profile), and boot entries (EFI_LOAD_OPTION and
 * device paths of the UEFI specification, sections 3.1.3 and 10).
 */
#ifndef BOOTGATE_FORMAT_EFIVAR_H
#define BOOTGATE_FORMAT_EFIVAR_H

#include "base/bytes.h"

#define EFI_GUID_LEN 16u
/* 8be4df61-93ca-11d2-aa0d-00e098032b8c, in the bytes of a log. */
extern const struct bytes efi_global_variable;
/* d719b2cb-3d3a-4596-a3bc-dad00e67656f: db, dbx and their kind. */
extern const struct bytes efi_image_security;

struct efi_variable {
	struct bytes guid;
	struct bytes name;		/* UTF-16LE, without NUL */
	struct bytes content;
};
/* Consumed exactly: R_FORMAT_TRUNCATED, R_FORMAT_TRAILING, R_FORMAT_RANGE. */
enum reason efi_variable_read(struct bytes data, struct efi_variable *ret) must_check;
enum reason efi_variable_write(const struct efi_variable *v, struct blob *ret) must_check;

/* True when the UTF-16LE text is exactly this ASCII text. */
bool utf16_is(struct bytes text, const char *ascii);
/* "Boot" and four hexadecimal digits in capitals: the number. */
bool efi_boot_number(struct bytes name, uint16_t *ret);

/* What a device path names, by its nodes. */
struct efi_path {
	size_t nodes;
	bool mac;			/* a network card, by its address */
	bool unit;			/* a disk, drive or USB device of this machine */
	bool firmware;			/* a file inside the firmware */
};

struct efi_load_option {
	uint32_t attributes;
	struct bytes description;	/* UTF-16LE, without NUL */
	struct efi_path path;		/* of its first device path */
	struct bytes paths;		/* all of them, as they are */
	struct bytes optional;
};
/* R_FORMAT_TRUNCATED, R_FORMAT_RANGE (a device path that does not end). */
enum reason efi_load_option_read(struct bytes content, struct efi_load_option *ret) must_check;

#endif
