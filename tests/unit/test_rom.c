/* SPDX-License-Identifier: Apache-2.0 */
#include "fields_kit.h"
#include "message.h"

#include "format/rom.h"

#define FIRST 512u

/* An image of two units for BIOS with its structure at 20h; `more` comes on top. */
#define BIOS "00:55aa 02:02 18:2000 20:50434952 24:de103023 2a:1800 2d:000203 30:0200 32:0501 35:80 "
#define EFI "00:55aa 02:0200 04:f10e0000 08:0b00 0a:6486 0c:0100 16:5000 18:2000 20:50434952 " \
	    "24:b3152410 2a:1c00 2d:000002 30:0200 34:0380 "

static uint8_t file[8192];

static void fix(uint8_t *image, size_t n)
{
	uint8_t sum = 0;

	image[n - 1] = 0;
	for (size_t i = 0; i < n; i++)
		sum = (uint8_t)(sum + image[i]);
	image[n - 1] = (uint8_t)-sum;
}

static struct bytes bios(const char *spec)
{
	put_hex(file, sizeof(file), spec);
	fix(file, 1024);
	return bytes_of(file, 1024);
}

static void check(const char *name, struct bytes in, const char *wants)
{
	struct rom_image image;
	struct fields f;
	struct rom rom;
	bool end;

	seed("rom", name, in);
	assert_ok(rom_open(in, &rom));
	assert_ok(rom_next(&rom, &image, &end));
	assert_false(end);
	rom_fields(&image, &f);
	assert_fields(&f, wants);
}

static void test_bios(void **state)
{
	struct bytes in = bios(BIOS);

	(void)state;
	check("bios", in,
	      "code=bios; bytes=1024; vendor=0x10de; device=0x2330; class=0x030200; revision=0x0105; "
	      "last=yes; npde=no; checksum=right; !efi_header; !nvidia_version");
	file[100] ^= 1;
	check("checksum", in, "checksum=wrong");
	/* what the third byte does not count is not added up */
	in = bios(BIOS "02:01");
	fix(file, 512);
	file[1023] = 1;
	check("checksum-part", in, "checksum=right; bytes=1024");
	/* other code has no such sum */
	in = bios(BIOS "34:01");
	file[100] ^= 1;
	check("open-firmware", in, "code=open-firmware; !checksum");
	check("other-code", bios(BIOS "34:e0"), "code=0xe0");
}

static void test_efi(void **state)
{
	(void)state;
	check("efi", bios(EFI),
	      "code=efi; bytes=1024; vendor=0x15b3; efi_header=yes; efi_bytes=1024; "
	      "subsystem=boot-driver; machine=x64; compression=uefi; image_offset=0x0050; !checksum");
	check("efi-arm", bios(EFI "0a:64aa 08:0c00 0c:0000"), "machine=arm64; subsystem=runtime-driver; compression=none");
	check("efi-ia32", bios(EFI "0a:4c01"), "machine=ia32");
	check("efi-ebc", bios(EFI "0a:bc0e"), "machine=ebc");
	check("efi-other", bios(EFI "0a:c201 0c:0700"), "machine=0x01c2; compression=0x07");
	check("efi-no-header", bios(EFI "04:00"), "efi_header=no; !machine");
}

/* BIOS table of NVIDIA at 100h, tokens of six bytes. */
#define BIT "100:ffb8424954000001 108:0c0602 "
static void test_nvidia(void **state)
{
	(void)state;
	check("bit", bios(BIOS BIT "10c:420201000001 112:690205008001 180:00a5009601"),
	      "nvidia_version=96.00.a5.00.01");
	check("bit-outside", bios(BIOS BIT "112:6902050fff03"), "!nvidia_version");
	check("bit-none", bios(BIOS BIT "108:0c0600"), "!nvidia_version");
	check("bit-cut", bios(BIOS "3f8:ffb842495400"), "!nvidia_version");
	/* the structure's addition says what PCIR does not: one unit, and the last */
	check("npde", bios(BIOS "35:00 40:4e504445 44:0101 48:0100 4a:80"), "npde=yes; last=yes; bytes=512");
	check("npde-more", bios(BIOS "40:4e504445 48:0200"), "npde=yes; last=no");
}

