/* SPDX-License-Identifier: Apache-2.0 */
#include "format/efipath.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "format/efivar.h"

#define NODE_HEAD 4u
#define NODE_END 0x7fu
#define END_WHOLE 0xffu

/* One element under construction. */
struct element {
	char text[256];
	size_t n;
};

__attribute__((format(printf, 2, 3)))
static void put(struct element *e, const char *format, ...)
{
	size_t room = sizeof(e->text) - e->n;
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(e->text + e->n, room, format, ap);
	va_end(ap);
	e->n += n < 0 ? 0 : (size_t)n >= room ? room - 1 : (size_t)n;
}

static void put_hex(struct element *e, struct bytes b)
{
	for (size_t i = 0; i < b.n && i < 32; i++)
		put(e, "%02x", b.p[i]);
	if (b.n > 32)
		put(e, "...");
}

static void put_ascii(struct element *e, struct bytes b)
{
	for (size_t i = 0; i < b.n && b.p[i] != 0; i++)
		put(e, "%c", b.p[i] >= 0x20 && b.p[i] <= 0x7e ? b.p[i] : '?');
}

static void put_utf16(struct element *e, struct bytes b)
{
	for (size_t i = 0; i + 1 < b.n && (b.p[i] != 0 || b.p[i + 1] != 0); i += 2)
		put(e, "%c", b.p[i + 1] == 0 && b.p[i] >= 0x20 && b.p[i] <= 0x7e ? b.p[i] : '?');
}

void efi_guid_text(struct bytes guid, char ret[EFI_GUID_TEXT_MAX])
{
	static const uint8_t order[EFI_GUID_LEN] = {
		3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15,
	};
	size_t n = 0;

	for (size_t i = 0; i < EFI_GUID_LEN; i++) {
		if (i == 4 || i == 6 || i == 8 || i == 10)
			ret[n++] = '-';
		snprintf(ret + n, 3, "%02x", guid.p[order[i]]);
		n += 2;
	}
}

/* ---- nodes: the data of each is checked for its least length by the table ---- */

static uint32_t le(struct bytes b, size_t at, size_t n)
{
	uint32_t v = 0;

	while (n-- > 0)
		v = v << 8 | b.p[at + n];
	return v;
}

static uint64_t le64(struct bytes b, size_t at)
{
	return (uint64_t)le(b, at + 4, 4) << 32 | le(b, at, 4);
}

static void node_pci(struct element *e, struct bytes d)
{
	put(e, "Pci(0x%x,0x%x)", d.p[1], d.p[0]);
}

static void node_acpi(struct element *e, struct bytes d)
{
	uint32_t hid = le(d, 0, 4);

	/* PNP0A03 and PNP0A08: where PCI begins */
	if (hid == 0x0a0341d0u || hid == 0x0a0841d0u)
		put(e, "%s(0x%x)", hid == 0x0a0341d0u ? "PciRoot" : "PcieRoot", le(d, 4, 4));
	else
		put(e, "Acpi(0x%08x,0x%x)", hid, le(d, 4, 4));
}

static void node_atapi(struct element *e, struct bytes d)
{
	put(e, "Ata(%u,%u,%u)", d.p[0], d.p[1], le(d, 2, 2));
}

static void node_scsi(struct element *e, struct bytes d)
{
	put(e, "Scsi(%u,%u)", le(d, 0, 2), le(d, 2, 2));
}

static void node_usb(struct element *e, struct bytes d)
{
	put(e, "USB(%u,%u)", d.p[0], d.p[1]);
}

static void node_mac(struct element *e, struct bytes d)
{
	put(e, "MAC(");
	put_hex(e, bytes_of(d.p, 6));
	put(e, ",0x%x)", d.p[32]);
}

static void node_ipv4(struct element *e, struct bytes d)
{
	put(e, "IPv4(%u.%u.%u.%u)", d.p[4], d.p[5], d.p[6], d.p[7]);
}

static void node_ipv6(struct element *e, struct bytes d)
{
	put(e, "IPv6(");
	for (size_t i = 16; i < 32; i += 2)
		put(e, "%s%x", i > 16 ? ":" : "", d.p[i] << 8 | d.p[i + 1]);
	put(e, ")");
}

static void node_sata(struct element *e, struct bytes d)
{
	put(e, "Sata(%u,%u,%u)", le(d, 0, 2), le(d, 2, 2), le(d, 4, 2));
}

