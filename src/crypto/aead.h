/* SPDX-License-Identifier: Apache-2.0 */
/*
 * AES-256-GCM with a random 96-bit nonce in front: for the sealed tokens
 * that keep the server stateless. OpenSSL body only.
 */
#ifndef BOOTGATE_CRYPTO_AEAD_H
#define BOOTGATE_CRYPTO_AEAD_H

#include "base/bytes.h"

#define AEAD_KEY_LEN 32u
#define AEAD_OVERHEAD (12u + 16u)

enum reason aead_seal(const uint8_t key[AEAD_KEY_LEN], struct bytes aad,
		      struct bytes plain, struct blob *ret) must_check;
/* R_SESSION_TOKEN when it is not one of ours. */
enum reason aead_open(const uint8_t key[AEAD_KEY_LEN], struct bytes aad,
		      struct bytes sealed, struct blob *ret) must_check;

#endif
