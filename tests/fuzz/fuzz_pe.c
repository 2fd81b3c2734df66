/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "format/pe.h"

/* Sections stand in order, apart from each other and in the file; the digest can be made. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct bytes in = bytes_of(data, size);
	uint8_t digest[DIGEST_MAX];
	struct bytes content;
	struct pe pe;
	size_t end = 0;

	if (pe_read(in, &pe) != R_OK)
		return 0;
	must(pe.headers_size + pe.signatures_size <= size);
	for (size_t i = 0; i < pe.section_count; i++) {
		const struct pe_section *s = &pe.section[i];

		must(pe_find(&pe, s->name) == s);
		must(s->at >= end);
		if (s->raw.n > 0)
			must(s->raw.p == data + s->at && s->at + s->raw.n <= size - pe.signatures_size);
		end = s->at + s->raw.n;
		if (pe_content(s, &content) == R_OK)
			must(content.n <= s->raw.n);
	}
	must(pe_digest(&pe, ALG_SHA256, digest) == R_OK);
	return 0;
}
