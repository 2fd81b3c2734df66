/* SPDX-License-Identifier: Apache-2.0 */
/* /proc/iomem: where memory lies. */
#ifndef BOOTGATE_CHECK_IOMEM_H
#define BOOTGATE_CHECK_IOMEM_H

#include "check/access.h"

/*
 * The first address behind all RAM. R_FILE when it cannot be read; who is not
 * root sees zeros, which is the same.
 */
enum reason iomem_ram_end(const struct source *s, uint64_t *ret) must_check;

#endif
