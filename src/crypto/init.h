/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOOTGATE_CRYPTO_INIT_H
#define BOOTGATE_CRYPTO_INIT_H

#include "base/reason.h"

/*
 * Loads what the library would load at its first use: to be called before a
 * process is confined, and before it forks others.
 */
enum reason crypto_init(void) must_check;

#endif
