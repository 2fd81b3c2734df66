/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses, host names and URLs as people write them into a configuration. */
#ifndef BOOTGATE_FORMAT_URL_H
#define BOOTGATE_FORMAT_URL_H

#include "base/bytes.h"

/* IPv4 or IPv6, without zone. */
bool address_valid(const char *text);
/* Address and prefix length: 10.0.0.7/24. */
bool address_prefix_valid(const char *text);
/*
 * Lower-case host name of at most 253 characters, labels of at most 63; an
 * IPv4 address is one too, other names do not end in a number.
 */
bool host_valid(struct bytes text);

enum url_kind {
	URL_SERVER,		/* https://HOST[:PORT] */
	URL_MIRROR,		/* http or https, and a path that does not end in / */
};
/*
 * HOST is a host name, or an IPv6 address in brackets; PORT 1 to 65535. No
 * user, query or fragment, no escapes, no empty or dot segments in the path.
 */
bool url_valid(enum url_kind kind, const char *text);

#endif
