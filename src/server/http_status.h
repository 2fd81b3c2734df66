/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOOTGATE_SERVER_HTTP_STATUS_H
#define BOOTGATE_SERVER_HTTP_STATUS_H

#include <stdint.h>

#include "base/reason.h"

/* The HTTP status that goes with a reason; docs/protocol.md has the table. */
uint16_t http_status(enum reason r);

#endif
