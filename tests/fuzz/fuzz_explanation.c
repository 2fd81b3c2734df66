/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "format/explanation.h"

REWRITE(explanation)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	same_again(explanation_again, bytes_of(data, size));
	return 0;
}
