/* SPDX-License-Identifier: Apache-2.0 */
/* Registers: reading all of them at one moment, and extending exactly once. */
#include "node/tpm_internal.h"

#include <string.h>

#include "base/log.h"
#include "crypto/digest.h"

#define READ_TRIES 5u
#define EXTEND_TRIES 3u

/* ---- read -------------------------------------------------------------------- */

struct snapshot {
	bool begun;
	uint32_t counter;		/* the TPM counts every change of a register */
	bool moved;
	struct pcr_values values;
};

static enum reason take(struct snapshot *s, const struct pcr_select *asked,
			const TPML_PCR_SELECTION *got, const TPML_DIGEST *digests,
			uint32_t *ret_mask)
{
	struct pcr_selection sel;
	uint32_t mask;
	size_t used = 0;

	if (tpm_selection_of_tss(got, &sel) != R_OK || sel.count != 1 ||
	    sel.bank[0].alg != asked->alg || (sel.bank[0].mask & ~asked->mask) != 0)
		return R_TPM_IO;
	mask = sel.bank[0].mask;
	for (uint32_t pcr = 0; pcr < PCR_COUNT; pcr++) {
		if ((mask & PCR_MASK(pcr)) == 0)
			continue;
		if (used == digests->count || digests->digests[used].size != digest_len(asked->alg))
			return R_TPM_IO;
		TRY(pcr_values_set(&s->values, asked->alg, pcr, digests->digests[used].buffer));
		used++;
	}
	if (used != digests->count)
		return R_TPM_IO;
	*ret_mask = mask;
	return R_OK;
}

/* One TPM2_PCR_Read gives at most eight values. */
static enum reason read_bank(struct tpm *t, const struct pcr_select *bank, struct snapshot *s)
{
	struct pcr_select left = *bank;

	if (digest_len(bank->alg) == 0)
		return R_OK;	/* tpm_banks refuses it where it is active */
	while (left.mask != 0) {
		struct pcr_selection sel = { .count = 1, .bank = { left } };
		_cleanup_(cleanup_esys) TPML_PCR_SELECTION *got = NULL;
		_cleanup_(cleanup_esys) TPML_DIGEST *digests = NULL;
		TPML_PCR_SELECTION in;
		uint32_t counter, mask;
		enum reason r;

		TRY(tpm_selection_to_tss(&sel, &in));
		r = tpm_reason(t, Esys_PCR_Read(t->esys, ESYS_TR_NONE, ESYS_TR_NONE, ESYS_TR_NONE,
						&in, &counter, &got, &digests));
		if (r == R_TPM_RESPONSE && tpm_refused_with(t, TPM2_RC_HASH))
			return R_OK;	/* not implemented: no values */
		TRY(r);
		TRY(take(s, &left, got, digests, &mask));
		if (mask == 0)
			return R_OK;	/* inactive */
		s->moved = s->moved || (s->begun && counter != s->counter);
		s->begun = true;
		s->counter = counter;
		left.mask &= ~mask;
	}
	return R_OK;
}

enum reason tpm_pcr_read(struct tpm *t, const struct pcr_selection *sel, struct pcr_values *ret)
{
	struct snapshot s;
	unsigned tries = 0;

	do {
		memset(&s, 0, sizeof(s));
		for (size_t i = 0; i < sel->count; i++)
			TRY(read_bank(t, &sel->bank[i], &s));
	} while (s.moved && ++tries < READ_TRIES);
	*ret = s.values;
	return R_OK;
}

/* ---- extend ------------------------------------------------------------------ */

/* What the register holds, out of our own book where we have it. */
static enum reason hold(struct tpm *t, uint32_t pcr, const struct tpm_banks *banks)
{
	struct pcr_selection sel = { 0 };
	struct pcr_values v;

	if ((t->known & PCR_MASK(pcr)) != 0)
		return R_OK;
	for (size_t i = 0; i < banks->active_count; i++)
		TRY(pcr_selection_add(&sel, banks->active[i], PCR_MASK(pcr)));
	TRY(tpm_pcr_read(t, &sel, &v));
	for (size_t i = 0; i < banks->active_count; i++) {
		struct bytes value = pcr_value(&v, banks->active[i], pcr);

		if (value.n == 0)
			return R_TPM_IO;
		TRY(pcr_values_set(&t->held, banks->active[i], pcr, value.p));
	}
	t->known |= PCR_MASK(pcr);
	return R_OK;
}

