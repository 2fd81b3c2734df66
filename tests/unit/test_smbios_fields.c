/* SPDX-License-Identifier: Apache-2.0 */
#include "fields_kit.h"
#include "smbios_kit.h"

#include "format/smbios.h"

/* One structure: its bytes from `spec`, and the fields it has. */
static void check(uint8_t type, uint8_t length, const char *spec, const char *strings,
		  const char *wants)
{
	static unsigned number;
	struct smbios_entry entry = { .major = 3, .table_size = UINT32_MAX };
	struct smbios_structure s;
	struct smbios_table walk;
	struct fields f;
	struct table t = { .n = 0 };
	uint8_t body[256], nothing = 0;
	char name[32];
	bool end;

	put_hex(body, length, spec);
	put(&t, &nothing, 1);
	structure(&t, type, body + 4, (uint8_t)(length - 4), strings);
	snprintf(name, sizeof(name), "fields-%02u", number++);
	seed("smbios", name, bytes_of(t.b, t.n));
	assert_ok(smbios_table_open(&entry, bytes_of(t.b + 1, t.n - 1), &walk));
	assert_ok(smbios_next(&walk, &s, &end));
	assert_false(end);
	smbios_fields(&entry, &s, &f);
	assert_fields(&f, wants);
}

static void test_machine(void **state)
{
	(void)state;
	check(0, 26, "04:0102 06:00f0 08:03 09:1f 13:08 14:0503ffff", "Vendor|1.2\x01|01/02/2026|",
	      "vendor=Vendor; version=1.2\\x01; date=01/02/2026; segment=0xf000; uefi=yes; "
	      "virtual_machine=no; release=5.3; !controller_release; rom_bytes=2097152");
	/* larger ROMs: 32 MiB, 2 GiB */
	check(0, 26, "09:ff 18:2000", "", "rom_bytes=33554432; !vendor");
	check(0, 26, "09:ff 16:0102 18:0240", "", "rom_bytes=2147483648; controller_release=1.2");
	/* as long as version 2.0 had it */
	check(0, 18, "04:01 09:ff", "V|", "vendor=V; rom_bytes=16777216; !release; !uefi");
	check(0, 8, "04:01", "V|", "!rom_bytes");
	check(1, 27, "04:010203 07:04 08:00112233445566778899aabbccddeeff 18:06 19:05 1a:06",
	      "Maker|Server|1|SN|SKU|Fam|",
	      "manufacturer=Maker; product=Server; version=1; serial=SN; wake_up=power-switch; "
	      "uuid=33221100-5544-7766-8899-aabbccddeeff; sku=SKU; family=Fam");
	check(1, 8, "04:01", "Maker|", "manufacturer=Maker; !uuid; !wake_up");
	check(2, 15, "04:01 07:02 09:09 0b:0300 0d:0a", "Maker|SN|",
	      "serial=SN; hosting=yes; removable=no; replaceable=yes; chassis_handle=0x0003; "
	      "board_type=motherboard");
	check(3, 0x16 + 6, "04:01 05:97 09:03 0c:02 11:04 13:0203 1b:02", "Maker|SKU|",
	      "chassis_type=rack-mount; lock=yes; boot_state=safe; security=unknown; height=4; "
	      "contained=2; sku=SKU");
	check(3, 0x15, "05:70 13:0503", "", "chassis_type=0x70; contained=5; !sku");
	check(3, 0x0d, "05:17", "", "!contained");
	check(32, 11, "0a:08", "", "status=watchdog");
}

