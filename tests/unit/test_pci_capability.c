/* SPDX-License-Identifier: Apache-2.0 */
#include "fields_kit.h"
#include "message.h"

#include "format/pci.h"

/* A GPU that has a list of capabilities, from 60h on, and nothing in it yet. */
#define GPU "00:de103023 06:1000 08:a1000203 34:60 "
#define BRIDGE "00:86801234 06:1000 0a:0406 0e:01 34:60 "

static uint8_t space[PCI_SPACE_MAX];

static struct bytes make(size_t n, const char *spec)
{
	put_hex(space, sizeof(space), spec);
	return bytes_of(space, n);
}

static enum reason walk(struct bytes in, struct pci_walk *w, struct pci_capability *c, size_t *ret_count)
{
	enum reason r = pci_walk_open(in, w);
	bool end = false;

	*ret_count = 0;
	while (r == R_OK && !end) {
		r = pci_walk_next(w, c, &end);
		*ret_count += r == R_OK && !end;
	}
	return r;
}

/* The last capability of the space has this name and these fields. */
static void check(const char *spec, const char *name, const char *wants)
{
	static unsigned number;
	struct bytes in = make(PCI_SPACE_MAX, spec);
	struct pci_capability c;
	struct pci_walk w;
	struct fields f;
	char file[32];
	size_t count;

	snprintf(file, sizeof(file), "space-%02u", number++);
	seed("pci", file, in);
	assert_ok(walk(in, &w, &c, &count));
	assert_true(count > 0);
	assert_string_equal(pci_capability_name(&c), name);
	pci_capability_fields(&c, &f);
	assert_fields(&f, wants);
}

static void header(size_t n, const char *spec, const char *wants)
{
	static unsigned number;
	struct bytes in = make(n, spec);
	struct pci_header h;
	struct fields f;
	char file[32];

	snprintf(file, sizeof(file), "header-%02u", number++);
	seed("pci", file, in);
	assert_ok(pci_header_read(in, &h));
	pci_header_fields(in, &h, &f);
	assert_fields(&f, wants);
}

static void test_header(void **state)
{
	(void)state;
	header(64, GPU "04:0604 10:0c000000 14:20000000 18:01e00000 1c:000000d0 2c:de10c116 30:010000f0 3c:0b01",
	       "vendor=0x10de; device=0x2330; class=0x030200; revision=0xa1; header=device; "
	       "subsystem_device=0x16c1; memory=yes; bus_master=yes; io=no; interrupt_disabled=yes; "
	       "prefetchable_bar_0=0x2000000000; io_bar_2=0xe000; memory_bar_3=0xd0000000; "
	       "rom_bar=0xf0000000; rom_enabled=yes; interrupt_line=11; interrupt_pin=1; "
	       "parity_error=no; !primary_bus");
	header(64, BRIDGE "07:f0 0e:81 10:04000000 14:01000000 18:000102 38:0008f0ff 3e:4200",
	       "header=bridge; multi_function=yes; primary_bus=0x00; secondary_bus=0x01; "
	       "subordinate_bus=0x02; secondary_reset=yes; serr_forwarding=yes; parity_error=yes; "
	       "system_error=yes; memory_bar_0=0x100000000; rom_bar=0xfff00800; rom_enabled=no; "
	       "!subsystem_vendor");
	/* half of a BAR of 64 bits where no other half can be */
	header(64, GPU "24:04000010 28:05000000", "memory_bar_5=0x10000000");
	header(64, "00:86801234 0e:02", "header=cardbus-bridge; !memory_bar_0; !rom_bar");
	header(64, "00:86801234 0e:7f", "header=0x7f");
}

static void test_list(void **state)
{
	(void)state;
	check(GPU "60:01 62:0326 64:0b01", "power-management",
	      "version=3; d1=yes; d2=yes; state=3; no_soft_reset=yes; pme_enabled=yes");
	check(GPU "60:05 62:9b01 64:0000e0fe 68:01000000 6c:2141", "msi",
	      "enabled=yes; capable=32; count=2; address_64=yes; maskable=yes; "
	      "address=0x1fee00000; data=0x4121");
	check(GPU "60:05 62:0000 64:0000e0fe 68:2141", "msi",
	      "enabled=no; capable=1; count=1; address_64=no; address=0xfee00000; data=0x4121");
	check(GPU "60:11 62:3f80 64:03200000 68:04300000", "msi-x",
	      "enabled=yes; masked=no; count=64; table_bar=3; table_offset=0x00002000; pba_bar=4; "
	      "pba_offset=0x00003000");
	check(GPU "60:09 62:08 63:0102030405", "vendor", "length=8; data=0102030405");
	check(GPU "60:09 62:02", "vendor", "length=2; !data");
	check(BRIDGE "60:0d 64:86804433", "subsystem", "subsystem_vendor=0x8086; subsystem_device=0x3344");
	check(GPU "60:13 62:0603", "advanced-features", "transactions_pending_known=yes; function_reset=yes");
	check(GPU "60:03", "vpd", "!version");
	check(GPU "60:7f", "other", "!version");
	/* the last bytes of the area, from where the registers lie outside */
	check(GPU "34:fc fc:09 fe:08", "vendor", "length=8; !data");
	check(GPU "34:fc fc:05", "msi", "enabled=no; !address");
	check(GPU "34:fc fc:11", "msi-x", "enabled=no; !table_bar");
	check(GPU "34:fc fc:01", "power-management", "!version");
	check(GPU "34:fc fc:0d", "subsystem", "!subsystem_vendor");
	check(GPU "34:fc fc:13", "advanced-features", "function_reset=no");
	check("00:86801234 06:1000 0e:02 14:80 80:03", "vpd", "!version");
}

