/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "format/jview.h"

static bool inside(struct bytes outer, struct bytes in)
{
	return in.n > 0 && in.p >= outer.p && in.p + in.n <= outer.p + outer.n;
}

static void look(struct bytes v)
{
	_cleanup_(blob_free) struct blob text = BLOB(1u << 20);
	struct jview_iterator it;
	struct bytes in;
	uint8_t two[2];
	uint32_t number;

	for (bool more = jview_first(v, &it); more; more = jview_next(&it)) {
		must(inside(v, it.value));
		must(it.object == (it.name.n > 0));
	}
	if (jview_member(v, "a", &in) == R_OK)
		must(inside(v, in));
	if (jview_string(v, &text) == R_OK)
		must(text.n + 2 <= v.n);
	if (jview_plain(v, &in) == R_OK)
		must(in.n + 2 == v.n);
	if (jview_u32(v, 1000, &number) == R_OK)
		must(number <= 1000);
	if (jview_hex(v, two, sizeof(two)) == R_OK)
		must(v.n == 6);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes v, rest, part;

	if (jview_read(bytes_of(data, size), &v) != R_OK)
		return 0;
	must(inside(bytes_of(data, size), v));
	look(v);
	rest = v;
	while (jview_scan(&rest, &part)) {
		must(inside(v, part));
		must(jview_is_object(part) || jview_is_string(part));
		look(part);
	}
	return 0;
}
