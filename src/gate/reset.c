/* SPDX-License-Identifier: Apache-2.0 */
#include <sys/syscall.h>
#include <linux/reboot.h>
#include <stdio.h>
#include <unistd.h>

#include "gate/reset.h"

void gate_reboot(unsigned command)
{
#ifdef BOOTGATE_TEST
	/* a test machine stays up */
	dprintf(STDERR_FILENO, "reboot command %08x\n", command);
#else
	syscall(SYS_reboot, LINUX_REBOOT_MAGIC1, LINUX_REBOOT_MAGIC2, command, NULL);
#endif
}
