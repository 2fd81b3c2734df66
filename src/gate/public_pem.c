/* SPDX-License-Identifier: Apache-2.0 */
/* A TPM's public key in the form that every other tool reads. */
#include <string.h>

#include "base/base64.h"
#include "base/cleanup.h"
#include "format/spki.h"
#include "gate/by_hand.h"

#define PEM_BEGIN "-----BEGIN PUBLIC KEY-----\n"
#define PEM_END "-----END PUBLIC KEY-----\n"
#define PEM_LINE 48u			/* bytes that make 64 characters */

enum reason public_pem(const struct tpm_public *p, struct blob *ret)
{
	_cleanup_(blob_free) struct blob der = BLOB(SPKI_MAX);

	TRY(spki_write(p, &der));
	TRY(blob_append(ret, PEM_BEGIN, strlen(PEM_BEGIN)));
	for (size_t i = 0; i < der.n; i += PEM_LINE) {
		size_t n = der.n - i < PEM_LINE ? der.n - i : PEM_LINE;

		TRY(base64_encode(bytes_of(der.p + i, n), ret));
		TRY(blob_u8(ret, '\n'));
	}
	return blob_append(ret, PEM_END, strlen(PEM_END));
}
