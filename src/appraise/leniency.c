/* SPDX-License-Identifier: Apache-2.0 */
/* What a policy makes of findings: warnings of some, refusals of what is not affirmed. */
#include "appraise/judge.h"

#include <string.h>

#include "appraise/findings.h"

static bool warns(const struct policy *policy, enum reason r)
{
	for (size_t i = 0; i < policy->warn_count; i++)
		if (policy->warn[i] == r)
			return policy_may_warn(r);
	return false;
}

void policy_soften(const struct policy *policy, struct explanation *e)
{
	if (e->dropped > 0)
		return;
	for (size_t i = 0; i < e->count; i++)
		if (e->finding[i].severity > SEVERITY_WARN && warns(policy, e->finding[i].reason))
			e->finding[i].severity = SEVERITY_WARN;
}

static int8_t status_of(const struct appraisal *a, const char *submod)
{
	for (size_t i = 0; i < a->submod_count; i++)
		if (strcmp(a->submod[i].name, submod) == 0)
			return a->submod[i].status;
	return EAR_NONE;
}

/* What a rollout changes is lowered until it is changed, and `update` is no leave to run more than that. */
static bool is_updated(const struct appraisal *a, const char *submod)
{
	for (size_t i = 0; a->directive == DIRECTIVE_UPDATE && i < a->explanation.count; i++) {
		const struct finding *f = &a->explanation.finding[i];

		if (f->reason == R_ROLLOUT_UPDATE &&
		    strcmp(component_submod(component_find(f->component)), submod) == 0)
			return true;
	}
	return false;
}

void policy_affirm(const struct policy *policy, struct appraisal *a)
{
	for (size_t i = 0; i < policy->affirm_count; i++) {
		const char *submod = policy->affirm[i];
		struct finding f = finding_make(R_POLICY_AFFIRM, SEVERITY_REFUSE, submod);

		if (status_of(a, submod) == EAR_AFFIRMING || is_updated(a, submod))
			continue;
		finding_text(f.observed, "%s is not affirmed", submod);
		finding_text(f.expected, "nothing that lowers it, and something that affirms it");
		explain(&a->explanation, &f);
		a->status = EAR_CONTRAINDICATED;
		a->directive = DIRECTIVE_REFUSE;
	}
}
