/* SPDX-License-Identifier: Apache-2.0 */
#include "node/net_root.h"

#include <errno.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/log.h"

#define RESOLV_MAX 4096u

enum reason net_root_make(void)
{
	if ((mkdir(NET_ROOT, 0755) < 0 && errno != EEXIST) ||
	    (mkdir(NET_ROOT "/etc", 0755) < 0 && errno != EEXIST))
		return log_reason_errno(R_INTERNAL_JAIL, "%s", NET_ROOT);
	return R_OK;
}

enum reason net_root_update(void)
{
	_cleanup_(blob_free) struct blob b = BLOB(RESOLV_MAX);

	/* none: then the server's name is an address, or it will not resolve */
	if (access("/etc/resolv.conf", F_OK) < 0)
		return R_OK;
	TRY(fd_read_named("/etc/resolv.conf", &b));
	return fd_write_file(NET_ROOT "/etc/resolv.conf", blob_bytes(&b), 0444);
}
