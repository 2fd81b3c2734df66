/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bootgatectl: every command, one file a noun. Each takes the arguments
 * behind its verb and returns the exit code (reason_exit).
 */
#ifndef BOOTGATE_CTL_CTL_H
#define BOOTGATE_CTL_CTL_H

#include "base/bytes.h"

/* log.c: event logs, offline on files */
int ctl_log_show(int argc, char **argv);
int ctl_log_replay(int argc, char **argv);

/* quote.c: verifies a quote, offline on files */
int ctl_quote_verify(int argc, char **argv);

/*
 * file.c: reads a whole file of at most `max` bytes, `-` for standard input.
 * Reads to its end whatever its size is said to be (files of securityfs say
 * 0). R_FILE, R_FORMAT_TOO_LARGE.
 */
enum reason ctl_read_file(const char *path, size_t max, struct blob *ret) must_check;

#endif
