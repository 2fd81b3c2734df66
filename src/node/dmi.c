/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cleanup.h"
#include "node/hardware.h"
#include "node/sysfs.h"

enum reason dmi_read(const char *root, struct dmi *ret)
{
	_cleanup_(dmi_free) struct dmi dmi = { .entry = BLOB(256),
						.table = BLOB(SMBIOS_TABLE_MAX) };

	TRY(sysfs_read(root, "/sys/firmware/dmi/tables/smbios_entry_point", &dmi.entry));
	TRY(sysfs_read(root, "/sys/firmware/dmi/tables/DMI", &dmi.table));
	TRY(smbios_read(blob_bytes(&dmi.entry), blob_bytes(&dmi.table), &dmi.info));
	*ret = dmi;
	dmi = (struct dmi){ 0 };
	return R_OK;
}

void dmi_free(struct dmi *dmi)
{
	blob_free(&dmi->entry);
	blob_free(&dmi->table);
	*dmi = (struct dmi){ 0 };
}
