/* SPDX-License-Identifier: Apache-2.0 */
/* Which characters a text may hold, by what it is for. ASCII only. */
#ifndef BOOTGATE_FORMAT_CHARSET_H
#define BOOTGATE_FORMAT_CHARSET_H

#include "base/bytes.h"

enum charset {
	CHARSET_PRINTABLE,	/* 0x20 to 0x7e */
	CHARSET_NAME,		/* lower-case letters, digits, `.` and `-` */
	CHARSET_LABEL,		/* lower-case letters, digits and `-` */
};

/* True when every character is of the set; also for an empty text. */
bool charset_has(enum charset set, struct bytes text);

#endif
