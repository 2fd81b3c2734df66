/* SPDX-License-Identifier: Apache-2.0 */
/* SEV-SNP reports: judged, and shown in full. */
#include <stdio.h>

#include "appraise/snp.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "ctl/cvm.h"

static json_t *tcb_json(const struct snp_result *v, struct bytes raw, const struct snp_tcb *t)
{
	json_t *j = json_pack("{s:o}", "raw", cvm_hex(raw));

	if (!v->has_tcb)
		return j;
	if (t->has_fmc)
		json_object_set_new(j, "fmc", json_integer(t->fmc));
	json_object_set_new(j, "bootloader", json_integer(t->bootloader));
	json_object_set_new(j, "tee", json_integer(t->tee));
	json_object_set_new(j, "snp", json_integer(t->snp));
	json_object_set_new(j, "microcode", json_integer(t->microcode));
	return j;
}

static json_t *policy_json(uint64_t policy)
{
	static const struct {
		const char *name;
		uint64_t bit;
	} bits[] = {
		{ "smt", SNP_POLICY_SMT },
		{ "migration_agent", SNP_POLICY_MIGRATE },
		{ "debug", SNP_POLICY_DEBUG },
		{ "single_socket", SNP_POLICY_SINGLE_SOCKET },
		{ "cxl", SNP_POLICY_CXL },
		{ "memory_aes_256", SNP_POLICY_AES_256 },
		{ "no_rapl", SNP_POLICY_NO_RAPL },
		{ "ciphertext_hiding", SNP_POLICY_CIPHERTEXT_HIDING },
	};
	char raw[19];
	json_t *j;

	snprintf(raw, sizeof(raw), "0x%016llx", (unsigned long long)policy);
	j = json_pack("{s:s, s:i, s:i}", "raw", raw, "abi_major", (int)(policy >> 8 & 0xff), "abi_minor",
		      (int)(policy & 0xff));
	for (size_t i = 0; i < ARRAY_LEN(bits); i++)
		json_object_set_new(j, bits[i].name, json_boolean(policy & bits[i].bit));
	return j;
}

static json_t *firmware_json(const struct snp_firmware *f)
{
	return json_sprintf("%u.%u.%u", f->major, f->minor, f->build);
}

static json_t *platform_json(uint64_t info)
{
	static const char *const names[] = { "smt", "tsme", "ecc", "rapl_disabled", "ciphertext_hiding",
					     "alias_check_complete", NULL, "tio" };
	json_t *j = json_pack("{s:o}", "raw", json_sprintf("0x%016llx", (unsigned long long)info));

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (names[i])
			json_object_set_new(j, names[i], json_boolean(info >> i & 1));
	return j;
}

static json_t *report_json(const struct snp_result *v)
{
	const struct snp_report *r = &v->report;
	const struct {
		const char *name;
		struct bytes value;
	} fields[] = {
		{ "report_data", r->report_data },	{ "measurement", r->measurement },
		{ "host_data", r->host_data },		{ "family_id", r->family_id },
		{ "image_id", r->image_id },		{ "id_key_digest", r->id_key_digest },
		{ "author_key_digest", r->author_key_digest }, { "report_id", r->report_id },
		{ "report_id_migration_agent", r->report_id_ma }, { "chip_id", r->chip_id },
		{ "signature", BYTES(r->signature) },
	};
	json_t *j = json_pack("{s:i, s:I, s:i, s:s, s:b, s:o, s:o}", "version", (int)r->version, "guest_svn",
			      (json_int_t)r->guest_svn, "vmpl", (int)r->vmpl, "signing_key",
			      r->signer == SNP_VLEK ? "VLEK" : "VCEK", "author_key_given", r->author_key,
			      "policy", policy_json(r->policy), "platform", platform_json(r->platform_info));

	for (size_t i = 0; i < ARRAY_LEN(fields); i++)
		json_object_set_new(j, fields[i].name, cvm_hex(fields[i].value));
	json_object_set_new(j, "current_tcb", tcb_json(v, r->current_tcb, &v->current));
	json_object_set_new(j, "reported_tcb", tcb_json(v, r->reported_tcb, &v->reported));
	json_object_set_new(j, "committed_tcb", tcb_json(v, r->committed_tcb, &v->committed));
	json_object_set_new(j, "launch_tcb", tcb_json(v, r->launch_tcb, &v->launch));
	json_object_set_new(j, "current_firmware", firmware_json(&r->current));
	json_object_set_new(j, "committed_firmware", firmware_json(&r->committed));
	if (r->version >= 3)
		json_object_set_new(j, "cpuid", json_pack("{s:i, s:i, s:i}", "family", r->cpu_family, "model",
							  r->cpu_model, "stepping", r->cpu_stepping));
	if (r->version >= 5) {
		json_object_set_new(j, "launch_mitigations",
				    json_sprintf("0x%016llx", (unsigned long long)r->launch_mitigations));
		json_object_set_new(j, "current_mitigations",
				    json_sprintf("0x%016llx", (unsigned long long)r->current_mitigations));
	}
	return j;
}

static json_t *result_json(const struct snp_result *v)
{
	json_t *j = json_object();

	if (!v->read)
		return j;
	json_object_set_new(j, "report", report_json(v));
	json_object_set_new(j, "product", json_string(snp_product_name(v->product)));
	json_object_set_new(j, "certificates_tried", json_integer((json_int_t)v->signer.candidates));
	if (v->signer.cert)
		json_object_set_new(j, "chain", cvm_path(&v->signer.path));
	if (v->key.provider.n > 0)
		json_object_set_new(j, "provider", cvm_text(v->key.provider));
	json_object_set_new(j, "nonce_checked", json_boolean(v->nonce_checked));
	json_object_set_new(j, "tcb_status", json_string(v->minimum_checked ? "at least the minimum" : "unknown"));
	return j;
}

enum reason cvm_snp(const struct cvm_request *q, struct cvm_answer *ret, size_t max, size_t *ret_count)
{
	/* the test build's root is of a Turin, whose layout is the longest */
	static const enum snp_product test_product[] = { SNP_TURIN };
	const struct snp_roots test_roots = { q->test_pin, test_product, 1 };
	const char *text = option(q->options, "minimum-tcb");
	uint8_t minimum[SNP_TCB_LEN];
	struct snp_result v;

	(void)max;
	if (text && hex_decode(bytes_str(text), minimum, sizeof(minimum)) != R_OK)
		return R_USAGE;
	ret->reason = snp_verify(&q->e, q->test_pin ? &test_roots : snp_amd_roots(),
				 text ? BYTES(minimum) : BYTES_NONE, &v);
	ret->notes = v.notes;
	ret->json = result_json(&v);
	*ret_count = 1;
	return R_OK;
}
