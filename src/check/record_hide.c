/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "check/record.h"
#include "format/smbios.h"

#define MAC_TEXT 17u	/* xx:xx:xx:xx:xx:xx */

static bool is_hex(uint8_t c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static bool mac_at(const uint8_t *p)
{
	for (size_t i = 0; i < MAC_TEXT; i++) {
		bool between = i % 3 == 2;

		if (between ? p[i] != p[2] || (p[i] != ':' && p[i] != '-') : !is_hex(p[i]))
			return false;
	}
	return true;
}

static void hide_macs(struct blob *b)
{
	for (size_t i = 0; i + MAC_TEXT <= b->n; i++) {
		if (!mac_at(b->p + i))
			continue;
		for (size_t k = 0; k < MAC_TEXT; k++)
			if (k % 3 != 2)
				b->p[i + k] = '0';
	}
}

bool record_hide(const char *path, struct blob *content)
{
	/* Its digests would no longer be those of its data. */
	if (strcmp(path, "/sys/kernel/security/tpm0/binary_bios_measurements") == 0)
		return false;
	if (strcmp(path, "/sys/firmware/dmi/tables/DMI") == 0)
		return smbios_hide(content->p, content->n) == R_OK;
	hide_macs(content);
	return true;
}
