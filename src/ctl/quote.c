/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bootgatectl quote verify: is this a quote by this key, and over what. Works
 * on the files of tpm2_quote and of `bootgate quote`, without a server.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "appraise/quote.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "ctl/client.h"
#include "ctl/ctl.h"
#include "ctl/quote_files.h"
#include "format/eventlog.h"

#define NONCE_MAX 66u			/* TPM2B_DATA of a TPM with SHA-512 */
#define LOGS_MAX 2u			/* firmware and gate */
#define PCRS_FILE_MAX (64u << 10)

struct arguments {
	const char *ak, *quote, *signature, *nonce, *pcrs;
	const char *const *log;
	size_t log_count;
	bool json;
};

/* What was read, and what was found. */
struct verification {
	struct blob ak, attest, signature, pcrs, log[LOGS_MAX];
	struct quote_key key;
	struct tpm_signature sig;
	struct tpm_attest a;
	bool nonce_checked, values_checked, log_checked, primary;
	char detail[200];
};

static bool read_arguments(int argc, char **argv, struct options *o, struct arguments *a)
{
	static const struct option_rule rules[] = {
		{ "ak", false, false },	   { "quote", false, false }, { "signature", false, false },
		{ "nonce", false, false }, { "pcrs", false, false },  { "log", false, true },
		{ "json", true, false },
	};

	if (!options_read(argc, argv, rules, ARRAY_LEN(rules), o) || o->arguments != 0)
		return false;
	a->ak = option(o, "ak");
	a->quote = option(o, "quote");
	a->signature = option(o, "signature");
	a->nonce = option(o, "nonce");
	a->pcrs = option(o, "pcrs");
	a->log_count = option_all(o, "log", &a->log);
	a->json = option_flag(o, "json");
	return a->ak && a->quote && a->signature && a->log_count <= LOGS_MAX;
}

/* ---- the checks, in the order of quote_statement_check -------------------- */

static enum reason check_signature(struct verification *v)
{
	/* The attributes are in the TPM's own form of the key only. */
	if (!v->key.from_pem)
		TRY(quote_key_check(&v->key.pub));
	TRY(tpm_signature_read(blob_bytes(&v->signature), &v->sig));
	return quote_signature_verify(&v->key.pub, &v->sig, blob_bytes(&v->attest));
}

static enum reason check_nonce(const struct arguments *args, struct verification *v)
{
	uint8_t nonce[NONCE_MAX];
	enum reason r;
	size_t n;

	if (!args->nonce)
		return R_OK;
	r = quote_hex_read(args->nonce, nonce, sizeof nonce, &n);
	/* No quote can carry one that is longer. */
	if (r == R_FORMAT_TOO_LARGE)
		return R_QUOTE_NONCE;
	if (r != R_OK) {
		snprintf(v->detail, sizeof v->detail, "--nonce is not hexadecimal");
		return R_USAGE;
	}
	if (!bytes_equal_secret(v->a.extra, bytes_of(nonce, n)))
		return R_QUOTE_NONCE;
	v->nonce_checked = true;
	return R_OK;
}

static enum reason replay_into(struct bytes log, const struct pcr_selection *s,
			       struct verification *v, struct pcr_values *to, uint32_t *set)
{
	_cleanup_free_ struct eventlog_replay *r = calloc(1, sizeof *r);
	enum reason result;

	if (!r)
		return R_INTERNAL_MEMORY;
	result = eventlog_replay(log, r);
	if (result != R_OK) {
		snprintf(v->detail, sizeof v->detail, "event %u at byte %zu", r->fault.event,
			 r->fault.offset);
		return result;
	}
	for (size_t i = 0; i < s->count; i++) {
		size_t column = 0;

		while (column < r->values.count && r->values.bank[column].alg != s->bank[i].alg)
			column++;
		if (s->bank[i].mask && column == r->values.count) {
			snprintf(v->detail, sizeof v->detail, "bank %s",
				 digest_name(s->bank[i].alg));
			return R_LOG_BANK_MISSING;
		}
		for (uint32_t pcr = 0; pcr < PCR_COUNT; pcr++) {
			bool extended;

			if (!(s->bank[i].mask & PCR_MASK(pcr)))
				continue;
			extended = r->extended[column] & PCR_MASK(pcr) ||
				   (pcr == 0 && r->locality);
			/* Of two logs each has its own registers. */
			if (extended && (set[i] & PCR_MASK(pcr))) {
				snprintf(v->detail, sizeof v->detail,
					 "register %u is in both logs", pcr);
				return R_LOG_FOREIGN_REGISTER;
			}
			if (!extended && pcr_value(to, s->bank[i].alg, pcr).n > 0)
				continue;
			TRY(pcr_values_set(to, s->bank[i].alg, pcr,
					   pcr_value(&r->values, s->bank[i].alg, pcr).p));
			if (extended)
				set[i] |= PCR_MASK(pcr);
		}
	}
	return R_OK;
}

