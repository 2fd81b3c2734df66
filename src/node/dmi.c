/* SPDX-License-Identifier: Apache-2.0 */
#include "node/hardware.h"
#include "node/sysfs.h"

enum reason dmi_read(const char *root, struct dmi *ret)
{
	enum reason r;

	*ret = (struct dmi){ .entry = BLOB(256), .table = BLOB(SMBIOS_TABLE_MAX) };
	r = sysfs_read(root, "/sys/firmware/dmi/tables/smbios_entry_point", &ret->entry);
	if (r == R_OK)
		r = sysfs_read(root, "/sys/firmware/dmi/tables/DMI", &ret->table);
	if (r == R_OK)
		r = smbios_read(blob_bytes(&ret->entry), blob_bytes(&ret->table), &ret->info);
	if (r != R_OK)
		dmi_free(ret);
	return r;
}

void dmi_free(struct dmi *dmi)
{
	blob_free(&dmi->entry);
	blob_free(&dmi->table);
	*dmi = (struct dmi){ 0 };
}
