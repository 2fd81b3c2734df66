/* SPDX-License-Identifier: Apache-2.0 */
/* Key derivation of TPM 2.0 (Part 1, section 11.4.10), for credential.c. */
#ifndef BOOTGATE_APPRAISE_CREDENTIAL_H
#define BOOTGATE_APPRAISE_CREDENTIAL_H

#include "base/bytes.h"
#include "crypto/digest.h"

/* KDFa: HMAC in counter mode. ret gets (bits + 7) / 8 bytes, at most DIGEST_MAX. */
enum reason tpm_kdfa(uint16_t alg, struct bytes key, const char *label, struct bytes u,
		     struct bytes v, uint32_t bits, uint8_t ret[DIGEST_MAX]) must_check;
/* KDFe: hash in counter mode, over the x coordinate of an ECDH. */
enum reason tpm_kdfe(uint16_t alg, struct bytes z, const char *label, struct bytes u,
		     struct bytes v, uint32_t bits, uint8_t ret[DIGEST_MAX]) must_check;

#endif
