/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the machine is made of, as firmware tables and the kernel tell it.
 * Everything is read below `root` (sysfs.h). Nothing is judged here; what
 * cannot be read is left empty.
 */
#ifndef BOOTGATE_NODE_HARDWARE_H
#define BOOTGATE_NODE_HARDWARE_H

#include "base/bytes.h"
#include "format/pci.h"
#include "format/smbios.h"

/* SMBIOS; `info` points into entry and table. */
struct dmi {
	struct blob entry, table;
	struct smbios info;
};
enum reason dmi_read(const char *root, struct dmi *ret) must_check;
void dmi_free(struct dmi *dmi);

/* The first processor; microcode of all of them. */
#define CPU_MICROCODES_MAX 8u
struct cpu {
	char vendor[32];
	char name[64];
	bool known;			/* the three numbers are there */
	uint32_t family, model, stepping;
	size_t microcode_count;		/* different revisions, ascending */
	uint32_t microcode[CPU_MICROCODES_MAX];
	bool microcode_more;		/* there are more than fit */
};
enum reason cpu_read(const char *root, struct cpu *ret) must_check;
/* `0xHEX`, or `mixed 0xHEX 0xHEX ...`; false when nothing is known. */
#define CPU_MICROCODE_TEXT 128u
bool cpu_microcode_text(const struct cpu *cpu, char ret[CPU_MICROCODE_TEXT]);

/* Displays and network cards, in slot order. */
#define PCI_DEVICES_MAX 128u
struct pci_device {
	struct pci_slot slot;
	char name[20];			/* the slot as sysfs writes it */
	struct pci_header header;
	enum pci_rom rom;
	uint8_t rom_digest[SHA256_LEN];
};
struct pci_devices {
	size_t count;
	struct pci_device device[PCI_DEVICES_MAX];
};
/* R_FORMAT_TOO_LARGE for more than fit: none is left out silently. */
enum reason pci_devices_read(const char *root, struct pci_devices *ret) must_check;

/* Ports with a device behind them. */
#define NICS_MAX 64u
struct nic {
	char name[16];
	char address[24];
	char slot[20];			/* empty when it is not on PCI */
};
struct nics {
	size_t count;
	struct nic nic[NICS_MAX];
};
enum reason nics_read(const char *root, struct nics *ret) must_check;
/* Takes every port down; called before the jump. */
void nics_down(void);

enum secure_boot { SECURE_BOOT_UNKNOWN, SECURE_BOOT_OFF, SECURE_BOOT_ON, SECURE_BOOT_SETUP };
enum secure_boot secure_boot_read(const char *root);
/* "on" "off" "setup", NULL when unknown */
const char *secure_boot_name(enum secure_boot s);

/* MemAvailable of /proc/meminfo, in bytes. */
enum reason memory_available(const char *root, uint64_t *ret) must_check;

#endif
