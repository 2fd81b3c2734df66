/* SPDX-License-Identifier: Apache-2.0 */
/* TPM firmware that is known to give keys away, and exceptions from that. */
#ifndef BOOTGATE_APPRAISE_EK_FIRMWARE_H
#define BOOTGATE_APPRAISE_EK_FIRMWARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/reason.h"

/* Where an operator lets TPMs in nevertheless, for a time. */
struct ek_firmware_exception {
	uint32_t manufacturer;		/* TPM_PT_MANUFACTURER */
	uint64_t from, to;		/* firmwareVersion of a quote, both included */
	int64_t until;			/* seconds since 1970; past it the list counts again */
};
struct ek_firmware_exceptions {
	const struct ek_firmware_exception *v;
	size_t n;
};

struct ek_firmware {
	const char *name, *source;	/* of the entry; NULL where there is none */
	bool excepted;
};
/*
 * R_EK_FIRMWARE for a version on the list without an exception that still
 * runs. `version` is firmwareVersion as a quote has it. `ret` is written always.
 */
enum reason ek_firmware_judge(uint32_t manufacturer, uint64_t version,
			      const struct ek_firmware_exceptions *exceptions, int64_t now,
			      struct ek_firmware *ret) must_check;

/*
 * A version as certificates have it: "id:" and eight digits (16 bits major,
 * 16 bits minor), or four (8 and 8). False for anything else.
 */
bool ek_firmware_version(const char *text, uint64_t *ret);
/* "7.62", and the vendor's name or NULL. */
void ek_firmware_text(uint64_t version, char *ret, size_t n);
const char *ek_vendor_name(uint32_t manufacturer);
#define EK_MANUFACTURER_MAX 9u
/* The four characters of TPM_PT_MANUFACTURER without what fills them up, or its number in hex. */
void ek_manufacturer_text(uint32_t manufacturer, char ret[EK_MANUFACTURER_MAX]);

#endif
