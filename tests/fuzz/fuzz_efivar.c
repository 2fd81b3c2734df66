/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "format/efivar.h"

REWRITE(efi_variable)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes in = { data, size };
	struct efi_variable v;
	struct efi_load_option o;
	uint16_t number;

	same_again(efi_variable_again, in);
	if (efi_variable_read(in, &v) == R_OK) {
		_cleanup_(blob_free) struct blob b = BLOB(1u << 20);

		if (efi_boot_number(v.name, &number))
			must(!utf16_is(v.name, "BootOrder"));
		else
			(void)utf16_is(v.name, "BootOrder");
		v.guid.n--;
		must(efi_variable_write(&v, &b) == R_FORMAT_RANGE);
		in = v.content;
	}
	if (efi_load_option_read(in, &o) == R_OK)
		must(o.description.n + o.optional.n < in.n);
	return 0;
}
