/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "crypto/cert_der.h"

static bool is_inside(struct bytes part, struct bytes whole)
{
	return part.p >= whole.p && part.p + part.n <= whole.p + whole.n;
}

/* A copy with the shortest serial number is a certificate, and is no copy of itself. */
static void shorten(struct bytes in)
{
	_cleanup_(blob_free) struct blob copy = BLOB(1u << 20), again = BLOB(1u << 20);
	struct bytes part;

	if (der_shorten_serial(in, &copy) != R_OK) {
		must(copy.n == 0);
		return;
	}
	must(copy.n < in.n);
	must(der_signed_part(blob_bytes(&copy), &part) == R_OK);
	must(der_shorten_serial(blob_bytes(&copy), &again) == R_EK_FORMAT);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes in = bytes_of(data, size), part, rest;

	if (der_sequence(in, &part, &rest) == R_OK)
		must(part.p == data && part.p + part.n == rest.p && part.n + rest.n == size);
	if (der_cut(in, &part) == R_OK)
		must(part.p == data && part.n > 0 && der_is_padding(bytes_of(data + part.n, size - part.n)));
	if (der_signed_part(in, &part) == R_OK)
		must(part.n > 0 && is_inside(part, in));
	shorten(in);
	return 0;
}
