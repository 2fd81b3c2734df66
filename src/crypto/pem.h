/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOOTGATE_CRYPTO_PEM_H
#define BOOTGATE_CRYPTO_PEM_H

#include "base/bytes.h"

/*
 * Text that begins with a PEM public key and holds no second block: both
 * bodies then read the same key out of the same file.
 */
bool pem_is_public_key(struct bytes pem);

#endif
