/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "format/rom.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rom_image image;
	struct fields f;
	struct rom rom;
	bool end = false;
	size_t at;

	if (rom_open(bytes_of(data, size), &rom) != R_OK)
		return 0;
	must(rom.offset < size);
	for (;;) {
		at = rom.offset;
		if (rom_next(&rom, &image, &end) != R_OK || end)
			return 0;
		/* each is in the file, and behind the one before */
		must(image.offset == at && rom.offset == at + image.bytes.n && rom.offset > at);
		must(rom.offset <= size && image.pcir < size - at);
		rom_fields(&image, &f);
		must(f.count > 0 && f.count <= FIELDS_MAX);
	}
}
