/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts the server's processes, replaces workers as they end, and starts
 * all others again when one of them ends: their channels belong together. It
 * parses nothing of anybody's.
 */
#ifndef BOOTGATE_SERVER_SUPERVISOR_H
#define BOOTGATE_SERVER_SUPERVISOR_H

#include "base/reason.h"

/* Runs until SIGTERM or SIGINT. `ready_fd` (-1 for none) gets one line. */
enum reason supervisor_run(const char *dir, int ready_fd) must_check;

#endif
