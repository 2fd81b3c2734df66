/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/ek_list.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "crypto/digest.h"

#define COLUMNS_MAX 64u

enum kind { KIND_DIGEST, KIND_NAME, KIND_TEXT };

static const struct {
	const char *name;
	enum kind kind;
} columns[] = {
	{ "ek_cert_sha256", KIND_DIGEST }, { "ek_spki_sha256", KIND_DIGEST }, { "ek_name", KIND_NAME },
	{ "label", KIND_TEXT },		   { "group", KIND_TEXT },
};
#define COLUMNS ARRAY_LEN(columns)

/* Of a field: as the list has it, or "" for none. */
struct line {
	size_t number;
	const char *field[COLUMNS];
};

static size_t column_find(const char *name)
{
	size_t i = 0;

	while (i < COLUMNS && strcmp(columns[i].name, name) != 0)
		i++;
	return i;
}

/* A name is its hash algorithm and a hash. Vendors write digits large or small. */
static enum reason field_check(enum kind kind, const char *text, char *small, size_t n)
{
	uint8_t bytes[2 + DIGEST_MAX];
	size_t len;

	if (strlen(text) >= n)
		return R_FORMAT_TOO_LARGE;
	snprintf(small, n, "%s", text);
	if (kind == KIND_TEXT)
		return text_printable(bytes_str(text)) ? R_OK : R_FORMAT_TEXT;
	for (char *p = small; *p; p++)
		if (*p >= 'A' && *p <= 'F')
			*p = (char)(*p - 'A' + 'a');
	TRY(hex_decode_upto(bytes_str(small), bytes, sizeof(bytes), &len));
	if (kind == KIND_DIGEST)
		return len == SHA256_LEN ? R_OK : R_FORMAT_RANGE;
	struct cursor c = cursor_of(bytes_of(bytes, len));
	uint16_t alg;
	TRY(cursor_be16(&c, &alg));
	return digest_len(alg) != 0 && c.n == digest_len(alg) ? R_OK : R_FORMAT_RANGE;
}

static enum reason bad(json_t *to, size_t number, enum reason r, const char *what)
{
	json_t *j = json_pack("{s:I s:s s:s s:s}", "line", (json_int_t)number, "result", "bad", "reason",
			      reason_name(r), "detail", what);

	return json_array_append_new(to, j) == 0 ? R_OK : R_INTERNAL_MEMORY;
}

static enum reason line_take(const struct line *l, json_t *good, json_t *bad_lines)
{
	json_t *j = json_pack("{s:I}", "line", (json_int_t)l->number);
	enum reason r = R_OK;
	const char *what = "no key";
	bool key = false;

	for (size_t c = 0; c < COLUMNS && r == R_OK; c++) {
		/* Room for a name; labels and groups are as long as the server keeps them. */
		char small[2 * (2 + DIGEST_MAX) + 1];
		size_t room = columns[c].kind == KIND_TEXT ? 64 : sizeof(small);

		if (!l->field[c] || l->field[c][0] == '\0')
			continue;
		r = field_check(columns[c].kind, l->field[c], small, room);
		what = columns[c].name;
		key |= columns[c].kind != KIND_TEXT;
		if (r == R_OK && json_object_set_new(j, columns[c].name, json_string(small)) != 0)
			r = R_INTERNAL_MEMORY;
	}
	if (r == R_OK && !key) {
		r = R_FORMAT_MISSING_KEY;
		what = "no key";
	}
	if (r != R_OK) {
		json_decref(j);
		return bad(bad_lines, l->number, r, what);
	}
	return json_array_append_new(good, j) == 0 ? R_OK : R_INTERNAL_MEMORY;
}

/* ---- CSV ------------------------------------------------------------------------- */

static char *trimmed(char *text)
{
	size_t n = strlen(text);

	while (n > 0 && (text[n - 1] == ' ' || text[n - 1] == '\t' || text[n - 1] == '\r'))
		text[--n] = '\0';
	return text + strspn(text, " \t");
}

/* In quotes: "" is one of them. NULL when they do not end before the field does. */
static char *unquoted(char *text)
{
	char *to = text + 1, *from = text + 1;

	for (;; from++) {
		if (*from == '\0')
			return NULL;
		if (*from == '"' && *++from != '"')
			break;
		*to++ = *from;
	}
	if (*from != '\0')
		return NULL;
	*to = '\0';
	return text + 1;
}

/* Where the field ends: at a comma that is not inside quotes. */
static char *field_end(char *text)
{
	bool quoted = false;

	for (; *text; text++) {
		if (*text == '"')
			quoted = !quoted;
		else if (*text == ',' && !quoted)
			return text;
	}
	return NULL;
}

/* The fields of a line, in place. R_FORMAT_TEXT for quotes that do not fit, R_FORMAT_TOO_LARGE. */
static enum reason fields_of(char *line, char *ret[COLUMNS_MAX], size_t *ret_n)
{
	size_t n = 0;