static void test_express(void **state)
{
	(void)state;
	check(GPU "60:10 62:0200 64:01000010 68:2028 6a:2f00 6c:05590001 70:4300 72:0531 8c:3e000000 90:0500",
	      "express",
	      "version=2; port_type=endpoint; payload_max=256; function_reset=yes; payload=256; "
	      "read_request=512; correctable_error=yes; non_fatal_error=yes; fatal_error=yes; "
	      "unsupported_request=yes; transactions_pending=yes; link_max_speed=32GT/s; "
	      "link_max_width=16; aspm=l1; aspm_enabled=l0s-l1; link_disabled=no; link_speed=32GT/s; "
	      "link_width=16; link_active=yes; link_speeds=0x1f; link_target_speed=32GT/s; port=1; !slot");
	check(BRIDGE "60:10 62:4101 72:0100 74:40002800 7a:4200", "express",
	      "version=1; port_type=root-port; slot=5; hot_plug=yes; power_fault=yes; present=yes; "
	      "link_speed=2.5GT/s; link_width=0; !link_speeds; !ari_forwarding");
	check(BRIDGE "60:10 62:6200 84:20000000", "express", "port_type=downstream-port; ari_forwarding=yes");
	check(GPU "60:10 62:9200", "express", "port_type=rc-endpoint; !link_speed");
	check(GPU "60:10 62:f200 72:0f00", "express", "port_type=0x0f; !link_speed");
	check(GPU "34:fc fc:10 fe:0200", "express", "version=2; !payload_max; !link_width");
}

/* Extended ones: behind PCI Express, from 100h on. */
#define E GPU "60:10 62:0200 "
static void test_extended(void **state)
{
	(void)state;
	check(E "100:01000200 104:10500000 108:00004000 10c:30200600 110:c1310000 114:00200000 118:0e000000",
	      "aer",
	      "uncorrectable=0x00005010; uncorrectable_mask=0x00400000; correctable=0x000031c1; "
	      "correctable_mask=0x00002000; first_error=14; poisoned=yes; completion_timeout=yes; "
	      "data_link_error=yes; surprise_down=no");
	check(E "100:03000100 104:ffeeddccbbaa9988", "serial", "serial=0x8899aabbccddeeff");
	check(E "100:0b000100 104:3412c502", "vendor", "vsec_id=0x1234; revision=5; length=44");
	check(E "100:0d000100 104:5f00 106:1d00", "acs",
	      "can_validate_source=yes; can_control_egress=no; can_translate_directly=yes; "
	      "source_validation=yes; translation_blocking=no; request_redirect=yes; "
	      "completion_redirect=yes; upstream_forwarding=yes; direct_translation=no");
	check(E "100:0e000100 104:0003", "ari", "next_function=3");
	check(E "100:0f000100 104:3f00 106:0580", "ats",
	      "queue_depth=31; page_aligned=yes; smallest_unit=5; enabled=yes");
	check(E "100:10000100 108:1900 10c:10002000 110:0800 112:01 114:0400 116:0200 11a:4212 11c:53050000 "
	      "120:01000000", "sr-iov",
	      "enabled=yes; memory=yes; ari=yes; initial_vfs=16; total_vfs=32; vfs=8; dependency=1; "
	      "first_vf=4; stride=2; vf_device=0x1242; page_sizes=0x00000553; page_size=0x00000001");
	check(E "100:15000100 104:f0ff0f00 108:41110000 10c:f00f0000 110:03080000", "resizable-bar",
	      "sizes_1=0x000ffff; size_mib_1=131072; sizes_3=0x00000ff; size_mib_3=256");
	check(E "100:18000100 104:4610 106:4710", "ltr", "snoop=0x1046; no_snoop=0x1047");
	check(E "100:1b000100 104:0614 106:0100", "pasid", "width=20; enabled=yes");
	check(E "100:23000100 104:981e8103 108:0800", "dvsec", "vendor=0x1e98; revision=1; length=56; dvsec_id=0x0008");
	check(E "100:2e000100 104:01000000 10c:05000080", "doe",
	      "interrupt=yes; busy=yes; error=yes; ready=yes");
	check(E "100:30000100 104:03000001", "ide",
	      "link_streams=yes; selective_streams=yes; tee_limited=yes");
	check(E "100:1e000100", "l1-substates", "!snoop");
	check(E "100:ff7f0100", "other", "!snoop");
	/* a chain, and registers behind the end of the space */
	check(E "100:010001ff ff0:0100c1ff ffc:2e000100", "doe", "!busy");
	check(E "100:010081ff ff8:15000100", "resizable-bar", "!sizes_0");
	check(E "100:010041ff ff4:15000100 ffc:40000000", "resizable-bar", "sizes_0=0x0000000; !sizes_1");
	/* PCI-X of 533 MHz has the large space */
	check(GPU "60:07 64:00000080 100:0e000100", "ari", "next_function=0");
}

