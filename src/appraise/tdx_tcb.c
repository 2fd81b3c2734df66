/* SPDX-License-Identifier: Apache-2.0 */
#include "appraise/tdx_tcb.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "format/jview.h"

/* ---- which collateral, and who signed it ------------------------------------ */

static bool is_tcb_signer(const struct chain_cert *c, const void *context)
{
	return strcmp(c->name, context) == 0;
}

static enum reason check_signer(const struct cvm_evidence *e, const uint8_t (*root)[SHA256_LEN],
				struct bytes text, struct bytes signature, struct chain_path *ret)
{
	uint8_t digest[SHA256_LEN];
	const struct cvm_signed s = {
		.digest = BYTES(digest),
		.signature = signature,
		.curve = CHAIN_CURVE_P256,
		.kind = is_tcb_signer,
		.context = "Intel SGX TCB Signing",
	};
	struct cvm_signer signer;
	enum reason r;

	TRY(sha256(text, digest));
	r = cvm_find_signer(e, &s, root, 1, &signer);
	*ret = signer.path;
	/* only of one that is late is it said, as that could be Intel's */
	return r == R_OK || chain_is_late(r) ? r : R_TDX_COLLATERAL;
}

/* Is it for this platform, or this kind of quoting enclave? */
static enum reason read_wanted(const struct tdx_result *v, enum tdx_collateral kind,
			       struct tdx_statement *s, bool *ret_wanted)
{
	bool td = v->quote.body != TDX_BODY_SGX;

	if (kind == TDX_IDENTITY) {
		TRY(tdx_identity_read(blob_bytes(&s->text), &s->identity));
		*ret_wanted = bytes_equal(s->identity.head.id, bytes_str(td ? "TD_QE" : "QE"));
		/* version 1 has no id, and SGX only */
		*ret_wanted |= !td && s->identity.head.id.n == 0;
		return R_OK;
	}
	TRY(tdx_tcb_info_read(blob_bytes(&s->text), &s->tcb));
	*ret_wanted = bytes_equal(BYTES(s->tcb.fmspc), v->pck.fmspc) &&
		      bytes_equal(BYTES(s->tcb.pce_id), v->pck.pce_id) &&
		      (bytes_equal(s->tcb.head.id, bytes_str(td ? "TDX" : "SGX")) ||
		       (!td && s->tcb.head.id.n == 0));
	return R_OK;
}

static const struct tdx_head *head_of(const struct tdx_statement *s, enum tdx_collateral kind)
{
	return kind == TDX_IDENTITY ? &s->identity.head : &s->tcb.head;
}

static bool newer(const struct tdx_head *a, const struct tdx_head *b)
{
	return a->evaluation != b->evaluation ? a->evaluation > b->evaluation : a->issued > b->issued;
}

/*
 * The newest that Intel signed. When there are only others: R_TDX_COLLATERAL, or
 * what is wrong with the chain of the last one's signer.
 */
static enum reason find_statement(const struct cvm_evidence *e, const uint8_t (*root)[SHA256_LEN],
				  const struct blob *object, size_t objects, enum tdx_collateral kind,
				  struct tdx_result *v, struct tdx_statement *ret, bool *ret_found)
{
	enum reason bad = R_OK;

	for (size_t i = 0; i < objects; i++) {
		_cleanup_(blob_free) struct blob text = BLOB(TDX_TEXT_MAX);
		uint8_t signature[TDX_SIGNATURE_LEN];
		struct tdx_statement s = { .text = BLOB(0) };
		bool wanted = true;
		enum reason r = tdx_collateral_find(blob_bytes(&object[i]), kind, &text, signature);

		if (r == R_FORMAT_MISSING_KEY)
			continue;
		s.text = text;
		if (r == R_OK)
			r = read_wanted(v, kind, &s, &wanted);
		if (r == R_OK && wanted)
			r = check_signer(e, root, blob_bytes(&text), BYTES(signature), &s.path);
		if (r != R_OK)
			bad = chain_is_late(r) ? r : R_TDX_COLLATERAL;
		if (r != R_OK || !wanted ||
		    (*ret_found && !newer(head_of(&s, kind), head_of(ret, kind))))
			continue;
		blob_free(&ret->text);
		*ret = s;
		*ret_found = true;
		text = BLOB(0);
	}
	return *ret_found ? R_OK : bad;
}

