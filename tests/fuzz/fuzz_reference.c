/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "format/reference.h"

static enum reason variant_again(struct bytes in, struct blob *out)
{
	struct reference_variant v;
	enum reason r;

	TRY(reference_variant_read(in, &v));
	must(v.event_count > 0);
	r = reference_variant_write(&v, out);
	reference_variant_free(&v);
	return r;
}

static enum reason set_again(struct bytes in, struct blob *out)
{
	struct reference_set s;
	enum reason r;

	TRY(reference_set_read(in, &s));
	r = reference_set_write(&s, out);
	reference_set_free(&s);
	return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes in = { data, size };

	same_again(variant_again, in);
	same_again(set_again, in);
	return 0;
}
