/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a decoder of a machine's own tables found, field by field, for
 * printers that know nothing of the format. Names are literals of lower case
 * with underscores; bytes are views into what was decoded.
 */
#ifndef BOOTGATE_FORMAT_FIELDS_H
#define BOOTGATE_FORMAT_FIELDS_H

#include "base/bytes.h"

enum field_kind {
	FIELD_NUMBER,
	FIELD_HEX,		/* `digits` of them */
	FIELD_FLAG,
	FIELD_VERSION,		/* major << 16 | minor */
	FIELD_WORD,		/* a literal */
	FIELD_TEXT,		/* bytes that somebody else chose */
	FIELD_BYTES,
};

struct field {
	const char *name;
	int index;		/* of several of one name; else -1 */
	enum field_kind kind;
	unsigned digits;
	uint64_t number;
	const char *word;
	struct bytes bytes;
};

/* A structure has at most 255 texts, beside few other fields. */
#define FIELDS_MAX 320u
struct fields {
	struct field field[FIELDS_MAX + 1];	/* the last is for what is left out */
	size_t count;
	char room[40];		/* for a word that stands nowhere else */
};

/* Each adds one; what is more than FIELDS_MAX is left out. */
void fields_number(struct fields *f, const char *name, uint64_t number);
void fields_hex(struct fields *f, const char *name, uint64_t number, unsigned digits);
void fields_flag(struct fields *f, const char *name, bool set);
void fields_version(struct fields *f, const char *name, uint16_t major, uint16_t minor);
void fields_word(struct fields *f, const char *name, const char *word);
void fields_text(struct fields *f, const char *name, struct bytes text);
void fields_bytes(struct fields *f, const char *name, struct bytes bytes);
/* The field that was added last is the index-th of its name. */
void fields_index(struct fields *f, int index);

/*
 * The word of a number out of a list that is NULL where there is none; as
 * hexadecimal digits when the list does not have it.
 */
void fields_enum(struct fields *f, const char *name, uint64_t number, const char *const *words,
		 size_t count);

/* Little-endian, at this offset; false when there are not so many bytes. */
bool le_at(struct bytes b, size_t offset, unsigned size, uint64_t *ret);

#endif
