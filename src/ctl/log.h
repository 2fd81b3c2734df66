/* SPDX-License-Identifier: Apache-2.0 */
/* What the verbs of `bootgatectl log` share (log.c). */
#ifndef BOOTGATE_CTL_LOG_H
#define BOOTGATE_CTL_LOG_H

#include "format/eventlog.h"

/* Says it on standard error, and is the exit code. */
int log_fail_at(const char *path, enum reason r, struct eventlog_fault at);

void log_print_hex(struct bytes b);
/* Leniently, so that logs with missing digests are shown as far as they go. */
enum reason log_replay(struct bytes log, struct eventlog *in,
		       struct eventlog_replay *ret) must_check;

#endif
