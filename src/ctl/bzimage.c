/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/bzimage.h"

#include <string.h>

/* Places in the boot sector and set-up header. */
#define AT_BOOT_FLAG 0x1feu
#define AT_MAGIC 0x202u
#define AT_VERSION 0x206u
#define AT_LOAD_FLAGS 0x211u
#define AT_XLOAD_FLAGS 0x236u

#define BOOT_FLAG 0xaa55u
#define VERSION_LEAST 0x020cu	/* 2.12: the first with xloadflags */
#define LOADED_HIGH 0x01u
#define XLF_KERNEL_64 0x01u

static unsigned le16(struct bytes b, size_t at)
{
	return b.p[at] | (unsigned)b.p[at + 1] << 8;
}

/* What the kernel's own loader of kexec wants of a 64-bit image. */
enum reason bzimage_check(struct bytes head)
{
	if (head.n < BZIMAGE_HEAD)
		return R_IMAGE_KERNEL;
	if (le16(head, AT_BOOT_FLAG) != BOOT_FLAG || memcmp(head.p + AT_MAGIC, "HdrS", 4) != 0)
		return R_IMAGE_KERNEL;
	if (le16(head, AT_VERSION) < VERSION_LEAST)
		return R_IMAGE_KERNEL;
	if (!(head.p[AT_LOAD_FLAGS] & LOADED_HIGH) || !(le16(head, AT_XLOAD_FLAGS) & XLF_KERNEL_64))
		return R_IMAGE_KERNEL;
	return R_OK;
}
