/* SPDX-License-Identifier: Apache-2.0 */
#include "check/iomem.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

/* `100000000-87fffffff : System RAM`; false for any other line. */
static bool ram_line(const char *line, uint64_t *ret_last)
{
	char *end;

	if (!strstr(line, " : System RAM"))
		return false;
	(void)strtoull(line, &end, 16);
	if (*end != '-')
		return false;
	*ret_last = strtoull(end + 1, NULL, 16);
	return true;
}

enum reason iomem_ram_end(const struct source *s, uint64_t *ret)
{
	_cleanup_(blob_free) struct blob b = BLOB(SOURCE_FILE_MAX);
	uint64_t last = 0, one;
	char *line, *rest;

	TRY(source_read(s, "/proc/iomem", &b));
	TRY(blob_u8(&b, 0));
	rest = (char *)b.p;
	while ((line = strsep(&rest, "\n")))
		if (ram_line(line, &one) && one > last)
			last = one;
	if (last == 0)
		return R_FILE;
	*ret = last + 1;
	return R_OK;
}