static void test_cpu(void **state)
{
	(void)state;
	check(4, 0x30, "04:01 05:03 06:6b 07:02 08:110fa100fffb8b17 10:03 14:740e 18:41 23:606060",
	      "P0|AMD|EPYC|",
	      "socket=P0; processor_type=central; manufacturer=AMD; version=EPYC; populated=yes; "
	      "id=0x178bfbff00a10f11; status=enabled; max_mhz=3700; family=0x6b; cores=96; "
	      "cores_enabled=96; threads=96");
	check(4, 0x30, "06:fe 18:43 23:ffffff 28:0501 2a:000110010002", "",
	      "family=0x105; status=disabled-by-bios; cores=256; cores_enabled=272; threads=512");
	check(4, 0x2a, "06:fe 23:ff0000 28:0101", "", "family=0x101; cores=255");
	check(4, 6, "05:03", "", "!family; !cores");
	check(7, 0x1b, "04:01 05:8101 07:008009800080", "L2|",
	      "socket=L2; level=2; enabled=yes; mode=write-back; max_bytes=0; bytes=589824");
	check(7, 0x1b, "05:8202 07:ffffffff 13:00100080 17:00010000 10:06 11:05", "",
	      "level=3; mode=varies; max_bytes=268435456; bytes=262144; error_correction=multi-bit; "
	      "cache_type=unified");
	check(7, 5, "", "", "!level; !bytes");
	check(44, 12, "04:0400 07:02", "", "processor_handle=0x0004; architecture=x64");
}

static void test_memory(void **state)
{
	(void)state;
	check(16, 0x17, "04:0303060000000800 0d:0800", "",
	      "location=board; use=system; error_correction=multi-bit; max_bytes=137438953472; devices=8");
	check(16, 0x17, "07:00000080 0f:0000000000100000", "", "max_bytes=17592186044416");
	check(16, 0x0f, "07:00000080", "", "!max_bytes");
	check(16, 7, "", "", "!max_bytes");
}

static void test_memory_device(void **state)
{
	(void)state;
	check(17, 0x5c, "08:50004000 0c:ff7f 0e:09 10:0102 12:22 15:c012 17:030405 1a:06 1b:02 1c:00000100 "
	      "20:c012 26:4c04 28:03", "DIMM_A1|BANK 0|Maker|SN|Tag|Part|",
	      "total_width=80; data_width=64; form_factor=dimm; locator=DIMM_A1; bank=BANK 0; "
	      "memory_type=ddr5; manufacturer=Maker; serial=SN; asset_tag=Tag; part=Part; rank=2; "
	      "bytes=68719476736; speed_mts=4800; configured_mts=4800; configured_mv=1100; "
	      "technology=dram");
	check(17, 0x5c, "0c:0040 15:ffff 20:ffff 54:a00f0000 58:80ff0080 12:1a", "",
	      "bytes=17179869184; speed_mts=4000; configured_mts=65408; memory_type=ddr4");
	/* not populated; not known; in KiB; of an old version */
	check(17, 0x20, "0c:0000", "", "bytes=0; !configured_mts");
	check(17, 0x22, "0c:ffff", "", "!bytes");
	check(17, 0x15, "0c:0080", "", "bytes=0; !speed_mts; !rank");
	check(17, 0x15, "0c:0082", "", "bytes=524288");
	check(19, 0x1f, "04:000040000000c0ff 0c:1000 0e:04", "",
	      "start=0x0000000100000000; end=0x000003ff000003ff; array_handle=0x0010; partition_width=4");
	check(19, 0x1f, "04:ffffffffffffffff 0f:0000000001000000 17:ffffffff01000000", "",
	      "start=0x0000000100000000; end=0x00000001ffffffff");
	check(19, 0x0f, "04:ffffffffffffffff", "", "!start");
	check(19, 8, "", "", "!start");
}

