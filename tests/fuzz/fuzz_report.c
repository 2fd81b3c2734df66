/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "format/report.h"

REWRITE(report)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct report m;

	same_again(report_again, bytes_of(data, size));
	if (report_read(bytes_of(data, size), &m) == R_OK)
		for (size_t i = 0; i < m.check_count; i++)
			must(check_result_name(m.check[i].result) != NULL);
	return 0;
}
