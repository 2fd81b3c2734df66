/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "format/efisig.h"
#include "format/efivar.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct efi_signatures s;
	struct efi_signature one;
	const uint8_t *end = data;
	enum reason r;

	efi_signatures_open(bytes_of(data, size), &s);
	while ((r = efi_signatures_next(&s, &one)) == R_OK) {
		/* one behind the other, no byte twice */
		must(one.owner.n == EFI_GUID_LEN && one.type.n == EFI_GUID_LEN && one.data.n > 0);
		must(one.owner.p >= end && one.data.p == one.owner.p + EFI_GUID_LEN);
		end = one.data.p + one.data.n;
		must(end <= data + size);
		must(one.kind != EFI_SIGNATURE_SHA256 || one.data.n == 32);
	}
	must(r == R_LOG_END || r == R_FORMAT_TRUNCATED || r == R_FORMAT_RANGE);
	return 0;
}