static void test_several(void **state)
{
	struct rom_image image;
	uint8_t *second;
	struct rom rom;
	bool end;

	(void)state;
	/* padding, an image for BIOS, one for EFI, and bytes of the flash behind */
	(void)bios(BIOS "35:00");
	memmove(file + FIRST, file, 1024);
	memset(file, 0xff, FIRST);
	second = file + FIRST + 1024;
	put_hex(second, 1024, EFI "35:80");
	memset(second + 1024, 0xff, 512);
	seed("rom", "several", bytes_of(file, FIRST + 2048 + 512));
	assert_ok(rom_open(bytes_of(file, FIRST + 2048 + 512), &rom));
	assert_int_equal(rom.offset, FIRST);
	assert_ok(rom_next(&rom, &image, &end));
	assert_int_equal(image.offset, FIRST);
	assert_int_equal(image.code, ROM_CODE_BIOS);
	assert_true(image.checksum && !image.last && !end);
	assert_ok(rom_next(&rom, &image, &end));
	assert_int_equal(image.offset, FIRST + 1024);
	assert_int_equal(image.code, ROM_CODE_EFI);
	assert_true(image.last && !end);
	assert_ok(rom_next(&rom, &image, &end));
	assert_true(end && rom.last);
	assert_int_equal(rom.offset, FIRST + 2048);
	/* not the last, and the file ends: so it was saved */
	assert_ok(rom_open(bytes_of(file, FIRST + 1024), &rom));
	assert_ok(rom_next(&rom, &image, &end));
	assert_ok(rom_next(&rom, &image, &end));
	assert_true(end && !rom.last);
	/* not the last, and something else follows */
	second[0] = 0x54;
	assert_ok(rom_open(bytes_of(file, FIRST + 2048), &rom));
	assert_ok(rom_next(&rom, &image, &end));
	assert_reason(R_ROM_SIGNATURE, rom_next(&rom, &image, &end));
	assert_int_equal(rom.offset, FIRST + 1024);
	assert_int_equal(rom.count, 1);
}

static void refused(const char *name, enum reason want, struct bytes in)
{
	struct rom_image image;
	struct rom rom;
	bool end;

	seed("rom", name, in);
	assert_ok(rom_open(in, &rom));
	assert_reason(want, rom_next(&rom, &image, &end));
}

static void test_refused(void **state)
{
	struct bytes in = bios(BIOS);
	struct rom_image image;
	struct rom rom;
	bool end;

	(void)state;
	for (size_t n = 0; n < in.n; n++) {
		_cleanup_free_ uint8_t *cut = malloc(n + (n == 0));

		memcpy(cut, in.p, n);
		if (n < 2)
			assert_reason(R_ROM_SIGNATURE, rom_open(bytes_of(cut, n), &rom));
		if (n < 2)
			continue;
		assert_ok(rom_open(bytes_of(cut, n), &rom));
		assert_reason(n < 0x38 ? R_ROM_STRUCTURE : R_ROM_LENGTH, rom_next(&rom, &image, &end));
	}
	seed("rom", "cut", bytes_of(file, 40));
	refused("no-pcir", R_ROM_STRUCTURE, bios(BIOS "20:00"));
	refused("pcir-outside", R_ROM_STRUCTURE, bios(BIOS "18:ffff"));
	refused("pcir-short", R_ROM_STRUCTURE, bios(BIOS "2a:1700"));
	refused("length-zero", R_ROM_LENGTH, bios(BIOS "30:0000"));
	refused("length-long", R_ROM_LENGTH, bios(BIOS "30:0300"));
	refused("npde-zero", R_ROM_LENGTH, bios(BIOS "40:4e504445 48:0000"));
	/* two bytes in the padding are no image */
	memset(file, 0, sizeof(file));
	memcpy(file + 1024, "\x55\xaa", 2);
	assert_reason(R_ROM_SIGNATURE, rom_open(bytes_of(file, 4096), &rom));
	seed("rom", "only-mark", bytes_of(file, 2048));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bios),
		cmocka_unit_test(test_efi),
		cmocka_unit_test(test_nvidia),
		cmocka_unit_test(test_several),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
