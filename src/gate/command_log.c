/* SPDX-License-Identifier: Apache-2.0 */
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/log.h"
#include "gate/commands.h"
#include "gate/gate.h"
#include "node/sysfs.h"

int command_log(int argc, char **argv)
{
	_cleanup_(blob_free) struct blob b = BLOB(LIMIT_FIRMWARE_LOG);
	struct options o;
	enum reason r = options_read(argc, argv, &o);

	if (r != R_OK)
		return reason_exit(r);
	r = sysfs_read(o.root, FIRMWARE_LOG, &b);
	if (r == R_OK)
		r = fd_write_full(STDOUT_FILENO, blob_bytes(&b));
	if (r != R_OK)
		r = log_reason_errno(r, "%s%s", o.root, FIRMWARE_LOG);
	return reason_exit(r);
}
