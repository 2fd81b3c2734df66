/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "format/jview.h"
#include "format/unwrap.h"

static enum reason binary(void *context, struct bytes in)
{
	*(size_t *)context += in.n;
	return R_OK;
}

static enum reason object(void *context, struct bytes json)
{
	struct bytes same;

	must(jview_read(json, &same) == R_OK && bytes_equal(json, same));
	*(size_t *)context += json.n;
	return R_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(blob_free) struct blob text = BLOB(0);
	size_t seen = 0;
	const struct unwrap_sink sink = { binary, object, &seen };

	if (unwrap(bytes_of(data, size), &sink) == R_OK)
		must(seen < 40 * size + 1000);
	if (unwrap_text(bytes_of(data, size), &text) == R_OK)
		must(text.n > 0 && text.n <= size);
	return 0;
}
