/* SPDX-License-Identifier: Apache-2.0 */
#include "format/tdx.h"

#include "base/cleanup.h"

enum {
	TEE_SGX = 0x00,
	TEE_TDX = 0x81,
	ECDSA_P256 = 2,
	BODY_SGX = 1,
	BODY_TD_1_0 = 2,
	BODY_TD_1_5 = 3,
	TD_1_0_LEN = 584,
	TD_1_5_LEN = 648,
	CERT_QE_REPORT = 6,
};

static enum reason skip(struct cursor *c, size_t n)
{
	struct bytes reserved;

	return cursor_take(c, n, &reserved);
}

static enum reason enclave_read(struct cursor *c, struct tdx_enclave *ret)
{
	TRY(cursor_take(c, 16, &ret->cpu_svn));
	TRY(cursor_take(c, 4, &ret->misc_select));
	TRY(skip(c, 28));
	TRY(cursor_take(c, 16, &ret->attributes));
	TRY(cursor_take(c, 32, &ret->mr_enclave));
	TRY(skip(c, 32));
	TRY(cursor_take(c, 32, &ret->mr_signer));
	TRY(skip(c, 32));
	TRY(cursor_take(c, 64, &ret->config_id));
	TRY(cursor_le16(c, &ret->isv_prod_id));
	TRY(cursor_le16(c, &ret->isv_svn));
	TRY(cursor_le16(c, &ret->config_svn));
	TRY(skip(c, 58));
	return cursor_take(c, 64, &ret->report_data);
}

static enum reason td_read(struct cursor *c, bool is_1_5, struct tdx_td *ret)
{
	TRY(cursor_take(c, 16, &ret->tee_tcb_svn));
	TRY(cursor_take(c, 48, &ret->mr_seam));
	TRY(cursor_take(c, 48, &ret->mr_signer_seam));
	TRY(cursor_take(c, 8, &ret->seam_attributes));
	TRY(cursor_take(c, 8, &ret->td_attributes));
	TRY(cursor_take(c, 8, &ret->xfam));
	TRY(cursor_take(c, 48, &ret->mr_td));
	TRY(cursor_take(c, 48, &ret->mr_config_id));
	TRY(cursor_take(c, 48, &ret->mr_owner));
	TRY(cursor_take(c, 48, &ret->mr_owner_config));
	for (size_t i = 0; i < TDX_RTMRS; i++)
		TRY(cursor_take(c, 48, &ret->rtmr[i]));
	TRY(cursor_take(c, 64, &ret->report_data));
	if (!is_1_5)
		return R_OK;
	TRY(cursor_take(c, 16, &ret->tee_tcb_svn_2));
	return cursor_take(c, 48, &ret->mr_service_td);
}

static enum reason header_read(struct cursor *c, struct tdx_quote *q)
{
	uint16_t key_type;

	TRY(cursor_le16(c, &q->version));
	TRY(cursor_le16(c, &key_type));
	TRY(cursor_le32(c, &q->tee_type));
	if (q->tee_type != TEE_SGX && q->tee_type != TEE_TDX)
		return R_CVM_EVIDENCE;
	if (q->version < 3 || q->version > 5 || (q->version == 3 && q->tee_type != TEE_SGX))
		return R_TDX_VERSION;
	if (key_type != ECDSA_P256)
		return R_TDX_ALGORITHM;
	TRY(skip(c, 4));
	TRY(cursor_take(c, 16, &q->vendor));
	return cursor_take(c, 20, &q->user_data);
}

/* Version 5 says which body follows; before it the type of TEE does. */
static enum reason body_type(struct cursor *c, struct tdx_quote *q)
{
	static const uint32_t lengths[] = { [BODY_SGX] = TDX_ENCLAVE_LEN, [BODY_TD_1_0] = TD_1_0_LEN,
					    [BODY_TD_1_5] = TD_1_5_LEN };
	uint16_t type;
	uint32_t len;

	if (q->version < 5) {
		q->body = q->tee_type == TEE_SGX ? TDX_BODY_SGX : TDX_BODY_TD_1_0;
		return R_OK;
	}
	TRY(cursor_le16(c, &type));
	TRY(cursor_le32(c, &len));
	if (type < BODY_SGX || type > BODY_TD_1_5 || len != lengths[type] ||
	    (type == BODY_SGX) != (q->tee_type == TEE_SGX))
		return R_TDX_FORMAT;
	q->body = (enum tdx_body)(type - BODY_SGX);
	return R_OK;
}

static enum reason body_read(struct cursor *c, struct tdx_quote *q)
{
	TRY(body_type(c, q));
	if (q->body == TDX_BODY_SGX) {
		TRY(enclave_read(c, &q->enclave));
		q->report_data = q->enclave.report_data;
		return R_OK;
	}
	TRY(td_read(c, q->body == TDX_BODY_TD_1_5, &q->td));
	q->report_data = q->td.report_data;
	return R_OK;
}

/* The quoting enclave's report, its signature, and whose that is. */
static enum reason certification_read(struct cursor *c, struct tdx_quote *q)
{
	struct cursor qe;
	uint16_t n;
	uint32_t len;

	TRY(cursor_take(c, TDX_ENCLAVE_LEN, &q->qe_report));
	qe = cursor_of(q->qe_report);
	TRY(enclave_read(&qe, &q->qe));
	TRY(cursor_take(c, TDX_SIGNATURE_LEN, &q->qe_signature));
	TRY(cursor_le16(c, &n));
	TRY(cursor_take(c, n, &q->qe_auth));
	TRY(cursor_le16(c, &q->cert_type));
	TRY(cursor_le32(c, &len));
	TRY(cursor_take(c, len, &q->cert_data));
	return cursor_end(c);
}

static enum reason signature_read(struct bytes in, struct tdx_quote *q)
{
	struct cursor c = cursor_of(in);
	struct bytes inner;
	uint16_t type;
	uint32_t len;

	TRY(cursor_take(&c, TDX_SIGNATURE_LEN, &q->signature));
	TRY(cursor_take(&c, TDX_SIGNATURE_LEN, &q->attest_key));
	if (q->version == 3)
		return certification_read(&c, q);
	TRY(cursor_le16(&c, &type));
	TRY(cursor_le32(&c, &len));
	if (type != CERT_QE_REPORT)
		return R_TDX_FORMAT;
	TRY(cursor_take(&c, len, &inner));
	TRY(cursor_end(&c));
	c = cursor_of(inner);
	return certification_read(&c, q);
}

enum reason tdx_quote_read(struct bytes in, struct tdx_quote *ret)
{
	struct cursor c = cursor_of(in);
	struct tdx_quote q = { 0 };
	struct bytes signature;
	enum reason r;
	uint32_t len;

	TRY(header_read(&c, &q));
	TRY(body_read(&c, &q));
	q.signed_part = bytes_of(in.p, c.offset);
	TRY(cursor_le32(&c, &len));
	TRY(cursor_take(&c, len, &signature));
	r = signature_read(signature, &q);
	/* what is inside has lengths of its own that must fit */
	if (r != R_OK)
		return R_TDX_FORMAT;
	q.rest = bytes_of(c.p, c.n);
	*ret = q;
	return R_OK;
}
