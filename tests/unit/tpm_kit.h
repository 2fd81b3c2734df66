/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of TPM structures share. */
#ifndef BOOTGATE_TESTS_TPM_KIT_H
#define BOOTGATE_TESTS_TPM_KIT_H

#include "format/tpm.h"
#include "tpm_vectors.h"
#include "unit.h"

static inline struct tpm_public read_public(const struct blob *b)
{
	struct tpm_public p;

	assert_ok(tpm_public_read(blob_bytes(b), &p));
	return p;
}

#endif
