/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOOTGATE_CRYPTO_RANDOM_H
#define BOOTGATE_CRYPTO_RANDOM_H

#include "base/bytes.h"

/* n bytes of getrandom(2), blocking until the kernel's pool is seeded. */
enum reason random_bytes(void *p, size_t n) must_check;
void wipe(void *p, size_t n);

#endif
