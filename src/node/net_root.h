/* SPDX-License-Identifier: Apache-2.0 */
/* The folder that is the net child's "/": it holds etc/resolv.conf only. */
#ifndef BOOTGATE_NODE_NET_ROOT_H
#define BOOTGATE_NODE_NET_ROOT_H

#include <netinet/in.h>
#include <stddef.h>

#include "base/reason.h"

#define NET_ROOT "/run/bootgate-net"
/* resolv.conf(5): a resolver looks at no more */
#define NET_DNS_MAX 3u

enum reason net_root_make(void) must_check;
/* These are the name servers now; called when the network is up. */
enum reason net_root_resolv(const struct in_addr *server, size_t count) must_check;

#endif
