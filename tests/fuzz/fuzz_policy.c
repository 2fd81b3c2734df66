/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "format/policy.h"

REWRITE(policy)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	same_again(policy_again, bytes_of(data, size));
	return 0;
}
