/* SPDX-License-Identifier: Apache-2.0 */
/* verdict show, manifest show: what a signed file says, and who signed it. */
#include <stdio.h>
#include <string.h>

#include "base/base64.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "ctl/client.h"
#include "ctl/ctl.h"
#include "ctl/keys.h"
#include "format/manifest.h"
#include "format/verdict.h"

static void hex_line(const char *name, struct bytes value)
{
	char hex[2 * 64 + 1];

	hex_encode(value, hex);
	printf("%-17s %s\n", name, hex);
}

static void hex_member(json_t *j, const char *name, struct bytes value)
{
	char hex[2 * 64 + 1];

	hex_encode(value, hex);
	json_object_set_new(j, name, json_string(hex));
}

/* ---- verdict ----------------------------------------------------------------------- */

static const char *tier(int8_t status)
{
	switch (status) {
	case EAR_AFFIRMING:
		return "affirming";
	case EAR_WARNING:
		return "warning";
	case EAR_CONTRAINDICATED:
		return "contraindicated";
	default:
		return "none";
	}
}

static void verdict_print(const struct verdict *v, const char *signer)
{
	printf("%-17s %s\n", "directive", directive_name(v->directive));
	printf("%-17s %s\n", "stage", stage_name(v->stage));
	printf("%-17s %s\n", "status", tier(v->status));
	printf("%-17s %s\n", "node", v->node);
	printf("%-17s %s\n", "basis", v->basis);
	printf("%-17s %s\n", "policy", v->policy);
	printf("%-17s %u s\n", "lifetime", v->lifetime);
	if (v->retry_after)
		printf("%-17s %u s\n", "retry after", v->retry_after);
	hex_line("nonce", BYTES(v->nonce));
	hex_line("ak name", BYTES(v->ak_name));
	hex_line("evidence", BYTES(v->evidence_digest));
	if (v->has_manifest)
		hex_line("manifest", BYTES(v->manifest_digest));
	for (size_t i = 0; i < v->submod_count; i++)
		printf("%-17s %s: %s\n", i ? "" : "submods", v->submod[i].name, tier(v->submod[i].status));
	for (size_t i = 0; i < v->reason_count; i++)
		printf("%-17s %s: %s\n", i ? "" : "reasons", v->reason[i].name, v->reason[i].detail);
	printf("%-17s %s\n", "signature", signer);
}

static void verdict_print_json(const struct verdict *v, const char *signer)
{
	_cleanup_(client_free) json_t *j = json_object();
	json_t *list = json_array();

	json_object_set_new(j, "directive", json_string(directive_name(v->directive)));
	json_object_set_new(j, "stage", json_string(stage_name(v->stage)));
	json_object_set_new(j, "status", json_string(tier(v->status)));
	json_object_set_new(j, "node", json_string(v->node));
	json_object_set_new(j, "basis", json_string(v->basis));
	json_object_set_new(j, "policy", json_string(v->policy));
	json_object_set_new(j, "issued_at", json_integer((json_int_t)v->issued_at));
	json_object_set_new(j, "lifetime", json_integer(v->lifetime));
	json_object_set_new(j, "retry_after", json_integer(v->retry_after));
	hex_member(j, "nonce", BYTES(v->nonce));
	hex_member(j, "ak_name", BYTES(v->ak_name));
	hex_member(j, "evidence_sha256", BYTES(v->evidence_digest));
	if (v->has_manifest)
		hex_member(j, "manifest_sha256", BYTES(v->manifest_digest));
	for (size_t i = 0; i < v->reason_count; i++)
		json_array_append_new(list, json_pack("{s:s,s:s}", "reason", v->reason[i].name, "detail",
						      v->reason[i].detail));
	json_object_set_new(j, "reasons", list);
	list = json_object();
	for (size_t i = 0; i < v->submod_count; i++)
		json_object_set_new(list, v->submod[i].name, json_string(tier(v->submod[i].status)));
	json_object_set_new(j, "submods", list);
	json_object_set_new(j, "signature", json_string(signer));
	json_dumpf(j, stdout, JSON_INDENT(2) | JSON_SORT_KEYS);
	putchar('\n');
}

static enum reason verdict_bytes(const struct options *o, struct blob *ret)
{
	_cleanup_(client_free) json_t *a = NULL;

	if (!option(o, "node"))
		return ctl_read_file(o->argument[0], LIMIT_VERDICT, ret);
	TRY(client_get(o, CLIENT_PATH("verdict", option(o, "node")), NULL, &a));
	return base64_decode(bytes_str(member_text(a, "verdict")), ret);
}

