/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "format/der.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cursor c = cursor_of(bytes_of(data, size));
	struct bytes value;
	uint32_t number;
	uint8_t tag;

	while (c.n > 0) {
		if (der_u32(&c, DER_INTEGER, 1000000, &number) == R_OK)
			must(number <= 1000000);
		else if (der_take(&c, DER_OCTETS, &value) == R_OK)
			must(value.p >= data && value.p + value.n == c.p);
		else if (der_next(&c, &tag, &value) == R_OK)
			must(value.p + value.n == c.p);
		else
			break;
	}
	return 0;
}
