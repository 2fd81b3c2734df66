/* SPDX-License-Identifier: Apache-2.0 */
/* Listening sockets, opened before anything is confined. */
#ifndef BOOTGATE_SERVER_LISTEN_H
#define BOOTGATE_SERVER_LISTEN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/reason.h"

/* Whether listen_tcp would take it for an address: R_CONF_VALUE. */
enum reason listen_check(const char *where, bool loopback) must_check;
/* "address:port", IPv6 in brackets. `loopback`: any other address is R_CONF_VALUE. */
enum reason listen_tcp(const char *where, bool loopback, int *ret) must_check;
/* Takes the place of a stale socket. Mode 0660, group gid. */
enum reason listen_unix(const char *path, uint32_t gid, int *ret) must_check;

#endif
