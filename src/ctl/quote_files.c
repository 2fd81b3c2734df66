/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/quote_files.h"

#include <ctype.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"

#define PEM_START "-----BEGIN"

static bool starts_with(struct bytes in, const char *text)
{
	size_t n = strlen(text);

	return in.n >= n && memcmp(in.p, text, n) == 0;
}

enum reason quote_key_read(struct bytes in, struct quote_key *ret)
{
	struct quote_key *k = ret;

	memset(k, 0, sizeof *k);
	if (!starts_with(in, PEM_START))
		return tpm_public_read_file(in, &k->pub);
	TRY(cert_key_from_pem(in, &k->cert));
	k->from_pem = true;
	k->pub.type = k->cert.type;
	k->pub.scheme.alg = TPM_ALG_NULL;
	if (k->cert.type == TPM_ALG_RSA) {
		k->pub.modulus = bytes_of(k->cert.modulus, k->cert.modulus_len);
		k->pub.exponent = k->cert.exponent;
	} else {
		k->pub.curve = k->cert.curve;
		k->pub.x = bytes_of(k->cert.x, k->cert.coord_len);
		k->pub.y = bytes_of(k->cert.y, k->cert.coord_len);
	}
	return R_OK;
}

/* ---- binary -------------------------------------------------------------- */

/*
 * tpm2_quote writes C structures of tpm2-tss with their padding, numbers
 * little-endian: TPML_PCR_SELECTION (16 entries of 8 bytes), a count, and so
 * many TPML_DIGEST (8 entries of 2 + 64 bytes).
 */
#define TOOLS_SELECTIONS 16u
#define TOOLS_LIST 8u
#define TOOLS_DIGEST 64u

static enum reason tools_selection(struct cursor *c, struct pcr_selection *ret)
{
	uint32_t count;

	*ret = (struct pcr_selection){ 0 };
	TRY(cursor_le32(c, &count));
	if (count > LIMIT_BANKS)
		return R_FORMAT_RANGE;
	for (uint32_t i = 0; i < TOOLS_SELECTIONS; i++) {
		uint16_t alg;
		uint8_t size;
		uint32_t mask;
		uint8_t padding;

		TRY(cursor_le16(c, &alg));
		TRY(cursor_u8(c, &size));
		TRY(cursor_le32(c, &mask));
		TRY(cursor_u8(c, &padding));
		if (i < count)
			TRY(pcr_selection_add(ret, alg, mask & PCR_ALL));
	}
	return R_OK;
}

static enum reason tools_lists(struct cursor *c, struct bytes *value, size_t max, size_t *ret)
{
	uint32_t lists;
	size_t n = 0;

	TRY(cursor_le32(c, &lists));
	for (uint32_t i = 0; i < lists; i++) {
		uint32_t count;

		TRY(cursor_le32(c, &count));
		if (count > TOOLS_LIST || count > max - n)
			return R_FORMAT_RANGE;
		for (uint32_t k = 0; k < TOOLS_LIST; k++) {
			uint16_t size;
			struct bytes buffer;

			TRY(cursor_le16(c, &size));
			TRY(cursor_take(c, TOOLS_DIGEST, &buffer));
			if (size > TOOLS_DIGEST)
				return R_FORMAT_RANGE;
			if (k < count)
				value[n++] = bytes_of(buffer.p, size);
		}
	}
	*ret = n;
	return cursor_end(c);
}

static enum reason tools_read(struct bytes in, struct pcr_values *ret)
{
	struct cursor c = cursor_of(in);
	struct bytes value[LIMIT_BANKS * PCR_COUNT];
	struct pcr_selection s;
	size_t count = 0;
	size_t at = 0;

	TRY(tools_selection(&c, &s));
	TRY(tools_lists(&c, value, ARRAY_LEN(value), &count));
	memset(ret, 0, sizeof *ret);
	for (size_t i = 0; i < s.count; i++)
		for (uint32_t pcr = 0; pcr < PCR_COUNT; pcr++) {
			if (!(s.bank[i].mask & PCR_MASK(pcr)))
				continue;
			if (at == count || value[at].n != digest_len(s.bank[i].alg))
				return R_FORMAT_RANGE;
			TRY(pcr_values_set(ret, s.bank[i].alg, pcr, value[at].p));
			at++;
		}
	return at == count ? R_OK : R_FORMAT_RANGE;
}

/* The values one behind the other, in the order of the quote. */
static enum reason raw_read(struct bytes in, const struct pcr_selection *s,
			    struct pcr_values *ret)
{
	struct cursor c = cursor_of(in);

