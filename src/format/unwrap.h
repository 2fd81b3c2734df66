/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a file holds, whatever it is wrapped in: PEM, hexadecimal, base64,
 * JSON, percent escapes, and these within each other.
 */
#ifndef BOOTGATE_FORMAT_UNWRAP_H
#define BOOTGATE_FORMAT_UNWRAP_H

#include "base/bytes.h"

#define UNWRAP_LEVELS 4u		/* wrappings within each other */
#define UNWRAP_ITEMS 4096u		/* pieces of one file */

/* Gets each piece; views end with the call. An error ends the whole. */
struct unwrap_sink {
	enum reason (*binary)(void *context, struct bytes in);
	enum reason (*object)(void *context, struct bytes json);	/* of format/jview.h */
	void *context;
};
/* R_FORMAT_TOO_LARGE for too many pieces; what cannot be unwrapped is passed over. */
enum reason unwrap(struct bytes file, const struct unwrap_sink *sink) must_check;

/*
 * One layer less: bytes out of text in hexadecimal (0x or not) or base64
 * (either alphabet), blanks and line ends anywhere. R_FORMAT_TEXT when it is
 * neither.
 */
enum reason unwrap_text(struct bytes in, struct blob *ret) must_check;

#endif
