/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "format/pci.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *name = string_of(data, size);
	uint8_t digest[SHA256_LEN] = { 0 };
	char text[PCI_FACT_TEXT];
	struct pci_header h;
	struct pci_slot slot;

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
