/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "format/reference.h"

/* The writer keeps the reader's bounds, also for what no reader gave it. */
static void spoil(struct reference_variant *v)
{
	_cleanup_(blob_free) struct blob b = BLOB(LIMIT_REFERENCE);
	struct reference_event *e = &v->event[0];

	must(strcmp(variant_state_name(v->state), "invalid") != 0);
	if (e->digest_count < LIMIT_BANKS) {
		e->digest[e->digest_count] = e->digest[0];
		e->digest_count++;
		must(reference_variant_write(v, &b) == R_FORMAT_DUPLICATE);
	}
	e->digest[0].alg = 0x27;
	must(reference_variant_write(v, &b) == R_FORMAT_RANGE);
	must(b.n == 0);
}

static enum reason variant_again(struct bytes in, struct blob *out)
{
	struct reference_variant v;
	enum reason r;

	TRY(reference_variant_read(in, &v));
	must(v.event_count > 0);
	r = reference_variant_write(&v, out);
	spoil(&v);
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
