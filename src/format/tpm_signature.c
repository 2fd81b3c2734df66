/* SPDX-License-Identifier: Apache-2.0 */
#include "format/tpm.h"
#include "format/tpm_wire.h"

#include <string.h>

#define RSA_MAX 512u

static bool is_rsa(uint16_t scheme)
{
	return scheme == TPM_ALG_RSASSA || scheme == TPM_ALG_RSAPSS;
}

static enum reason read_signature(struct bytes in, struct tpm_signature *s)
{
	struct cursor c = cursor_of(in);

	if (in.n > LIMIT_TPM_SIGNATURE)
		return R_QUOTE_FORMAT;
	TRY(cursor_be16(&c, &s->scheme));
	if (!is_rsa(s->scheme) && s->scheme != TPM_ALG_ECDSA)
		return R_QUOTE_SCHEME;
	TRY(cursor_be16(&c, &s->hash));
	if (is_rsa(s->scheme)) {
		TRY(tpm2b_read(&c, RSA_MAX, &s->rsa));
	} else {
		TRY(tpm2b_read(&c, TPM_COORD_MAX, &s->r));
		TRY(tpm2b_read(&c, TPM_COORD_MAX, &s->s));
	}
	return cursor_end(&c);
}

enum reason tpm_signature_read(struct bytes in, struct tpm_signature *ret)
{
	struct tpm_signature s = { 0 };
	enum reason r = read_signature(in, &s);

	if (r == R_QUOTE_SCHEME)
		return r;
	if (r != R_OK)
		return R_QUOTE_FORMAT;
	*ret = s;
	return R_OK;
}

enum reason tpm_signature_write(const struct tpm_signature *s, struct blob *ret)
{
	if (!is_rsa(s->scheme) && s->scheme != TPM_ALG_ECDSA)
		return R_QUOTE_SCHEME;
	TRY(blob_be16(ret, s->scheme));
	TRY(blob_be16(ret, s->hash));
	if (is_rsa(s->scheme))
		return tpm2b_write(s->rsa, ret);
	TRY(tpm2b_write(s->r, ret));
	return tpm2b_write(s->s, ret);
}

/* TPMs send numbers with leading zeros cut, kept, or one too many. */
static enum reason fix_length(struct bytes in, size_t len, uint8_t *ret)
{
	while (in.n > 0 && in.p[0] == 0) {
		in.p++;
		in.n--;
	}
	if (in.n == 0 || in.n > len)
		return R_QUOTE_FORMAT;
	memset(ret, 0, len - in.n);
	memcpy(ret + len - in.n, in.p, in.n);
	return R_OK;
}

enum reason tpm_signature_ecdsa(const struct tpm_signature *s, size_t len, uint8_t *ret)
{
	uint8_t fixed[2 * TPM_COORD_MAX];

	if (s->scheme != TPM_ALG_ECDSA)
		return R_QUOTE_SCHEME;
	if (len > TPM_COORD_MAX)
		return R_QUOTE_FORMAT;
	TRY(fix_length(s->r, len, fixed));
	TRY(fix_length(s->s, len, fixed + len));
	memcpy(ret, fixed, 2 * len);
	return R_OK;
}
