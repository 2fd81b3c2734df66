/* SPDX-License-Identifier: Apache-2.0 */
/* ek show: what an endorsement certificate says, and why it is trusted or not (offline). */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "appraise/ek_trust.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "ctl/client.h"
#include "ctl/ctl.h"
#include "ctl/ek_text.h"
#include "ctl/options.h"

#define EK_FILE_MAX (1u << 20)

static const char *const origin_name[] = {
	[CERT_GIVEN] = "given", [CERT_SENT] = "chain", [CERT_FOLDER] = "folder",
};

struct answer {
	const char *ca;			/* NULL: none given */
	struct cert_folder folder;
	struct ek_judgement judged;
};

/* ---- text ---------------------------------------------------------------------- */

static void print_certificate(const struct cert_info *i)
{
	char digest[2 * SHA256_LEN + 1], tpm[200];

	hex_encode(BYTES(i->digest), digest);
	ek_tpm_text(i, tpm, sizeof(tpm));
	printf("subject    %s\n", i->subject[0] ? i->subject : "(empty)");
	printf("issuer     %s\n", i->issuer);
	printf("serial     %s\n", i->serial);
	printf("valid      %s to %s\n", i->not_before, i->not_after);
	printf("key        %s, signed with %s\n", i->key, i->signature);
	printf("tpm        %s\n", tpm);
	printf("usage      %s\n", i->usage[0] ? i->usage : "(any)");
	printf("extended   %s%s\n", i->extended[0] ? i->extended : "(none)",
	       strstr(i->extended, "2.23.133.8.1") ? " (endorsement key)" : "");
	printf("sha256     %s\n", digest);
}

static void print_link(size_t at, const struct cert_link *l)
{
	const char *subject = l->info.subject[0] ? l->info.subject : "endorsement certificate";

	printf("%zu  %s (%s): %s%s\n", at, subject, origin_name[l->origin],
	       l->reason == R_OK ? "holds" : "FAILS: ", l->reason == R_OK ? "" : l->fault);
	if (l->note[0])
		printf("   note: %s\n", l->note);
}

static void print_firmware(const struct ek_firmware *f)
{
	if (f->name)
		printf("note: the firmware that the certificate names has %s, see %s; at enrolment the\n"
		       "      version counts that the TPM signs\n", f->name, f->source);
}

static void print_answer(const struct answer *a)
{
	const struct ek_judgement *g = &a->judged;

	print_certificate(&g->path.link[0].info);
	printf("\n");
	for (size_t i = 0; i < g->path.count; i++)
		print_link(i, &g->path.link[i]);
	print_firmware(&g->firmware);
	if (a->ca)
		printf("folder %s: %zu files, %zu certificates and lists, %zu files unusable\n", a->ca,
		       a->folder.files, a->folder.certificates, a->folder.unusable);
	if (g->path.sent + g->path.sent_unusable > 0)
		printf("chain: %zu certificates, %zu unusable\n", g->path.sent, g->path.sent_unusable);
	if (g->reason == R_OK)
		printf("trusted\n");
	else
		printf("not trusted: %s: %s\n%s\n", reason_name(g->reason), g->detail,
		       reason_remedy(g->reason));
}

/* ---- JSON ---------------------------------------------------------------------- */

static json_t *link_json(const struct cert_link *l)
{
	json_t *j = ek_info_json(&l->info);

	json_object_set_new(j, "from", json_string(origin_name[l->origin]));
	json_object_set_new(j, "holds", json_boolean(l->reason == R_OK));
	json_object_set_new(j, "reason", json_string(reason_name(l->reason)));
	json_object_set_new(j, "fault", json_string(l->fault));
	json_object_set_new(j, "note", json_string(l->note));
	return j;
}

static void print_json(const struct answer *a)
{
	const struct ek_judgement *g = &a->judged;
	_cleanup_(client_free) json_t *j = json_object();
	json_t *path = json_array();

	for (size_t i = 0; i < g->path.count; i++)
		json_array_append_new(path, link_json(&g->path.link[i]));
	json_object_set_new(j, "trusted", json_boolean(g->reason == R_OK));
	json_object_set_new(j, "reason", json_string(reason_name(g->reason)));
	json_object_set_new(j, "detail", json_string(g->detail));
	json_object_set_new(j, "path", path);
	json_object_set_new(j, "known_bad_firmware",
			    g->firmware.name ? json_string(g->firmware.name) : json_null());
	json_object_set_new(j, "folder_files", json_integer((json_int_t)a->folder.files));
	json_object_set_new(j, "folder_unusable", json_integer((json_int_t)a->folder.unusable));
	json_object_set_new(j, "chain_unusable", json_integer((json_int_t)g->path.sent_unusable));
	json_dumpf(j, stdout, JSON_INDENT(2));
	printf("\n");
}

/* ---- the command ---------------------------------------------------------------- */

static enum reason judge(const struct options *o, const struct cert *c, struct answer *a)
{
	_cleanup_(cert_store_free) struct cert_store *cas = NULL;
	_cleanup_(blob_free) struct blob sent = BLOB(EK_FILE_MAX);
	const char *chain = option(o, "chain");
	struct ek_trust_basis basis = { .now = (int64_t)time(NULL) };

	TRY(cert_store_make(&cas));
	a->ca = option(o, "ca");
	if (a->ca) {
		enum reason r = cert_store_add_folder(cas, a->ca, NULL, NULL, &a->folder);

		if (r != R_OK)
			return r == R_FILE ? ctl_file_error(a->ca) : r;
	}
	if (chain)
		TRY(ctl_read_file(chain, EK_FILE_MAX, &sent));
	basis.cas = cas;
	basis.sent = blob_bytes(&sent);
	TRY(ek_trust_judge(c, &basis, &a->judged));
	if (!a->ca && a->judged.reason == R_EK_UNTRUSTED)
		snprintf(a->judged.detail, sizeof(a->judged.detail), "no CA folder was given (--ca)");
	return R_OK;
}

int ctl_ek_show(int argc, char **argv)
{
	static const struct option_rule rules[] = {
		{ "ca", false, false }, { "chain", false, false }, { "json", true, false },
	};
	_cleanup_free_ struct answer *a = calloc(1, sizeof(*a));
	_cleanup_(blob_free) struct blob file = BLOB(EK_FILE_MAX);
	_cleanup_(cert_free) struct cert *c = NULL;
	struct options o;

	if (!options_read(argc, argv, rules, ARRAY_LEN(rules), &o) || o.arguments != 1)
		return CTL_USAGE;
	if (!a)
		return 1;
	enum reason r = ctl_read_file(o.argument[0], EK_FILE_MAX, &file);
	if (r == R_OK)
		r = cert_read_file(blob_bytes(&file), &c);
	if (r == R_OK)
		r = judge(&o, c, a);
	if (r != R_OK) {
		(void)ctl_refused(r, o.argument[0]);
		return 1;
	}
	if (option_flag(&o, "json"))
		print_json(a);
	else
		print_answer(a);
	return reason_exit(a->judged.reason);
}
