/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who brings the network up. The DHCP client takes packets from whoever is on
 * the wire: it and its script have a user of their own, and of root's powers
 * only what setting up a port needs.
 */
#ifndef BOOTGATE_GATE_NETWORK_USER_H
#define BOOTGATE_GATE_NETWORK_USER_H

#include "base/reason.h"

/* The folder is there, and that user's. */
enum reason network_user_folder(const char *folder) must_check;
/* Becomes that user for good, through execve() too. After a failure: _exit(). */
enum reason network_user_become(void) must_check;

#endif