static void node_vlan(struct element *e, struct bytes d)
{
	put(e, "Vlan(%u)", le(d, 0, 2));
}

static void node_nvme(struct element *e, struct bytes d)
{
	put(e, "NVMe(0x%x,", le(d, 0, 4));
	put_hex(e, bytes_of(d.p + 4, 8));
	put(e, ")");
}

static void node_uri(struct element *e, struct bytes d)
{
	put(e, "Uri(");
	put_ascii(e, d);
	put(e, ")");
}

static void node_disk(struct element *e, struct bytes d)
{
	char guid[EFI_GUID_TEXT_MAX];

	efi_guid_text(bytes_of(d.p + 20, EFI_GUID_LEN), guid);
	put(e, "HD(%u,%s,0x%llx,0x%llx)", le(d, 0, 4), guid, (unsigned long long)le64(d, 4),
	    (unsigned long long)le64(d, 12));
}

static void node_cdrom(struct element *e, struct bytes d)
{
	put(e, "CDROM(%u)", le(d, 0, 4));
}

static void node_file(struct element *e, struct bytes d)
{
	put_utf16(e, d);
}

static void node_guid(struct element *e, struct bytes d, const char *name)
{
	char guid[EFI_GUID_TEXT_MAX];

	efi_guid_text(d, guid);
	put(e, "%s(%s)", name, guid);
}

static void node_fv_file(struct element *e, struct bytes d)
{
	node_guid(e, d, "FvFile");
}

static void node_fv(struct element *e, struct bytes d)
{
	node_guid(e, d, "Fv");
}

static void node_bbs(struct element *e, struct bytes d)
{
	put(e, "BBS(%u,", le(d, 0, 2));
	put_ascii(e, bytes_of(d.p + 4, d.n - 4));
	put(e, ")");
}

static const struct node {
	uint8_t type;
	uint8_t sub;
	uint8_t least;			/* bytes of data */
	void (*put)(struct element *e, struct bytes data);
} nodes[] = {
	{ 1, 1, 2, node_pci },	 { 2, 1, 8, node_acpi },  { 3, 1, 4, node_atapi },
	{ 3, 2, 4, node_scsi },	 { 3, 5, 2, node_usb },	  { 3, 11, 33, node_mac },
	{ 3, 12, 8, node_ipv4 }, { 3, 13, 32, node_ipv6 }, { 3, 18, 6, node_sata },
	{ 3, 20, 2, node_vlan }, { 3, 23, 12, node_nvme }, { 3, 24, 0, node_uri },
	{ 4, 1, 38, node_disk }, { 4, 2, 4, node_cdrom }, { 4, 4, 0, node_file },
	{ 4, 6, 16, node_fv_file }, { 4, 7, 16, node_fv }, { 5, 1, 4, node_bbs },
};

static void put_node(struct element *e, uint8_t type, uint8_t sub, struct bytes data)
{
	for (size_t i = 0; i < ARRAY_LEN(nodes); i++) {
		if (nodes[i].type == type && nodes[i].sub == sub && data.n >= nodes[i].least) {
			nodes[i].put(e, data);
			return;
		}
	}
	put(e, "Node(%u,%u,", type, sub);
	put_hex(e, data);
	put(e, ")");
}

enum reason efi_path_text(struct bytes path, struct blob *ret)
{
	struct cursor c = cursor_of(path);
	size_t start = ret->n;

	for (;;) {
		struct element e = { .n = 0 };
		struct bytes data;
		uint8_t type;
		uint8_t sub;
		uint16_t len;

		TRY(cursor_u8(&c, &type));
		TRY(cursor_u8(&c, &sub));
		TRY(cursor_le16(&c, &len));
		if (len < NODE_HEAD)
			return R_FORMAT_RANGE;
		TRY(cursor_take(&c, len - NODE_HEAD, &data));
		if (type == NODE_END && sub == END_WHOLE)
			return R_OK;
		put_node(&e, type, sub, data);
		if (ret->n - start + e.n + 4 > EFI_PATH_TEXT_MAX)
			return blob_append(ret, "...", 3);
		if (ret->n > start)
			TRY(blob_append(ret, "/", 1));
		TRY(blob_append(ret, e.text, e.n));
	}
}