	for (char *p = line, *end; p; p = end) {
		if (n == COLUMNS_MAX)
			return R_FORMAT_TOO_LARGE;
		end = field_end(p);
		if (end)
			*end++ = '\0';
		p = trimmed(p);
		if (*p == '"')
			p = unquoted(p);
		if (!p)
			return R_FORMAT_TEXT;
		ret[n++] = p;
	}
	*ret_n = n;
	return R_OK;
}

/* Which column is where; others than ours are told, so that a slip of the pen is seen. */
static enum reason head_read(char *line, size_t ret_at[COLUMNS_MAX], size_t *ret_n)
{
	char *name[COLUMNS_MAX];
	bool seen[COLUMNS] = { false }, key = false;

	TRY(fields_of(line, name, ret_n));
	for (size_t i = 0; i < *ret_n; i++) {
		size_t c = ret_at[i] = column_find(name[i]);

		if (c == COLUMNS) {
			char shown[64];

			text_escape(bytes_str(name[i]), shown, sizeof(shown));
			fprintf(stderr, "bootgatectl: column \"%s\" is passed over\n", shown);
			continue;
		}
		if (seen[c])
			return R_FORMAT_DUPLICATE;
		seen[c] = true;
		key |= columns[c].kind != KIND_TEXT;
	}
	return key ? R_OK : R_FORMAT_MISSING_KEY;
}

static char *line_next(char **at)
{
	char *line = *at, *end = strchr(line, '\n');

	if (*line == '\0')
		return NULL;
	if (end)
		*end = '\0';
	*at = end ? end + 1 : line + strlen(line);
	return line;
}

static enum reason csv_line(char *text, size_t number, const size_t *at, size_t heads, json_t *good, json_t *bad_lines)
{
	struct line l = { .number = number };
	char *field[COLUMNS_MAX];
	size_t n;

	enum reason r = fields_of(text, field, &n);
	if (r == R_OK && n != heads)
		r = R_FORMAT_MISSING_KEY;
	if (r != R_OK)
		return bad(bad_lines, number, r, r == R_FORMAT_TEXT ? "quotes" : "not as many fields as the header");
	for (size_t i = 0; i < n; i++)
		if (at[i] < COLUMNS)
			l.field[at[i]] = field[i];
	return line_take(&l, good, bad_lines);
}

static enum reason csv_read(char *text, json_t *good, json_t *bad_lines)
{
	size_t at[COLUMNS_MAX], heads;
	char *line = line_next(&text);

	if (!line)
		return R_FORMAT_TRUNCATED;
	TRY(head_read(line, at, &heads));
	for (size_t number = 2; (line = line_next(&text)); number++)
		if (line[strspn(line, " \t\r,")] != '\0')
			TRY(csv_line(line, number, at, heads, good, bad_lines));
	return R_OK;
}

/* ---- JSON ------------------------------------------------------------------------ */

static enum reason element_take(const json_t *e, size_t number, json_t *good, json_t *bad_lines)
{
	struct line l = { .number = number };
	const char *key;
	json_t *value;

	if (!json_is_object(e))
		return bad(bad_lines, number, R_FORMAT_TYPE, "not an object");
	json_object_foreach((json_t *)(uintptr_t)e, key, value) {
		size_t c = column_find(key);

		/* No vendor's own columns here: whoever makes JSON can leave them out. */
		if (c == COLUMNS)
			return bad(bad_lines, number, R_FORMAT_UNKNOWN_KEY, "a member that is no column");
		if (!json_is_string(value))
			return bad(bad_lines, number, R_FORMAT_TYPE, columns[c].name);
		l.field[c] = json_string_value(value);
	}
	return line_take(&l, good, bad_lines);
}

static enum reason json_read(const char *text, json_t *good, json_t *bad_lines)
{
	json_error_t e;
	json_t *list = json_loads(text, JSON_REJECT_DUPLICATES, &e), *element;
	enum reason r = R_OK;
	size_t i;

	if (!list) {
		fprintf(stderr, "bootgatectl: line %d: %s\n", e.line, e.text);
		return R_FORMAT_TEXT;
	}
	json_array_foreach(list, i, element)
		if (r == R_OK)
			r = element_take(element, i + 1, good, bad_lines);
	json_decref(list);
	return r;
}

enum reason ek_list_read(char *text, size_t n, json_t *ret_good, json_t *ret_bad)
{
	static const char mark[] = "\xef\xbb\xbf";

	if (strlen(text) + 1 != n)
		return R_FORMAT_TEXT;
	/* What spreadsheets put before UTF-8. */
	if (strncmp(text, mark, sizeof(mark) - 1) == 0)
		text += sizeof(mark) - 1;
	if (text[strspn(text, " \t\r\n")] == '[')
		return json_read(text, ret_good, ret_bad);
	return csv_read(text, ret_good, ret_bad);
}
