/* SPDX-License-Identifier: Apache-2.0 */
#include "crypto/random.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

enum reason random_bytes(void *p, size_t n)
{
	uint8_t *to = p;

	while (n > 0) {
		ssize_t got = getrandom(to, n, 0);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return R_INTERNAL_CRYPTO;
		to += got;
		n -= (size_t)got;
	}
	return R_OK;
}

void wipe(void *p, size_t n)
{
	explicit_bzero(p, n);
}
