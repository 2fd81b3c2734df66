/* SPDX-License-Identifier: Apache-2.0 */
#include "crypto/pem.h"

#include <string.h>

static const char begin[] = "-----BEGIN PUBLIC KEY-----\n";
static const char mark[] = "-----BEGIN";

bool pem_is_public_key(struct bytes pem)
{
	size_t n = sizeof(begin) - 1;

	if (pem.n < n || memcmp(pem.p, begin, n) != 0)
		return false;
	if (memchr(pem.p, '\0', pem.n) != NULL)
		return false;
	return memmem(pem.p + n, pem.n - n, mark, sizeof(mark) - 1) == NULL;
}
