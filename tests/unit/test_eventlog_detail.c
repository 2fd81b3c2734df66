/* SPDX-License-Identifier: Apache-2.0 */
/* What people are shown of an event: device paths, signatures, and all the rest. */
#include "message.h"

#include "format/efipath.h"
#include "format/efisig.h"
#include "format/efivar.h"
#include "format/eventlog.h"

#define GUID "\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10"
#define GUID_TEXT "04030201-0605-0807-090a-0b0c0d0e0f10"
#define END "\x7f\xff\x04\x00"
#define LITERAL(s) bytes_of((s), sizeof(s) - 1)

/* The next seed of `fuzzer`. */
static void seed_next(const char *fuzzer, struct bytes b)
{
	static unsigned count;
	char name[32];

	snprintf(name, sizeof name, "detail-%02u", count++);
	seed(fuzzer, name, b);
}

/* A log of the old form, SHA-1 only, with this event in it. */
static void seed_event(uint32_t type, struct bytes data)
{
	struct blob b = BLOB(1u << 12);

	assert_ok(blob_le32(&b, 4));
	assert_ok(blob_le32(&b, type));
	for (size_t i = 0; i < digest_len(ALG_SHA1); i++)
		assert_ok(blob_u8(&b, 0));
	assert_ok(blob_le32(&b, (uint32_t)data.n));
	assert_ok(blob_append(&b, data.p, data.n));
	seed_next("eventlog", blob_bytes(&b));
	blob_free(&b);
}

static void assert_lines(uint32_t type, struct bytes data, const char *expected)
{
	struct blob b = BLOB(EVENTLOG_DETAILS_MAX + 64);
	struct event e = { .type = type, .data = data };

	seed_event(type, data);
	assert_ok(eventlog_details(&e, &b));
	assert_ok(blob_u8(&b, 0));
	assert_string_equal((const char *)b.p, expected);
	blob_free(&b);
}

static void assert_text(uint32_t type, struct bytes data, const char *expected)
{
	struct blob b = BLOB(EVENTLOG_TEXT_MAX);
	struct event e = { .type = type, .data = data };

	seed_event(type, data);
	assert_ok(eventlog_text(&e, &b));
	assert_ok(blob_u8(&b, 0));
	assert_string_equal((const char *)b.p, expected);
	blob_free(&b);
}

/* ---- device paths --------------------------------------------------------------- */

static void assert_path(struct bytes path, const char *expected)
{
	struct blob b = BLOB(2 * EFI_PATH_TEXT_MAX);

	seed_next("efipath", path);
	assert_ok(efi_path_text(path, &b));
	assert_ok(blob_u8(&b, 0));
	assert_string_equal((const char *)b.p, expected);
	blob_free(&b);
}
#define PATH(nodes) LITERAL(nodes END)

static void test_nodes(void **state)
{
	(void)state;
	assert_path(PATH(""), "");
	assert_path(PATH("\2\1\x0c\0\xd0\x41\3\x0a\0\0\0\0\1\1\6\0\1\x1f"),
		    "PciRoot(0x0)/Pci(0x1f,0x1)");
	assert_path(PATH("\2\1\x0c\0\xd0\x41\x08\x0a\2\0\0\0"), "PcieRoot(0x2)");
	assert_path(PATH("\2\1\x0c\0\xd0\x41\1\5\1\0\0\0"), "Acpi(0x050141d0,0x1)");
	assert_path(PATH("\3\1\x08\0\1\0\2\0"), "Ata(1,0,2)");
	assert_path(PATH("\3\2\x08\0\1\0\2\1"), "Scsi(1,258)");
	assert_path(PATH("\3\5\6\0\3\1"), "USB(3,1)");
	assert_path(PATH("\3\x12\x0a\0\1\0\xff\xff\0\0"), "Sata(1,65535,0)");
	assert_path(PATH("\3\x14\6\0\x64\0"), "Vlan(100)");
	assert_path(PATH("\3\x17\x10\0\1\0\0\0\1\2\3\4\5\6\7\x08"), "NVMe(0x1,0102030405060708)");
	assert_path(PATH("\3\x18\x0c\0http://a"), "Uri(http://a)");
	assert_path(PATH("\3\x0c\x0c\0\0\0\0\0\x0a\0\0\1"), "IPv4(10.0.0.1)");
	assert_path(PATH("\4\2\x08\0\1\0\0\0"), "CDROM(1)");
	assert_path(PATH("\4\4\x0c\0\\\0a\0\x20\xac\0\0"), "\\a?");
	assert_path(PATH("\4\6\x14\0" GUID), "FvFile(" GUID_TEXT ")");
	assert_path(PATH("\4\7\x14\0" GUID), "Fv(" GUID_TEXT ")");
	assert_path(PATH("\5\1\x0a\0\2\0\0\0d\1"), "BBS(2,d?)");
	assert_path(PATH("\4\1\x2a\0\1\0\0\0\0\x08\0\0\0\0\0\0\0\0\x10\0\0\0\0\0" GUID "\2\2"),
		    "HD(1," GUID_TEXT ",0x800,0x100000)");
	assert_path(PATH("\3\x0b\x25\0\x52\x54\0\x12\x34\x56"
			 "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1"),
		    "MAC(525400123456,0x1)");
	assert_path(PATH("\3\x0d\x24\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
			 "\xfe\x80\0\0\0\0\0\0\0\0\0\0\0\0\0\1"),
		    "IPv6(fe80:0:0:0:0:0:0:1)");
	/* not known, or too short for what it calls itself */
	assert_path(PATH("\6\1\6\0\xab\xcd\3\5\5\0\1"), "Node(6,1,abcd)/Node(3,5,01)");
}