static void test_devices(void **state)
{
	(void)state;
	check(9, 0x11, "04:01 05:b6 06:0d 07:04 08:04 09:0500 0d:0000 0f:8108", "SLOT5|",
	      "designation=SLOT5; slot_type=0xb6; width=x16; usage=in-use; slot_length=long; id=5; "
	      "pci_segment=0x0000; pci_bus=0x81; pci_device=0x01; pci_function=0");
	check(9, 0x11, "0d:ffffffff", "", "!pci_bus");
	check(9, 0x0d, "", "", "!pci_bus");
	check(41, 11, "04:01 05:85 06:01 07:00004101", "NIC|",
	      "designation=NIC; device_type=ethernet; enabled=yes; instance=1; pci_bus=0x41; "
	      "pci_device=0x00; pci_function=1");
	check(38, 0x12, "04:01 05:20 06:20 07:ff 08:a30c000000000000 10:50 11:05", "",
	      "interface=kcs; specification=2.0; i2c_address=0x20; nv_storage=0xff; space=io; "
	      "address=0x0000000000000ca3; spacing=4-byte; interrupt=5");
	check(38, 0x10, "04:03 05:15 08:0000a0fe00000000", "",
	      "interface=bt; specification=1.5; space=memory; address=0x00000000fea00000; spacing=1-byte");
	check(38, 0x12, "04:04 05:20 08:40", "", "interface=ssif; slave_address=0x20; !address");
	check(38, 8, "04:01 05:20", "", "specification=2.0; !address");
	check(38, 5, "04:01", "", "!specification");
	check(42, 6, "04:40", "", "interface=network");
	check(43, 0x1f, "04:4d534654 08:0200 0a:01000200 12:01 13:1000000000000000", "TPM 2.0|",
	      "vendor=MSFT; specification=2.0; firmware_1=0x00020001; description=TPM 2.0; "
	      "characteristics=0x0000000000000010");
	check(43, 0x0a, "04:494e0000 08:0102", "", "vendor=IN; specification=1.2");
	check(43, 8, "04:494e", "", "!vendor");
}

static void test_texts(void **state)
{
	_cleanup_free_ char *many = calloc(1, 2 * 300 + 1);

	(void)state;
	check(11, 5, "04:02", "one|two|", "count=2; string_1=one; string_2=two");
	check(12, 5, "04:01", "option|", "string_1=option");
	check(221, 6, "04:beef", "x|", "data=beef; string_1=x");
	check(13, 4, "", "", "!string_1");
	/* no number leads to a text behind the 255th */
	for (size_t i = 0; i < 300; i++)
		memcpy(many + 2 * i, "a|", 2);
	check(11, 5, "", many, "string_255=a; !string_256");
	assert_string_equal(smbios_type_name(0), "bios");
	assert_string_equal(smbios_type_name(126), "inactive");
	assert_string_equal(smbios_type_name(13), "other");
	assert_string_equal(smbios_type_name(200), "oem");
}

/* More fields than there is room for: what is too much is left out. */
static void test_limit(void **state)
{
	struct fields f = { .count = 0 };

	(void)state;
	for (unsigned i = 0; i < FIELDS_MAX + 10; i++)
		fields_number(&f, "n", i);
	assert_int_equal(f.count, FIELDS_MAX);
	assert_int_equal(f.field[FIELDS_MAX - 1].number, FIELDS_MAX - 1);
}

static void machine(struct table *t)
{
	t->n = 0;
	structure(t, SMBIOS_BIOS, (const uint8_t *)"\1\2", 2, "Vendor|1|");
	structure(t, SMBIOS_END, NULL, 0, "");
}

static void open_file(const char *name, struct bytes in, enum smbios_shape shape, size_t offset)
{
	struct smbios_structure s;
	struct smbios_file file;
	struct smbios_table t;
	bool end;

	seed("smbios", name, in);
	assert_ok(smbios_file_open(in, &file));
	assert_string_equal(smbios_shape_name(file.shape), smbios_shape_name(shape));
	assert_int_equal(file.offset, offset);
	assert_ok(smbios_table_open(&file.entry, file.table, &t));
	assert_ok(smbios_next(&t, &s, &end));
	assert_bytes(smbios_text(&s, 4), "Vendor", 6);
	assert_ok(smbios_next(&t, &s, &end));
	assert_true(end && t.marker);
}

