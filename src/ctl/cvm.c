/* SPDX-License-Identifier: Apache-2.0 */
/* bootgatectl cvm verify: evidence of CVMs, GPUs and switches, offline on files. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "ctl/client.h"
#include "ctl/ctl.h"
#include "ctl/cvm.h"
#include "format/unwrap.h"

#define NONCE_MAX 64u
#define ANSWERS_MAX 64u			/* pieces of evidence in one file */

static const struct {
	const char *name;
	cvm_judge *judge;
} types[] = {
	{ "snp", cvm_snp },
	{ "tdx", cvm_tdx },
	{ "gpu", cvm_gpu },
};

/* Everything of one run. */
struct run {
	struct options o;
	cvm_judge *judge;
	struct blob evidence;
	struct cvm_folder folder;
	uint8_t nonce[NONCE_MAX];
	size_t nonce_n;
	uint8_t test_pin[1][SHA256_LEN];
	int64_t now;
	struct cvm_answer answer[ANSWERS_MAX];
	size_t answers;
};

static void run_free(struct run *r)
{
	blob_free(&r->evidence);
	cvm_folder_free(&r->folder);
	for (size_t i = 0; i < r->answers; i++)
		json_decref(r->answer[i].json);
}

/* Digits of either case; the nonce of a field of 64 bytes at most. */
static bool read_nonce(const char *text, struct run *r)
{
	char lower[2 * NONCE_MAX + 1];
	size_t n = strlen(text);

	if (n == 0 || n >= sizeof(lower))
		return false;
	for (size_t i = 0; i <= n; i++)
		lower[i] = (char)(text[i] >= 'A' && text[i] <= 'F' ? text[i] | 0x20 : text[i]);
	return hex_decode_upto(bytes_str(lower), r->nonce, sizeof(r->nonce), &r->nonce_n) == R_OK;
}

static bool read_arguments(int argc, char **argv, struct run *r)
{
	static const struct option_rule rules[] = {
		{ "type", false, false },	 { "evidence", false, false }, { "certs", false, true },
		{ "nonce", false, false },	 { "at", false, false },       { "strict", true, false },
		{ "minimum-tcb", false, false }, { "json", true, false },
#ifdef BOOTGATE_TEST
		{ "test-pin", false, false },
#endif
	};
	const char *type, *text;

	if (!options_read(argc, argv, rules, ARRAY_LEN(rules), &r->o) || r->o.arguments > 0)
		return false;
	type = option(&r->o, "type");
	for (size_t i = 0; type && i < ARRAY_LEN(types); i++)
		if (strcmp(types[i].name, type) == 0)
			r->judge = types[i].judge;
	if (!r->judge || !option(&r->o, "evidence"))
		return false;
	text = option(&r->o, "nonce");
	if (text && !read_nonce(text, r))
		return false;
	text = option(&r->o, "at");
	r->now = (int64_t)time(NULL);
	return !text || option_time(text, &r->now);
}

/* The test build can pin a root of its own; the product has nothing of this. */
static const uint8_t (*test_pin(struct run *r))[SHA256_LEN]
{
#ifdef BOOTGATE_TEST
	const char *text = option(&r->o, "test-pin");

	if (text && hex_decode(bytes_str(text), r->test_pin[0], SHA256_LEN) == R_OK)
		return r->test_pin;
#endif
	(void)r;
	return NULL;
}

/* Says what it cannot read. */
static enum reason read_files(struct run *r)
{
	const char *path = option(&r->o, "evidence"), *const *certs;
	size_t count = option_all(&r->o, "certs", &certs);
	struct blob raw = BLOB(0);
	enum reason result = ctl_read_file(path, CVM_EVIDENCE_MAX, &r->evidence);