static void test_bad_paths(void **state)
{
	struct blob b = BLOB(2 * EFI_PATH_TEXT_MAX);
	uint8_t path[40 * 44 + 4];

	(void)state;
	assert_reason(R_FORMAT_TRUNCATED, efi_path_text(LITERAL("\3\5\6\0\3\1"), &b));
	assert_reason(R_FORMAT_TRUNCATED, efi_path_text(LITERAL("\3\5\6\0\3"), &b));
	assert_reason(R_FORMAT_RANGE, efi_path_text(LITERAL("\3\5\3\0" END), &b));
	seed_next("efipath", LITERAL("\3\5\3\0" END));
	/* however long it is, the text is not */
	memset(path, 0, sizeof path);
	for (size_t i = 0; i < 40; i++)
		memcpy(path + i * 44, "\6\1\x2c\0", 4);
	memcpy(path + 40 * 44, END, 4);
	blob_reset(&b);
	seed_next("efipath", BYTES(path));
	assert_ok(efi_path_text(BYTES(path), &b));
	assert_true(b.n <= EFI_PATH_TEXT_MAX);
	assert_memory_equal(b.p + b.n - 3, "...", 3);
	blob_free(&b);
}

/* ---- signature lists (T15) --------------------------------------------------------- */

static const uint8_t sha256_type[16] = { 0x26, 0x16, 0xc4, 0xc1, 0x4c, 0x50, 0x92, 0x40,
					 0xac, 0xa9, 0x41, 0xf9, 0x36, 0x93, 0x43, 0x28 };

static void add_list(struct blob *b, const uint8_t type[16], uint32_t list, uint32_t header,
		     uint32_t size, size_t body)
{
	assert_ok(blob_append(b, type, 16));
	assert_ok(blob_le32(b, list));
	assert_ok(blob_le32(b, header));
	assert_ok(blob_le32(b, size));
	for (size_t i = 0; i < body; i++)
		assert_ok(blob_u8(b, (uint8_t)i));
}

static enum reason count(const struct blob *b, size_t *ret)
{
	struct efi_signatures s;
	struct efi_signature one;
	enum reason r;

	*ret = 0;
	seed_next("efisig", blob_bytes(b));
	efi_signatures_open(blob_bytes(b), &s);
	while ((r = efi_signatures_next(&s, &one)) == R_OK) {
		(*ret)++;
		assert_int_equal(one.owner.n, 16);
	}
	return r;
}