enum outcome {
	NOT_RUN,
	RAN,
	UNKNOWN,
};

static enum outcome compare(const struct pcr_values *now, const struct pcr_values *old,
			    const struct pcr_values *new, uint32_t pcr,
			    const struct tpm_banks *banks)
{
	size_t same_old = 0, same_new = 0;

	for (size_t i = 0; i < banks->active_count; i++) {
		uint16_t alg = banks->active[i];
		struct bytes v = pcr_value(now, alg, pcr);

		same_old += bytes_equal(v, pcr_value(old, alg, pcr));
		same_new += bytes_equal(v, pcr_value(new, alg, pcr));
	}
	if (same_new == banks->active_count)
		return RAN;
	return same_old == banks->active_count ? NOT_RUN : UNKNOWN;
}

/* The answer was lost: the register itself says whether the extend is in it. */
static enum outcome look(struct tpm *t, const struct pcr_values *new, uint32_t pcr,
			 const struct tpm_banks *banks)
{
	struct pcr_selection sel = { 0 };
	struct pcr_values now;

	for (size_t i = 0; i < banks->active_count; i++)
		if (pcr_selection_add(&sel, banks->active[i], PCR_MASK(pcr)) != R_OK)
			return UNKNOWN;
	if (tpm_pcr_read(t, &sel, &now) != R_OK)
		return UNKNOWN;
	return compare(&now, &t->held, new, pcr, banks);
}

static enum reason expected(const struct tpm *t, uint32_t pcr, const struct tpm_banks *banks,
			    const uint8_t digest[][DIGEST_MAX], struct pcr_values *ret_new,
			    TPML_DIGEST_VALUES *ret_in)
{
	*ret_in = (TPML_DIGEST_VALUES){ .count = (UINT32)banks->active_count };
	*ret_new = t->held;
	for (size_t i = 0; i < banks->active_count; i++) {
		size_t n = digest_len(banks->active[i]);
		struct bytes held = pcr_value(&t->held, banks->active[i], pcr);
		uint8_t value[DIGEST_MAX];

		if (held.n != n || n == 0)
			return R_INTERNAL;
		memcpy(value, held.p, n);
		TRY(pcr_extend(banks->active[i], value, bytes_of(digest[i], n)));
		TRY(pcr_values_set(ret_new, banks->active[i], pcr, value));
		ret_in->digests[i].hashAlg = banks->active[i];
		memcpy(&ret_in->digests[i].digest, digest[i], n);
	}
	return R_OK;
}

enum reason tpm_pcr_extend(struct tpm *t, unsigned pcr, const struct tpm_banks *banks,
			   const uint8_t digest[][DIGEST_MAX])
{
	TPML_DIGEST_VALUES in;
	struct pcr_values new;

	if (pcr >= PCR_COUNT || banks->active_count == 0 || banks->active_count > LIMIT_BANKS)
		return R_INTERNAL;
	TRY(hold(t, pcr, banks));
	TRY(expected(t, pcr, banks, digest, &new, &in));
	for (unsigned i = 0; i < EXTEND_TRIES; i++) {
		enum reason r = tpm_reason(t, Esys_PCR_Extend(t->esys, ESYS_TR_PCR0 + pcr,
							      ESYS_TR_PASSWORD, ESYS_TR_NONE,
							      ESYS_TR_NONE, &in));

		if (r == R_TPM_IO) {
			enum outcome o = look(t, &new, pcr, banks);

			log_warn("tpm: answer to the extend of register %u lost; %s", pcr,
				 o == RAN ? "it ran" : o == NOT_RUN ? "it did not run" : "unknown");
			if (o == NOT_RUN)
				continue;
			r = o == RAN ? R_OK : R_TPM_EXTEND;
		}
		if (r == R_OK)
			t->held = new;
		else
			t->known &= ~PCR_MASK(pcr);
		return r == R_TPM_RESPONSE ? R_TPM_EXTEND : r;
	}
	return R_TPM_EXTEND;
}
