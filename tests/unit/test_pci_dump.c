/* SPDX-License-Identifier: Apache-2.0 */
#include "message.h"

#include "format/pci.h"

static enum reason next(struct pci_dump *d, const char *slot, size_t n)
{
	static uint8_t room[PCI_SPACE_MAX];
	struct bytes got, space;
	bool end;

	enum reason r = pci_dump_next(d, room, &got, &space, &end);
	if (r == R_OK) {
		assert_int_equal(end, slot == NULL);
		assert_bytes(got, slot ? slot : "", slot ? strlen(slot) : 0);
		assert_int_equal(space.n, n);
		for (size_t i = 0; i < n; i++)
			assert_int_equal(space.p[i], i);
	}
	return r;
}

static void open_text(const char *name, const char *text, struct pci_dump *ret)
{
	seed("pci", name, bytes_str(text));
	assert_true(pci_dump_open(bytes_str(text), ret));
}

static void test_devices(void **state)
{
	struct pci_dump d;

	(void)state;
	open_text("dump-two",
		  "# saved by hand\n\n0000:01:00.0 3D controller: NVIDIA H100\r\n\tSubsystem: x\n"
		  "00: 00 01 02 03\r\n004: 04 05\n\n81:00.1 Ethernet\n00: 00 01 02\nc0:1f.7\n", &d);
	assert_ok(next(&d, "0000:01:00.0", 6));
	assert_ok(next(&d, "81:00.1", 3));
	assert_ok(next(&d, "c0:1f.7", 0));
	assert_ok(next(&d, NULL, 0));
	/* texts of other kinds have no device */
	open_text("dump-none", "hello\nworld", &d);
	assert_ok(next(&d, NULL, 0));
	/* as they are: a space, and one that does not answer */
	assert_false(pci_dump_open(bytes_of("\x86\x80\0", 3), &d));
	assert_false(pci_dump_open(bytes_str("\xff\xff"), &d));
	assert_false(pci_dump_open(BYTES_NONE, &d));
}

static void test_refused(void **state)
{
	static const struct {
		const char *text;
		size_t line;
	} bad[] = {
		{ "00: 00 01\n", 1 },			/* no heading */
		{ "01:00.0 x\n10: 00\n", 2 },		/* begins late */
		{ "01:00.0 x\n00: 00\n00: 01\n", 3 },	/* begins again */
		{ "01:00.0 x\n00: 0g\n", 2 },
		{ "01:00.0 x\n00: 0\n", 2 },
		{ "01:00.0 x\n00: 00 \n", 2 },
		{ "01:00.0 x\n00:  00\n", 2 },
		{ "01:00.0 x\n00:00 01\n", 2 },
		{ "01:00.0 x\n00: 00 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 0f 10\n", 2 },
	};
	struct pci_dump d;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		char name[32];

		snprintf(name, sizeof(name), "dump-bad-%zu", i);
		open_text(name, bad[i].text, &d);
		assert_reason(R_PCI_DUMP, next(&d, "", 0));
		assert_int_equal(d.line, bad[i].line);
	}
}

static void test_limit(void **state)
{
	_cleanup_(blob_free) struct blob b = BLOB(1u << 20);
	uint8_t room[PCI_SPACE_MAX];
	struct bytes slot, bytes;
	struct pci_dump d;
	char line[32];
	bool end;

	(void)state;
	assert_ok(blob_append(&b, "01:00.0 x\n", 10));
	for (unsigned at = 0; at < PCI_SPACE_MAX; at += 4) {
		snprintf(line, sizeof(line), "%02x: 00 01 02 03\n", at);
		assert_ok(blob_append(&b, line, strlen(line)));
	}
	assert_true(pci_dump_open(blob_bytes(&b), &d));
	assert_ok(pci_dump_next(&d, room, &slot, &bytes, &end));
	assert_int_equal(bytes.n, PCI_SPACE_MAX);
	/* four digits are no offset any more */
	assert_ok(blob_append(&b, "1000: 00\nfff: 00\n", 17));
	assert_true(pci_dump_open(blob_bytes(&b), &d));
	assert_reason(R_PCI_DUMP, pci_dump_next(&d, room, &slot, &bytes, &end));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_devices),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