static void test_signatures(void **state)
{
	static const struct {
		uint32_t list, header, size;
		size_t body, signatures;
		enum reason reason;
	} cases[] = {
		{ 28, 0, 48, 0, 0, R_LOG_END },
		{ 28 + 96, 0, 48, 96, 2, R_LOG_END },
		{ 28 + 52, 4, 48, 52, 1, R_LOG_END },
		{ 28 + 4, 4, 48, 4, 0, R_LOG_END },
		{ 28 + 48, 49, 48, 48, 0, R_FORMAT_RANGE },
		{ 28 + 48, 0xffffffff, 48, 48, 0, R_FORMAT_RANGE },
		{ 28 + 49, 0, 48, 49, 0, R_FORMAT_RANGE },
		{ 27, 0, 48, 0, 0, R_FORMAT_RANGE },
		{ 28 + 32, 0, 16, 32, 0, R_FORMAT_RANGE },
		{ 28 + 32, 0, 0, 32, 0, R_FORMAT_RANGE },
		{ 28 + 48, 0, 48, 47, 0, R_FORMAT_TRUNCATED },
		{ 0xffffffff, 0, 48, 48, 0, R_FORMAT_TRUNCATED },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct blob b = BLOB(512);
		size_t n;

		add_list(&b, sha256_type, cases[i].list, cases[i].header, cases[i].size,
			 cases[i].body);
		assert_reason(cases[i].reason, count(&b, &n));
		assert_int_equal(n, cases[i].signatures);
		blob_free(&b);
	}
}

/* What stands in the header of a list is no signature. */
static void test_signature_header(void **state)
{
	struct blob b = BLOB(512);
	struct efi_signatures s;
	struct efi_signature one;

	(void)state;
	add_list(&b, sha256_type, 28 + 4 + 48, 4, 48, 52);
	efi_signatures_open(blob_bytes(&b), &s);
	assert_ok(efi_signatures_next(&s, &one));
	assert_int_equal(one.kind, EFI_SIGNATURE_SHA256);
	assert_int_equal(one.owner.p[0], 4);
	assert_int_equal(one.data.p[0], 20);
	assert_reason(R_LOG_END, efi_signatures_next(&s, &one));
	blob_free(&b);
}

/* ---- events ----------------------------------------------------------------------- */

#define GLOBAL "\x61\xdf\xe4\x8b\xca\x93\xd2\x11\xaa\x0d\x00\xe0\x98\x03\x2b\x8c"
#define GLOBAL_TEXT "vendor: 8be4df61-93ca-11d2-aa0d-00e098032b8c\n"

