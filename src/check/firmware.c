/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cleanup.h"
#include "check/find.h"
#include "format/smbios.h"

#define ENTRY "/sys/firmware/dmi/tables/smbios_entry_point"
#define TABLE "/sys/firmware/dmi/tables/DMI"

void check_firmware_smbios(const struct machine *m, struct finding *f)
{
	_cleanup_(blob_free) struct blob entry = BLOB(256), table = BLOB(SMBIOS_TABLE_MAX);
	struct smbios s;
	enum reason r;

	r = source_read(&m->source, ENTRY, &entry);
	if (r == R_OK)
		r = source_read(&m->source, TABLE, &table);
	if (r != R_OK) {
		found_unread(f, TABLE, r);
		return;
	}
	r = smbios_read(blob_bytes(&entry), blob_bytes(&table), &s);
	if (r != R_OK)
		found(f, CHECK_FAIL, "%s", reason_name(r));
	else
		found_if(f, s.bios_version.n > 0, "%.*s: BIOS %.*s of %.*s",
			 (int)s.system_product.n, (const char *)s.system_product.p,
			 (int)s.bios_version.n, (const char *)s.bios_version.p,
			 (int)s.bios_date.n, (const char *)s.bios_date.p);
}
