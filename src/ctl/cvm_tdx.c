/* SPDX-License-Identifier: Apache-2.0 */
/* TDX and SGX quotes: judged, and shown in full. */
#include "appraise/tdx.h"
#include "base/cleanup.h"
#include "ctl/cvm.h"

static json_t *enclave_json(const struct tdx_enclave *e)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:i, s:i, s:i}", "cpu_svn", cvm_hex(e->cpu_svn),
			 "misc_select", cvm_hex(e->misc_select), "attributes", cvm_hex(e->attributes),
			 "mr_enclave", cvm_hex(e->mr_enclave), "mr_signer", cvm_hex(e->mr_signer), "config_id",
			 cvm_hex(e->config_id), "report_data", cvm_hex(e->report_data), "isv_prod_id",
			 e->isv_prod_id, "isv_svn", e->isv_svn, "config_svn", e->config_svn);
}

static json_t *td_json(const struct tdx_quote *q)
{
	const struct tdx_td *td = &q->td;
	const struct {
		const char *name;
		struct bytes value;
	} fields[] = {
		{ "tee_tcb_svn", td->tee_tcb_svn },	{ "mr_seam", td->mr_seam },
		{ "mr_signer_seam", td->mr_signer_seam }, { "seam_attributes", td->seam_attributes },
		{ "td_attributes", td->td_attributes },	{ "xfam", td->xfam },
		{ "mr_td", td->mr_td },			{ "mr_config_id", td->mr_config_id },
		{ "mr_owner", td->mr_owner },		{ "mr_owner_config", td->mr_owner_config },
		{ "rtmr0", td->rtmr[0] },		{ "rtmr1", td->rtmr[1] },
		{ "rtmr2", td->rtmr[2] },		{ "rtmr3", td->rtmr[3] },
		{ "report_data", td->report_data },	{ "tee_tcb_svn_2", td->tee_tcb_svn_2 },
		{ "mr_service_td", td->mr_service_td },
	};
	json_t *j = json_object();

	/* the last two are of TD 1.5 */
	for (size_t i = 0; i < ARRAY_LEN(fields); i++)
		if (fields[i].value.p)
			json_object_set_new(j, fields[i].name, cvm_hex(fields[i].value));
	return j;
}

static const char *body_name(enum tdx_body body)
{
	static const char *const names[] = { [TDX_BODY_SGX] = "SGX enclave", [TDX_BODY_TD_1_0] = "TDX 1.0",
					     [TDX_BODY_TD_1_5] = "TDX 1.5" };

	return names[body];
}

static json_t *quote_json(const struct tdx_quote *q)
{
	json_t *j = json_pack("{s:i, s:s, s:o, s:o, s:i, s:o, s:o, s:o}", "version", (int)q->version, "body",
			      body_name(q->body), "qe_vendor", cvm_hex(q->vendor), "user_data", cvm_hex(q->user_data),
			      "certification_type", (int)q->cert_type, "attestation_key", cvm_hex(q->attest_key),
			      "signature", cvm_hex(q->signature), "qe_authentication_data", cvm_hex(q->qe_auth));

	if (q->body == TDX_BODY_SGX)
		json_object_set_new(j, "enclave", enclave_json(&q->enclave));
	else
		json_object_set_new(j, "td", td_json(q));
	json_object_set_new(j, "quoting_enclave", enclave_json(&q->qe));
	return j;
}

static json_t *pck_json(const struct tdx_pck *p)
{
	json_t *parts = json_array();

	for (size_t i = 0; i < TDX_COMPONENTS; i++)
		json_array_append_new(parts, json_integer(p->component[i]));
	return json_pack("{s:o, s:o, s:o, s:o, s:i, s:o}", "fmspc", cvm_hex(p->fmspc), "pce_id", cvm_hex(p->pce_id),
			 "ppid", cvm_hex(p->ppid), "cpu_svn", cvm_hex(p->cpu_svn), "pce_svn", p->pce_svn,
			 "components", parts);
}

/* Texts in it are those of the collateral, which Intel signed. */
static json_t *level_json(const struct tdx_level *l)
{
	json_t *j = json_pack("{s:s, s:o}", "status", tdx_status_name(l->status), "date", cvm_text(l->date));
	json_t *advisories = json_loadb((const char *)l->advisories.p, l->advisories.n, 0, NULL);

	json_object_set_new(j, "advisories", advisories ? advisories : json_array());
	return j;
}

static json_t *statement_json(const struct tdx_statement *s, const struct tdx_head *head)
{
	return json_pack("{s:o, s:i, s:i, s:o, s:o, s:o}", "id", cvm_text(head->id), "version", (int)head->version,
			 "evaluation_data_number", (int)head->evaluation, "issued", cvm_time(head->issued),
			 "next_update", cvm_time(head->next_update), "chain", cvm_path(&s->path));
}

static json_t *tcb_json(const struct tdx_result *v)
{
	json_t *j = statement_json(&v->tcb, &v->tcb.tcb.head);

	json_object_set_new(j, "platform", level_json(&v->platform));
	if (v->quote.body != TDX_BODY_SGX)
		json_object_set_new(j, "module", level_json(&v->module));
	return j;
}

static json_t *identity_json(const struct tdx_result *v)
{
	json_t *j = statement_json(&v->identity, &v->identity.identity.head);

	json_object_set_new(j, "quoting_enclave", level_json(&v->qe));
	return j;
}

static json_t *result_json(const struct tdx_result *v)
{
	json_t *j = json_object();

	if (!v->read)
		return j;
	json_object_set_new(j, "quote", quote_json(&v->quote));
	json_object_set_new(j, "certificates_tried", json_integer((json_int_t)v->signer.candidates));
	if (v->signer.cert)
		json_object_set_new(j, "chain", cvm_path(&v->signer.path));
	if (v->has_pck)
		json_object_set_new(j, "platform", pck_json(&v->pck));
	json_object_set_new(j, "tcb_status",
			    json_string(tdx_status_name(v->has_tcb ? v->status : TDX_STATUS_UNKNOWN)));
	if (v->has_tcb)
		json_object_set_new(j, "tcb_info", tcb_json(v));
	if (v->has_identity)
		json_object_set_new(j, "qe_identity", identity_json(v));
	json_object_set_new(j, "nonce_checked", json_boolean(v->nonce_checked));
	return j;
}

enum reason cvm_tdx(const struct cvm_request *q, struct cvm_answer *ret, size_t max, size_t *ret_count)
{
	struct tdx_result v;

	(void)max;
	ret->reason = tdx_verify(&q->e, q->test_pin ? q->test_pin : tdx_intel_root, q->folder->object,
				 q->folder->objects, &v);
	ret->notes = v.notes;
	ret->what = v.read ? body_name(v.quote.body) : NULL;
	ret->json = result_json(&v);
	tdx_result_free(&v);
	*ret_count = 1;
	return R_OK;
}
