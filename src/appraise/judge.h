/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of appraise() that need neither each other nor components. */
#ifndef BOOTGATE_APPRAISE_JUDGE_H
#define BOOTGATE_APPRAISE_JUDGE_H

#include "appraise/component.h"

/* facts_policy.c: the measured facts, by the rules of the policy. */
enum reason facts_judge(struct bytes gate_log, const struct facts *facts,
			const struct policy *policy, struct explanation *e) must_check;
/*
 * True when `value` is at least `least`: hexadecimal when both begin with 0x,
 * else versions, part by part. What cannot be compared is not at least.
 */
bool version_at_least(struct bytes value, const char *least);

/* clock.c: reset counters and clock against what is on record. */
void clock_judge(const struct tpm_attest *a, const struct clock_record *record,
		 struct explanation *e);

/* What goes on record. */
struct clock_record clock_of_attest(const struct tpm_attest *a);

/* board.c: serial number of the board, "none" without one; and against the record. */
enum reason board_of(const struct report *report, char ret[BOARD_MAX]) must_check;
void board_judge(const char *now, const char *record, struct explanation *e);

/*
 * leniency.c: findings that the policy lets only warn do so. Nothing is let
 * off where findings were dropped: one that refuses may be among them.
 */
void policy_soften(const struct policy *policy, struct explanation *e);
/* leniency.c: refuses where a submod that the policy wants affirmed is not. */
void policy_affirm(const struct policy *policy, struct appraisal *a);

/* vector.c: submods, status and directive out of the findings. */
struct judged {
	bool components;		/* the logs were true, so components were judged */
	bool facts;			/* there was a rule for facts */
	bool update;			/* all there is to warn of is what a rollout changes */
};
void vector_make(const struct judged *j, struct appraisal *a);

#endif
