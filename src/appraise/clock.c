/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The TPM's counters. They only rise; when they fell with the same keys,
 * somebody cleared the TPM, and an operator must say why.
 */
#include "appraise/judge.h"

#include "appraise/findings.h"

static void add(enum severity s, const char *what, uint64_t before, uint64_t now,
		struct explanation *e)
{
	struct finding f = finding_make(R_QUOTE_CLOCK, s, "tpm");

	finding_text(f.observed, "%s is %llu", what, (unsigned long long)now);
	finding_text(f.expected, "%s of at least %llu, which is on record", what,
		     (unsigned long long)before);
	explain(e, &f);
}

struct clock_record clock_of_attest(const struct tpm_attest *a)
{
	return (struct clock_record){
		.known = true,
		.clock = a->clock,
		.reset_count = a->reset_count,
		.restart_count = a->restart_count,
		.firmware_version = a->firmware,
	};
}

void clock_judge(const struct tpm_attest *a, const struct clock_record *record,
		 struct explanation *e)
{
	struct finding f = finding_make(R_QUOTE_CLOCK, SEVERITY_WARN, "tpm");

	/*
	 * The gate runs after power-on. A restart count means that the TPM
	 * went on from a saved state, as after hibernation.
	 */
	if (a->restart_count > 0) {
		finding_text(f.observed, "restart count is %u", a->restart_count);
		finding_text(f.expected, "0, as after power-on");
		explain(e, &f);
	}
	if (!record->known)
		return;
	if (a->reset_count < record->reset_count) {
		add(SEVERITY_HOLD, "reset count", record->reset_count, a->reset_count, e);
		return;
	}
	if (a->reset_count > record->reset_count)
		return;
	if (a->restart_count < record->restart_count)
		add(SEVERITY_HOLD, "restart count", record->restart_count, a->restart_count, e);
	/* After a hard power cut the clock may go back a little; then safe is 0. */
	else if (a->restart_count == record->restart_count && a->safe && a->clock < record->clock)
		add(SEVERITY_HOLD, "clock", record->clock, a->clock, e);
}
