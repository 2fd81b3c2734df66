/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cleanup.h"
#include "ctl/decode.h"
#include "crypto/digest.h"
#include "format/rom.h"

enum reason decode_rom(struct bytes in, json_t *ret)
{
	json_t *list = json_array();
	struct rom_image image;
	struct fields fields;
	bool end = false;
	struct rom rom;

	json_object_set_new(ret, "type", json_string("rom"));
	json_object_set_new(ret, "images", list);
	enum reason r = rom_open(in, &rom), bad = R_OK;
	if (r != R_OK)
		return decode_refused(ret, r, 0, "image", 0);
	if (rom.offset > 0)
		decode_note(ret, "%zu bytes in front of the first image are passed over", rom.offset);
	for (;;) {
		json_t *one;

		r = rom_next(&rom, &image, &end);
		if (r != R_OK)
			return decode_refused(ret, r, rom.offset, "image", rom.count);
		if (end)
			break;
		one = json_pack("{s:o}", "offset", decode_hex(image.offset, 1));
		rom_fields(&image, &fields);
		decode_fields(one, &fields);
		json_array_append_new(list, one);
		/* the others can be read all the same */
		if (bad == R_OK && image.code == ROM_CODE_BIOS && !image.checksum)
			bad = decode_refused(ret, R_ROM_CHECKSUM, image.offset, "image", rom.count - 1);
	}
	if (!rom.last)
		decode_note(ret, "no image says that it is the last");
	if (rom.offset < in.n)
		decode_note(ret, "%zu bytes follow the last image", in.n - rom.offset);
	return bad;
}
