/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "format/problem.h"

REWRITE(problem)
REWRITE(failure)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes in = { data, size };
	struct problem p, of;
	enum reason r;

	same_again(problem_again, in);
	same_again(failure_again, in);
	if (problem_read(in, &p) == R_OK && reason_find(p.reason, &r))
		problem_of(r, p.retry_after, &of);
	return 0;
}
