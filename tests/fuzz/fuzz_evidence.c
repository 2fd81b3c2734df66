/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "format/evidence.h"

REWRITE(evidence)
REWRITE(claims)
REWRITE(receipt)

static enum reason ack_again(struct bytes in, struct blob *out)
{
	uint8_t digest[SHA256_LEN];

	TRY(receipt_ack_read(in, digest));
	return receipt_ack_write(digest, out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes in = { data, size };
	struct evidence e;

	same_again(evidence_again, in);
	same_again(claims_again, in);
	same_again(receipt_again, in);
	same_again(ack_again, in);
	/* claims are behind the first head of an evidence */
	if (evidence_read(in, &e) == R_OK) {
		same_again(claims_again, e.claims);
		same_again(receipt_again, e.claims);
	}
	return 0;
}
