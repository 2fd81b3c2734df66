/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ek load: a list of endorsement keys that came another way. CSV with a
 * header line; columns ek_cert_sha256, ek_spki_sha256, ek_name, label in any
 * order, others are passed over.
 */
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "ctl/client.h"
#include "ctl/ctl.h"
#include "crypto/digest.h"

#define LIST_FILE_MAX (8u << 20)
#define COLUMNS_MAX 32u

static const struct {
	const char *column, *member;
	bool hex;
} columns[] = {
	{ "ek_cert_sha256", "certificate_sha256", true },
	{ "ek_spki_sha256", "spki_sha256", true },
	{ "ek_name", "name", true },
	{ "label", "label", false },
};

/* Splits a line in place; returns how many fields. */
static size_t fields_of(char *line, char *ret[COLUMNS_MAX])
{
	size_t n = 0;

	for (char *p = line; p && n < COLUMNS_MAX; n++) {
		char *comma = strchr(p, ',');

		if (comma)
			*comma++ = '\0';
		p += strspn(p, " \t");
		p[strcspn(p, "\r")] = '\0';
		for (size_t end = strlen(p); end > 0 && (p[end - 1] == ' ' || p[end - 1] == '\t'); end--)
			p[end - 1] = '\0';
		ret[n] = p;
		p = comma;
	}
	return n;
}

static bool hex_ok(const char *text)
{
	uint8_t bytes[2 + DIGEST_MAX];
	size_t n;

	return hex_decode_upto(bytes_str(text), bytes, sizeof(bytes), &n) == R_OK;
}

/* One line of the list as JSON; NULL after it said what is wrong. */
static json_t *line_of(const char *path, size_t number, char *const *head, size_t heads, char *const *field,
		       size_t fields)
{
	json_t *j = json_object();
	bool key = false;

	for (size_t i = 0; j && i < heads && i < fields; i++) {
		for (size_t c = 0; c < ARRAY_LEN(columns); c++) {
			if (strcmp(head[i], columns[c].column) != 0 || field[i][0] == '\0')
				continue;
			if (columns[c].hex ? !hex_ok(field[i]) : !text_printable(bytes_str(field[i]))) {
				fprintf(stderr, "bootgatectl: %s line %zu: %s is not usable\n", path, number,
					columns[c].column);
				json_decref(j);
				return NULL;
			}
			key |= columns[c].hex;
			json_object_set_new(j, columns[c].member, json_string(field[i]));
		}
	}
	if (j && !key) {
		fprintf(stderr, "bootgatectl: %s line %zu: no key in it\n", path, number);
		json_decref(j);
		return NULL;
	}
	return j;
}

static json_t *list_of(const char *path, char *text)
{
	char *head[COLUMNS_MAX], *field[COLUMNS_MAX], *save = NULL;
	char *line = strtok_r(text, "\n", &save);
	size_t heads = line ? fields_of(line, head) : 0;
	json_t *list = json_array();

	for (size_t number = 2; list && (line = strtok_r(NULL, "\n", &save)); number++) {
		if (line[strspn(line, " \t\r,")] == '\0')
			continue;
		size_t fields = fields_of(line, field);
		json_t *j = line_of(path, number, head, heads, field, fields);

		if (!j) {
			json_decref(list);
			return NULL;
		}
		json_array_append_new(list, j);
	}
	return list;
}

int ctl_ek_load(int argc, char **argv)
{
	static const struct option_rule rules[] = { CHANGE_OPTIONS };
	_cleanup_(blob_free) struct blob text = BLOB(LIST_FILE_MAX + 1);
	_cleanup_(client_free) json_t *a = NULL;
	struct options o;

	if (!options_read(argc, argv, rules, ARRAY_LEN(rules), &o) || o.arguments != 1) {
		fprintf(stderr, "usage: bootgatectl ek load FILE.csv [--reason TEXT] [--dry-run]\n");
		return 2;
	}
	enum reason r = ctl_read_file(o.argument[0], LIST_FILE_MAX, &text);
	if (r == R_OK)
		r = blob_u8(&text, 0);
	if (r != R_OK)
		return ctl_refused(r, o.argument[0]);
	json_t *list = list_of(o.argument[0], (char *)text.p);
	if (!list)
		return 2;
	const char *name = strrchr(o.argument[0], '/');
	json_t *body = json_object();
	json_object_set_new(body, "body", list);
	r = client_post(&o, CLIENT_PATH("ek", "load", name ? name + 1 : o.argument[0]), body, &a);
	if (r == R_OK && !client_json(&o, a))
		printf("%lld lines, %lld added, %lld known already\n", member_number(a, "lines"),
		       member_number(a, "added"), member_number(a, "known"));
	return reason_exit(r);
}
