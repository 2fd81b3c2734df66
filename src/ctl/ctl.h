/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bootgatectl: every command, one file a noun. Each takes the arguments
 * behind its verb and returns the exit code (reason_exit).
 */
#ifndef BOOTGATE_CTL_CTL_H
#define BOOTGATE_CTL_CTL_H

/* log.c: event logs, offline on files */
int ctl_log_show(int argc, char **argv);
int ctl_log_replay(int argc, char **argv);

#endif
