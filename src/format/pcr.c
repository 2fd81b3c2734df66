/* SPDX-License-Identifier: Apache-2.0 */
#include "format/pcr.h"

#include <string.h>

#include "base/cleanup.h"

bool pcr_selection_equal(const struct pcr_selection *a, const struct pcr_selection *b)
{
	if (a->count != b->count)
		return false;
	for (size_t i = 0; i < a->count; i++)
		if (a->bank[i].alg != b->bank[i].alg || a->bank[i].mask != b->bank[i].mask)
			return false;
	return true;
}

const struct pcr_select *pcr_selection_bank(const struct pcr_selection *s, uint16_t alg)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->bank[i].alg == alg)
			return &s->bank[i];
	return NULL;
}

enum reason pcr_selection_add(struct pcr_selection *s, uint16_t alg, uint32_t mask)
{
	if (mask & ~PCR_ALL)
		return R_FORMAT_RANGE;
	if (pcr_selection_bank(s, alg))
		return R_FORMAT_DUPLICATE;
	if (s->count == LIMIT_BANKS)
		return R_FORMAT_TOO_LARGE;
	s->bank[s->count++] = (struct pcr_select){ alg, mask };
	return R_OK;
}

bool pcr_selection_empty(const struct pcr_selection *s)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->bank[i].mask)
			return false;
	return true;
}

const struct pcr_bank *pcr_values_bank(const struct pcr_values *v, uint16_t alg)
{
	for (size_t i = 0; i < v->count; i++)
		if (v->bank[i].alg == alg)
			return &v->bank[i];
	return NULL;
}

enum reason pcr_values_set(struct pcr_values *v, uint16_t alg, uint32_t pcr,
			   const uint8_t *value)
{
	struct pcr_bank *bank = NULL;
	size_t len = digest_len(alg);

	if (len == 0)
		return R_FORMAT_TYPE;
	if (pcr >= PCR_COUNT)
		return R_FORMAT_RANGE;
	for (size_t i = 0; i < v->count && !bank; i++)
		if (v->bank[i].alg == alg)
			bank = &v->bank[i];
	if (!bank) {
		if (v->count == LIMIT_BANKS)
			return R_FORMAT_TOO_LARGE;
		bank = &v->bank[v->count++];
		*bank = (struct pcr_bank){ .alg = alg };
	}
	memcpy(bank->value[pcr], value, len);
	bank->present |= PCR_MASK(pcr);
	return R_OK;
}

struct bytes pcr_value(const struct pcr_values *v, uint16_t alg, uint32_t pcr)
{
	const struct pcr_bank *bank = pcr_values_bank(v, alg);

	if (!bank || pcr >= PCR_COUNT || !(bank->present & PCR_MASK(pcr)))
		return BYTES_NONE;
	return bytes_of(bank->value[pcr], digest_len(alg));
}

static bool bank_equal(const struct pcr_bank *a, const struct pcr_bank *b)
{
	size_t len = digest_len(a->alg);

	if (a->present != b->present)
		return false;
	for (uint32_t pcr = 0; pcr < PCR_COUNT; pcr++)
		if ((a->present & PCR_MASK(pcr)) &&
		    memcmp(a->value[pcr], b->value[pcr], len) != 0)
			return false;
	return true;
}

bool pcr_values_equal(const struct pcr_values *a, const struct pcr_values *b)
{
	if (a->count != b->count)
		return false;
	for (size_t i = 0; i < a->count; i++) {
		const struct pcr_bank *other = pcr_values_bank(b, a->bank[i].alg);

		if (!other || !bank_equal(&a->bank[i], other))
			return false;
	}
	return true;
}

void pcr_reset_value(uint32_t pcr, uint8_t ret[DIGEST_MAX])
{
	memset(ret, pcr >= PCR_DRTM_FIRST && pcr <= PCR_DRTM_LAST ? 0xff : 0, DIGEST_MAX);
}

bool pcr_is_reset(const struct pcr_values *v, uint16_t alg, uint32_t pcr)
{
	uint8_t reset[DIGEST_MAX];
	struct bytes value = pcr_value(v, alg, pcr);

	pcr_reset_value(pcr, reset);
	return value.n > 0 && memcmp(value.p, reset, value.n) == 0;
}

enum reason pcr_extend(uint16_t alg, uint8_t value[DIGEST_MAX], struct bytes digest)
{
	size_t len = digest_len(alg);
	struct bytes pieces[] = { { value, len }, digest };
	uint8_t next[DIGEST_MAX];

	if (len == 0)
		return R_FORMAT_TYPE;
	if (digest.n != len)
		return R_FORMAT_RANGE;
	TRY(digest_of(alg, pieces, ARRAY_LEN(pieces), next));
	memcpy(value, next, len);
	return R_OK;
}

enum reason pcr_values_extend(struct pcr_values *v, uint32_t pcr,
			      const struct pcr_digests *d)
{
	if (pcr >= PCR_COUNT || d->count != v->count)
		return R_FORMAT_RANGE;
	for (size_t i = 0; i < d->count; i++)
		if (pcr_value(v, d->bank[i].alg, pcr).n == 0)
			return R_FORMAT_TYPE;
	for (size_t i = 0; i < d->count; i++) {
		uint16_t alg = d->bank[i].alg;

		for (size_t k = 0; k < v->count; k++)
			if (v->bank[k].alg == alg)
				TRY(pcr_extend(alg, v->bank[k].value[pcr],
					       bytes_of(d->bank[i].value, digest_len(alg))));
	}
	return R_OK;
}

enum reason pcr_digests_of(const uint16_t *alg, size_t count, struct bytes data,
			   struct pcr_digests *ret)
{
	struct pcr_digests d = { .count = count };

	if (count > LIMIT_BANKS)
		return R_FORMAT_TOO_LARGE;
	for (size_t i = 0; i < count; i++) {
		if (digest_len(alg[i]) == 0)
			return R_FORMAT_TYPE;
		d.bank[i].alg = alg[i];
		TRY(digest_of(alg[i], &data, 1, d.bank[i].value));
	}
	*ret = d;
	return R_OK;
}

enum reason pcr_composite(const struct pcr_selection *selection,
			  const struct pcr_values *values, uint16_t hash_alg,
			  uint8_t ret[DIGEST_MAX])
{
	struct bytes pieces[LIMIT_BANKS * PCR_COUNT];
	size_t count = 0;

	if (digest_len(hash_alg) == 0)
		return R_FORMAT_TYPE;
	for (size_t i = 0; i < selection->count; i++) {
		const struct pcr_select *s = &selection->bank[i];

		for (uint32_t pcr = 0; pcr < PCR_COUNT; pcr++) {
			struct bytes value;

			if (!(s->mask & PCR_MASK(pcr)))
				continue;
			value = pcr_value(values, s->alg, pcr);
			if (value.n == 0)
				return R_QUOTE_SELECTION;
			pieces[count++] = value;
		}
	}
	return digest_of(hash_alg, pieces, count, ret);
}
