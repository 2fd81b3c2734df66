/* SPDX-License-Identifier: Apache-2.0 */
/* ek ca-list, ca-check, ca-add: a folder of TPM vendors' CAs (offline). */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/base64.h"
#include "base/cleanup.h"
#include "base/fd.h"
#include "base/text.h"
#include "ctl/client.h"
#include "ctl/ctl.h"
#include "ctl/ek_text.h"
#include "ctl/options.h"

#define CA_FILES_MAX 4096u
#define CA_FILE_MAX (4u << 20)
#define PEM_COLUMNS 64u

/* One certificate of the folder. */
struct entry {
	char *path;
	struct cert *c;
	struct cert_info info;
	bool expired;
	size_t same_as;			/* entry with the same bytes; its own number for none */
	enum reason reason;
	char words[240];		/* fault, else note */
};

struct folder {
	struct cert_store *cas;
	struct cert_folder sum;
	struct entry *v;
	size_t n;
	json_t *unusable;		/* paths */
	size_t lists;
};

static void folder_free(struct folder *f)
{
	for (size_t i = 0; i < f->n; i++) {
		free(f->v[i].path);
		cert_free(&f->v[i].c);
	}
	free(f->v);
	json_decref(f->unusable);
	cert_store_free(&f->cas);
}

static enum reason add_entry(struct folder *f, const char *path, struct cert **c)
{
	struct entry *longer = realloc(f->v, (f->n + 1) * sizeof(*f->v));
	struct entry *e;

	if (!longer)
		return R_INTERNAL_MEMORY;
	f->v = longer;
	e = &f->v[f->n];
	memset(e, 0, sizeof(*e));
	TRY(cert_describe(*c, &e->info));
	e->path = strdup(path);
	if (!e->path)
		return R_INTERNAL_MEMORY;
	e->c = take_ptr(*c);
	e->same_as = f->n;
	for (size_t i = 0; i < f->n; i++)
		if (memcmp(f->v[i].info.digest, e->info.digest, SHA256_LEN) == 0) {
			e->same_as = i;
			break;
		}
	f->n++;
	return R_OK;
}

static enum reason add_file(struct folder *f, const char *path)
{
	_cleanup_(blob_free) struct blob file = BLOB(CA_FILE_MAX);
	_cleanup_(cert_list_free) struct cert_list l = { NULL, 0, 0 };
	enum reason r = ctl_read_file(path, CA_FILE_MAX, &file);

	if (r == R_OK)
		r = cert_read_all(blob_bytes(&file), &l);
	if (reason_class(r) == REASON_BROKEN)
		return r;
	if (r != R_OK) {
		json_array_append_new(f->unusable, json_string(path));
		return R_OK;
	}
	f->lists += l.revocation_lists;
	for (size_t i = 0; i < l.n; i++)
		TRY(add_entry(f, path, &l.v[i]));
	return R_OK;
}

static enum reason judge_entry(const struct folder *f, struct entry *e, int64_t now)
{
	_cleanup_free_ struct cert_path *p = calloc(1, sizeof(*p));
	char today[24];
	time_t t = (time_t)now;
	struct tm tm;

	if (!p)
		return R_INTERNAL_MEMORY;
	e->reason = cert_judge_ca(f->cas, e->c, now, p);
	if (reason_class(e->reason) == REASON_BROKEN)
		return e->reason;
	for (size_t i = 0; i < p->count && !e->words[0]; i++)
		if (e->reason != R_OK && p->link[i].reason == e->reason)
			snprintf(e->words, sizeof(e->words), "%s%s", i > 0 ? "a CA above it: " : "",
				 p->link[i].fault);
	if (!gmtime_r(&t, &tm) || strftime(today, sizeof(today), "%Y-%m-%d %H:%M:%S", &tm) == 0)
		return R_INTERNAL;
	e->expired = strcmp(e->info.not_after, today) < 0;
	return R_OK;
}

/* Everything in the folder, each certificate judged as a CA of it. */
static enum reason folder_read(const char *path, struct folder *f)
{
	_cleanup_(fd_names_free) struct fd_names names = { NULL, 0 };

	f->unusable = json_array();
	TRY(cert_store_make(&f->cas));
	enum reason r = cert_store_add_folder(f->cas, path, NULL, NULL, &f->sum);
	if (r == R_OK)
		r = fd_list_tree(path, CA_FILES_MAX, &names);
	if (r != R_OK)
		return r == R_FILE ? ctl_file_error(path) : r;
	for (size_t i = 0; i < names.n; i++)
		TRY(add_file(f, names.v[i]));
	for (size_t i = 0; i < f->n; i++)
		TRY(judge_entry(f, &f->v[i], (int64_t)time(NULL)));
	return R_OK;
}

