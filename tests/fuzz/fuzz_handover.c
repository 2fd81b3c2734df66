/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "format/handover.h"

REWRITE(handover)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct handover h;

	same_again(handover_again, bytes_of(data, size));
	if (handover_read(bytes_of(data, size), &h) == R_OK)
		must(handover_size(&h) == size);
	return 0;
}
