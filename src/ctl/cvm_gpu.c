/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GPUs and switches: one piece of evidence, or a JSON list of them as NVIDIA's
 * tools write it. What such a list says beside the evidence is not believed.
 */
#include <string.h>

#include "appraise/gpu.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "ctl/cvm.h"
#include "format/jview.h"
#include "format/unwrap.h"

static json_t *fields_json(const struct gpu_report *r)
{
	json_t *list = json_array();

	for (size_t i = 0; i < r->fields; i++) {
		const char *name = gpu_field_name(r->field[i].type);

		json_array_append_new(list, json_pack("{s:i, s:s, s:o}", "type", r->field[i].type, "name",
						      name ? name : "", "value", cvm_hex(r->field[i].value)));
	}
	return list;
}

static json_t *blocks_json(const struct gpu_report *r)
{
	json_t *list = json_array();

	for (size_t i = 0; i < r->blocks; i++)
		json_array_append_new(list, json_pack("{s:i, s:i, s:o}", "index", r->block[i].index, "type",
						      r->block[i].type, "value", cvm_hex(r->block[i].value)));
	return list;
}

/* A text with NULs behind it. */
static json_t *text_json(struct bytes value)
{
	while (value.n > 0 && value.p[value.n - 1] == 0)
		value.n--;
	return cvm_text(value);
}

static json_t *result_json(const struct gpu_result *v)
{
	const struct gpu_report *r = &v->report;
	json_t *j = json_object();
	char vbios[GPU_VBIOS_TEXT];

	if (!v->read)
		return j;
	gpu_vbios_text(gpu_field(r, GPU_OPAQUE_VBIOS), vbios);
	json_object_set_new(j, "nonce", cvm_hex(r->nonce));
	json_object_set_new(j, "responder_nonce", cvm_hex(r->responder_nonce));
	json_object_set_new(j, "slot", json_integer(r->slot));
	json_object_set_new(j, "signature", cvm_hex(r->signature));
	json_object_set_new(j, "driver_version", text_json(gpu_field(r, GPU_OPAQUE_DRIVER)));
	json_object_set_new(j, "vbios_version", json_string(vbios));
	json_object_set_new(j, "opaque", fields_json(r));
	json_object_set_new(j, "measurements", blocks_json(r));
	json_object_set_new(j, "reference", json_string("unknown"));
	json_object_set_new(j, "certificates_tried", json_integer((json_int_t)v->signer.candidates));
	if (v->signer.cert) {
		json_object_set_new(j, "device", json_string(v->signer.cert->name));
		json_object_set_new(j, "certificate_fwid", cvm_hex(v->fwid));
		json_object_set_new(j, "chain", cvm_path(&v->signer.path));
	}
	json_object_set_new(j, "nonce_checked", json_boolean(v->nonce_checked));
	return j;
}

/* Devices of one list, by their keys. */
struct devices {
	uint8_t (*spki)[SHA256_LEN];
	size_t n;
};

/* One device's word twice would pass for that of two. `seen` has room for one more. */
static enum reason check_once(struct devices *seen, const struct chain_cert *c)
{
	for (size_t i = 0; i < seen->n; i++)
		if (memcmp(seen->spki[i], c->spki, SHA256_LEN) == 0)
			return R_GPU_TWICE;
	memcpy(seen->spki[seen->n++], c->spki, SHA256_LEN);
	return R_OK;
}

static enum reason judge_one(const struct cvm_request *q, struct bytes evidence, struct devices *seen,
			     struct cvm_answer *ret)
{
	struct cvm_evidence e = q->e;
	struct gpu_result *v = calloc(1, sizeof(*v));

	if (!v)
		return R_INTERNAL_MEMORY;
	e.bytes = evidence;
	ret->reason = gpu_verify(&e, q->test_pin ? q->test_pin : gpu_nvidia_root, v);
	if (ret->reason == R_OK)
		ret->reason = check_once(seen, v->signer.cert);
	ret->notes = v->notes;
	ret->json = result_json(v);
	free(v);
	return R_OK;
}

/* {"evidence": base64, ...} */
static enum reason judge_element(const struct cvm_request *q, struct bytes element, struct devices *seen,
				 struct cvm_answer *ret)
{
	_cleanup_(blob_free) struct blob raw = BLOB(0);
	struct bytes value, text;

	if (jview_member(element, "evidence", &value) != R_OK || jview_plain(value, &text) != R_OK ||
	    unwrap_text(text, &raw) != R_OK)
		return R_CVM_EVIDENCE;
	return judge_one(q, blob_bytes(&raw), seen, ret);
}

enum reason cvm_gpu(const struct cvm_request *q, struct cvm_answer *ret, size_t max, size_t *ret_count)
{
	_cleanup_free_ uint8_t (*spki)[SHA256_LEN] = calloc(max, sizeof(*spki));
	struct devices seen = { spki, 0 };
	struct jview_iterator it;
	struct bytes document;

	if (!spki)
		return R_INTERNAL_MEMORY;
	if (jview_read(q->e.bytes, &document) != R_OK || !jview_is_array(document)) {
		TRY(judge_one(q, q->e.bytes, &seen, ret));
		*ret_count = 1;
		return R_OK;
	}
	for (bool more = jview_first(document, &it); more; more = jview_next(&it)) {
		if (*ret_count == max)
			return R_FORMAT_TOO_LARGE;
		TRY(judge_element(q, it.value, &seen, &ret[*ret_count]));
		++*ret_count;
	}
	return *ret_count ? R_OK : R_CVM_EVIDENCE;
}
