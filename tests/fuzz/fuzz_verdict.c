/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "format/verdict.h"

REWRITE(verdict)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct verdict m;

	same_again(verdict_again, bytes_of(data, size));
	/* the gate relies on it: nothing to boot unless told to boot */
	if (verdict_read(bytes_of(data, size), &m) == R_OK && m.has_manifest)
		must(m.directive == DIRECTIVE_ADMIT || m.directive == DIRECTIVE_UPDATE);
	return 0;
}
