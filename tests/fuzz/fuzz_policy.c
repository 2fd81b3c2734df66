/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "format/policy.h"

REWRITE(policy)

/* What is in force first can be written; a parameter of two words cannot. */
static void standard(void)
{
	_cleanup_(blob_free) struct blob b = BLOB(1u << 16);
	static struct policy p;

	policy_default(&p);
	must(policy_write(&p, &b) == R_OK);
	memcpy(p.parameter[p.parameter_count++], "two words", 10);
	must(policy_write(&p, &b) == R_FORMAT_TEXT);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0)
		standard();
	same_again(policy_again, bytes_of(data, size));
	return 0;
}