static const char *kind_of(const struct entry *e)
{
	return !e->info.authority ? "no-ca" : e->info.self_signed ? "root" : "between";
}

static json_t *entry_json(const struct folder *f, const struct entry *e)
{
	json_t *j = ek_info_json(&e->info);

	json_object_set_new(j, "file", json_string(e->path));
	json_object_set_new(j, "kind", json_string(kind_of(e)));
	json_object_set_new(j, "expired", json_boolean(e->expired));
	json_object_set_new(j, "same_as", &f->v[e->same_as] == e ? json_null()
								: json_string(f->v[e->same_as].path));
	json_object_set_new(j, "reason", json_string(reason_name(e->reason)));
	json_object_set_new(j, "fault", json_string(e->words));
	return j;
}

static void print_json(const struct folder *f)
{
	_cleanup_(client_free) json_t *j = json_object();
	json_t *all = json_array();

	for (size_t i = 0; i < f->n; i++)
		json_array_append_new(all, entry_json(f, &f->v[i]));
	json_object_set_new(j, "certificates", all);
	json_object_set(j, "unusable", f->unusable);
	json_object_set_new(j, "revocation_lists", json_integer((json_int_t)f->lists));
	json_dumpf(j, stdout, JSON_INDENT(2));
	printf("\n");
}

static void print_sum(const struct folder *f)
{
	size_t same = 0, expired = 0;

	for (size_t i = 0; i < f->n; i++) {
		same += f->v[i].same_as != i;
		expired += f->v[i].expired;
	}
	printf("%zu files, %zu certificates (%zu twice, %zu expired), %zu revocation lists, %zu files unusable\n",
	       f->sum.files, f->n, same, expired, f->lists, json_array_size(f->unusable));
}

static void print_entry(const struct folder *f, size_t at)
{
	const struct entry *e = &f->v[at];

	printf("%-7s  %.10s%s  %s  %s\n", kind_of(e), e->info.not_after, e->expired ? " expired" : "",
	       e->info.subject, e->path);
	if (e->same_as != at)
		printf("         the same as in %s\n", f->v[e->same_as].path);
	if (e->reason != R_OK)
		printf("         FAILS: %s: %s\n", reason_name(e->reason), e->words);
}

/* All of it, or only what is wrong. */
static void print_text(const struct folder *f, bool all)
{
	for (size_t i = 0; i < f->n; i++)
		if (all || f->v[i].reason != R_OK)
			print_entry(f, i);
	for (size_t i = 0; i < json_array_size(f->unusable); i++)
		printf("unusable %s\n", json_string_value(json_array_get(f->unusable, i)));
	print_sum(f);
}

static size_t fault_count(const struct folder *f)
{
	size_t n = json_array_size(f->unusable);

	for (size_t i = 0; i < f->n; i++)
		n += f->v[i].reason != R_OK;
	return n;
}

static int list_or_check(int argc, char **argv, bool check)
{
	static const struct option_rule rules[] = { { "json", true, false } };
	_cleanup_(folder_free) struct folder f = { 0 };
	struct options o;

	if (!options_read(argc, argv, rules, ARRAY_LEN(rules), &o) || o.arguments != 1)
		return CTL_USAGE;
	enum reason r = folder_read(o.argument[0], &f);
	if (r != R_OK) {
		(void)ctl_refused(r, o.argument[0]);
		return 1;
	}
	if (option_flag(&o, "json"))
		print_json(&f);
	else
		print_text(&f, !check);
	return check && fault_count(&f) > 0 ? 3 : 0;
}

int ctl_ek_ca_list(int argc, char **argv)
{
	return list_or_check(argc, argv, false);
}

int ctl_ek_ca_check(int argc, char **argv)
{
	return list_or_check(argc, argv, true);
}

/* ---- ca-add --------------------------------------------------------------------- */

static enum reason put_text(struct blob *b, const char *text)
{
	return blob_append(b, text, strlen(text));
}

static enum reason put_line(struct blob *b, const char *name, const char *value)
{
	TRY(put_text(b, name));
	TRY(put_text(b, ": "));
	TRY(put_text(b, value));
	return put_text(b, "\n");
}

