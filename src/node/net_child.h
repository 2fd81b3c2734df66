/* SPDX-License-Identifier: Apache-2.0 */
/* The net child: DNS, TLS, HTTP and the decoding of what is not signed. */
#ifndef BOOTGATE_NODE_NET_CHILD_H
#define BOOTGATE_NODE_NET_CHILD_H

/* Confines itself, then serves the channel at NET_CHILD_FD until it closes. */
int net_child_main(void);

#endif