/* Which register the logs miss, where the values are there to tell. */
static void name_difference(const struct pcr_values *logged, const struct pcr_values *values,
			    struct verification *v)
{
	for (size_t i = 0; i < v->a.selection.count; i++) {
		uint16_t alg = v->a.selection.bank[i].alg;

		for (uint32_t pcr = 0; pcr < PCR_COUNT; pcr++) {
			if (!(v->a.selection.bank[i].mask & PCR_MASK(pcr)) ||
			    bytes_equal(pcr_value(logged, alg, pcr), pcr_value(values, alg, pcr)))
				continue;
			snprintf(v->detail, sizeof v->detail, "register %u of bank %s", pcr,
				 digest_name(alg));
			return;
		}
	}
}

static enum reason check_logs(const struct arguments *args, const struct pcr_values *values,
			      struct verification *v)
{
	_cleanup_free_ struct pcr_values *logged = calloc(1, sizeof *logged);
	uint32_t set[LIMIT_BANKS] = { 0 };
	enum reason r;

	if (!logged)
		return R_INTERNAL_MEMORY;
	if (args->log_count == 0)
		return R_OK;
	for (size_t i = 0; i < args->log_count; i++)
		TRY(replay_into(blob_bytes(&v->log[i]), &v->a.selection, v, logged, set));
	r = quote_values_check(&v->a, logged, v->sig.hash);
	if (r == R_QUOTE_DIGEST) {
		if (values)
			name_difference(logged, values, v);
		return R_LOG_REPLAY;
	}
	v->log_checked = r == R_OK;
	return r;
}

static enum reason check_values(const struct arguments *args, struct verification *v)
{
	_cleanup_free_ struct pcr_values *values = calloc(1, sizeof *values);

	if (!values)
		return R_INTERNAL_MEMORY;
	if (args->pcrs) {
		TRY(quote_pcrs_read(blob_bytes(&v->pcrs), &v->a.selection, values));
		TRY(quote_values_check(&v->a, values, v->sig.hash));
		v->values_checked = true;
	}
	return check_logs(args, args->pcrs ? values : NULL, v);
}

/* Told, not demanded: other tools make their keys below an EK. */
static enum reason note_signer(struct verification *v)
{
	struct tpm_name name;
	struct tpm_name qualified;

	if (v->key.from_pem)
		return R_OK;
	TRY(tpm_name_of(&v->key.pub, &name));
	TRY(tpm_qualified_name(TPM_RH_ENDORSEMENT, &name, &qualified));
	v->primary = bytes_equal(v->a.signer, tpm_name_bytes(&qualified));
	return R_OK;
}

static enum reason verify(const struct arguments *args, struct verification *v)
{
	enum reason form;

	TRY(quote_key_read(blob_bytes(&v->ak), &v->key));
	form = tpm_quote_read(blob_bytes(&v->attest), &v->a);
	if (form != R_OK && form != R_QUOTE_MAGIC && form != R_QUOTE_TYPE)
		return form;
	TRY(check_signature(v));
	if (form != R_OK)
		return form;
	TRY(check_nonce(args, v));
	if (pcr_selection_empty(&v->a.selection))
		return R_QUOTE_SELECTION;
	TRY(check_values(args, v));
	return note_signer(v);
}

/* ---- output ------------------------------------------------------------------ */

static const char *scheme_name(uint16_t scheme)
{
	switch (scheme) {
	case TPM_ALG_RSASSA:
		return "rsassa";
	case TPM_ALG_RSAPSS:
		return "rsapss";
	default:
		return "ecdsa";
	}
}

static const char *checked(bool yes)
{
	return yes ? "checked" : "not checked";
}

static enum reason print_text(const struct verification *v)
{
	_cleanup_(blob_free) struct blob selection = BLOB(4096);
	char nonce[2 * NONCE_MAX + 1] = "";
	char digest[2 * DIGEST_MAX + 1] = "";

