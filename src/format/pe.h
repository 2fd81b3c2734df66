/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PE32+ images as EFI firmware loads them: sections, and the Authenticode
 * digest that firmware measures. Stricter than firmware: sections do not
 * overlap, signatures end the file.
 */
#ifndef BOOTGATE_FORMAT_PE_H
#define BOOTGATE_FORMAT_PE_H

#include "base/bytes.h"
#include "crypto/digest.h"

#define PE_SECTIONS_MAX 32u
#define PE_NAME_MAX 8u

struct pe_section {
	char name[PE_NAME_MAX + 1];
	size_t at;			/* in the file */
	struct bytes raw;		/* as it stands in the file, with padding */
	uint32_t memory_size;
};

struct pe {
	struct bytes file;
	size_t checksum_at;		/* 4 bytes, not part of the digest */
	size_t certificates_at;		/* directory entry of 8 bytes, likewise */
	size_t headers_size;
	size_t signatures_size;		/* at the end of the file, likewise */
	size_t section_count;
	struct pe_section section[PE_SECTIONS_MAX];	/* in the order of the file */
};

/*
 * R_FORMAT_TYPE for anything but PE32+, R_FORMAT_TRUNCATED, R_FORMAT_RANGE,
 * R_FORMAT_TOO_LARGE for more sections, R_FORMAT_DUPLICATE for two of a name.
 */
enum reason pe_read(struct bytes in, struct pe *ret) must_check;
/* NULL where there is none. */
const struct pe_section *pe_find(const struct pe *pe, const char *name);
/* What a program sees of a section; R_FORMAT_RANGE when the file has not all of it. */
enum reason pe_content(const struct pe_section *s, struct bytes *ret) must_check;
enum reason pe_digest(const struct pe *pe, uint16_t alg, uint8_t ret[DIGEST_MAX]) must_check;

#endif
