/* SPDX-License-Identifier: Apache-2.0 */
/* What is read below /sys and /proc, in a folder of the test's own. */
#include "unit.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "node/hardware.h"
#include "node/sysfs.h"
#include "node/watchdog.h"

static char root[] = "/tmp/bootgate-hardware-XXXXXX";

static void put(const char *name, const void *p, size_t n)
{
	char path[512];
	FILE *f;

	snprintf(path, sizeof(path), "%s%s", root, name);
	for (char *s = path + strlen(root) + 1; (s = strchr(s, '/')); s++) {
		*s = 0;
		mkdir(path, 0755);
		*s = '/';
	}
	f = fopen(path, "wb");
	assert_non_null(f);
	assert_int_equal(fwrite(p, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
}

static void put_text(const char *name, const char *text)
{
	put(name, text, strlen(text));
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *w)
{
	(void)st;
	(void)kind;
	(void)w;
	return remove(path);
}

static int begin(void **state)
{
	(void)state;
	strcpy(root + strlen(root) - 6, "XXXXXX");
	return mkdtemp(root) ? 0 : -1;
}

static int end(void **state)
{
	(void)state;
	return nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void cpus(const char *const *microcode, size_t count)
{
	put_text("/proc/cpuinfo",
		 "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 143\n"
		 "model name\t: Intel(R) Xeon(R)\nstepping\t: 8\n\nprocessor\t: 1\n"
		 "vendor_id\t: Other\nmodel\t\t: 1\n");
	for (size_t i = 0; i < count; i++) {
		char path[100];

		snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%zu/microcode/version", i);
		put_text(path, microcode[i]);
	}
}

static void test_cpu(void **state)
{
	static const char *const same[] = { "0x2b000603\n", "0x2b000603\n" };
	char text[CPU_MICROCODE_TEXT];
	struct cpu cpu;

	(void)state;
	assert_true(cpu_read(root, &cpu) != R_OK);
	cpus(same, 2);
	assert_ok(cpu_read(root, &cpu));
	assert_string_equal(cpu.vendor, "GenuineIntel");
	assert_string_equal(cpu.name, "Intel(R) Xeon(R)");
	assert_true(cpu.known);
	assert_int_equal(cpu.family, 6);
	assert_int_equal(cpu.model, 143);
	assert_int_equal(cpu.stepping, 8);
	assert_true(cpu_microcode_text(&cpu, text));
	assert_string_equal(text, "0x2b000603");
}

static void test_microcode_mixed(void **state)
{
	static const char *const mixed[] = { "0x30", "0x10", "0x30", "0x20" };
	char text[CPU_MICROCODE_TEXT];
	struct cpu cpu;

	(void)state;
	cpus(mixed, 4);
	assert_ok(cpu_read(root, &cpu));
	assert_true(cpu_microcode_text(&cpu, text));
	assert_string_equal(text, "mixed 0x10 0x20 0x30");
}

static void test_microcode_many(void **state)
{
	static const char *const many[] = { "0x1", "0x2", "0x3", "0x4", "0x5",
					    "0x6", "0x7", "0x8", "0x9" };
	char text[CPU_MICROCODE_TEXT];
	struct cpu cpu;

	(void)state;
	cpus(many, 9);
	assert_ok(cpu_read(root, &cpu));
	assert_true(cpu_microcode_text(&cpu, text));
	assert_string_equal(text, "mixed 0x1 0x2 0x3 0x4 0x5 0x6 0x7 0x8 more");
}

static void test_cpu_unknown(void **state)
{
	char text[CPU_MICROCODE_TEXT];
	struct cpu cpu;

	(void)state;
	put_text("/proc/cpuinfo", "vendor_id\t: X\nmodel\t\t: 1x\ncpu family\t: 99999999999\n");
	assert_ok(cpu_read(root, &cpu));
	assert_false(cpu.known);
	assert_false(cpu_microcode_text(&cpu, text));
}

static void device(const char *slot, uint32_t class)
{
	uint8_t b[64] = { 0x86, 0x80, 1, 0 };
	char path[100];

	for (int i = 0; i < 3; i++)
		b[9 + i] = (uint8_t)(class >> (8 * i));
	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/config", slot);
	put(path, b, sizeof(b));
}

static void test_pci(void **state)
{
	static struct pci_devices d;

	(void)state;
	device("10000:00:00.0", 0x030000);
	device("0000:41:00.0", 0x030200);
	device("0000:0a:00.1", 0x020000);
	device("0000:00:1f.0", 0x060100);
	put_text("/sys/bus/pci/devices/0000:ff:00.0/config", "short");
	put_text("/sys/bus/pci/devices/0000:41:00.0/rom", "ROM");
	put_text("/sys/bus/pci/devices/0000:0a:00.1/rom", "");
	assert_ok(pci_devices_read(root, &d));
	assert_int_equal(d.count, 3);
	assert_string_equal(d.device[0].name, "0000:0a:00.1");
	assert_string_equal(d.device[1].name, "0000:41:00.0");
	assert_string_equal(d.device[2].name, "10000:00:00.0");
	assert_int_equal(d.device[0].rom, PCI_ROM_DIGEST);	/* the 1 itself */
	assert_int_equal(d.device[1].rom, PCI_ROM_DIGEST);
	assert_int_equal(d.device[2].rom, PCI_ROM_NONE);
}

static void test_pci_too_many(void **state)
{
	static struct pci_devices d;

	(void)state;
	for (unsigned i = 0; i <= PCI_DEVICES_MAX; i++) {
		char slot[20];

		snprintf(slot, sizeof(slot), "0000:%02x:00.0", i);
		device(slot, 0x030200);
	}
	assert_reason(R_FORMAT_TOO_LARGE, pci_devices_read(root, &d));
}

static void test_nics(void **state)
{
	char path[512];
	struct nics n;

	(void)state;
	put_text("/sys/class/net/lo/address", "00:00:00:00:00:00\n");
	put_text("/sys/class/net/eth0/address", "52:54:00:00:00:01\n");
	snprintf(path, sizeof(path), "%s/sys/class/net/eth0/device", root);
	assert_int_equal(symlink("../../../bus/pci/devices/0000:01:00.0", path), 0);
	device("0000:01:00.0", 0x020000);
	assert_ok(nics_read(root, &n));
	assert_int_equal(n.count, 1);
	assert_string_equal(n.nic[0].name, "eth0");
	assert_string_equal(n.nic[0].address, "52:54:00:00:00:01");
	assert_string_equal(n.nic[0].slot, "0000:01:00.0");
}

#define VARIABLE(name) \
	"/sys/firmware/efi/efivars/" name "-8be4df61-93ca-11d2-aa0d-00e098032b8c"

static void test_secure_boot(void **state)
{
	(void)state;
	assert_null(secure_boot_name(secure_boot_read(root)));
	put(VARIABLE("SecureBoot"), "\6\0\0\0\0", 5);
	assert_string_equal(secure_boot_name(secure_boot_read(root)), "off");
	put(VARIABLE("SetupMode"), "\6\0\0\0\1", 5);
	assert_string_equal(secure_boot_name(secure_boot_read(root)), "setup");
	put(VARIABLE("SecureBoot"), "\6\0\0\0\1", 5);
	assert_string_equal(secure_boot_name(secure_boot_read(root)), "on");
	put(VARIABLE("SecureBoot"), "\6\0\0\0\2", 5);
	assert_null(secure_boot_name(secure_boot_read(root)));
	put(VARIABLE("SecureBoot"), "\6\0\0\0\1x", 6);
	assert_null(secure_boot_name(secure_boot_read(root)));
}

static void test_memory(void **state)
{
	uint64_t n;

	(void)state;
	put_text("/proc/meminfo", "MemTotal:  5 kB\nMemAvailable:   4194304 kB\nX: 1 kB\n");
	assert_ok(memory_available(root, &n));
	assert_int_equal(n, 4ull << 30);
	put_text("/proc/meminfo", "MemTotal:  5 kB\n");
	assert_reason(R_FORMAT_TYPE, memory_available(root, &n));
}

/* A firmware log comes in pieces of any size, and says 0 for its own size. */
static void test_read_whole(void **state)
{
	char path[512];
	int child;

	(void)state;
	snprintf(path, sizeof(path), "%s/fifo", root);
	assert_int_equal(mkfifo(path, 0600), 0);
	for (size_t n = 65535; n <= 65537; n++) {
		_cleanup_(blob_free) struct blob b = BLOB(65536);

		child = fork();
		if (child == 0) {
			int fd = open(path, O_WRONLY);

			for (size_t done = 0; done < n; done += 997) {
				char piece[997] = { 1 };
				size_t part = n - done < 997 ? n - done : 997;

				if (write(fd, piece, part) != (ssize_t)part)
					_exit(1);
			}
			_exit(0);
		}
		assert_reason(n <= 65536 ? R_OK : R_FORMAT_TOO_LARGE,
			      sysfs_read(root, "/fifo", &b));
		if (n <= 65536)
			assert_int_equal(b.n, n);
	}
}

static void test_line(void **state)
{
	char line[8], long_path[SYSFS_PATH_MAX];

	(void)state;
	put_text("/x", "abc\ndef\n");
	assert_ok(sysfs_line(root, "/x", line, sizeof(line)));
	assert_string_equal(line, "abc");
	put_text("/x", "");
	assert_ok(sysfs_line(root, "/x", line, sizeof(line)));
	assert_string_equal(line, "");
	put_text("/x", "12345678");
	assert_reason(R_FORMAT_TOO_LARGE, sysfs_line(root, "/x", line, sizeof(line)));
	assert_reason(R_FILE, sysfs_line(root, "/y", line, sizeof(line)));
	assert_reason(R_INTERNAL_TOO_LARGE, sysfs_path(long_path, root, "%600s", "x"));
}

static void test_watchdog(void **state)
{
	struct watchdog w = WATCHDOG_NONE;
	char path[512];
	struct stat st;

	(void)state;
	assert_reason(R_BOOT_WATCHDOG, watchdog_start(root, 60, &w));
	assert_int_equal(w.fd, -1);
	watchdog_feed(&w);
	put_text("/dev/watchdog1", "");
	assert_ok(watchdog_start(root, 60, &w));
	watchdog_feed(&w);
	snprintf(path, sizeof(path), "%s/dev/watchdog1", root);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_size, 2);
	close(w.fd);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_cpu), TEST(test_microcode_mixed), TEST(test_microcode_many),
		TEST(test_cpu_unknown), TEST(test_pci), TEST(test_pci_too_many),
		TEST(test_nics), TEST(test_secure_boot), TEST(test_memory),
		TEST(test_read_whole), TEST(test_line), TEST(test_watchdog),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