static void refused(const char *name, enum reason want, uint16_t at, size_t n, const char *spec)
{
	struct bytes in = make(n, spec);
	struct pci_capability c;
	struct pci_walk w;
	size_t count;

	seed("pci", name, in);
	assert_reason(want, walk(in, &w, &c, &count));
	assert_int_equal(w.next, at);
}

static void test_refused(void **state)
{
	struct pci_capability c;
	struct pci_walk w;
	size_t count;

	(void)state;
	refused("loop", R_PCI_CAPABILITY_LOOP, 0x60, 256, GPU "60:0170 70:0560");
	refused("itself", R_PCI_CAPABILITY_LOOP, 0x60, 256, GPU "60:0160");
	refused("low", R_PCI_CAPABILITY, 0x20, 256, GPU "60:0120");
	refused("ones", R_PCI_CAPABILITY, 0x70, 256, GPU "60:0170 70:ff");
	refused("extended-loop", R_PCI_CAPABILITY_LOOP, 0x100, 4096, E "100:01001120 200:02000110");
	refused("extended-low", R_PCI_CAPABILITY, 0x0f0, 4096, E "100:0100010f");
	refused("extended-ones", R_PCI_CAPABILITY, 0x200, 4096, E "100:01000120 200:ffffffff");
	/* none at all: empty, all ones, or no device that may have some */
	assert_ok(walk(make(4096, E), &w, &c, &count));
	assert_int_equal(count, 1);
	assert_ok(walk(make(4096, E "100:ffffffff"), &w, &c, &count));
	assert_int_equal(count, 1);
	assert_ok(walk(make(4096, GPU "60:01 100:01000100"), &w, &c, &count));
	assert_int_equal(count, 1);
	assert_ok(walk(make(256, E "100:01000100"), &w, &c, &count));
	assert_int_equal(count, 1);
	assert_true(w.express);
	/* the bit in the status says that there is no list, whatever the pointer is */
	assert_ok(walk(make(256, "00:de103023 34:60"), &w, &c, &count));
	assert_int_equal(count, 0);
	/* 64 bytes hold none */
	assert_ok(walk(make(64, E), &w, &c, &count));
	assert_int_equal(count, 0);
	assert_true(w.list);
	assert_reason(R_PCI_SIZE, pci_walk_open(make(128, GPU), &w));
	assert_reason(R_PCI_SIZE, pci_walk_open(BYTES_NONE, &w));
	memset(space, 0xff, sizeof(space));
	assert_reason(R_PCI_ABSENT, pci_walk_open(bytes_of(space, 256), &w));
}

/* The longest chain there can be ends. */
static void test_long(void **state)
{
	struct pci_capability c;
	struct pci_walk w;
	size_t count;

	(void)state;
	put_hex(space, sizeof(space), GPU "34:40");
	for (size_t at = 0x40; at < 0x100; at += 4) {
		space[at] = at == 0x60 ? 0x10 : 1;
		space[at + 1] = (uint8_t)(at + 4);
	}
	for (size_t at = 0x100; at < 0x1000; at += 4) {
		space[at] = 1;
		space[at + 2] = (uint8_t)(1 | (at + 4) << 4);
		space[at + 3] = (uint8_t)((at + 4) >> 4);
	}
	assert_ok(walk(BYTES(space), &w, &c, &count));
	assert_int_equal(count, 48 + 960);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_header),
		cmocka_unit_test(test_list),
		cmocka_unit_test(test_express),
		cmocka_unit_test(test_extended),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
