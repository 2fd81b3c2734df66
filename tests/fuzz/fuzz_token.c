/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "format/token.h"

REWRITE(session_token)
REWRITE(enrol_token)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	same_again(session_token_again, bytes_of(data, size));
	same_again(enrol_token_again, bytes_of(data, size));
	return 0;
}
