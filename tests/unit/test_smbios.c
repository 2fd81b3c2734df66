/* SPDX-License-Identifier: Apache-2.0 */
#include "smbios_kit.h"

#include <dirent.h>
#include <unistd.h>

#include "base/fd.h"

static void good_table(struct table *t)
{
	static const uint8_t bios[14] = { 1, 2, 0, 0, 3 };
	static const uint8_t system[23] = { 1, 2, 0, 3, 0x33, 0x22, 0x11, 0x00, 0x55, 0x44,
					    0x77, 0x66, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd,
					    0xee, 0xff };
	static const uint8_t board[5] = { 1, 2, 3, 4 };
	static const uint8_t chassis[9] = { 1, 0x17, 0, 2 };
	uint8_t cpu[38] = { 0 };

	t->n = 0;
	cpu[12] = 1;		/* version at 10h */
	cpu[20] = 0x41;		/* status at 18h: populated */
	structure(t, SMBIOS_BIOS, bios, sizeof(bios), "Vendor|1.2|01/02/2026|");
	structure(t, SMBIOS_SYSTEM, system, sizeof(system), "Maker|Server|SN|");
	structure(t, SMBIOS_BOARD, board, sizeof(board), "Maker|Board|A1|BSN|");
	structure(t, SMBIOS_BOARD, board, sizeof(board), "Other|Riser|A2|RSN|");
	structure(t, SMBIOS_CHASSIS, chassis, sizeof(chassis), "Maker|CSN|");
	structure(t, SMBIOS_CPU, cpu, sizeof(cpu), "EPYC|");
	cpu[20] = 0;
	structure(t, SMBIOS_CPU, cpu, sizeof(cpu), "none|");
	structure(t, 221, NULL, 0, "");
	structure(t, SMBIOS_END, NULL, 0, "");
}

static void assert_text(struct bytes b, const char *text)
{
	assert_bytes(b, text, strlen(text));
}

static void save(const char *name, struct bytes entry, struct bytes table)
{
	_cleanup_(blob_free) struct blob b = BLOB(65536);

	assert_ok(blob_u8(&b, (uint8_t)entry.n));
	assert_ok(blob_append(&b, entry.p, entry.n));
	assert_ok(blob_append(&b, table.p, table.n));
	seed("smbios", name, blob_bytes(&b));
}

static void test_read(void **state)
{
	static struct table t;
	struct smbios s;
	char uuid[SMBIOS_UUID_TEXT];

	(void)state;
	good_table(&t);
	assert_ok(smbios_read(entry3(&t, 5), bytes_of(t.b, t.n), &s));
	save("good3", entry3(&t, 5), bytes_of(t.b, t.n));
	assert_int_equal(s.entry.major, 3);
	assert_text(s.bios_vendor, "Vendor");
	assert_text(s.bios_version, "1.2");
	assert_text(s.bios_date, "01/02/2026");
	assert_text(s.system_vendor, "Maker");
	assert_text(s.system_product, "Server");
	assert_text(s.system_version, "");
	assert_text(s.system_serial, "SN");
	assert_text(s.board_product, "Board");
	assert_text(s.board_version, "A1");
	assert_text(s.board_serial, "BSN");
	assert_text(s.chassis_serial, "CSN");
	assert_text(s.cpu_version, "EPYC");
	assert_int_equal(s.cpu_sockets, 1);
	smbios_uuid_text(&s.entry, s.system_uuid.p, uuid);
	assert_string_equal(uuid, "00112233-4455-6677-8899-aabbccddeeff");

	assert_ok(smbios_read(entry2(&t, 9, 5), bytes_of(t.b, t.n), &s));
	save("good2", entry2(&t, 9, 5), bytes_of(t.b, t.n));
	assert_text(s.board_product, "Board");
	/* before 2.6 nobody swapped */
	smbios_uuid_text(&s.entry, s.system_uuid.p, uuid);
	assert_string_equal(uuid, "33221100-5544-7766-8899-aabbccddeeff");
}

