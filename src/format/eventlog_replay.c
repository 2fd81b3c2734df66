/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a TPM does with the events of a log.
 *
 * The start value of register 0 (PFP 1.06, 10.4.5.3 "Startup Locality Event";
 * TPM 2.0 Part 1, "H-CRTM"): zero, but the last byte is the locality from
 * which TPM2_Startup came, 0 or 3, or 4 after an H-CRTM sequence. The profile
 * wants a StartupLocality event in front of the first extend of register 0
 * when that is not 0. Some firmware logs its H-CRTM event and no
 * StartupLocality event. An H-CRTM sequence is made of _TPM_Hash_Start, _Data
 * and _End before TPM2_Startup, and there a TPM always starts register 0 at 4:
 * so an H-CRTM event that is the first extend of register 0 implies 4. A
 * StartupLocality event in front of it says it explicitly and is obeyed.
 *
 * Tools that ignore this print another register 0. Neither choice can be used
 * to lie: the outcome is compared with the TPM's.
 */
#include "format/eventlog.h"

#include <string.h>

#include "base/cleanup.h"

static const char startup_locality[16] = "StartupLocality";

#define LOCALITY_HCRTM 4u

enum reason eventlog_replay_begin(const struct eventlog *log, struct eventlog_replay *ret)
{
	*ret = (struct eventlog_replay){ .legacy = log->legacy };
	ret->values.count = log->bank_count;
	for (size_t i = 0; i < log->bank_count; i++) {
		struct pcr_bank *bank = &ret->values.bank[i];

		if (digest_len(log->bank[i]) == 0)
			return R_LOG_ALGORITHM;
		bank->alg = log->bank[i];
		bank->present = PCR_ALL;
		for (uint32_t pcr = 0; pcr < PCR_COUNT; pcr++)
			pcr_reset_value(pcr, bank->value[pcr]);
	}
	return R_OK;
}

static bool is_extended(const struct eventlog_replay *r, uint32_t pcr)
{
	uint32_t any = 0;

	for (size_t i = 0; i < r->values.count; i++)
		any |= r->extended[i];
	return any & PCR_MASK(pcr);
}

static void start_at(struct eventlog_replay *r, uint8_t locality)
{
	for (size_t i = 0; i < r->values.count; i++) {
		struct pcr_bank *bank = &r->values.bank[i];

		bank->value[0][digest_len(bank->alg) - 1] = locality;
	}
}

static enum reason no_action(struct eventlog_replay *r, const struct event *e)
{
	uint8_t locality;

	if (e->data.n < sizeof(startup_locality) ||
	    memcmp(e->data.p, startup_locality, sizeof(startup_locality)) != 0)
		return R_OK;
	if (e->data.n != sizeof(startup_locality) + 1 || e->pcr != 0)
		return R_LOG_LOCALITY;
	locality = e->data.p[sizeof(startup_locality)];
	if (locality != 0 && locality != 3 && locality != LOCALITY_HCRTM)
		return R_LOG_LOCALITY;
	if (r->locality_known || is_extended(r, 0))
		return R_LOG_LOCALITY;
	r->locality_known = true;
	r->locality = locality;
	start_at(r, locality);
	return R_OK;
}

static void hcrtm(struct eventlog_replay *r)
{
	if (!r->locality_known && !is_extended(r, 0)) {
		r->locality = LOCALITY_HCRTM;
		start_at(r, LOCALITY_HCRTM);
	}
	r->hcrtm = true;
}

/*
 * Registers 17 to 22 can only be extended after a dynamic launch, and that
 * resets all of them to zero first.
 */
static void drtm(struct eventlog_replay *r)
{
	for (size_t i = 0; i < r->values.count && !r->drtm; i++)
		for (uint32_t pcr = PCR_DRTM_FIRST; pcr <= PCR_DRTM_LAST; pcr++)
			memset(r->values.bank[i].value[pcr], 0, DIGEST_MAX);
	r->drtm = true;
}

static enum reason extend(struct eventlog_replay *r, const struct event *e, size_t i)
{
	struct pcr_bank *bank = &r->values.bank[i];

	if (e->digest[i].n == 0) {
		if (!r->partial)
			r->partial_at = (struct eventlog_fault){ e->number, e->offset };
		r->partial = true;
		bank->present &= ~PCR_MASK(e->pcr);
		return R_OK;
	}
	TRY(pcr_extend(bank->alg, bank->value[e->pcr], e->digest[i]));
	r->extended[i] |= PCR_MASK(e->pcr);
	return R_OK;
}

static enum reason replay_event(struct eventlog_replay *r, const struct event *e)
{
	if (e->type == EV_NO_ACTION)
		return no_action(r, e);
	if (e->pcr >= PCR_COUNT)
		return R_LOG_PCR_RANGE;
	if (e->type == EV_EFI_HCRTM_EVENT && e->pcr == 0)
		hcrtm(r);
	if (e->pcr >= PCR_DRTM_FIRST && e->pcr <= PCR_DRTM_LAST)
		drtm(r);
	for (size_t i = 0; i < r->values.count; i++)
		TRY(extend(r, e, i));
	return R_OK;
}

enum reason eventlog_replay_event(struct eventlog_replay *r, const struct event *e)
{
	enum reason result = replay_event(r, e);

	if (result != R_OK) {
		r->fault = (struct eventlog_fault){ e->number, e->offset };
		return result;
	}
	r->events++;
	return R_OK;
}

enum reason eventlog_replay(struct bytes log, struct eventlog_replay *ret)
{
	struct eventlog in;
	struct event e;
	enum reason r;

	*ret = (struct eventlog_replay){ 0 };
	r = eventlog_open(log, &in);
	if (r == R_OK)
		r = eventlog_replay_begin(&in, ret);
	if (r != R_OK) {
		ret->fault = in.fault;
		return r;
	}
	while ((r = eventlog_next(&in, &e)) == R_OK) {
		TRY(eventlog_replay_event(ret, &e));
		if (ret->partial) {
			ret->fault = ret->partial_at;
			return R_LOG_DIGEST_COUNT;
		}
	}
	if (r == R_LOG_END)
		return R_OK;
	ret->fault = in.fault;
	return r;
}
