/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOOTGATE_GATE_RESET_H
#define BOOTGATE_GATE_RESET_H

/* reboot(2) with a LINUX_REBOOT_CMD_*; comes back only when it failed. */
void gate_reboot(unsigned command);

#endif
