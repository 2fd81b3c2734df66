/* SPDX-License-Identifier: Apache-2.0 */
/* Selections on the wire (TPML_PCR_SELECTION) and as people write them. */
#include "format/pcr.h"

#include <string.h>

#include "base/cleanup.h"

/* A mask of 24 registers takes 3 bytes; some TPMs send a fourth. */
#define SELECT_MIN 3u
#define SELECT_MAX 4u

static enum reason read_bank(struct cursor *c, struct pcr_selection *s)
{
	struct bytes bitmap;
	uint32_t mask = 0;
	uint16_t alg;
	uint8_t size;

	TRY(cursor_be16(c, &alg));
	TRY(cursor_u8(c, &size));
	if (size < SELECT_MIN || size > SELECT_MAX)
		return R_FORMAT_RANGE;
	TRY(cursor_take(c, size, &bitmap));
	for (uint32_t i = 0; i < size; i++)
		mask |= (uint32_t)bitmap.p[i] << (8 * i);
	return pcr_selection_add(s, alg, mask);
}

enum reason pcr_selection_read(struct cursor *c, struct pcr_selection *ret)
{
	struct pcr_selection s = { 0 };
	struct cursor in = *c;
	uint32_t count;

	TRY(cursor_be32(&in, &count));
	if (count > LIMIT_BANKS)
		return R_FORMAT_TOO_LARGE;
	for (uint32_t i = 0; i < count; i++)
		TRY(read_bank(&in, &s));
	*c = in;
	*ret = s;
	return R_OK;
}

enum reason pcr_selection_write(const struct pcr_selection *s, struct blob *ret)
{
	TRY(blob_be32(ret, (uint32_t)s->count));
	for (size_t i = 0; i < s->count; i++) {
		TRY(blob_be16(ret, s->bank[i].alg));
		TRY(blob_u8(ret, SELECT_MIN));
		for (uint32_t k = 0; k < SELECT_MIN; k++)
			TRY(blob_u8(ret, (uint8_t)(s->bank[i].mask >> (8 * k))));
	}
	return R_OK;
}

/* One register number from the front of the text: 0 to 23, no sign, no 07. */
static bool take_number(const char **text, uint32_t *ret)
{
	const char *p = *text;
	uint32_t n = 0;

	while (*p >= '0' && *p <= '9' && p - *text < 2)
		n = n * 10 + (uint32_t)(*p++ - '0');
	if (p == *text || n >= PCR_COUNT || (p - *text == 2 && **text == '0'))
		return false;
	*text = p;
	*ret = n;
	return true;
}

static bool take_word(const char **text, const char *word)
{
	size_t n = strlen(word);

	if (strncmp(*text, word, n) != 0)
		return false;
	*text += n;
	return true;
}

static enum reason take_mask(const char **text, uint32_t *ret)
{
	uint32_t mask = 0;
	uint32_t pcr;

	if (take_word(text, "all")) {
		*ret = PCR_ALL;
		return R_OK;
	}
	if (take_word(text, "none")) {
		*ret = 0;
		return R_OK;
	}
	do {
		if (!take_number(text, &pcr) || (mask & PCR_MASK(pcr)))
			return R_FORMAT_TEXT;
		mask |= PCR_MASK(pcr);
	} while (take_word(text, ","));
	*ret = mask;
	return R_OK;
}

static enum reason take_bank(const char **text, struct pcr_selection *s)
{
	char name[16];
	const char *colon = strchr(*text, ':');
	size_t n = colon ? (size_t)(colon - *text) : 0;
	uint32_t mask;
	uint16_t alg;

	if (n == 0 || n >= sizeof(name))
		return R_FORMAT_TEXT;
	memcpy(name, *text, n);
	name[n] = '\0';
	alg = digest_find(name);
	if (alg == 0)
		return R_FORMAT_TEXT;
	*text = colon + 1;
	TRY(take_mask(text, &mask));
	return pcr_selection_add(s, alg, mask);
}

enum reason pcr_selection_parse(const char *text, struct pcr_selection *ret)
{
	struct pcr_selection s = { 0 };

	do {
		enum reason r = take_bank(&text, &s);

		if (r != R_OK)
			return R_FORMAT_TEXT;
	} while (take_word(&text, "+"));
	if (*text != '\0')
		return R_FORMAT_TEXT;
	*ret = s;
	return R_OK;
}

static enum reason write_text(struct blob *b, const char *text)
{
	return blob_append(b, text, strlen(text));
}

static enum reason write_mask(struct blob *b, uint32_t mask)
{
	const char *comma = "";

	if (mask == 0)
		return write_text(b, "none");
	if (mask == PCR_ALL)
		return write_text(b, "all");
	for (uint32_t pcr = 0; pcr < PCR_COUNT; pcr++) {
		if (!(mask & PCR_MASK(pcr)))
			continue;
		TRY(write_text(b, comma));
		if (pcr >= 10)
			TRY(blob_u8(b, (uint8_t)('0' + pcr / 10)));
		TRY(blob_u8(b, (uint8_t)('0' + pcr % 10)));
		comma = ",";
	}
	return R_OK;
}

enum reason pcr_selection_text(const struct pcr_selection *s, struct blob *ret)
{
	for (size_t i = 0; i < s->count; i++) {
		const char *name = digest_name(s->bank[i].alg);

		if (!name)
			return R_FORMAT_TYPE;
		if (i > 0)
			TRY(write_text(ret, "+"));
		TRY(write_text(ret, name));
		TRY(write_text(ret, ":"));
		TRY(write_mask(ret, s->bank[i].mask));
	}
	return R_OK;
}
