/* SPDX-License-Identifier: Apache-2.0 */
/* The folder that is the net child's "/": it holds etc/resolv.conf only. */
#ifndef BOOTGATE_NODE_NET_ROOT_H
#define BOOTGATE_NODE_NET_ROOT_H

#include "base/reason.h"

#define NET_ROOT "/run/bootgate-net"

enum reason net_root_make(void) must_check;
/* Takes over what /etc/resolv.conf says now; called when the network is up. */
enum reason net_root_update(void) must_check;

#endif
