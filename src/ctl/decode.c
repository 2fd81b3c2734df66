/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/decode.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "ctl/ctl.h"

#define FILE_MAX (64u << 20)
#define NAME_WIDTH 24

json_t *decode_hex(uint64_t number, int digits)
{
	char text[32];

	snprintf(text, sizeof(text), "0x%0*" PRIx64, digits, number);
	return json_string(text);
}

static json_t *escaped(struct bytes in)
{
	size_t n = 4 * in.n + 1;
	_cleanup_free_ char *text = malloc(n);

	if (!text)
		return NULL;
	(void)text_escape(in, text, n);
	return json_string(text);
}

static json_t *hex_bytes(struct bytes in)
{
	_cleanup_free_ char *text = malloc(2 * in.n + 1);

	if (!text)
		return NULL;
	hex_encode(in, text);
	return json_string(text);
}

static json_t *value(const struct field *f)
{
	switch (f->kind) {
	case FIELD_NUMBER:
		return json_integer((json_int_t)f->number);
	case FIELD_HEX:
		return decode_hex(f->number, (int)f->digits);
	case FIELD_FLAG:
		return json_boolean(f->number != 0);
	case FIELD_VERSION:
		return json_sprintf("%u.%u", (unsigned)(f->number >> 16), (unsigned)(f->number & 0xffff));
	case FIELD_WORD:
		return json_string(f->word);
	case FIELD_TEXT:
		return escaped(f->bytes);
	case FIELD_BYTES:
		return hex_bytes(f->bytes);
	}
	return NULL;
}

void decode_fields(json_t *to, const struct fields *f)
{
	for (size_t i = 0; i < f->count; i++) {
		const struct field *one = &f->field[i];
		char name[48];

		snprintf(name, sizeof(name), one->index >= 0 ? "%s_%d" : "%s", one->name, one->index);
		json_object_set_new(to, name, value(one));
	}
}

void decode_note(json_t *to, const char *format, ...)
{
	json_t *notes = json_object_get(to, "notes");
	va_list args;

	if (!notes) {
		notes = json_array();
		json_object_set_new(to, "notes", notes);
	}
	va_start(args, format);
	json_array_append_new(notes, json_vsprintf(format, args));
	va_end(args);
}

enum reason decode_refused(json_t *to, enum reason r, size_t offset, const char *thing, size_t number)
{
	json_object_set_new(to, "refused", json_pack("{s:s, s:o, s:I}", "reason", reason_name(r), "offset",
						     decode_hex(offset, 1), thing, (json_int_t)number));
	return r;
}

static void print_value(const json_t *j)
{
	if (json_is_string(j))
		printf("%s\n", json_string_value(j));
	else if (json_is_integer(j))
		printf("%" JSON_INTEGER_FORMAT "\n", json_integer_value(j));
	else
		printf("%s\n", json_is_true(j) ? "yes" : "no");
}

/* `name  value` for each member that is no list; those of an object in it by `outer.inner`. */
static void print_members(json_t *object, int indent)
{
	const char *name, *inner;
	json_t *member, *deep;

	json_object_foreach(object, name, member) {
		if (json_is_object(member)) {
			json_object_foreach(member, inner, deep) {
				int width = NAME_WIDTH - (int)strlen(name) - 1;

				printf("%*s%s.%-*s ", indent, "", name, width > 0 ? width : 0, inner);
				print_value(deep);
			}
		} else if (!json_is_array(member) && !json_is_null(member)) {
			printf("%*s%-*s ", indent, "", NAME_WIDTH, name);
			print_value(member);
		}
	}
}

static void print_notes(json_t *object, int indent)
{
	json_t *one;
	size_t i;

	json_array_foreach(json_object_get(object, "notes"), i, one)
		printf("%*snote: %s\n", indent, "", json_string_value(one));
}

static bool is_things(const json_t *list)
{
	return json_is_array(list) && json_is_object(json_array_get(list, 0));
}

/* A list in a thing of a list: there is no third level. */
static void print_inner(json_t *thing)
{
	const char *name;
	json_t *list, *one;
	size_t i;

	json_object_foreach(thing, name, list) {
		if (!is_things(list))
			continue;
		json_array_foreach(list, i, one) {
			printf("    %s %zu\n", name, i);
			print_members(one, 6);
			print_notes(one, 6);
		}
	}
}

static void print(json_t *all)
{
	const char *name;
	json_t *list, *one;
	size_t i;

	print_members(all, 0);
	print_notes(all, 0);
	json_object_foreach(all, name, list) {
		if (!is_things(list))
			continue;
		json_array_foreach(list, i, one) {
			printf("\n%s %zu\n", name, i);
			print_members(one, 2);
			print_notes(one, 2);
			print_inner(one);
		}
	}
}

int ctl_report_decode(int argc, char **argv)
{
	static const struct option_rule rules[] = { { "type", false, false }, { "json", true, false } };
	static const char *const word[] = { "smbios", "pci", "rom" };
	static enum reason (*const decode[])(struct bytes, json_t *) = {
		decode_smbios, decode_pci, decode_rom,
	};
	_cleanup_(blob_free) struct blob file = BLOB(FILE_MAX);
	struct options o;
	size_t kind = 0;

	if (!options_read(argc, argv, rules, ARRAY_LEN(rules), &o) || o.arguments != 1 ||
	    !option(&o, "type") || !option_one_of(&o, "type", word, ARRAY_LEN(word)))
		return CTL_USAGE;
	while (kind + 1 < ARRAY_LEN(word) && strcmp(option(&o, "type"), word[kind]) != 0)
		kind++;
	enum reason r = ctl_read_file(o.argument[0], FILE_MAX, &file);
	if (r != R_OK)
		return ctl_refused(r, o.argument[0]);
	json_t *all = json_object();
	r = decode[kind](blob_bytes(&file), all);
	if (option_flag(&o, "json")) {
		json_dumpf(all, stdout, JSON_INDENT(2));
		printf("\n");
	} else {
		print(all);
	}
	json_decref(all);
	return r == R_OK ? 0 : ctl_refused(r, o.argument[0]);
}
