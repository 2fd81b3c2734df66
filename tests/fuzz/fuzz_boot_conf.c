/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "format/conf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(blob_free) struct blob text = BLOB(LIMIT_CONF);
	static struct boot_conf c, again;
	uint32_t floor;
	struct conf_error err;

	if (boot_conf_read(bytes_of(data, size), &c, &err) != R_OK)
		return 0;
	must(strncmp(c.server_url, "https://", 8) == 0);
	must(c.release_threshold > 0);
	must(boot_conf_write(&c, &text) == R_OK);
	must(boot_conf_read(blob_bytes(&text), &again, &err) == R_OK);
	must(memcmp(&c, &again, sizeof c) == 0);
	for (size_t i = 0; i < c.floor_count; i++)
		must(boot_conf_floor(&c, c.floor[i].line, &floor) && floor == c.floor[i].security_version);
	must(boot_conf_floor(&c, "", &floor) == (c.floor_count == 0) && floor == 0);
	return 0;
}
