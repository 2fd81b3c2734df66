/* SPDX-License-Identifier: Apache-2.0 */
/* How long to wait before the next try: exponential, with jitter, for ever. */
#ifndef BOOTGATE_GATE_BACKOFF_H
#define BOOTGATE_GATE_BACKOFF_H

#include <stdint.h>

#define BACKOFF_FIRST_MS 1000u
#define BACKOFF_MOST_MS 60000u

struct backoff {
	unsigned tries;
};

/*
 * Milliseconds, by a random number of the caller's: between half and all of
 * 1 s, 2 s, 4 s .. 60 s. What the server asked for (seconds, 0: nothing) is
 * kept, with up to a quarter on top, so that a hall does not come back as one.
 */
uint64_t backoff_next(struct backoff *b, uint32_t retry_after, uint32_t random);

/*
 * Seconds before a reset: the site's own number, or what the server asks for
 * where that is more, up to a day.
 */
uint32_t backoff_reset(uint32_t own, uint32_t asked);

#endif
