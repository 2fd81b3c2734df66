/* SPDX-License-Identifier: Apache-2.0 */
#include <sys/syscall.h>
#include <linux/reboot.h>
#include <unistd.h>

#include "base/log.h"
#include "gate/reset.h"

void gate_reboot(unsigned command)
{
#ifdef BOOTGATE_TEST
	/* a test machine stays up */
	log_info("reboot command %08x", command);
#else
	syscall(SYS_reboot, LINUX_REBOOT_MAGIC1, LINUX_REBOOT_MAGIC2, command, NULL);
#endif
}
