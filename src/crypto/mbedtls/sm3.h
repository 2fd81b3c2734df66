/* SPDX-License-Identifier: Apache-2.0 */
/* SM3 (GB/T 32905-2016), for PCR banks only: mbedtls does not have it. */
#ifndef BOOTGATE_CRYPTO_MBEDTLS_SM3_H
#define BOOTGATE_CRYPTO_MBEDTLS_SM3_H

#include "base/bytes.h"

#define SM3_LEN 32u
#define SM3_BLOCK 64u

struct sm3 {
	uint32_t state[8];
	uint64_t length;		/* bytes so far */
	uint8_t block[SM3_BLOCK];	/* the last, incomplete one */
};

void sm3_begin(struct sm3 *s);
void sm3_update(struct sm3 *s, struct bytes in);
void sm3_end(struct sm3 *s, uint8_t ret[SM3_LEN]);

#endif
