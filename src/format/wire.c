/* SPDX-License-Identifier: Apache-2.0 */
#include "format/wire.h"

#include <string.h>

#include "base/cleanup.h"

static size_t count_bits(uint32_t mask)
{
	size_t n = 0;

	for (; mask != 0; mask &= mask - 1)
		n++;
	return n;
}

/* What [algorithm, bitmap .. begins with. */
static enum reason bank_read(struct cursor *c, uint16_t *ret_alg, uint32_t *ret_mask)
{
	uint32_t alg;

	TRY(cbor_u32(c, 1, UINT16_MAX, &alg));
	TRY(cbor_u32(c, 0, PCR_ALL, ret_mask));
	*ret_alg = (uint16_t)alg;
	return R_OK;
}

static void bank_write(struct cbor_writer *w, uint16_t alg, uint32_t mask)
{
	cbor_put_uint(w, 1, UINT16_MAX, alg);
	cbor_put_uint(w, 0, PCR_ALL, mask);
}

enum reason wire_selection_read(struct cursor *c, struct pcr_selection *ret)
{
	struct pcr_selection s = { .count = 0 };
	size_t count, pair;

	TRY(cbor_array(c, 1, LIMIT_BANKS, &count));
	for (size_t i = 0; i < count; i++) {
		struct pcr_select bank;

		TRY(cbor_array(c, 2, 2, &pair));
		TRY(bank_read(c, &bank.alg, &bank.mask));
		for (size_t j = 0; j < s.count; j++)
			if (s.bank[j].alg == bank.alg)
				return R_FORMAT_DUPLICATE;
		s.bank[s.count++] = bank;
	}
	*ret = s;
	return R_OK;
}

void wire_selection_write(struct cbor_writer *w, const struct pcr_selection *s)
{
	cbor_put_array(w, 1, LIMIT_BANKS, s->count);
	for (size_t i = 0; i < s->count && i < LIMIT_BANKS; i++) {
		cbor_put_array(w, 2, 2, 2);
		bank_write(w, s->bank[i].alg, s->bank[i].mask);
	}
}

static enum reason values_bank_read(struct cursor *c, struct pcr_bank *ret)
{
	size_t parts, count, len;

	TRY(cbor_array(c, 3, 3, &parts));
	TRY(bank_read(c, &ret->alg, &ret->present));
	len = digest_len(ret->alg);
	if (len == 0 && ret->present != 0)
		return R_FORMAT_RANGE;
	count = count_bits(ret->present);
	TRY(cbor_array(c, count, count, &count));
	for (uint32_t pcr = 0; pcr < PCR_COUNT; pcr++)
		if (ret->present & PCR_MASK(pcr))
			TRY(cbor_copy(c, ret->value[pcr], len));
	return R_OK;
}

/* Fills *ret in place, for it is large: what it holds after a refusal is void. */
enum reason wire_values_read(struct cursor *c, struct pcr_values *ret)
{
	size_t count;

	memset(ret, 0, sizeof *ret);
	TRY(cbor_array(c, 0, LIMIT_BANKS, &count));
	for (size_t i = 0; i < count; i++) {
		TRY(values_bank_read(c, &ret->bank[i]));
		for (size_t j = 0; j < i; j++)
			if (ret->bank[j].alg == ret->bank[i].alg)
				return R_FORMAT_DUPLICATE;
	}
	ret->count = count;
	return R_OK;
}

static void values_bank_write(struct cbor_writer *w, const struct pcr_bank *b)
{
	size_t count = count_bits(b->present);
	size_t len = digest_len(b->alg);

	cbor_put_array(w, 3, 3, 3);
	bank_write(w, b->alg, b->present);
	if (len == 0 && b->present != 0)
		cbor_put_refuse(w, R_FORMAT_RANGE);
	cbor_put_array(w, 0, PCR_COUNT, count);
	for (uint32_t pcr = 0; pcr < PCR_COUNT; pcr++)
		if (b->present & PCR_MASK(pcr))
			cbor_put_copy(w, b->value[pcr], len);
}

void wire_values_write(struct cbor_writer *w, const struct pcr_values *v)
{
	cbor_put_array(w, 0, LIMIT_BANKS, v->count);
	for (size_t i = 0; i < v->count && i < LIMIT_BANKS; i++)
		values_bank_write(w, &v->bank[i]);
}
