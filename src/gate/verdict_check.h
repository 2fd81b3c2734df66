/* SPDX-License-Identifier: Apache-2.0 */
/* Step 10: whether a verdict is one, and the answer to what we sent. */
#ifndef BOOTGATE_GATE_VERDICT_CHECK_H
#define BOOTGATE_GATE_VERDICT_CHECK_H

#include "format/cose.h"
#include "format/verdict.h"

struct verdict_expected {
	const struct pinned_keys *keys;
	const uint8_t *nonce;		/* NONCE_LEN */
	const uint8_t *ak_name;		/* AK_NAME_LEN */
	const uint8_t *evidence_digest;	/* SHA256_LEN */
};

/*
 * What cose.h and verdict.h say, then R_VERDICT_NONCE, R_VERDICT_AK,
 * R_VERDICT_EVIDENCE, R_VERDICT_STAGE. Its lifetime is the caller's to watch.
 */
enum reason verdict_check(struct bytes in, const struct verdict_expected *e,
			  struct verdict *ret) must_check;

#endif
