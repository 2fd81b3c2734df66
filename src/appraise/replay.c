/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Do the logs lead to the quoted registers? The quote authenticates values,
 * the values authenticate the logs, and nothing else does.
 */
#include "appraise/semantics.h"

#include <string.h>

#include "appraise/findings.h"
#include "base/cleanup.h"
#include "base/text.h"

static bool is_gate_register(uint32_t pcr)
{
	return pcr == PCR_FACTS || pcr == PCR_DECISION;
}

/* What a register holds before the first event; 0 remembers the locality of start-up. */
static struct bytes start_value(const struct logs *l, const struct active_bank *b, uint32_t pcr,
				uint8_t ret[DIGEST_MAX])
{
	size_t len = digest_len(b->alg);

	pcr_reset_value(pcr, ret);
	if (pcr == 0)
		ret[len - 1] = l->replay.locality;
	return bytes_of(ret, len);
}

/* What the logs say this register holds; none when they cannot say. */
static struct bytes expected_value(const struct logs *l, const struct active_bank *b,
				   uint32_t pcr, uint8_t start[DIGEST_MAX])
{
	if (is_gate_register(pcr))
		return pcr_value(&l->facts.replay.values, b->alg, pcr);
	if (b->column != NO_COLUMN)
		return pcr_value(&l->replay.values, b->alg, pcr);
	/* A bank that firmware does not log is one it does not measure. */
	return start_value(l, b, pcr, start);
}

static bool log_has(const struct logs *l, uint32_t pcr, uint32_t type)
{
	for (size_t i = 0; i < l->count; i++)
		if (l->event[i].event.pcr == pcr && l->event[i].event.type == type)
			return true;
	return false;
}

/*
 * A log area that was full ends early, and then what comes last in every boot
 * is not there: a separator, or the leaving of boot services. That explains
 * the difference; it excuses nothing.
 */
static bool ends_early(const struct logs *l, uint32_t wrong)
{
	for (uint32_t pcr = 0; pcr < PCR_FIRMWARE_COUNT; pcr++)
		if ((wrong & PCR_MASK(pcr)) && !log_has(l, pcr, EV_SEPARATOR))
			return true;
	if (!(wrong & PCR_MASK(5)))
		return false;
	for (size_t i = 0; i < l->count; i++)
		if (l->event[i].event.pcr == 5 &&
		    semantics_is_action(&l->event[i].event, ACTION_EXIT))
			return false;
	return true;
}

/*
 * The event after which this register held the quoted value, if there was
 * such a moment: what is logged behind it was never extended. Logs that list
 * their final events twice look like this.
 */
static enum reason last_true_event(const struct logs *l, const struct active_bank *b,
				   uint32_t pcr, const struct event **ret)
{
	struct bytes quoted = pcr_value(l->values, b->alg, pcr);
	uint8_t value[DIGEST_MAX];

	*ret = NULL;
	if (b->column == NO_COLUMN || is_gate_register(pcr))
		return R_OK;
	(void)start_value(l, b, pcr, value);
	for (size_t i = 0; i < l->count; i++) {
		const struct event *e = &l->event[i].event;

		if (e->pcr != pcr)
			continue;
		TRY(pcr_extend(b->alg, value, e->digest[b->column]));
		if (memcmp(value, quoted.p, quoted.n) == 0)
			*ret = e;
	}
	return R_OK;
}

static enum reason add_difference(const struct logs *l, const struct active_bank *b,
				  uint32_t pcr, struct bytes expected, bool early,
				  struct explanation *e)
{
	struct finding f = finding_make(early ? R_LOG_INCOMPLETE : R_LOG_REPLAY,
					SEVERITY_REFUSE, "");
	struct bytes quoted = pcr_value(l->values, b->alg, pcr);
	char hex[2 * DIGEST_MAX + 1];
	const struct event *last;

