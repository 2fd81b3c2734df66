/* SPDX-License-Identifier: Apache-2.0 */
#include "node/measure.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "crypto/digest.h"
#include "format/eventlog.h"
#include "format/facts.h"

#define PCR_NEVER 15u		/* never extended by anybody; quoted as well */

/* The log as its writer wants it, and back. */
static struct eventlog_writer lend(struct measure *m)
{
	struct eventlog_writer w = { .bank_count = m->banks.active_count, .log = m->log };

	memcpy(w.bank, m->banks.active, sizeof(w.bank));
	return w;
}

static void give_back(struct measure *m, const struct eventlog_writer *w)
{
	m->log = w->log;
}

/* What was just logged goes into the register. */
static enum reason extend(struct measure *m, unsigned pcr, const struct pcr_digests *d)
{
	uint8_t digest[LIMIT_BANKS][DIGEST_MAX];

	if (d->count != m->banks.active_count)
		return R_INTERNAL;
	for (size_t i = 0; i < d->count; i++) {
		if (d->bank[i].alg != m->banks.active[i])
			return R_INTERNAL;
		memcpy(digest[i], d->bank[i].value, DIGEST_MAX);
	}
	return tpm_pcr_extend(m->tpm, pcr, &m->banks, digest);
}

/* From a failure on log and register differ: nothing but the cap may follow. */
static enum reason settle(struct measure *m, enum reason r)
{
	if (r != R_OK && m->failed == R_OK)
		m->failed = r;
	return r;
}

static enum reason ready(const struct measure *m)
{
	if (m->tpm == NULL || m->capped)
		return R_INTERNAL;
	return m->failed;
}

/* ---- begin ------------------------------------------------------------------- */

static enum reason at_reset(struct tpm *t, const struct tpm_banks *banks)
{
	static const uint32_t registers[] = { PCR_FACTS, PCR_DECISION, PCR_NEVER };
	struct pcr_selection sel = { 0 };
	struct pcr_values values;
	uint32_t mask = 0;

	for (size_t i = 0; i < ARRAY_LEN(registers); i++)
		mask |= PCR_MASK(registers[i]);
	for (size_t i = 0; i < banks->active_count; i++)
		TRY(pcr_selection_add(&sel, banks->active[i], mask));
	TRY(tpm_pcr_read(t, &sel, &values));
	for (size_t i = 0; i < banks->active_count; i++)
		for (size_t n = 0; n < ARRAY_LEN(registers); n++)
			if (!pcr_is_reset(&values, banks->active[i], registers[n]))
				return log_reason(R_TPM_REGISTER_USED, "PCR %u of bank %s",
						  registers[n], digest_name(banks->active[i]));
	return R_OK;
}

enum reason measure_begin(struct measure *m, struct tpm *tpm)
{
	struct eventlog_writer w;
	struct tpm_banks banks;

	*m = (struct measure){ 0 };
	TRY(tpm_banks(tpm, &banks));
	TRY(at_reset(tpm, &banks));
	TRY(eventlog_writer_begin(banks.active, banks.active_count, LIMIT_GATE_LOG, &w));
	m->tpm = tpm;
	m->banks = banks;
	give_back(m, &w);
	return R_OK;
}

void measure_free(struct measure *m)
{
	blob_free(&m->log);
	m->tpm = NULL;
}

/* ---- events ------------------------------------------------------------------ */

enum reason measure_fact(struct measure *m, uint32_t tag, const char *text)
{
	struct eventlog_writer w;
	struct pcr_digests d;
	enum fact fact;
	enum reason r;

	TRY(ready(m));
	if (!fact_find(tag, &fact) || fact_pcr(fact) == 0)
		return R_INTERNAL;
	w = lend(m);
	r = fact_write(&w, fact, text != NULL ? bytes_str(text) : BYTES_NONE, &d);
	give_back(m, &w);
	if (r == R_OK)
		r = extend(m, fact_pcr(fact), &d);
	return settle(m, r);
}

/* What to extend for a cap that the log has no room for. */
static enum reason cap_digests(const struct measure *m, uint32_t pcr, enum reason why,
			       struct pcr_digests *ret)
{
	struct eventlog_writer w;
	enum reason r = eventlog_writer_begin(m->banks.active, m->banks.active_count,
					      LIMIT_GATE_LOG, &w);

	if (r == R_OK) {
		r = fact_write_cap(&w, pcr, why, ret);
		eventlog_writer_free(&w);
	}
	return r;
}

/* A register is capped even when that can no longer be logged. */
static enum reason cap(struct measure *m, uint32_t pcr, enum reason why)
{
	struct eventlog_writer w = lend(m);
	struct pcr_digests d;
	enum reason r = fact_write_cap(&w, pcr, why, &d);

	give_back(m, &w);
	if (r != R_OK)
		r = cap_digests(m, pcr, why, &d);
	return r == R_OK ? extend(m, pcr, &d) : r;
}

/* Both registers are tried, whatever happens to the first. */
enum reason measure_cap(struct measure *m, enum reason why)
{
	enum reason facts, decision;

	if (m->tpm == NULL || m->capped)
		return R_OK;
	m->capped = true;
	facts = cap(m, PCR_FACTS, why);
	decision = cap(m, PCR_DECISION, why);
	return facts != R_OK ? facts : decision;
}
