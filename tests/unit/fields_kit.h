/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of a decoder, compared as text. */
#ifndef BOOTGATE_TESTS_FIELDS_KIT_H
#define BOOTGATE_TESTS_FIELDS_KIT_H

#include <inttypes.h>
#include <stdio.h>

#include "format/fields.h"
#include "unit.h"

static inline void field_text(const struct field *f, char ret[1024])
{
	switch (f->kind) {
	case FIELD_NUMBER:
		snprintf(ret, 1024, "%" PRIu64, f->number);
		break;
	case FIELD_HEX:
		snprintf(ret, 1024, "0x%0*" PRIx64, (int)f->digits, f->number);
		break;
	case FIELD_FLAG:
		snprintf(ret, 1024, "%s", f->number ? "yes" : "no");
		break;
	case FIELD_VERSION:
		snprintf(ret, 1024, "%u.%u", (unsigned)(f->number >> 16), (unsigned)(f->number & 0xffff));
		break;
	case FIELD_WORD:
		snprintf(ret, 1024, "%s", f->word);
		break;
	case FIELD_TEXT:
		(void)text_escape(f->bytes, ret, 1024);
		break;
	case FIELD_BYTES:
		assert_true(2 * f->bytes.n < 1024);
		hex_encode(f->bytes, ret);
		break;
	}
}

/* `name=value` or, of several of one name, `name_2=value`; `!name`: there is none. */
static inline void assert_field(const struct fields *f, const char *want)
{
	char line[1200] = "", value[1024];
	size_t name_n = strcspn(want, "=");

	for (size_t i = 0; i < f->count; i++) {
		const struct field *one = &f->field[i];
		char name[64];

		snprintf(name, sizeof(name), one->index < 0 ? "%s" : "%s_%d", one->name, one->index);
		if (want[0] == '!')
			assert_string_not_equal(name, want + 1);
		if (strlen(name) != name_n || strncmp(name, want, name_n) != 0)
			continue;
		field_text(one, value);
		snprintf(line, sizeof(line), "%s=%s", name, value);
	}
	if (want[0] != '!')
		assert_string_equal(line, want);
}

/* Several, parted by `; `. */
static inline void assert_fields(const struct fields *f, const char *wants)
{
	char one[1200];

	for (const char *p = wants; *p;) {
		const char *end = strstr(p, "; ");
		size_t n = end ? (size_t)(end - p) : strlen(p);

		assert_true(n < sizeof(one));
		memcpy(one, p, n);
		one[n] = '\0';
		assert_field(f, one);
		p += n + (end ? 2 : 0);
	}
}

/* `offset:bytes`, hexadecimal, parted by blanks, into n bytes of zero. */
static inline void put_hex(uint8_t *to, size_t n, const char *spec)
{
	memset(to, 0, n);
	for (const char *p = spec; *p;) {
		char *end;
		size_t at = strtoul(p, &end, 16);
		size_t digits = strcspn(end + 1, " ");

		assert_int_equal(*end, ':');
		assert_true(at + digits / 2 <= n);
		assert_ok(hex_decode(bytes_of(end + 1, digits), to + at, digits / 2));
		p = end + 1 + digits;
		p += *p == ' ';
	}
}

#endif
