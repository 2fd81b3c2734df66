/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "format/pcr.h"

static void composite(const struct pcr_selection *s)
{
	static struct pcr_values v;
	uint8_t digest[DIGEST_MAX];
	bool known = true;

	memset(&v, 0, sizeof(v));
	for (size_t i = 0; i < s->count; i++) {
		for (uint32_t pcr = 0; pcr < PCR_COUNT; pcr++) {
			uint8_t reset[DIGEST_MAX];
			enum reason r;

			if (!(s->bank[i].mask & PCR_MASK(pcr)))
				continue;
			pcr_reset_value(pcr, reset);
			r = pcr_values_set(&v, s->bank[i].alg, pcr, reset);
			must(r == R_OK || r == R_FORMAT_TYPE);
			known = known && r == R_OK;
			must(r != R_OK || pcr_is_reset(&v, s->bank[i].alg, pcr));
		}
	}
	must(pcr_values_equal(&v, &v));
	must(pcr_composite(s, &v, ALG_SHA256, digest) == (known ? R_OK : R_QUOTE_SELECTION));
}

static void check(const struct pcr_selection *s)
{
	bool empty = true;

	for (size_t i = 0; i < s->count; i++) {
		must(!(s->bank[i].mask & ~PCR_ALL));
		must(pcr_selection_bank(s, s->bank[i].alg) == &s->bank[i]);
		empty = empty && s->bank[i].mask == 0;
	}
	must(pcr_selection_empty(s) == empty);
	composite(s);
}

static void wire(struct bytes in)
{
	_cleanup_(blob_free) struct blob b = BLOB(256);
	struct cursor c = cursor_of(in);
	struct pcr_selection s, again;

	if (pcr_selection_read(&c, &s) != R_OK) {
		must(c.n == in.n);
		return;
	}
	check(&s);
	must(pcr_selection_write(&s, &b) == R_OK);
	c = cursor_of(blob_bytes(&b));
	must(pcr_selection_read(&c, &again) == R_OK && c.n == 0);
	must(pcr_selection_equal(&s, &again));
}

static void text(struct bytes in)
{
	_cleanup_(blob_free) struct blob b = BLOB(1024);
	_cleanup_free_ char *given = string_of(in.p, in.n);
	_cleanup_free_ char *written = NULL;
	struct pcr_selection s, again;

	if (pcr_selection_parse(given, &s) != R_OK)
		return;
	check(&s);
	must(pcr_selection_text(&s, &b) == R_OK);
	written = string_of(b.p, b.n);
	must(pcr_selection_parse(written, &again) == R_OK);
	must(pcr_selection_equal(&s, &again));
}

/* The same bytes as what is extended into every bank. */
static void extend(struct bytes in)
{
	static const uint16_t alg[] = { ALG_SHA1, ALG_SHA256, ALG_SHA384, ALG_SHA512, ALG_SM3 };
	static struct pcr_values v, before;
	struct pcr_digests d;
	uint8_t reset[DIGEST_MAX];

	memset(&v, 0, sizeof(v));
	pcr_reset_value(0, reset);
	for (size_t i = 0; i < ARRAY_LEN(alg); i++)
		must(pcr_values_set(&v, alg[i], 0, reset) == R_OK);
	before = v;
	must(pcr_digests_of(alg, ARRAY_LEN(alg), in, &d) == R_OK);
	must(pcr_values_extend(&v, 0, &d) == R_OK);
	must(!pcr_values_equal(&v, &before));
}

/* What no caller may do, in the numbers of the input. */
static void misuse(struct bytes in)
{
	static struct pcr_values v;
	static const struct pcr_selection nothing;
	struct pcr_selection s = { 0 };
	struct pcr_digests d = { 0 };
	struct cursor c = cursor_of(in);
	uint8_t value[DIGEST_MAX] = { 0 };
	uint16_t alg[LIMIT_BANKS + 1] = { 0 };
	uint16_t a, pcr;

	memset(&v, 0, sizeof(v));
	while (cursor_be16(&c, &a) == R_OK && cursor_be16(&c, &pcr) == R_OK) {
		bool known = digest_len(a) > 0;
		enum reason r = pcr_values_set(&v, a, pcr, value);

		must((r == R_OK) == (known && pcr < PCR_COUNT));
		must((pcr_value(&v, a, pcr).n > 0) == (r == R_OK));
		must((pcr_extend(a, value, bytes_of(value, 20)) == R_OK) == (a == ALG_SHA1));
		must((pcr_composite(&nothing, &v, a, value) == R_OK) == known);
		must((pcr_digests_of(&a, 1, in, &d) == R_OK) == known);
		(void)!pcr_selection_add(&s, a, pcr);
		(void)!pcr_values_extend(&v, pcr, &d);
		must(s.count <= LIMIT_BANKS);
	}
	v.count = LIMIT_BANKS;
	for (size_t i = 0; i < LIMIT_BANKS; i++)
		v.bank[i].alg = 0;
	must(pcr_values_set(&v, ALG_SM3, 0, value) == R_FORMAT_TOO_LARGE);
	must(pcr_digests_of(alg, LIMIT_BANKS + 1, in, &d) == R_FORMAT_TOO_LARGE);
	{
		_cleanup_(blob_free) struct blob b = BLOB(1024);

		(void)!pcr_selection_text(&s, &b);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes in = { data, size };

	wire(in);
	text(in);
	extend(in);
	misuse(in);
	return 0;
}
