/* SPDX-License-Identifier: Apache-2.0 */
/* The list of PCR banks, and the session audit that proves it. */
#include "format/tpm.h"
#include "format/tpm_wire.h"

#define CC_GET_CAPABILITY 0x0000017au
#define RC_SUCCESS 0u
#define NO 0u

enum reason tpm_capability_pcrs_read(struct bytes in, struct pcr_selection *ret)
{
	struct cursor c = cursor_of(in);
	struct pcr_selection s;
	uint32_t capability;

	TRY(cursor_be32(&c, &capability));
	if (capability != TPM_CAP_PCRS)
		return R_FORMAT_TYPE;
	TRY(pcr_selection_read(&c, &s));
	TRY(cursor_end(&c));
	*ret = s;
	return R_OK;
}

enum reason tpm_capability_pcrs_write(const struct pcr_selection *s, struct blob *ret)
{
	TRY(blob_be32(ret, TPM_CAP_PCRS));
	return pcr_selection_write(s, ret);
}

/* cpHash: command code, no names, parameters (TPM 2.0 Part 1, 16.7). */
static enum reason command_hash(uint16_t alg, uint8_t ret[DIGEST_MAX])
{
	_cleanup_(blob_free) struct blob b = BLOB(16);
	struct bytes whole;

	TRY(blob_be32(&b, CC_GET_CAPABILITY));
	TRY(blob_be32(&b, TPM_CAP_PCRS));
	TRY(blob_be32(&b, TPM_BANKS_PROPERTY));
	TRY(blob_be32(&b, TPM_BANKS_COUNT));
	whole = blob_bytes(&b);
	return digest_of(alg, &whole, 1, ret);
}

/* rpHash: response code, command code, parameters (16.8). */
static enum reason response_hash(uint16_t alg, struct bytes capability,
				 uint8_t ret[DIGEST_MAX])
{
	_cleanup_(blob_free) struct blob b = BLOB(16);
	struct bytes pieces[2];

	TRY(blob_be32(&b, RC_SUCCESS));
	TRY(blob_be32(&b, CC_GET_CAPABILITY));
	TRY(blob_u8(&b, /* moreData */ NO));
	pieces[0] = blob_bytes(&b);
	pieces[1] = capability;
	return digest_of(alg, pieces, ARRAY_LEN(pieces), ret);
}

enum reason tpm_audit_capability_pcrs(uint16_t alg, struct bytes capability,
				      uint8_t ret[DIGEST_MAX])
{
	static const uint8_t zeros[DIGEST_MAX];
	uint8_t command[DIGEST_MAX], response[DIGEST_MAX];
	size_t len = digest_len(alg);
	struct bytes pieces[] = { { zeros, len }, { command, len }, { response, len } };

	if (len == 0)
		return R_FORMAT_TYPE;
	TRY(command_hash(alg, command));
	TRY(response_hash(alg, capability, response));
	return digest_of(alg, pieces, ARRAY_LEN(pieces), ret);
}