	f.pcr = pcr;
	f.bank = b->alg;
	f.gate_log = is_gate_register(pcr);
	f.digest_len = (uint8_t)quoted.n;
	memcpy(f.digest, quoted.p, quoted.n);
	hex_encode(quoted, hex);
	finding_text(f.observed, "%s register %u is %s", digest_name(b->alg), pcr, hex);
	hex_encode(expected, hex);
	finding_text(f.expected, "the log leads to %s", expected.n ? hex : "no value");
	TRY(last_true_event(l, b, pcr, &last));
	if (last)
		finding_text(f.nearest, "the register agrees up to event %u; the events of this"
			     " register behind it were not extended", (unsigned)last->number);
	explain(e, &f);
	return R_OK;
}

static void add_bank_missing(const struct active_bank *b, bool gate_log, struct explanation *e)
{
	struct finding f = finding_make(R_LOG_BANK_MISSING, SEVERITY_REFUSE, "");

	f.gate_log = gate_log;
	f.bank = b->alg;
	finding_text(f.observed, "bank %s is active and not in the %s log", digest_name(b->alg),
		     gate_log ? "gate" : "firmware");
	explain(e, &f);
}

/* Registers of this bank that the logs do not lead to. */
static uint32_t differing(const struct logs *l, const struct active_bank *b)
{
	uint32_t wrong = 0;

	for (uint32_t pcr = 0; pcr < PCR_COUNT; pcr++) {
		struct bytes quoted = pcr_value(l->values, b->alg, pcr);
		uint8_t start[DIGEST_MAX];

		if (quoted.n > 0 && !bytes_equal(quoted, expected_value(l, b, pcr, start)))
			wrong |= PCR_MASK(pcr);
	}
	return wrong;
}

static enum reason replay_bank(const struct logs *l, const struct active_bank *b,
			       struct explanation *e, bool *ok)
{
	uint32_t wrong = differing(l, b);
	bool early = ends_early(l, wrong);

	if (!pcr_values_bank(&l->facts.replay.values, b->alg)) {
		add_bank_missing(b, true, e);
		*ok = false;
		return R_OK;
	}
	if (wrong && b->column == NO_COLUMN) {
		add_bank_missing(b, false, e);
		*ok = false;
		return R_OK;
	}
	for (uint32_t pcr = 0; pcr < PCR_COUNT; pcr++) {
		uint8_t start[DIGEST_MAX];

		if (!(wrong & PCR_MASK(pcr)))
			continue;
		TRY(add_difference(l, b, pcr, expected_value(l, b, pcr, start), early, e));
		*ok = false;
	}
	return R_OK;
}

enum reason semantics_replay(const struct logs *l, struct explanation *e, bool *ret)
{
	bool ok = true;

	for (size_t i = 0; i < l->active_count; i++)
		TRY(replay_bank(l, &l->active[i], e, &ok));
	*ret = ok;
	return R_OK;
}

/*
 * A register of firmware at reset means that firmware does not measure into
 * this bank: whoever comes later could have written anything there.
 */
static bool is_measured(const struct logs *l, const struct active_bank *b)
{
	for (uint32_t pcr = 0; pcr < PCR_FIRMWARE_COUNT; pcr++) {
		struct bytes value = pcr_value(l->values, b->alg, pcr);
		uint8_t start[DIGEST_MAX];

		if (value.n == 0 || bytes_equal(value, start_value(l, b, pcr, start)))
			return false;
	}
	return true;
}

void semantics_banks(struct logs *l, struct explanation *e)
{
	struct finding f = finding_make(R_QUOTE_NO_USABLE_BANK, SEVERITY_REFUSE, "");
	bool any = false;

	for (size_t i = 0; i < l->active_count; i++) {
		struct active_bank *b = &l->active[i];
		struct finding one = finding_make(R_OK, SEVERITY_INFO, "");

		b->usable = digest_len(b->alg) >= SHA256_LEN && b->column != NO_COLUMN &&
			    is_measured(l, b);
		any |= b->usable;
		if (b->usable)
			continue;
		one.bank = b->alg;
		finding_text(one.observed, "bank %s is no proof: %s", digest_name(b->alg),
			     digest_len(b->alg) < SHA256_LEN
				     ? "the algorithm is too weak"
				     : "firmware does not measure into it");
		explain(e, &one);
	}
	if (!any)
		explain(e, &f);
}
