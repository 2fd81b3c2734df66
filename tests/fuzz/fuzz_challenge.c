/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "format/challenge.h"

REWRITE(challenge_request)
REWRITE(challenge)
REWRITE(enrol_request)
REWRITE(enrol_answer)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes in = { data, size };

	same_again(challenge_request_again, in);
	same_again(challenge_again, in);
	same_again(enrol_request_again, in);
	same_again(enrol_answer_again, in);
	return 0;
}
