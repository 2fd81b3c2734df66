/* SPDX-License-Identifier: Apache-2.0 */
/* Judgement over authentic evidence: the order of its parts. */
#include "appraise/appraise.h"

#include <stdlib.h>
#include <string.h>

#include "appraise/findings.h"
#include "appraise/judge.h"
#include "appraise/semantics.h"
#include "base/cleanup.h"

/* Both logs lead to the quoted registers, in a bank that proves something. */
static enum reason judge_logs(struct logs *l, struct explanation *e, bool *ret_true)
{
	bool replayed;

	*ret_true = false;
	if (l->firmware_read)
		semantics_gate_registers(l, e);
	if (l->gate_read)
		semantics_gate_state(l, e);
	if (!l->firmware_read || !l->gate_read)
		return R_OK;
	TRY(semantics_replay(l, e, &replayed));
	semantics_banks(l, e);
	*ret_true = replayed;
	return R_OK;
}

static enum reason judge_components(struct logs *l, const struct reference_set *refs,
				    const struct policy *policy, const struct report *report,
				    struct explanation *e)
{
	_cleanup_(components_free) struct components c = { 0 };

	TRY(semantics_events(l, e));
	TRY(components_split(l, &c));
	return components_match(l, &c, refs, policy, report, e);
}

/* It must be well-formed; what its checks say has no rules yet. */
static void judge_report(struct bytes in, struct report *ret, struct explanation *e)
{
	enum reason r = report_read(in, ret);

	if (r != R_OK) {
		struct finding f = finding_make(r, SEVERITY_REFUSE, "host");

		memset(ret, 0, sizeof *ret);
		finding_text(f.observed, "the host validation report cannot be read");
		explain(e, &f);
	}
}

static enum reason judge_all(const struct quote_checked *q, const struct reference_set *refs,
			     const struct policy *policy, struct logs *l, struct report *report,
			     struct appraisal *ret, struct judged *j)
{
	struct explanation *e = &ret->explanation;

	TRY(logs_read(q, l, e));
	TRY(judge_logs(l, e, &j->components));
	judge_report(q->claims.report, report, e);
	/* What a log says that is not true needs no judging. */
	if (j->components) {
		TRY(judge_components(l, refs, policy, report, e));
		TRY(facts_judge(q->claims.gate_log, &l->facts, policy, e));
		j->facts = policy->fact_count > 0;
	}
	return R_OK;
}

enum reason appraise(const struct quote_checked *q, const struct session *session,
		     const struct node_record *record, const struct reference_set *refs,
		     const struct policy *policy, const struct rollout_terms *rollout,
		     struct appraisal *ret)
{
	_cleanup_free_ struct logs *l = calloc(1, sizeof *l);
	_cleanup_free_ struct report *report = calloc(1, sizeof *report);
	struct judged j = { 0 };
	enum reason r;

	if (!l || !report)
		return R_INTERNAL_MEMORY;
	if (session->stage != STAGE_GATE)
		return R_SESSION_STAGE;
	memset(ret, 0, sizeof *ret);
	/* Until it says otherwise at the end, the answer is no. */
	ret->directive = DIRECTIVE_REFUSE;
	ret->status = EAR_CONTRAINDICATED;
	ret->record.clock = clock_of_attest(&q->attest);
	r = judge_all(q, refs, policy, l, report, ret, &j);
	logs_free(l);
	if (r != R_OK)
		return r;
	clock_judge(&q->attest, &record->clock, &ret->explanation);
	TRY(board_of(report, ret->record.board));
	board_judge(ret->record.board, record->board, &ret->explanation);
	policy_soften(policy, &ret->explanation);
	/* The last, as it asks what all others found. */
	if (rollout)
		rollout_judge(rollout, refs, q->attest.reset_count, &ret->explanation, &ret->rollout,
			      &j.update);
	vector_make(&j, ret);
	policy_affirm(policy, ret);
	return R_OK;
}
