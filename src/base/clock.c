/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"

#include <limits.h>
#include <time.h>

uint64_t clock_boot_ms(void)
{
	struct timespec now = { 0 };

	/* cannot fail: the clock exists since Linux 2.6.39 */
	(void)clock_gettime(CLOCK_BOOTTIME, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

int clock_left_ms(uint64_t deadline_ms)
{
	uint64_t now = clock_boot_ms();

	if (deadline_ms == UINT64_MAX)
		return -1;
	if (deadline_ms <= now)
		return 0;
	return deadline_ms - now > INT_MAX ? INT_MAX : (int)(deadline_ms - now);
}
