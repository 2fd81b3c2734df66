/* SPDX-License-Identifier: Apache-2.0 */
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "format/pci.h"
#include "node/hardware.h"
#include "node/sysfs.h"

/* The slot is the last part of where the link `device` leads. */
static void read_slot(const char *root, const char *name, char *ret, size_t n)
{
	char path[SYSFS_PATH_MAX], target[SYSFS_PATH_MAX];
	struct pci_slot slot;
	const char *last;
	ssize_t length;

	ret[0] = 0;
	if (sysfs_path(path, root, "/sys/class/net/%s/device", name))
		return;
	length = readlink(path, target, sizeof(target) - 1);
	if (length <= 0)
		return;
	target[length] = 0;
	last = strrchr(target, '/');
	last = last ? last + 1 : target;
	if (strlen(last) < n && pci_slot_read(last, &slot) == R_OK)
		snprintf(ret, n, "%.*s", (int)n - 1, last);
}

enum reason nics_read(const char *root, struct nics *ret)
{
	_cleanup_(fd_names_free) struct fd_names names = { 0 };
	char path[SYSFS_PATH_MAX];

	ret->count = 0;
	TRY(sysfs_path(path, root, "/sys/class/net"));
	TRY(fd_list(path, 4096, &names));
	for (size_t i = 0; i < names.n && ret->count < NICS_MAX; i++) {
		struct nic nic = { 0 };

		if (strlen(names.v[i]) >= sizeof(nic.name))
			continue;
		snprintf(nic.name, sizeof(nic.name), "%s", names.v[i]);
		TRY(sysfs_path(path, root, "/sys/class/net/%s/device", nic.name));
		if (access(path, F_OK) < 0)
			continue;	/* loopback, bridges */
		TRY(sysfs_path(path, "", "/sys/class/net/%s/address", nic.name));
		if (sysfs_line(root, path, nic.address, sizeof(nic.address)))
			continue;
		read_slot(root, nic.name, nic.slot, sizeof(nic.slot));
		ret->nic[ret->count++] = nic;
	}
	return R_OK;
}

void nics_down(void)
{
	_cleanup_fd_ int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct if_nameindex *list;

	if (fd < 0)
		return;
	list = if_nameindex();
	for (struct if_nameindex *i = list; i && i->if_index != 0; i++) {
		struct ifreq request = { 0 };

		if (strlen(i->if_name) >= sizeof(request.ifr_name))
			continue;
		snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", i->if_name);
		if (ioctl(fd, SIOCGIFFLAGS, &request) < 0)
			continue;
		request.ifr_flags = (short)(request.ifr_flags & ~IFF_UP);
		ioctl(fd, SIOCSIFFLAGS, &request);
	}
	if_freenameindex(list);
}
