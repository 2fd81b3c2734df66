/* SPDX-License-Identifier: Apache-2.0 */
#include "gate/backoff.h"

#define RETRY_AFTER_MOST 86400u

uint64_t backoff_next(struct backoff *b, uint32_t retry_after, uint32_t random)
{
	uint64_t most = BACKOFF_FIRST_MS;

	for (unsigned i = 0; i < b->tries && most < BACKOFF_MOST_MS; i++)
		most *= 2;
	if (most > BACKOFF_MOST_MS)
		most = BACKOFF_MOST_MS;
	if (b->tries < 32)
		b->tries++;
	if (retry_after > 0) {
		uint64_t asked = retry_after < RETRY_AFTER_MOST ? retry_after : RETRY_AFTER_MOST;

		asked *= 1000;
		return asked + random % (asked / 4 + 1);
	}
	return most / 2 + random % (most / 2 + 1);
}

uint32_t backoff_reset(uint32_t own, uint32_t asked)
{
	uint32_t most = asked < RETRY_AFTER_MOST ? asked : RETRY_AFTER_MOST;

	return own > most ? own : most;
}