static void address(uint8_t *entry, uint32_t to)
{
	size_t at = entry[3] == '3' ? 16 : 24;

	for (unsigned i = 0; i < 4; i++)
		entry[at + i] = (uint8_t)(to >> 8 * i);
	checksum(entry, entry[3] == '3' ? 24 : 31, entry[3] == '3' ? 5 : 4);
}

static void test_files(void **state)
{
	static uint8_t file[0x1000];
	struct smbios_file out;
	static struct table t;

	(void)state;
	machine(&t);
	open_file("file-table", bytes_of(t.b, t.n), SMBIOS_FILE_TABLE, 0);
	memcpy(file, entry3(&t, 2).p, 24);
	address(file, 0x20);
	memcpy(file + 0x20, t.b, t.n);
	open_file("file-dump", bytes_of(file, 0x20 + t.n), SMBIOS_FILE_DUMP, 0x20);
	/* more bytes than the entry states are not the table's */
	assert_ok(smbios_file_open(bytes_of(file, 0x100), &out));
	assert_int_equal(out.table.n, t.n);
	/* the two files of sysfs: an address of memory */
	address(file, 0x7fee0000);
	memcpy(file + 24, t.b, t.n);
	open_file("file-joined", bytes_of(file, 24 + t.n), SMBIOS_FILE_JOINED, 24);
	assert_reason(R_SMBIOS_PLACE, smbios_file_open(bytes_of(file, 24), &out));
	seed("smbios", "file-entry", bytes_of(file, 24));
	assert_reason(R_FORMAT_TRUNCATED, smbios_file_open(BYTES_NONE, &out));
	file[23] ^= 1;
	assert_reason(R_SMBIOS_CHECKSUM, smbios_file_open(bytes_of(file, 24 + t.n), &out));
}

static void test_ranges(void **state)
{
	static uint8_t file[0x10000], all[0x100000];
	struct smbios_file out;
	static struct table t;

	(void)state;
	machine(&t);
	/* the words alone are no entry point */
	memcpy(file + 0x40, "_SM_ and more", 13);
	assert_reason(R_SMBIOS_ENTRY, smbios_file_open(BYTES(file), &out));
	memcpy(file + 0x100, entry2(&t, 2, 4).p, 31);
	address(file + 0x100, 0xf1000);
	memcpy(file + 0x1000, t.b, t.n);
	open_file("file-range", BYTES(file), SMBIOS_FILE_RANGE, 0x1000);
	assert_ok(smbios_file_open(BYTES(file), &out));
	assert_int_equal(out.entry.major, 2);
	/* 3.x is taken before 2.x, whichever comes first */
	memcpy(file + 0x200, entry3(&t, 1).p, 24);
	address(file + 0x200, 0xf1000);
	open_file("file-range-both", BYTES(file), SMBIOS_FILE_RANGE, 0x1000);
	assert_ok(smbios_file_open(BYTES(file), &out));
	assert_int_equal(out.entry.major, 3);
	/* below the range, or far behind it */
	address(file + 0x200, 0xe0000);
	assert_reason(R_SMBIOS_PLACE, smbios_file_open(BYTES(file), &out));
	memcpy(all + 0xf0200, file + 0x200, 24);
	memcpy(all + 0xe0000, t.b, t.n);
	assert_ok(smbios_file_open(BYTES(all), &out));
	assert_int_equal(out.offset, 0xe0000);
	/* the reason of what looked like one */
	memset(all, 0, sizeof(all));
	memcpy(all + 0xf0200, file + 0x200, 24);
	all[0xf0214] ^= 1;
	assert_reason(R_SMBIOS_CHECKSUM, smbios_file_open(BYTES(all), &out));
	assert_reason(R_SMBIOS_ENTRY, smbios_file_open(bytes_of(all, sizeof(file)), &out));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_machine),
		cmocka_unit_test(test_cpu),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_memory_device),
		cmocka_unit_test(test_devices),
		cmocka_unit_test(test_texts),
		cmocka_unit_test(test_limit),
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_ranges),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
