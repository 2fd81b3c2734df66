/* SPDX-License-Identifier: Apache-2.0 */
/* PCI configuration headers and slot names, and the inventory fact they make. */
#ifndef BOOTGATE_FORMAT_PCI_H
#define BOOTGATE_FORMAT_PCI_H

#include "base/bytes.h"
#include "crypto/digest.h"

#define PCI_HEADER_LEN 64u
#define PCI_CLASS_NETWORK 0x02u
#define PCI_CLASS_DISPLAY 0x03u

struct pci_header {
	uint16_t vendor, device;
	uint16_t subsystem_vendor, subsystem_device;	/* 0 for bridges */
	uint32_t class_code;		/* 24 bits */
	uint8_t revision;
	uint8_t type;			/* header type, without the multi-function bit */
};

/*
 * The first 64 bytes of the configuration space. R_FORMAT_RANGE when nothing
 * answered (all ones).
 */
enum reason pci_header_read(struct bytes in, struct pci_header *ret) must_check;

struct pci_slot {
	uint32_t domain;
	uint8_t bus, device, function;
};
/* `0000:01:00.0`, as sysfs names it: R_FORMAT_TEXT. */
enum reason pci_slot_read(const char *name, struct pci_slot *ret) must_check;
int pci_slot_compare(const struct pci_slot *a, const struct pci_slot *b);

enum pci_rom { PCI_ROM_NONE, PCI_ROM_UNAVAILABLE, PCI_ROM_DIGEST };

/* `VVVV:DDDD SSSS:SSSS CCCCCC RR rom=HEX|none|unavailable` */
#define PCI_FACT_TEXT 100u
void pci_fact_text(const struct pci_header *h, enum pci_rom rom,
		   const uint8_t digest[SHA256_LEN], char ret[PCI_FACT_TEXT]);

#endif
