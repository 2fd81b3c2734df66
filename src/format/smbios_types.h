/* SPDX-License-Identifier: Apache-2.0 */
/* Which field of an SMBIOS structure stands where, for smbios_fields.c. */
#ifndef BOOTGATE_FORMAT_SMBIOS_TYPES_H
#define BOOTGATE_FORMAT_SMBIOS_TYPES_H

#include "format/fields.h"
#include "format/smbios.h"

enum smbios_kind {
	SMBIOS_TEXT,		/* the number of a text */
	SMBIOS_NUMBER,
	SMBIOS_HEX,
	SMBIOS_WORD,		/* `words` has the names */
	SMBIOS_FLAG,		/* bit number `bit` */
};

struct smbios_rule {
	const char *name;
	uint8_t offset;
	uint8_t size;		/* bytes */
	enum smbios_kind kind;
	uint8_t bit;		/* SMBIOS_FLAG; SMBIOS_WORD: bits that count, 0 for all */
	const char *const *words;
	size_t word_count;
};

struct smbios_type {
	uint8_t type;
	const char *name;
	const struct smbios_rule *rules;
	size_t rule_count;
	/* what no rule can say: sizes with several fields, lists */
	void (*more)(const struct smbios_structure *s, struct fields *f);
};

/* NULL where the type is not decoded. */
const struct smbios_type *smbios_type_find(uint8_t type);

/* smbios_more.c: the functions that the table names */
void smbios_more_bios(const struct smbios_structure *s, struct fields *f);
void smbios_more_chassis(const struct smbios_structure *s, struct fields *f);
void smbios_more_cpu(const struct smbios_structure *s, struct fields *f);
void smbios_more_cache(const struct smbios_structure *s, struct fields *f);
void smbios_more_slot(const struct smbios_structure *s, struct fields *f);
void smbios_more_onboard(const struct smbios_structure *s, struct fields *f);
void smbios_more_array(const struct smbios_structure *s, struct fields *f);
void smbios_more_memory(const struct smbios_structure *s, struct fields *f);
void smbios_more_mapped(const struct smbios_structure *s, struct fields *f);
void smbios_more_ipmi(const struct smbios_structure *s, struct fields *f);
void smbios_more_tpm(const struct smbios_structure *s, struct fields *f);

#endif
