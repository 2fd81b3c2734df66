/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "base/text.h"
#include "format/efipath.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char before[] = "path ";
	_cleanup_(blob_free) struct blob b = BLOB(2 * EFI_PATH_TEXT_MAX);
	enum reason r;

	must(blob_append(&b, before, strlen(before)) == R_OK);
	r = efi_path_text(bytes_of(data, size), &b);
	must(r == R_OK || r == R_FORMAT_TRUNCATED || r == R_FORMAT_RANGE);
	/* bounded by itself and not by the blob, and behind what was there */
	must(b.n <= strlen(before) + EFI_PATH_TEXT_MAX);
	must(memcmp(b.p, before, strlen(before)) == 0);
	must(text_printable(blob_bytes(&b)));
	return 0;
}