/* 2.x states how many structures there are; what follows is not one. */
static void test_count(void **state)
{
	static struct table t;
	struct smbios s;

	(void)state;
	good_table(&t);
	assert_ok(smbios_read(entry2(&t, 1, 8), bytes_of(t.b, t.n), &s));
	assert_text(s.bios_vendor, "Vendor");
	assert_int_equal(s.system_vendor.n, 0);
}

static void test_entry(void **state)
{
	static struct table t;
	uint8_t e[31];
	struct smbios_entry entry;
	struct bytes good;

	(void)state;
	good_table(&t);
	good = entry3(&t, 0);
	for (size_t n = 0; n < good.n; n++)
		assert_reason(R_FORMAT_TRUNCATED, smbios_entry_read(bytes_of(good.p, n), &entry));
	for (size_t i = 5; i < good.n; i++) {
		memcpy(e, good.p, good.n);
		e[i] ^= 0x40;
		if (i == 6 || i == 12)
			save(i == 6 ? "length" : "checksum", bytes_of(e, good.n), BYTES_NONE);
		assert_true(smbios_entry_read(bytes_of(e, good.n), &entry) != R_OK);
	}
	good = entry2(&t, 3, 8);
	for (size_t n = 0; n < good.n; n++)
		assert_reason(R_FORMAT_TRUNCATED, smbios_entry_read(bytes_of(good.p, n), &entry));
	memcpy(e, good.p, good.n);
	e[16] = 'x';
	checksum(e, sizeof(e), 4);
	assert_reason(R_SMBIOS_ENTRY, smbios_entry_read(BYTES(e), &entry));
	save("anchor", BYTES(e), bytes_of(t.b, 20));
	memcpy(e, good.p, good.n);
	e[5] = 0x1d;
	assert_reason(R_SMBIOS_ENTRY, smbios_entry_read(BYTES(e), &entry));
	save("length2", BYTES(e), BYTES_NONE);
	save("cut2", bytes_of(good.p, 20), BYTES_NONE);
	save("cut3", bytes_of(entry3(&t, 0).p, 20), BYTES_NONE);
	save("other", bytes_str("hello"), BYTES_NONE);
	save("long-table", entry3(&t, 0), BYTES(t.b));
	/* the length that version 2.1 had by mistake */
	memcpy(e, good.p, good.n);
	e[5] = 0x1e;
	checksum(e, 0x1e, 4);
	assert_ok(smbios_entry_read(BYTES(e), &entry));
	assert_reason(R_SMBIOS_ENTRY, smbios_entry_read(bytes_str("hello"), &entry));
	memcpy(e, entry3(&t, 0).p, 24);
	e[20] ^= 1;
	assert_reason(R_SMBIOS_CHECKSUM, smbios_entry_read(bytes_of(e, 24), &entry));
}

/* Every cut of a good table ends cleanly: at a structure, or truncated. */
static void test_cuts(void **state)
{
	static struct table t;
	struct smbios s;

	(void)state;
	good_table(&t);
	for (size_t n = 0; n < t.n; n++) {
		uint8_t *copy = malloc(n ? n : 1);
		enum reason r;

		memcpy(copy, t.b, n);
		r = smbios_read(entry3(&t, 0), bytes_of(copy, n), &s);
		assert_true(r == R_OK || r == R_SMBIOS_STRUCTURE || r == R_SMBIOS_STRINGS);
		free(copy);
	}
}

