/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hardware watchdog. Started first and never stopped: it is fed by
 * progress, and what ends or hangs is reset, also across the jump.
 */
#ifndef BOOTGATE_NODE_WATCHDOG_H
#define BOOTGATE_NODE_WATCHDOG_H

#include "base/reason.h"

struct watchdog {
	int fd;				/* -1: there is none */
	char name[40];			/* as its driver says, "" when it does not */
	unsigned timeout;		/* seconds, 0: not known */
};
#define WATCHDOG_NONE ((struct watchdog){ .fd = -1 })

/* The first that can be opened: R_BOOT_WATCHDOG when there is none. */
enum reason watchdog_start(const char *root, unsigned timeout, struct watchdog *ret) must_check;
void watchdog_feed(const struct watchdog *w);

#endif
