/* SPDX-License-Identifier: Apache-2.0 */
/* Small answers of firmware and kernel: Secure Boot, memory. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "node/hardware.h"
#include "node/sysfs.h"

#define EFI_GLOBAL "8be4df61-93ca-11d2-aa0d-00e098032b8c"

/* efivarfs: four bytes of attributes, then the value. */
static bool read_flag(const char *root, const char *path, bool *ret)
{
	_cleanup_(blob_free) struct blob b = BLOB(64);

	if (sysfs_read(root, path, &b) || b.n != 5 || b.p[4] > 1)
		return false;
	*ret = b.p[4] == 1;
	return true;
}

enum secure_boot secure_boot_read(const char *root)
{
	bool on, setup;

	if (!read_flag(root, "/sys/firmware/efi/efivars/SecureBoot-" EFI_GLOBAL, &on))
		return SECURE_BOOT_UNKNOWN;
	if (on)
		return SECURE_BOOT_ON;
	if (read_flag(root, "/sys/firmware/efi/efivars/SetupMode-" EFI_GLOBAL, &setup) && setup)
		return SECURE_BOOT_SETUP;
	return SECURE_BOOT_OFF;
}

const char *secure_boot_name(enum secure_boot s)
{
	static const char *const names[] = { NULL, "off", "on", "setup" };

	return names[s];
}

enum reason memory_available(const char *root, uint64_t *ret)
{
	_cleanup_(blob_free) struct blob b = BLOB(16384);
	const char *at;

	TRY(sysfs_read(root, "/proc/meminfo", &b));
	TRY(blob_u8(&b, 0));
	at = strstr((const char *)b.p, "MemAvailable:");
	if (!at)
		return R_FORMAT_TYPE;
	*ret = strtoull(at + strlen("MemAvailable:"), NULL, 10) * 1024;
	return R_OK;
}
