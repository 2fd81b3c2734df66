/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of tpm*.c share: the sized buffer of TPM 2.0. */
#ifndef BOOTGATE_FORMAT_TPM_WIRE_H
#define BOOTGATE_FORMAT_TPM_WIRE_H

#include "base/bytes.h"
#include "base/cleanup.h"

/* TPM2B_x: u16 size and so many bytes, at most max: R_FORMAT_RANGE. */
static inline enum reason tpm2b_read(struct cursor *c, size_t max, struct bytes *ret)
{
	uint16_t size;

	TRY(cursor_be16(c, &size));
	if (size > max)
		return R_FORMAT_RANGE;
	return cursor_take(c, size, ret);
}

static inline enum reason tpm2b_write(struct bytes in, struct blob *ret)
{
	if (in.n > UINT16_MAX)
		return R_FORMAT_TOO_LARGE;
	TRY(blob_be16(ret, (uint16_t)in.n));
	return blob_append(ret, in.p, in.n);
}

#endif