	TRY(pcr_selection_text(&v->a.selection, &selection));
	if (v->a.extra.n <= NONCE_MAX)
		hex_encode(v->a.extra, nonce);
	hex_encode(v->a.pcr_digest, digest);
	printf("quote      ok\n");
	printf("key        %s%s\n", v->key.pub.type == TPM_ALG_RSA ? "rsa" : "ecc",
	       v->key.from_pem ? ", attributes not known (PEM)" : ", restricted, fixed to its TPM");
	printf("signature  %s %s\n", scheme_name(v->sig.scheme), digest_name(v->sig.hash));
	printf("nonce      %s (%s)\n", nonce[0] ? nonce : "none", checked(v->nonce_checked));
	printf("registers  %.*s (values %s, log %s)\n", (int)selection.n,
	       (const char *)selection.p, checked(v->values_checked), checked(v->log_checked));
	printf("digest     %s\n", digest);
	printf("clock      %llu ms, reset %u, restart %u, %s\n", (unsigned long long)v->a.clock,
	       v->a.reset_count, v->a.restart_count, v->a.safe ? "safe" : "not safe");
	printf("firmware   %016llx\n", (unsigned long long)v->a.firmware);
	if (!v->key.from_pem)
		printf("parent     %s\n",
		       v->primary ? "endorsement hierarchy" : "another key or hierarchy");
	return R_OK;
}

static void set_hex(json_t *o, const char *key, struct bytes b)
{
	char hex[2 * DIGEST_MAX + 1] = "";

	if (b.n <= DIGEST_MAX)
		hex_encode(b, hex);
	json_object_set_new(o, key, json_string(hex));
}

static void set_details(json_t *o, const struct verification *v)
{
	_cleanup_(blob_free) struct blob selection = BLOB(4096);

	if (pcr_selection_text(&v->a.selection, &selection) == R_OK)
		json_object_set_new(o, "pcrs", json_stringn((const char *)selection.p,
							    selection.n));
	set_hex(o, "nonce", v->a.extra);
	set_hex(o, "digest", v->a.pcr_digest);
	json_object_set_new(o, "scheme", json_string(scheme_name(v->sig.scheme)));
	json_object_set_new(o, "hash", json_string(digest_name(v->sig.hash)));
	json_object_set_new(o, "nonce_checked", json_boolean(v->nonce_checked));
	json_object_set_new(o, "values_checked", json_boolean(v->values_checked));
	json_object_set_new(o, "log_checked", json_boolean(v->log_checked));
	json_object_set_new(o, "clock", json_integer((json_int_t)v->a.clock));
	json_object_set_new(o, "reset_count", json_integer(v->a.reset_count));
	json_object_set_new(o, "restart_count", json_integer(v->a.restart_count));
	json_object_set_new(o, "safe", json_boolean(v->a.safe));
}

static void print_json(enum reason r, const struct verification *v)
{
	json_t *o = json_object();

	json_object_set_new(o, "result", json_string(r == R_OK ? "ok" : "refused"));
	json_object_set_new(o, "reason", json_string(reason_name(r)));
	if (v->detail[0])
		json_object_set_new(o, "detail", json_string(v->detail));
	if (r == R_OK)
		set_details(o, v);
	json_dumpf(o, stdout, JSON_INDENT(2));
	printf("\n");
	json_decref(o);
}

/* ---- files -------------------------------------------------------------------- */

static enum reason load(const char *path, size_t max, struct blob *ret, struct verification *v)
{
	enum reason r = ctl_read_file(path, max, ret);

	if (r != R_OK)
		snprintf(v->detail, sizeof v->detail, "%.*s", (int)sizeof v->detail - 1, path);
	return r;
}

static enum reason load_all(const struct arguments *args, struct verification *v)
{
	TRY(load(args->ak, PCRS_FILE_MAX, &v->ak, v));
	TRY(load(args->quote, LIMIT_TPM_ATTEST, &v->attest, v));
	TRY(load(args->signature, LIMIT_TPM_SIGNATURE, &v->signature, v));
	if (args->pcrs)
		TRY(load(args->pcrs, PCRS_FILE_MAX, &v->pcrs, v));
	for (size_t i = 0; i < args->log_count; i++)
		TRY(load(args->log[i], LIMIT_FIRMWARE_LOG, &v->log[i], v));
	return R_OK;
}

static void verification_free(struct verification *v)
{
	blob_free(&v->ak);
	blob_free(&v->attest);
	blob_free(&v->signature);
	blob_free(&v->pcrs);
	for (size_t i = 0; i < LOGS_MAX; i++)
		blob_free(&v->log[i]);
}

int ctl_quote_verify(int argc, char **argv)
{
	_cleanup_(verification_free) struct verification v = { 0 };
	struct arguments args = { 0 };
	struct options o;

	if (!read_arguments(argc, argv, &o, &args))
		return CTL_USAGE;
	enum reason r = load_all(&args, &v);
	bool read = r == R_OK;
	if (read)
		r = verify(&args, &v);
	if (args.json && read)
		print_json(r, &v);
	else if (r == R_OK)
		r = print_text(&v);
	if (r != R_OK && !(args.json && read))
		return ctl_refused(r, v.detail[0] ? v.detail : NULL);
	return reason_exit(r);
}
