/* SPDX-License-Identifier: Apache-2.0 */
/* Base64 of RFC 4648 section 4, with padding, in its one canonical form. */
#ifndef BOOTGATE_BASE_BASE64_H
#define BOOTGATE_BASE_BASE64_H

#include "base/bytes.h"

/* Appends the text, without NUL. */
enum reason base64_encode(struct bytes in, struct blob *ret) must_check;
/* R_FORMAT_TEXT for blanks, missing padding, bits behind the end. */
enum reason base64_decode(struct bytes text, struct blob *ret) must_check;

#endif