	if (result != R_OK) {
		(void)ctl_refused(result, path);
		return result;
	}
	if (unwrap_text(blob_bytes(&r->evidence), &raw) == R_OK) {
		blob_free(&r->evidence);
		r->evidence = raw;
	}
	TRY(cvm_folder_make(&r->folder));
	for (size_t i = 0; i < count; i++)
		TRY(cvm_folder_read(&r->folder, certs[i]));
	/* evidence brings certificates along, in whatever envelope */
	result = cvm_folder_add(&r->folder, blob_bytes(&r->evidence));
	if (result != R_OK)
		(void)ctl_refused(result, path);
	return result;
}

/* With --strict the first note refuses. */
static void apply_strict(struct run *r)
{
	for (size_t i = 0; i < r->answers; i++)
		if (r->answer[i].reason == R_OK && r->answer[i].notes.n > 0)
			r->answer[i].reason = r->answer[i].notes.v[0];
}

static json_t *notes_json(const struct cvm_notes *notes)
{
	json_t *list = json_array();

	for (size_t i = 0; i < notes->n; i++)
		json_array_append_new(list, json_pack("{s:s, s:s, s:s}", "reason", reason_name(notes->v[i]),
						      "sentence", reason_sentence(notes->v[i]), "remedy",
						      reason_remedy(notes->v[i])));
	return list;
}

static void print_json(const struct run *r, enum reason overall)
{
	json_t *all = json_pack("{s:s, s:s, s:o, s:b}", "type", option(&r->o, "type"), "reason",
				reason_name(overall), "at", cvm_time(r->now), "strict",
				option_flag(&r->o, "strict"));
	json_t *list = json_array();

	for (size_t i = 0; i < r->answers; i++) {
		const struct cvm_answer *a = &r->answer[i];

		json_object_set_new(a->json, "verified", json_boolean(a->reason == R_OK));
		json_object_set_new(a->json, "reason", json_string(reason_name(a->reason)));
		json_object_set_new(a->json, "sentence", json_string(reason_sentence(a->reason)));
		json_object_set_new(a->json, "notes", notes_json(&a->notes));
		json_array_append(list, a->json);
	}
	json_object_set_new(all, "evidence", list);
	json_dumpf(all, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(all);
}

static void print_text(const struct run *r)
{
	for (size_t i = 0; i < r->answers; i++) {
		const struct cvm_answer *a = &r->answer[i];

		if (r->answers > 1)
			printf("%zu: ", i);
		if (a->reason == R_OK)
			printf("verified\n");
		else
			printf("refused: %s: %s %s\n", reason_name(a->reason), reason_sentence(a->reason),
			       reason_remedy(a->reason));
		if (a->what)
			printf("  of: %s\n", a->what);
		for (size_t k = 0; k < a->notes.n; k++)
			printf("  note: %s: %s\n", reason_name(a->notes.v[k]), reason_sentence(a->notes.v[k]));
	}
}

int ctl_cvm_verify(int argc, char **argv)
{
	_cleanup_(run_free) struct run r = { .evidence = BLOB(0) };
	enum reason result;

	if (!read_arguments(argc, argv, &r))
		return CTL_USAGE;
	result = read_files(&r);
	if (result != R_OK)
		return reason_exit(result);
	const struct cvm_request q = {
		.e = { blob_bytes(&r.evidence),
		       r.nonce_n ? bytes_of(r.nonce, r.nonce_n) : BYTES_NONE, r.folder.pool, r.now },
		.folder = &r.folder,
		.options = &r.o,
		.test_pin = test_pin(&r),
	};

	result = r.judge(&q, r.answer, ANSWERS_MAX, &r.answers);
	if (result == R_USAGE)
		return CTL_USAGE;
	if (result != R_OK)
		return ctl_refused(result, option(&r.o, "evidence"));
	if (option_flag(&r.o, "strict"))
		apply_strict(&r);
	for (size_t i = 0; i < r.answers && result == R_OK; i++)
		result = r.answer[i].reason;
	if (option_flag(&r.o, "json"))
		print_json(&r, result);
	else
		print_text(&r);
	return reason_exit(result);
}
