/* SPDX-License-Identifier: Apache-2.0 */
/* Ownership by scope: `_cleanup_(blob_free) struct blob b = BLOB(64);` */
#ifndef BOOTGATE_BASE_CLEANUP_H
#define BOOTGATE_BASE_CLEANUP_H

#include <stdlib.h>
#include <unistd.h>

#include "base/reason.h"

#define _cleanup_(f) __attribute__((cleanup(f)))

static inline void cleanup_free(void *p)
{
	free(*(void **)p);
}
static inline void cleanup_fd(const int *fd)
{
	if (*fd >= 0)
		close(*fd);
}
#define _cleanup_free_ _cleanup_(cleanup_free)
#define _cleanup_fd_ _cleanup_(cleanup_fd)

/* Hands ownership on: returns the pointer and clears the variable. */
#define take_ptr(p) ({ __typeof__(p) taken_ = (p); (p) = NULL; taken_; })
#define take_fd(fd) ({ int taken_ = (fd); (fd) = -1; taken_; })

/* `TRY(f(x))`: returns the reason from this function unless it is R_OK. */
#define TRY(expr)                                \
	do {                                     \
		enum reason try_r_ = (expr);     \
		if (try_r_ != R_OK)              \
			return try_r_;           \
	} while (0)

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

#endif
