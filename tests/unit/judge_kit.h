/* SPDX-License-Identifier: Apache-2.0 */
/* References learned from a machine in memory, and judgement by them. */
#ifndef BOOTGATE_TESTS_JUDGE_KIT_H
#define BOOTGATE_TESTS_JUDGE_KIT_H

#include <stdio.h>

#include "evidence_kit.h"

/* References learned from one machine, active. They outlive the machine. */
struct kit_refs {
	struct blob bytes;
	struct reference_set set;
};

static inline void kit_refs_free(struct kit_refs *r)
{
	reference_set_free(&r->set);
	blob_free(&r->bytes);
}

static inline void kit_refs_state(struct kit_refs *r, const char *component,
				  enum variant_state state)
{
	for (size_t i = 0; i < r->set.count; i++)
		if (!component || strcmp(r->set.variant[i].component, component) == 0)
			r->set.variant[i].state = state;
}

static inline struct kit_refs kit_learn_by(struct kit *k, const struct policy *p)
{
	struct quote_checked *q = calloc(1, sizeof *q);
	struct reference_set set;
	struct kit_refs r = { .bytes = BLOB(LIMIT_REFERENCE_SET) };

	assert_non_null(q);
	kit_make(k);
	assert_ok(kit_check(k, q));
	assert_ok(component_learn(q, "learned from a test", p, &set));
	assert_ok(reference_set_write(&set, &r.bytes));
	reference_set_free(&set);
	assert_ok(reference_set_read(blob_bytes(&r.bytes), &r.set));
	for (size_t i = 0; i < r.set.count; i++) {
		assert_int_equal(r.set.variant[i].state, VARIANT_STAGED);
		r.set.variant[i].id = 100 + i;
	}
	kit_refs_state(&r, NULL, VARIANT_ACTIVE);
	free(q);
	return r;
}

static inline struct kit_refs kit_learn(struct kit *k)
{
	struct policy standard;

	policy_default(&standard);
	return kit_learn_by(k, &standard);
}

static inline void kit_judge(const struct kit *k, const struct kit_refs *r,
			     const struct policy *p, const struct clock_record *clock,
			     struct appraisal *ret)
{
	struct quote_checked *q = calloc(1, sizeof *q);
	struct node_record record = { 0 };
	struct policy standard;

	assert_non_null(q);
	policy_default(&standard);
	assert_ok(kit_check(k, q));
	if (clock)
		record.clock = *clock;
	assert_ok(appraise(q, &k->session, &record, &r->set, p ? p : &standard, NULL,
			   ret));
	free(q);
}

static inline const struct finding *find_reason(const struct appraisal *a, enum reason r)
{
	for (size_t i = 0; i < a->explanation.count; i++)
		if (a->explanation.finding[i].reason == r &&
		    a->explanation.finding[i].severity > SEVERITY_INFO)
			return &a->explanation.finding[i];
	return NULL;
}

static inline void print_findings(const struct appraisal *a)
{
	for (size_t i = 0; i < a->explanation.count; i++) {
		const struct finding *f = &a->explanation.finding[i];

		print_message("%s/%d %s event %u pcr %u: %s | %s | %s\n", reason_name(f->reason),
			      f->severity, f->component, f->event, f->pcr, f->observed,
			      f->expected, f->nearest);
	}
}

/* Admitted, and nothing above information was found. */
#define assert_admitted(a)                                                    \
	do {                                                                  \
		if ((a)->directive != DIRECTIVE_ADMIT)                        \
			print_findings(a);                                    \
		assert_int_equal((a)->directive, DIRECTIVE_ADMIT);            \
		assert_int_equal((a)->status, EAR_AFFIRMING);                 \
	} while (0)
/* Refused, and this reason is among those told. */
#define assert_refused(a, r)                                                  \
	do {                                                                  \
		if (!find_reason(a, r) || (a)->directive != DIRECTIVE_REFUSE) \
			print_findings(a);                                    \
		assert_int_equal((a)->directive, DIRECTIVE_REFUSE);           \
		assert_int_equal((a)->status, EAR_CONTRAINDICATED);           \
		assert_non_null(find_reason(a, r));                           \
	} while (0)

#endif
