/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "node/hardware.h"
#include "node/sysfs.h"

#define BUS_MAX 16384u
#define ROM_MAX (16u << 20)
#define CHUNK 65536u

static enum reason read_header(const char *root, const char *name, struct pci_header *ret)
{
	_cleanup_fd_ int fd = -1;
	uint8_t config[PCI_HEADER_LEN];
	char path[SYSFS_PATH_MAX];

	TRY(sysfs_path(path, root, "/sys/bus/pci/devices/%s/config", name));
	TRY(fd_open(path, O_RDONLY, &fd));
	if (read(fd, config, sizeof(config)) != (ssize_t)sizeof(config))
		return R_FORMAT_TRUNCATED;
	return pci_header_read(BYTES(config), ret);
}

static enum reason hash_rom(int fd, uint8_t ret[SHA256_LEN])
{
	_cleanup_(digest_free) struct digest *d = NULL;
	_cleanup_free_ uint8_t *chunk = malloc(CHUNK);
	uint8_t out[DIGEST_MAX];
	size_t total = 0;

	if (!chunk)
		return R_INTERNAL_MEMORY;
	TRY(digest_begin(ALG_SHA256, &d));
	for (;;) {
		ssize_t n = read(fd, chunk, CHUNK);

		if (n < 0)
			return R_INTERNAL_IO;
		if (n == 0)
			break;
		total += (size_t)n;
		if (total > ROM_MAX)
			return R_FORMAT_TOO_LARGE;
		TRY(digest_update(d, bytes_of(chunk, (size_t)n)));
	}
	if (total == 0)
		return R_FORMAT_TRUNCATED;
	TRY(digest_end(d, out));
	memcpy(ret, out, SHA256_LEN);
	return R_OK;
}

/* sysfs shows a ROM only between writing 1 and writing 0 to it. */
static enum pci_rom read_rom(const char *root, const char *name, uint8_t ret[SHA256_LEN])
{
	_cleanup_fd_ int fd = -1;
	char path[SYSFS_PATH_MAX];
	enum reason r;

	if (sysfs_path(path, root, "/sys/bus/pci/devices/%s/rom", name))
		return PCI_ROM_UNAVAILABLE;
	if (access(path, F_OK) < 0)
		return PCI_ROM_NONE;
	if (fd_open(path, O_RDWR, &fd))
		return PCI_ROM_UNAVAILABLE;
	if (pwrite(fd, "1", 1, 0) != 1)
		return PCI_ROM_UNAVAILABLE;
	r = hash_rom(fd, ret);
	if (pwrite(fd, "0", 1, 0) != 1)
		r = R_INTERNAL_IO;
	return r == R_OK ? PCI_ROM_DIGEST : PCI_ROM_UNAVAILABLE;
}

static int by_slot(const void *a, const void *b)
{
	const struct pci_device *x = a, *y = b;

	return pci_slot_compare(&x->slot, &y->slot);
}

enum reason pci_devices_read(const char *root, struct pci_devices *ret)
{
	_cleanup_(fd_names_free) struct fd_names names = { 0 };
	char path[SYSFS_PATH_MAX];

	ret->count = 0;
	TRY(sysfs_path(path, root, "/sys/bus/pci/devices"));
	TRY(fd_list(path, BUS_MAX, &names));
	for (size_t i = 0; i < names.n; i++) {
		struct pci_device d = { 0 };

		if (strlen(names.v[i]) >= sizeof(d.name) || pci_slot_read(names.v[i], &d.slot))
			continue;
		snprintf(d.name, sizeof(d.name), "%s", names.v[i]);
		if (read_header(root, d.name, &d.header))
			continue;
		if (d.header.class_code >> 16 != PCI_CLASS_NETWORK &&
		    d.header.class_code >> 16 != PCI_CLASS_DISPLAY)
			continue;
		if (ret->count == PCI_DEVICES_MAX)
			return R_FORMAT_TOO_LARGE;
		d.rom = read_rom(root, d.name, d.rom_digest);
		ret->device[ret->count++] = d;
	}
	qsort(ret->device, ret->count, sizeof(ret->device[0]), by_slot);
	return R_OK;
}