static void test_bad_structures(void **state)
{
	static struct table t;
	struct smbios s;

	(void)state;
	t.n = 0;
	put(&t, "\0\3\0\0\0", 5);
	assert_reason(R_SMBIOS_STRUCTURE, smbios_read(entry3(&t, 0), bytes_of(t.b, t.n), &s));
	save("short-header", entry3(&t, 0), bytes_of(t.b, t.n));
	t.n = 0;
	put(&t, "\1\4\0\0abc", 7);
	assert_reason(R_SMBIOS_STRINGS, smbios_read(entry3(&t, 0), bytes_of(t.b, t.n), &s));
	save("no-end", entry3(&t, 0), bytes_of(t.b, t.n));
	/* a number that points behind the last string is no text */
	t.n = 0;
	structure(&t, SMBIOS_BIOS, (const uint8_t *)"\1\5\0\0\2", 5, "One|");
	assert_ok(smbios_read(entry3(&t, 0), bytes_of(t.b, t.n), &s));
	assert_text(s.bios_vendor, "One");
	assert_int_equal(s.bios_version.n, 0);
	assert_int_equal(s.bios_date.n, 0);
	save("string-number", entry3(&t, 0), bytes_of(t.b, t.n));
	/* what a short, old structure does not have */
	t.n = 0;
	structure(&t, SMBIOS_SYSTEM, (const uint8_t *)"\1\2", 2, "One|Two|");
	assert_ok(smbios_read(entry3(&t, 0), bytes_of(t.b, t.n), &s));
	assert_text(s.system_product, "Two");
	assert_int_equal(s.system_uuid.n, 0);
}

static void test_limits(void **state)
{
	_cleanup_(blob_free) struct blob b = BLOB(SMBIOS_TABLE_MAX + 1);
	static struct table t;
	struct smbios_entry e = { .table_size = UINT32_MAX };
	struct smbios_table table;
	struct smbios_structure s;
	enum reason r = R_OK;
	bool end = false;

	(void)state;
	for (size_t i = 0; i <= SMBIOS_STRUCTURES_MAX; i++)
		assert_ok(blob_append(&b, "\xdd\4\0\0\0\0", 6));
	assert_ok(smbios_table_open(&e, blob_bytes(&b), &table));
	while (r == R_OK && !end)
		r = smbios_next(&table, &s, &end);
	assert_reason(R_FORMAT_TOO_LARGE, r);
	assert_reason(R_FORMAT_TOO_LARGE,
		      smbios_table_open(&e, bytes_of(t.b, SMBIOS_TABLE_MAX + 1), &table));
}

/* dmidecode's dumps: the entry point, and at 20h the table. */
static void test_corpus(void **state)
{
	static const char *const files[] = {
		"systemd+systemd-stable/test/dmidecode-dumps/HP-Z600.bin",
		"systemd+systemd-stable/test/dmidecode-dumps/Lenovo-ThinkPad-X280.bin",
		"systemd+systemd-stable/test/dmidecode-dumps/Lenovo-Thinkcentre-m720s.bin",
		"u-root+smbios/cmd/dmidecode/testdata/Gigabyte-GA-MA74GMT-S2.bin",
		"u-root+smbios/cmd/dmidecode/testdata/Lenovo-ThinkPad-T480.bin",
		"u-root+smbios/cmd/dmidecode/testdata/Lenovo-ThinkPad-W510.bin",
		"u-root+smbios/cmd/dmidecode/testdata/SuperMicro-X9DBL.bin",
	};
	static const char *const product[] = {
		"HP Z600 Workstation", "20KFCTO1WW", "10STS04K00", "GA-MA74GMT-S2",
		"20L8S07A14", "431924G", "X9DBL-3F/X9DBL-iF",
	};

	(void)state;
	if (access(CORPUS "/smbios", F_OK) != 0)
		skip();
	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		_cleanup_(blob_free) struct blob b = BLOB(SMBIOS_TABLE_MAX);
		char path[512];
		struct smbios s;

		snprintf(path, sizeof(path), CORPUS "/smbios/%s", files[i]);
		assert_ok(fd_read_file(path, &b));
		assert_ok(smbios_read(bytes_of(b.p, 32), bytes_of(b.p + 32, b.n - 32), &s));
		assert_true(s.bios_vendor.n > 0 && s.bios_version.n > 0 && s.bios_date.n == 10);
		assert_true(s.cpu_sockets >= 1);
		assert_text(s.system_product, product[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read),
		cmocka_unit_test(test_count),
		cmocka_unit_test(test_entry),
		cmocka_unit_test(test_cuts),
		cmocka_unit_test(test_bad_structures),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_corpus),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