static void test_variables(void **state)
{
	static const uint8_t x509[16] = { 0xa1, 0x59, 0xc0, 0xa5, 0xe4, 0x94, 0xa7, 0x4a,
					  0x87, 0xb5, 0xab, 0x15, 0x5c, 0x2b, 0xf0, 0x72 };
	struct blob content = BLOB(512);
	struct blob data = BLOB(512);
	struct efi_variable v = { efi_image_security, LITERAL("d\0b\0"), BYTES_NONE };

	(void)state;
	assert_lines(EV_EFI_VARIABLE_DRIVER_CONFIG,
		     LITERAL(GLOBAL "\2\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0A\0b\0\7"),
		     "variable: Ab\n" GLOBAL_TEXT "content: 1 bytes\nvalue: 07\n");
	assert_lines(EV_EFI_VARIABLE_BOOT,
		     LITERAL(GLOBAL "\x09\0\0\0\0\0\0\0\4\0\0\0\0\0\0\0"
				    "B\0o\0o\0t\0O\0r\0d\0e\0r\0\2\0\xab\1"),
		     "variable: BootOrder\n" GLOBAL_TEXT "content: 4 bytes\norder: 0002 01AB\n");
	assert_lines(EV_EFI_VARIABLE_BOOT2,
		     LITERAL(GLOBAL "\x08\0\0\0\0\0\0\0\x16\0\0\0\0\0\0\0"
				    "B\0o\0o\0t\0" "0\0" "0\0" "0\0" "A\0"
				    "\1\0\0\0\x0a\0X\0\0\0\3\5\6\0\3\1" END "\x99\x98"),
		     "variable: Boot000A\n" GLOBAL_TEXT "content: 22 bytes\nattributes: 00000001\n"
		     "description: X\npath: USB(3,1)\noptional data: 9998\n");
	assert_text(EV_EFI_VARIABLE_BOOT2,
		    LITERAL(GLOBAL "\x08\0\0\0\0\0\0\0\x16\0\0\0\0\0\0\0"
				   "B\0o\0o\0t\0" "0\0" "0\0" "0\0" "A\0"
				   "\1\0\0\0\x0a\0X\0\0\0\3\5\6\0\3\1" END "\x99\x98"),
		    "Boot000A = X, USB(3,1)");
	/* an entry that is none, shown by its size */
	assert_text(EV_EFI_VARIABLE_BOOT2,
		    LITERAL(GLOBAL "\x08\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0"
				   "B\0o\0o\0t\0" "0\0" "0\0" "0\0" "A\0" "\1\0"),
		    "Boot000A, 2 bytes");
	/* lists: a hash, a certificate, something else */
	add_list(&content, sha256_type, 28 + 48, 0, 48, 48);
	add_list(&content, x509, 28 + 17, 0, 17, 17);
	add_list(&content, (const uint8_t *)GUID, 28 + 17, 0, 17, 17);
	v.content = blob_bytes(&content);
	seed_next("efisig", v.content);
	assert_ok(efi_variable_write(&v, &data));
	assert_lines(EV_EFI_VARIABLE_DRIVER_CONFIG, blob_bytes(&data),
		     "variable: db\nvendor: d719b2cb-3d3a-4596-a3bc-dad00e67656f\n"
		     "content: 166 bytes\n"
		     "sha256: 101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f\n"
		     "certificate: 1 bytes, sha256 "
		     "c555eab45d08845ae9f10d452a99bfcb06f74a50b988fe7e48dd323789b88ee3\n"
		     GUID_TEXT ": 1 bytes, sha256 "
		     "c555eab45d08845ae9f10d452a99bfcb06f74a50b988fe7e48dd323789b88ee3\n");
	/* by whose leave: one signature, without a list */
	assert_lines(EV_EFI_VARIABLE_AUTHORITY,
		     LITERAL(GLOBAL "\1\0\0\0\0\0\0\0\x11\0\0\0\0\0\0\0d\0" GUID "\x10"),
		     "variable: d\n" GLOBAL_TEXT "content: 17 bytes\nowner: " GUID_TEXT "\n"
		     "certificate: 1 bytes, sha256 "
		     "c555eab45d08845ae9f10d452a99bfcb06f74a50b988fe7e48dd323789b88ee3\n");
	assert_lines(EV_EFI_SPDM_DEVICE_AUTHORITY,
		     LITERAL(GLOBAL "\1\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0d\0\x10"),
		     "variable: d\n" GLOBAL_TEXT "content: 1 bytes\nvalue: 10\n");
	/* cut off */
	assert_lines(EV_EFI_SPDM_DEVICE_POLICY, LITERAL(GLOBAL "\1"),
		     "not decoded: format.truncated\n");
	blob_free(&content);
	blob_free(&data);
}

static void test_images(void **state)
{
	static const char image[] = "\0\0\0\0\0\0\0\0\0\x10\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
				    "\x0a\0\0\0\0\0\0\0\3\5\6\0\3\1" END;
	struct bytes data = LITERAL(image);

	(void)state;
	assert_lines(EV_EFI_BOOT_SERVICES_DRIVER, data,
		     "image: 4096 bytes in memory\npath: USB(3,1)\n");
	assert_text(EV_EFI_RUNTIME_SERVICES_DRIVER, data, "USB(3,1)");
	data.n--;
	assert_lines(EV_EFI_BOOT_SERVICES_APPLICATION, data, "not decoded: format.truncated\n");
	data.n = 31;
	assert_lines(EV_EFI_BOOT_SERVICES_APPLICATION, data, "not decoded: format.truncated\n");
}

static void test_blobs(void **state)
{
	(void)state;
	assert_lines(EV_EFI_PLATFORM_FIRMWARE_BLOB, LITERAL("\0\x10\0\0\0\0\0\0\7\0\0\0\0\0\0\0"),
		     "memory: 0x1000, 7 bytes\n");
	assert_lines(EV_EFI_PLATFORM_FIRMWARE_BLOB2,
		     LITERAL("\3FV\n\0\x10\0\0\0\0\0\0\7\0\0\0\0\0\0\0"),
		     "description: FV?\nmemory: 0x1000, 7 bytes\n");
	assert_lines(EV_EFI_PLATFORM_FIRMWARE_BLOB2, LITERAL("\3FV"),
		     "not decoded: format.truncated\n");
}

