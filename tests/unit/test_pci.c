/* SPDX-License-Identifier: Apache-2.0 */
#include "message.h"

#include "format/pci.h"

static void gpu(uint8_t b[PCI_HEADER_LEN])
{
	memset(b, 0, PCI_HEADER_LEN);
	memcpy(b, "\xde\x10\x30\x23\0\0\0\0\xa1\0\2\3", 12);
	memcpy(b + 0x2c, "\xde\x10\xc1\x16", 4);
}

static void test_header(void **state)
{
	uint8_t b[PCI_HEADER_LEN];
	struct pci_header h;

	(void)state;
	gpu(b);
	seed("pci", "gpu", BYTES(b));
	assert_ok(pci_header_read(BYTES(b), &h));
	assert_int_equal(h.vendor, 0x10de);
	assert_int_equal(h.device, 0x2330);
	assert_int_equal(h.class_code, 0x030200);
	assert_int_equal(h.revision, 0xa1);
	assert_int_equal(h.subsystem_vendor, 0x10de);
	assert_int_equal(h.subsystem_device, 0x16c1);
	/* a bridge has other things there, and the top bit is no type */
	b[0x0e] = 0x81;
	seed("pci", "bridge", BYTES(b));
	assert_ok(pci_header_read(BYTES(b), &h));
	assert_int_equal(h.type, 1);
	assert_int_equal(h.subsystem_vendor, 0);
	for (size_t n = 0; n < sizeof(b); n++)
		assert_reason(R_FORMAT_TRUNCATED, pci_header_read(bytes_of(b, n), &h));
	memset(b, 0xff, sizeof(b));
	seed("pci", "gone", BYTES(b));
	assert_reason(R_PCI_ABSENT, pci_header_read(BYTES(b), &h));
}

static void test_text(void **state)
{
	uint8_t b[PCI_HEADER_LEN], digest[SHA256_LEN];
	char text[PCI_FACT_TEXT];
	struct pci_header h;

	(void)state;
	gpu(b);
	memset(digest, 0xab, sizeof(digest));
	assert_ok(pci_header_read(BYTES(b), &h));
	pci_fact_text(&h, PCI_ROM_NONE, NULL, text);
	assert_string_equal(text, "10de:2330 10de:16c1 030200 a1 rom=none");
	pci_fact_text(&h, PCI_ROM_UNAVAILABLE, NULL, text);
	assert_string_equal(text, "10de:2330 10de:16c1 030200 a1 rom=unavailable");
	pci_fact_text(&h, PCI_ROM_DIGEST, digest, text);
	assert_string_equal(text, "10de:2330 10de:16c1 030200 a1 rom="
				  "abababababababababababababababab"
				  "abababababababababababababababab");
}

static void test_slot(void **state)
{
	static const char *const bad[] = {
		"", "0000", "0000:01", "0000:01:00", "0000:01:00.", "0000:01:00.8",
		"0000:01:20.0", "0000:100:00.0", ":01:00.0", "0000:01:00.0 ", "0000:0A:00.0",
		"000000000:01:00.0", "virtio0",
	};
	struct pci_slot a, b;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		char name[16];

		assert_reason(R_FORMAT_TEXT, pci_slot_read(bad[i], &a));
		snprintf(name, sizeof(name), "slot-%02zu", i);
		seed("pci", name, bytes_str(bad[i]));
	}
	seed("pci", "slot-good", bytes_str("0000:1f:1e.7"));
	seed("pci", "slot-letters", bytes_str("0000:af:00.0"));
	assert_ok(pci_slot_read("0000:1f:1e.7", &a));
	assert_int_equal(a.bus, 0x1f);
	assert_int_equal(a.device, 0x1e);
	assert_int_equal(a.function, 7);
	/* by number, not by text: a long domain comes last */
	assert_ok(pci_slot_read("10000:00:00.0", &b));
	assert_true(pci_slot_compare(&a, &b) < 0);
	assert_true(pci_slot_compare(&b, &a) > 0);
	assert_int_equal(pci_slot_compare(&a, &a), 0);
	assert_ok(pci_slot_read("0000:20:00.0", &b));
	assert_true(pci_slot_compare(&a, &b) < 0);
	assert_ok(pci_slot_read("0000:1f:1f.0", &b));
	assert_true(pci_slot_compare(&a, &b) < 0);
	assert_ok(pci_slot_read("0000:1f:1e.6", &b));
	assert_true(pci_slot_compare(&a, &b) > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_header),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_slot),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