/* Is it of this time? */
static bool note_times(const struct cvm_evidence *e, const struct tdx_statement *s,
		       const struct tdx_head *head, struct tdx_result *v)
{
	bool current = head->issued <= e->now && e->now <= head->next_update;

	for (size_t i = 0; i + 1 < s->path.count; i++)
		cvm_note_revocation(&v->notes, &s->path, i);
	if (!current)
		cvm_note(&v->notes, R_TDX_COLLATERAL_STALE);
	return current;
}

/* ---- what it says ----------------------------------------------------------- */

static bool masked_equal(struct bytes value, const uint8_t *want, const uint8_t *mask)
{
	for (size_t i = 0; i < value.n; i++)
		if ((value.p[i] & mask[i]) != (want[i] & mask[i]))
			return false;
	return true;
}

/* The first level of an enclave or module that is not above `svn`. */
static enum reason svn_level(struct bytes levels, uint32_t svn, struct tdx_level *ret)
{
	struct jview_iterator it;

	for (bool more = jview_first(levels, &it); more; more = jview_next(&it)) {
		TRY(tdx_level_read(it.value, ret));
		if (!ret->has_isv_svn)
			return R_TDX_COLLATERAL;
		if (ret->isv_svn <= svn)
			return R_OK;
	}
	*ret = (struct tdx_level){ 0 };
	return R_TDX_TCB_UNSUPPORTED;
}

static enum reason judge_enclave(struct tdx_result *v)
{
	const struct tdx_identity *id = &v->identity.identity;
	const struct tdx_enclave *qe = &v->quote.qe;

	if (!bytes_equal(qe->mr_signer, BYTES(id->mr_signer)) || qe->isv_prod_id != id->isv_prod_id ||
	    !masked_equal(qe->attributes, id->attributes, id->attributes_mask) ||
	    !masked_equal(qe->misc_select, id->misc_select, id->misc_mask))
		return R_TDX_QE_IDENTITY;
	return svn_level(id->head.levels, qe->isv_svn, &v->qe);
}

/*
 * TEE_TCB_SVN: module's minor version, major version, then other parts. From
 * major version 1 the module has a list of levels of its own.
 */
static enum reason judge_module(struct tdx_result *v, bool current)
{
	const struct tdx_tcb_info *info = &v->tcb.tcb;
	const struct tdx_td *td = &v->quote.td;
	struct tdx_module m = { 0 };
	char id[16];

	if (!info->has_module)
		return R_TDX_COLLATERAL;
	if (td->tee_tcb_svn.p[1] == 0) {
		memcpy(m.signer, info->module_signer, sizeof(m.signer));
		memcpy(m.attributes, info->module_attributes, sizeof(m.attributes));
		memcpy(m.mask, info->module_mask, sizeof(m.mask));
	} else {
		snprintf(id, sizeof(id), "TDX_%02X", td->tee_tcb_svn.p[1]);
		enum reason r = tdx_module_find(info->modules, id, &m);
		/* old collateral does not know a newer module */
		if (r == R_FORMAT_MISSING_KEY && !current) {
			cvm_note(&v->notes, R_TDX_TCB_UNKNOWN);
			return R_OK;
		}
		if (r != R_OK)
			return R_TDX_MODULE;
	}
	if (!bytes_equal(td->mr_signer_seam, BYTES(m.signer)) ||
	    !masked_equal(td->seam_attributes, m.attributes, m.mask))
		return R_TDX_MODULE;
	if (td->tee_tcb_svn.p[1] == 0)
		return R_OK;
	return svn_level(m.levels, td->tee_tcb_svn.p[0], &v->module);
}