static void test_partitions(void **state)
{
	uint8_t data[92 + 8 + 128] = { 0 };

	(void)state;
	memcpy(data + 56, GUID, 16);
	data[92] = 1;
	memcpy(data + 100, GLOBAL, 16);
	memcpy(data + 116, GUID, 16);
	data[132] = 0x22;
	data[140] = 0x33;
	data[156] = 'E';
	assert_lines(EV_EFI_GPT_EVENT, BYTES(data),
		     "disk: " GUID_TEXT "\npartition: " GUID_TEXT "\n"
		     "partition type: 8be4df61-93ca-11d2-aa0d-00e098032b8c\n"
		     "blocks: 34 to 51\npartition name: E\n");
	memset(data + 92, 0xff, 8);
	assert_lines(EV_EFI_GPT_EVENT, bytes_of(data, 100),
		     "disk: " GUID_TEXT "\nnot decoded: format.truncated\n");
}

static void test_devices(void **state)
{
	(void)state;
	assert_lines(EV_EFI_SPDM_FIRMWARE_BLOB,
		     LITERAL("SPDM Device Sec\0\1\0\x20\0\1\0\0\0\1\0\0\0\xaa\xbb"),
		     "version: 1\nhash: 0x1\nlength: 32\ndevice: PCI\nmeasurement: aabb\n");
	assert_lines(EV_EFI_SPDM_FIRMWARE_CONFIG,
		     LITERAL("SPDM Device Sec2\2\0\0\0\x30\0\0\0\2\0\0\0"
			     "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\xaa"),
		     "version: 2\nauthentication: success\nlength: 48\ndevice: USB\n"
		     "measurement: aa\n");
	assert_lines(EV_EFI_SPDM_FIRMWARE_CONFIG,
		     LITERAL("SPDM Device Sec2\2\0\x10\0\x30\0\0\0\0\0\0\0"
			     "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"),
		     "version: 2\nauthentication: not done or failed\nlength: 48\n"
		     "device: none\nmeasurement: none\n");
	assert_lines(EV_EFI_SPDM_FIRMWARE_BLOB, LITERAL("something else \0\1\0"),
		     "version: 1\nnot decoded: format.type\n");
}

static void test_tags(void **state)
{
	(void)state;
	assert_lines(EV_EVENT_TAG, LITERAL("\xec\x22\x3b\x8f\2\0\0\0ab"),
		     "tag: 8f3b22ec\nvalue: 6162\n");
	assert_lines(EV_EVENT_TAG, LITERAL("\xec\x22\x3b"), "not decoded: format.truncated\n");
	/* the others have no more than their one line */
	assert_lines(EV_SEPARATOR, LITERAL("\0\0\0\0"), "");
}

/* More than is shown: the lines end, and say so. */
static void test_too_much(void **state)
{
	const size_t signatures = 20000;
	struct blob content = BLOB(1u << 21);
	struct blob data = BLOB(1u << 21);
	struct blob out = BLOB(EVENTLOG_DETAILS_MAX + 64);
	struct efi_variable v = { efi_image_security, LITERAL("d\0b\0x\0"), BYTES_NONE };
	struct event e = { .type = EV_EFI_VARIABLE_DRIVER_CONFIG };
	static const char last[] = "not decoded: internal.too-large\n";

	(void)state;
	add_list(&content, sha256_type, (uint32_t)(28 + 48 * signatures), 0, 48,
		 48 * signatures);
	v.content = blob_bytes(&content);
	assert_ok(efi_variable_write(&v, &data));
	e.data = blob_bytes(&data);
	assert_ok(eventlog_details(&e, &out));
	assert_memory_equal(out.p + out.n - strlen(last), last, strlen(last));
	blob_free(&content);
	blob_free(&data);
	blob_free(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nodes),	   cmocka_unit_test(test_bad_paths),
		cmocka_unit_test(test_signatures), cmocka_unit_test(test_signature_header),
		cmocka_unit_test(test_variables),  cmocka_unit_test(test_images),
		cmocka_unit_test(test_blobs),	   cmocka_unit_test(test_partitions),
		cmocka_unit_test(test_devices),	   cmocka_unit_test(test_tags),
		cmocka_unit_test(test_too_much),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
