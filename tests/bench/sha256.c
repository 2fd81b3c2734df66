/* SPDX-License-Identifier: Apache-2.0 */
/* Hashes a file as the gate does: for `make bench`. */
#include <stdio.h>

#include "base/cleanup.h"
#include "crypto/digest.h"
#include "crypto/init.h"

#define CHUNK (1u << 20)

int main(int argc, char **argv)
{
	_cleanup_free_ uint8_t *chunk = malloc(CHUNK);
	uint8_t digest[DIGEST_MAX];
	struct digest *d;
	size_t n;
	FILE *f = argc == 2 ? fopen(argv[1], "rb") : NULL;

	if (f == NULL || chunk == NULL || crypto_init() != R_OK || digest_begin(ALG_SHA256, &d) != R_OK)
		return 1;
	while ((n = fread(chunk, 1, CHUNK, f)) > 0)
		if (digest_update(d, bytes_of(chunk, n)) != R_OK)
			return 1;
	fclose(f);
	enum reason r = digest_end(d, digest);
	digest_free(&d);
	return r != R_OK;
}
