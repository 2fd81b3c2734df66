/* SPDX-License-Identifier: Apache-2.0 */
#include "format/tpm.h"
#include "format/tpm_wire.h"

/* TPM2B_DATA holds any TPMT_HA; a qualified name is a name or a handle. */
#define EXTRA_MAX (2u + DIGEST_MAX)

static enum reason read_bool(struct cursor *c, bool *ret)
{
	uint8_t v;

	TRY(cursor_u8(c, &v));
	if (v > 1)
		return R_FORMAT_RANGE;
	*ret = v;
	return R_OK;
}

static enum reason read_common(struct cursor *c, struct tpm_attest *a)
{
	TRY(tpm2b_read(c, TPM_NAME_MAX, &a->signer));
	TRY(tpm2b_read(c, EXTRA_MAX, &a->extra));
	TRY(cursor_be64(c, &a->clock));
	TRY(cursor_be32(c, &a->reset_count));
	TRY(cursor_be32(c, &a->restart_count));
	TRY(read_bool(c, &a->safe));
	return cursor_be64(c, &a->firmware);
}

static enum reason read_attested(struct cursor *c, struct tpm_attest *a)
{
	if (a->type == TPM_ST_QUOTE) {
		TRY(pcr_selection_read(c, &a->selection));
		return tpm2b_read(c, DIGEST_MAX, &a->pcr_digest);
	}
	TRY(read_bool(c, &a->exclusive));
	return tpm2b_read(c, DIGEST_MAX, &a->session_digest);
}

static enum reason read_attest(struct bytes in, uint16_t type, struct tpm_attest *a)
{
	struct cursor c = cursor_of(in);
	uint32_t magic;

	if (in.n > LIMIT_TPM_ATTEST)
		return R_QUOTE_FORMAT;
	TRY(cursor_be32(&c, &magic));
	if (magic != TPM_MAGIC)
		return R_QUOTE_MAGIC;
	TRY(cursor_be16(&c, &a->type));
	if (a->type != type)
		return R_QUOTE_TYPE;
	TRY(read_common(&c, a));
	TRY(read_attested(&c, a));
	return cursor_end(&c);
}

static enum reason read_as(struct bytes in, uint16_t type, struct tpm_attest *ret)
{
	struct tpm_attest a = { 0 };
	enum reason r = read_attest(in, type, &a);

	if (r == R_QUOTE_MAGIC || r == R_QUOTE_TYPE)
		return r;
	if (r != R_OK)
		return R_QUOTE_FORMAT;
	*ret = a;
	return R_OK;
}

enum reason tpm_quote_read(struct bytes in, struct tpm_attest *ret)
{
	return read_as(in, TPM_ST_QUOTE, ret);
}

enum reason tpm_session_audit_read(struct bytes in, struct tpm_attest *ret)
{
	return read_as(in, TPM_ST_SESSION_AUDIT, ret);
}

enum reason tpm_attest_write(const struct tpm_attest *a, struct blob *ret)
{
	if (a->type != TPM_ST_QUOTE && a->type != TPM_ST_SESSION_AUDIT)
		return R_QUOTE_TYPE;
	TRY(blob_be32(ret, TPM_MAGIC));
	TRY(blob_be16(ret, a->type));
	TRY(tpm2b_write(a->signer, ret));
	TRY(tpm2b_write(a->extra, ret));
	TRY(blob_be64(ret, a->clock));
	TRY(blob_be32(ret, a->reset_count));
	TRY(blob_be32(ret, a->restart_count));
	TRY(blob_u8(ret, a->safe));
	TRY(blob_be64(ret, a->firmware));
	if (a->type == TPM_ST_QUOTE) {
		TRY(pcr_selection_write(&a->selection, ret));
		return tpm2b_write(a->pcr_digest, ret);
	}
	TRY(blob_u8(ret, a->exclusive));
	return tpm2b_write(a->session_digest, ret);
}