int ctl_verdict_show(int argc, char **argv)
{
	static const struct option_rule rules[] = { READ_OPTIONS, { "node", false, false }, { "keys", false, false } };
	_cleanup_(blob_free) struct blob cose = BLOB(LIMIT_VERDICT);
	_cleanup_free_ struct verdict *v = calloc(1, sizeof(*v));
	char signer[128] = "not checked (give --keys FOLDER)";
	struct pinned_keys keys;
	struct bytes payload;
	struct options o;
	size_t which;

	if (!v || !options_read(argc, argv, rules, ARRAY_LEN(rules), &o) ||
	    o.arguments != (option(&o, "node") ? 0u : 1u))
		return CTL_USAGE;
	enum reason r = verdict_bytes(&o, &cose);
	if (r == R_OK && option(&o, "keys")) {
		r = ctl_keys(option(&o, "keys"), &keys);
		if (r == R_OK)
			r = cose_sign1_verify(blob_bytes(&cose), COSE_AAD_VERDICT, &keys, &payload, &which);
		if (r == R_OK)
			snprintf(signer, sizeof(signer), "good, by %s", keys.key[which].name);
	} else if (r == R_OK) {
		r = cose_payload(blob_bytes(&cose), &payload);
	}
	if (r == R_OK)
		r = verdict_read(payload, v);
	if (r != R_OK)
		return ctl_refused(r, o.arguments ? o.argument[0] : option(&o, "node"));
	if (option_flag(&o, "json"))
		verdict_print_json(v, signer);
	else
		verdict_print(v, signer);
	return 0;
}

/* ---- manifest ------------------------------------------------------------------------- */

static void manifest_print(const struct manifest *m, const char *signer)
{
	static const char *const types[PARAMETER_TYPE_MAX] = { "hex", "address", "host", "number" };

	printf("%-17s %s\n", "line", m->line);
	printf("%-17s %s\n", "version", m->version);
	printf("%-17s %s\n", "purpose", purpose_name(m->purpose));
	printf("%-17s %u\n", "security version", m->security_version);
	printf("%-17s %llu bytes\n", "kernel", (unsigned long long)m->kernel.size);
	hex_line("", BYTES(m->kernel.sha256));
	printf("%-17s %llu bytes\n", "initrd", (unsigned long long)m->initrd.size);
	hex_line("", BYTES(m->initrd.sha256));
	printf("%-17s %llu bytes\n", "memory", (unsigned long long)m->memory);
	printf("%-17s %s\n", "command line", m->cmdline);
	for (size_t i = 0; i < m->parameter_count; i++)
		printf("%-17s %s: %s, %u\n", i ? "" : "parameters", m->parameter[i].name, types[m->parameter[i].type],
		       m->parameter[i].bound);
	for (size_t i = 0; i < m->cvm_count; i++) {
		printf("%-17s %s, %llu bytes\n", i ? "" : "cvm", m->cvm[i].name,
		       (unsigned long long)m->cvm[i].image.size);
		hex_line("", BYTES(m->cvm[i].image.sha256));
	}
	printf("%-17s %s\n", "signatures", signer);
}

static void manifest_print_json(const struct manifest *m, struct bytes file, const char *signer)
{
	_cleanup_(client_free) json_t *j = json_object();
	const struct artifact *const artifact[] = { &m->kernel, &m->initrd };
	static const char *const name[] = { "kernel", "initrd" };
	uint8_t digest[SHA256_LEN];

	if (sha256(file, digest) == R_OK)
		hex_member(j, "digest", BYTES(digest));
	json_object_set_new(j, "line", json_string(m->line));
	json_object_set_new(j, "version", json_string(m->version));
	json_object_set_new(j, "purpose", json_string(purpose_name(m->purpose)));
	json_object_set_new(j, "security_version", json_integer(m->security_version));
	for (size_t i = 0; i < ARRAY_LEN(artifact); i++) {
		json_t *a = json_object();

		json_object_set_new(a, "size", json_integer((json_int_t)artifact[i]->size));
		hex_member(a, "sha256", BYTES(artifact[i]->sha256));
		json_object_set_new(j, name[i], a);
	}
	json_object_set_new(j, "memory", json_integer((json_int_t)m->memory));
	json_object_set_new(j, "cmdline", json_string(m->cmdline));
	json_object_set_new(j, "signatures", json_string(signer));
	json_dumpf(j, stdout, JSON_INDENT(2) | JSON_SORT_KEYS);
	putchar('\n');
}

int ctl_manifest_show(int argc, char **argv)
{
	static const struct option_rule rules[] = { { "json", true, false }, { "keys", false, false } };
	_cleanup_(blob_free) struct blob cose = BLOB(LIMIT_MANIFEST);
	_cleanup_free_ struct manifest *m = calloc(1, sizeof(*m));
	char signer[128] = "not checked (give --keys FOLDER)";
	struct pinned_keys keys;
	struct bytes payload;
	struct options o;
	size_t valid;

	if (!m || !options_read(argc, argv, rules, ARRAY_LEN(rules), &o) || o.arguments != 1)
		return CTL_USAGE;
	enum reason r = ctl_read_file(o.argument[0], LIMIT_MANIFEST, &cose);
	if (r == R_OK && option(&o, "keys")) {
		r = ctl_keys(option(&o, "keys"), &keys);
		if (r == R_OK)
			r = cose_sign_verify(blob_bytes(&cose), COSE_AAD_MANIFEST, &keys, 1, &payload, &valid);
		if (r == R_OK)
			snprintf(signer, sizeof(signer), "good, by %zu pinned keys", valid);
	} else if (r == R_OK) {
		r = cose_payload(blob_bytes(&cose), &payload);
	}
	if (r == R_OK)
		r = manifest_read(payload, m);
	if (r != R_OK)
		return ctl_refused(r, o.argument[0]);
	if (option_flag(&o, "json"))
		manifest_print_json(m, blob_bytes(&cose), signer);
	else
		manifest_print(m, signer);
	return 0;
}
