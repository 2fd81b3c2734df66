/* SPDX-License-Identifier: Apache-2.0 */
/* Networks of addresses, as rules name them, and the addresses that peers come from. */
#ifndef BOOTGATE_FORMAT_NETWORK_H
#define BOOTGATE_FORMAT_NETWORK_H

#include "base/bytes.h"

#define NETWORK_TEXT_MAX 64u	/* with its NUL */

/* IPv4 stands here as the part of IPv6 that maps it: one address has one form. */
struct network {
	uint8_t address[16];
	uint8_t bits;			/* length of the prefix, 1 to 128 */
};

/*
 * ADDRESS/LENGTH. R_RULE_CIDR for what is none: bits behind the prefix, or no
 * prefix at all, are slips of the pen. R_RULE_LOOPBACK for one with loopback
 * addresses, and with it for every one that holds IPv4 without being one.
 */
enum reason network_read(const char *text, struct network *ret) must_check;
/* The same of what somebody else has read. */
enum reason network_check(const struct network *n) must_check;
void network_text(const struct network *n, char ret[NETWORK_TEXT_MAX]);

/* Whether the peer, an address in text, is in it. Loopback and what is no address are nowhere. */
bool network_has(const struct network *n, const char *peer);

#endif
