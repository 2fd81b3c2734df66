/* SPDX-License-Identifier: Apache-2.0 */
/* PCI configuration headers and slot names, and the inventory fact they make. */
#ifndef BOOTGATE_FORMAT_PCI_H
#define BOOTGATE_FORMAT_PCI_H

#include "base/bytes.h"
#include "crypto/digest.h"
#include "format/fields.h"

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
 * The first 64 bytes of the configuration space. R_PCI_ABSENT when nothing
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

/*
 * pci_capability.c: the capabilities of a configuration space of 64, 256 or
 * 4096 bytes, one by one: those of the list, then, of a device of PCI Express
 * whose 4096 bytes are there, the extended ones.
 */
#define PCI_SPACE_MAX 4096u
struct pci_capability {
	bool extended;
	uint16_t id;
	uint8_t version;		/* of an extended one */
	uint16_t offset;
	struct bytes body;		/* to the end of its area: offsets are the standard's */
};

struct pci_walk {
	struct bytes space;
	bool list;			/* there is one, in the space or behind its end */
	bool express;			/* PCI Express was passed, or PCI-X of mode 2 */
	bool extended;
	uint16_t next;			/* where the next one is; 0: nowhere */
	uint8_t passed[PCI_SPACE_MAX / 32];
};

/* R_PCI_SIZE, R_PCI_ABSENT. */
enum reason pci_walk_open(struct bytes space, struct pci_walk *ret) must_check;
/*
 * R_PCI_CAPABILITY, R_PCI_CAPABILITY_LOOP: `next` is the offset that is
 * wrong. ret_end as of smbios_next.
 */
enum reason pci_walk_next(struct pci_walk *w, struct pci_capability *ret, bool *ret_end) must_check;
const char *pci_capability_name(const struct pci_capability *c);

/* pci_fields.c, pci_extended.c: what header and capability say */
void pci_header_fields(struct bytes space, const struct pci_header *h, struct fields *ret);
void pci_capability_fields(const struct pci_capability *c, struct fields *ret);
void pci_extended_fields(const struct pci_capability *c, struct fields *ret);

/*
 * pci_dump.c: what lspci prints with -x, -xxx or -xxxx, device by device. Of
 * the lines the headings and those of hexadecimal numbers count.
 */
struct pci_dump {
	struct bytes rest;
	size_t line;
	struct bytes slot;		/* of the next device */
};
/* False where this is no text, so that it may be a space as it is. */
bool pci_dump_open(struct bytes text, struct pci_dump *ret);
/*
 * The next device: its slot as it is written, and its bytes, in `room`.
 * R_PCI_DUMP: `line` has the wrong one.
 */
enum reason pci_dump_next(struct pci_dump *d, uint8_t room[PCI_SPACE_MAX], struct bytes *ret_slot,
			  struct bytes *ret_space, bool *ret_end) must_check;

#endif