	memset(ret, 0, sizeof *ret);
	for (size_t i = 0; i < s->count; i++)
		for (uint32_t pcr = 0; pcr < PCR_COUNT; pcr++) {
			struct bytes value;

			if (!(s->bank[i].mask & PCR_MASK(pcr)))
				continue;
			TRY(cursor_take(&c, digest_len(s->bank[i].alg), &value));
			TRY(pcr_values_set(ret, s->bank[i].alg, pcr, value.p));
		}
	return cursor_end(&c);
}

static size_t raw_size(const struct pcr_selection *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->count; i++)
		for (uint32_t pcr = 0; pcr < PCR_COUNT; pcr++)
			if (s->bank[i].mask & PCR_MASK(pcr))
				n += digest_len(s->bank[i].alg);
	return n;
}

/* ---- text ---------------------------------------------------------------- */

#define HEX_MAX 256u

enum reason quote_hex_read(const char *text, uint8_t *ret, size_t max, size_t *ret_n)
{
	char lower[HEX_MAX + 1];
	size_t n = strlen(text);

	if (n > HEX_MAX)
		return R_FORMAT_TOO_LARGE;
	for (size_t i = 0; i <= n; i++)
		lower[i] = (char)tolower((unsigned char)text[i]);
	return hex_decode_upto(bytes_str(lower), ret, max, ret_n);
}

#define LINE_MAX_CHARS 256u

/* Parts of a line between blanks, `:` and `=`. */
static size_t split(char *line, char *part[3])
{
	size_t n = 0;

	for (char *save = NULL, *p = strtok_r(line, " \t:=\r", &save); p;
	     p = strtok_r(NULL, " \t:=\r", &save)) {
		if (n == 3)
			return 4;
		part[n++] = p;
	}
	return n;
}

static enum reason set_text(uint16_t alg, const char *pcr, const char *value,
			    struct pcr_values *ret)
{
	uint8_t digest[DIGEST_MAX];
	uint64_t number;
	size_t n;

	if (strncmp(value, "0x", 2) == 0)
		value += 2;
	TRY(quote_hex_read(value, digest, sizeof digest, &n));
	if (n == 0 || n != digest_len(alg))
		return R_FORMAT_TEXT;
	TRY(text_u64(bytes_str(pcr), PCR_COUNT - 1, &number));
	if (pcr_value(ret, alg, (uint32_t)number).n > 0)
		return R_FORMAT_DUPLICATE;
	return pcr_values_set(ret, alg, (uint32_t)number, digest);
}

static enum reason line_read(char *line, uint16_t *bank, struct pcr_values *ret)
{
	char *part[3];

	switch (split(line, part)) {
	case 0:
		return R_OK;
	case 1:
		/* `sha256:` stands above its registers */
		*bank = digest_find(part[0]);
		return *bank ? R_OK : R_FORMAT_TEXT;
	case 2:
		return set_text(*bank, part[0], part[1], ret);
	case 3:
		return set_text(digest_find(part[0]), part[1], part[2], ret);
	default:
		return R_FORMAT_TEXT;
	}
}

static enum reason text_read(struct bytes in, struct pcr_values *ret)
{
	uint16_t bank = 0;

	memset(ret, 0, sizeof *ret);
	while (in.n > 0) {
		const uint8_t *end = memchr(in.p, '\n', in.n);
		size_t n = end ? (size_t)(end - in.p) : in.n;
		char line[LINE_MAX_CHARS];

		if (n >= sizeof line)
			return R_FORMAT_TEXT;
		memcpy(line, in.p, n);
		line[n] = '\0';
		n += end != NULL;
		in = bytes_of(in.p + n, in.n - n);
		if (line[0] != '#')
			TRY(line_read(line, &bank, ret));
	}
	return R_OK;
}

static bool is_text(struct bytes in)
{
	for (size_t i = 0; i < in.n; i++)
		if ((in.p[i] < 0x20 && !strchr("\t\r\n", in.p[i])) || in.p[i] > 0x7e ||
		    in.p[i] == 0)
			return false;
	return in.n > 0;
}

enum reason quote_pcrs_read(struct bytes in, const struct pcr_selection *selection,
			    struct pcr_values *ret)
{
	if (is_text(in))
		return text_read(in, ret);
	if (in.n == raw_size(selection))
		return raw_read(in, selection, ret);
	return tools_read(in, ret);
}
