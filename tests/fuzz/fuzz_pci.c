/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "format/pci.h"

static void inside(struct bytes view, struct bytes in)
{
	must(view.n == 0 || (view.p >= in.p && view.p + view.n <= in.p + in.n));
}

static void space(struct bytes in)
{
	struct pci_capability c;
	struct pci_header h;
	struct pci_walk w;
	struct fields f;
	size_t count = 0;
	bool end = false;

	if (pci_walk_open(in, &w) != R_OK || pci_header_read(in, &h) != R_OK)
		return;
	pci_header_fields(in, &h, &f);
	must(f.count <= FIELDS_MAX);
	while (pci_walk_next(&w, &c, &end) == R_OK && !end) {
		/* no place is passed twice */
		must(++count <= PCI_SPACE_MAX / 4);
		inside(c.body, in);
		must(pci_capability_name(&c) != NULL);
		pci_capability_fields(&c, &f);
		for (size_t i = 0; i < f.count; i++)
			inside(f.field[i].bytes, in);
	}
}

static void dump(struct bytes in)
{
	uint8_t room[PCI_SPACE_MAX];
	struct bytes slot, bytes;
	struct pci_dump d;
	bool end = false;

	if (!pci_dump_open(in, &d))
		return;
	while (pci_dump_next(&d, room, &slot, &bytes, &end) == R_OK && !end) {
		inside(slot, in);
		must(slot.n > 0 && bytes.n <= sizeof(room));
		space(bytes);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *name = string_of(data, size);
	uint8_t digest[SHA256_LEN] = { 0 };
	char text[PCI_FACT_TEXT];
	struct pci_header h;
	struct pci_slot slot;

	space(bytes_of(data, size));
	dump(bytes_of(data, size));
	if (pci_header_read(bytes_of(data, size), &h) == R_OK) {
		for (int rom = PCI_ROM_NONE; rom <= PCI_ROM_DIGEST; rom++) {
			pci_fact_text(&h, (enum pci_rom)rom, digest, text);
			must(strlen(text) < sizeof(text) - 1);
		}
	}
	if (pci_slot_read(name, &slot) == R_OK) {
		must(slot.device < 32 && slot.function < 8);
		must(pci_slot_compare(&slot, &slot) == 0);
	}
	return 0;
}