static bool level_fits(const struct tdx_level *level, const struct tdx_result *v)
{
	bool td = v->quote.body != TDX_BODY_SGX;
	const uint8_t *svn = td ? v->quote.td.tee_tcb_svn.p : NULL;

	if (v->pck.pce_svn < level->pce_svn)
		return false;
	for (size_t i = 0; i < TDX_COMPONENTS; i++) {
		if (v->pck.component[i] < level->sgx[i])
			return false;
		/* the first two are the module's, which has its own levels then */
		if (td && !(i < 2 && svn[1] > 0) && svn[i] < level->tdx[i])
			return false;
	}
	return true;
}

static enum reason judge_platform(struct tdx_result *v)
{
	bool td = v->quote.body != TDX_BODY_SGX;
	struct jview_iterator it;

	for (bool more = jview_first(v->tcb.tcb.head.levels, &it); more; more = jview_next(&it)) {
		struct tdx_level level;

		TRY(tdx_level_read(it.value, &level));
		if (!level.has_sgx || (td && !level.has_tdx))
			return R_TDX_COLLATERAL;
		if (level_fits(&level, v)) {
			v->platform = level;
			return R_OK;
		}
	}
	return R_TDX_TCB_UNSUPPORTED;
}

/* A platform is not better than its module and its quoting enclave. */
static enum tdx_status together(enum tdx_status a, enum tdx_status part)
{
	if (a == TDX_STATUS_UNKNOWN || part == TDX_REVOKED)
		return part;
	if (part < TDX_OUT_OF_DATE)
		return a > part ? a : part;
	if (a == TDX_CONFIGURATION || a == TDX_CONFIGURATION_SW_HARDENING)
		return TDX_OUT_OF_DATE_CONFIGURATION;
	return a > part ? a : part;
}

static enum reason judge_status(struct tdx_result *v)
{
	v->status = together(v->platform.status, v->module.status);
	v->status = together(v->status, v->qe.status);
	switch (v->status) {
	case TDX_STATUS_UNKNOWN:
	case TDX_UP_TO_DATE:
		return R_OK;
	case TDX_SW_HARDENING:
	case TDX_CONFIGURATION:
	case TDX_CONFIGURATION_SW_HARDENING:
		cvm_note(&v->notes, R_TDX_TCB_CONFIGURATION);
		return R_OK;
	case TDX_OUT_OF_DATE:
	case TDX_OUT_OF_DATE_CONFIGURATION:
		return R_TDX_TCB_OUT_OF_DATE;
	case TDX_REVOKED:
		break;
	}
	return R_TDX_TCB_REVOKED;
}

enum reason tdx_tcb_judge(const struct cvm_evidence *e, const uint8_t (*root)[SHA256_LEN],
			  const struct blob *object, size_t objects, struct tdx_result *v)
{
	TRY(find_statement(e, root, object, objects, TDX_IDENTITY, v, &v->identity, &v->has_identity));
	TRY(find_statement(e, root, object, objects, TDX_TCB_INFO, v, &v->tcb, &v->has_tcb));
	if (v->has_identity) {
		(void)note_times(e, &v->identity, &v->identity.identity.head, v);
		TRY(judge_enclave(v));
	} else {
		cvm_note(&v->notes, R_TDX_QE_UNKNOWN);
	}
	if (v->has_tcb) {
		bool current = note_times(e, &v->tcb, &v->tcb.tcb.head, v);

		if (v->quote.body != TDX_BODY_SGX)
			TRY(judge_module(v, current));
		TRY(judge_platform(v));
	} else {
		cvm_note(&v->notes, R_TDX_TCB_UNKNOWN);
	}
	return judge_status(v);
}
