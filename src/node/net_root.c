/* SPDX-License-Identifier: Apache-2.0 */
#include "node/net_root.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/log.h"

enum reason net_root_make(void)
{
	if ((mkdir(NET_ROOT, 0755) < 0 && errno != EEXIST) ||
	    (mkdir(NET_ROOT "/etc", 0755) < 0 && errno != EEXIST))
		return log_reason_errno(R_INTERNAL_JAIL, "%s", NET_ROOT);
	return R_OK;
}

enum reason net_root_resolv(const struct in_addr *server, size_t count)
{
	char text[NET_DNS_MAX * (sizeof("nameserver \n") + INET_ADDRSTRLEN)], address[INET_ADDRSTRLEN];
	size_t n = 0;

	/* with none the server's name is an address, or it will not resolve */
	for (size_t i = 0; i < count && i < NET_DNS_MAX; i++) {
		inet_ntop(AF_INET, &server[i], address, sizeof(address));
		n += (size_t)snprintf(text + n, sizeof(text) - n, "nameserver %s\n", address);
	}
	return fd_write_file(NET_ROOT "/etc/resolv.conf", bytes_of(text, n), 0444);
}
