/* SPDX-License-Identifier: Apache-2.0 */
#include "format/pci.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"

enum reason pci_header_read(struct bytes in, struct pci_header *ret)
{
	struct cursor c = cursor_of(in);
	struct pci_header h = { 0 };
	struct bytes skipped;
	uint8_t low;
	uint16_t high;

	if (in.n < PCI_HEADER_LEN)
		return R_FORMAT_TRUNCATED;
	TRY(cursor_le16(&c, &h.vendor));
	TRY(cursor_le16(&c, &h.device));
	if (h.vendor == 0xffff)
		return R_PCI_ABSENT;
	TRY(cursor_take(&c, 4, &skipped));
	TRY(cursor_u8(&c, &h.revision));
	TRY(cursor_u8(&c, &low));
	TRY(cursor_le16(&c, &high));
	h.class_code = (uint32_t)high << 8 | low;
	TRY(cursor_take(&c, 2, &skipped));
	TRY(cursor_u8(&c, &h.type));
	h.type &= 0x7f;
	/* only a header of type 0 has subsystem ids at 2Ch */
	if (h.type == 0) {
		TRY(cursor_take(&c, 0x2c - 0x0f, &skipped));
		TRY(cursor_le16(&c, &h.subsystem_vendor));
		TRY(cursor_le16(&c, &h.subsystem_device));
	}
	*ret = h;
	return R_OK;
}

/* Takes lower-case hex digits up to `end`. */
static enum reason hex_field(const char **p, char end, unsigned max_digits, uint32_t *ret)
{
	uint32_t v = 0;
	unsigned digits = 0;

	for (; **p != end; (*p)++, digits++) {
		char ch = **p;

		if (digits == max_digits)
			return R_FORMAT_TEXT;
		if (ch >= '0' && ch <= '9')
			v = v << 4 | (uint32_t)(ch - '0');
		else if (ch >= 'a' && ch <= 'f')
			v = v << 4 | (uint32_t)(ch - 'a' + 10);
		else
			return R_FORMAT_TEXT;
	}
	if (digits == 0)
		return R_FORMAT_TEXT;
	if (end != 0)
		(*p)++;
	*ret = v;
	return R_OK;
}

enum reason pci_slot_read(const char *name, struct pci_slot *ret)
{
	uint32_t domain, bus, device, function;

	TRY(hex_field(&name, ':', 8, &domain));
	TRY(hex_field(&name, ':', 2, &bus));
	TRY(hex_field(&name, '.', 2, &device));
	TRY(hex_field(&name, 0, 1, &function));
	if (device > 31 || function > 7)
		return R_FORMAT_TEXT;
	*ret = (struct pci_slot){ domain, (uint8_t)bus, (uint8_t)device, (uint8_t)function };
	return R_OK;
}

int pci_slot_compare(const struct pci_slot *a, const struct pci_slot *b)
{
	if (a->domain != b->domain)
		return a->domain < b->domain ? -1 : 1;
	if (a->bus != b->bus)
		return a->bus < b->bus ? -1 : 1;
	if (a->device != b->device)
		return a->device < b->device ? -1 : 1;
	return (int)a->function - (int)b->function;
}

void pci_fact_text(const struct pci_header *h, enum pci_rom rom,
		   const uint8_t digest[SHA256_LEN], char ret[PCI_FACT_TEXT])
{
	char hex[2 * SHA256_LEN + 1] = "none";

	if (rom == PCI_ROM_DIGEST)
		hex_encode(bytes_of(digest, SHA256_LEN), hex);
	else if (rom == PCI_ROM_UNAVAILABLE)
		strcpy(hex, "unavailable");
	snprintf(ret, PCI_FACT_TEXT, "%04x:%04x %04x:%04x %06x %02x rom=%s", h->vendor,
		 h->device, h->subsystem_vendor, h->subsystem_device, (unsigned)h->class_code,
		 h->revision, hex);
}