/* PEM with the provenance above it: readers of PEM pass that over. */
static enum reason provenance(const struct entry *e, const char *file, const char *from,
			      struct blob *ret)
{
	_cleanup_(blob_free) struct blob der = BLOB(CA_FILE_MAX);
	_cleanup_(blob_free) struct blob text = BLOB(CA_FILE_MAX);
	char digest[2 * SHA256_LEN + 1], when[32], name[512];
	time_t now = time(NULL);
	struct tm tm;

	if (!gmtime_r(&now, &tm) || strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%SZ", &tm) == 0)
		return R_INTERNAL;
	hex_encode(BYTES(e->info.digest), digest);
	TRY(cert_der(e->c, &der));
	TRY(put_line(ret, "subject", e->info.subject));
	TRY(put_line(ret, "sha256", digest));
	TRY(put_line(ret, "from", from));
	(void)text_escape(bytes_str(file), name, sizeof(name));
	TRY(put_line(ret, "file", name));
	TRY(put_line(ret, "added", when));
	TRY(base64_encode(blob_bytes(&der), &text));
	TRY(put_text(ret, "-----BEGIN CERTIFICATE-----\n"));
	for (size_t at = 0; at < text.n; at += PEM_COLUMNS) {
		TRY(blob_append(ret, text.p + at, text.n - at < PEM_COLUMNS ? text.n - at : PEM_COLUMNS));
		TRY(put_text(ret, "\n"));
	}
	return put_text(ret, "-----END CERTIFICATE-----\n");
}

static int add_one(const struct folder *f, const struct entry *e, const struct options *o)
{
	_cleanup_(blob_free) struct blob text = BLOB(CA_FILE_MAX);
	char digest[2 * SHA256_LEN + 1], name[24], path[4096];

	for (size_t i = 0; i < f->n; i++)
		if (memcmp(f->v[i].info.digest, e->info.digest, SHA256_LEN) == 0) {
			printf("there already: %s (%s)\n", e->info.subject, f->v[i].path);
			return 0;
		}
	if (e->reason != R_OK) {
		fprintf(stderr, "bootgatectl: %s: %s: %s\n", e->info.subject, reason_name(e->reason),
			e->words);
		return 3;
	}
	hex_encode(BYTES(e->info.digest), digest);
	snprintf(name, sizeof(name), "%.16s.pem", digest);
	enum reason r = ctl_path(o->argument[1], name, path, sizeof(path));
	if (r == R_OK)
		r = provenance(e, o->argument[0], option(o, "from"), &text);
	if (r == R_OK && !option_flag(o, "dry-run") && fd_write_new(path, blob_bytes(&text), 0644) != R_OK)
		r = ctl_file_error(path);
	if (r != R_OK) {
		(void)ctl_refused(r, path);
		return 1;
	}
	printf("%s%s: %s\n", option_flag(o, "dry-run") ? "would add " : "added ", path, e->info.subject);
	return 0;
}

int ctl_ek_ca_add(int argc, char **argv)
{
	static const struct option_rule rules[] = { { "from", false, false }, { "dry-run", true, false } };
	_cleanup_(folder_free) struct folder f = { 0 }, new = { 0 };
	_cleanup_(blob_free) struct blob file = BLOB(CA_FILE_MAX);
	struct options o;
	size_t count;
	int worst = 0;

	if (!options_read(argc, argv, rules, ARRAY_LEN(rules), &o) || o.arguments != 2 || !option(&o, "from") ||
	    !text_printable(bytes_str(option(&o, "from"))))
		return CTL_USAGE;
	enum reason r = folder_read(o.argument[1], &f);
	if (r != R_OK) {
		(void)ctl_refused(r, o.argument[1]);
		return 1;
	}
	/* judged as if it were in the folder already */
	new.unusable = json_array();
	r = ctl_read_file(o.argument[0], CA_FILE_MAX, &file);
	if (r == R_OK)
		r = cert_store_add(f.cas, blob_bytes(&file), &count);
	if (r == R_OK)
		r = add_file(&new, o.argument[0]);
	for (size_t i = 0; r == R_OK && i < new.n; i++)
		r = judge_entry(&f, &new.v[i], (int64_t)time(NULL));
	if (r != R_OK) {
		(void)ctl_refused(r, o.argument[0]);
		return 1;
	}
	for (size_t i = 0; i < new.n; i++) {
		int e = add_one(&f, &new.v[i], &o);

		worst = e > worst ? e : worst;
	}
	return worst;
}
