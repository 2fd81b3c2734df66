/* SPDX-License-Identifier: Apache-2.0 */
/* Is a file a kernel that kexec can start? By its x86 boot protocol header. */
#ifndef BOOTGATE_CTL_BZIMAGE_H
#define BOOTGATE_CTL_BZIMAGE_H

#include "base/bytes.h"

#define BZIMAGE_HEAD 0x238u	/* bytes that are looked at */

/* The first bytes of the file: R_IMAGE_KERNEL. */
enum reason bzimage_check(struct bytes head) must_check;

#endif
