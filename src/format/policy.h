/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Policy as the worker gets it (CBOR). Written as JSON by operators, through
 * bootgatectl only; the admin process turns one into the other.
 */
#ifndef BOOTGATE_FORMAT_POLICY_H
#define BOOTGATE_FORMAT_POLICY_H

#include "format/protocol.h"

#define POLICY_NAMES_MAX 32u
#define POLICY_FACTS_MAX 64u

enum fact_rule_kind {
	FACT_ALLOWED = 0,	/* value is one of the rule's values */
	FACT_MINIMUM = 1,	/* number, or version compared part by part */
	FACT_RULE_MAX,
};

struct fact_rule {
	char fact[32];		/* name in facts.def */
	enum fact_rule_kind kind;
	bool warn_only;
	size_t value_count;
	char value[8][96];
};

/* No variant of the component below this security version is good, whatever its state. */
struct policy_floor {
	char component[32];
	uint32_t least;
};

struct policy {
	char id[64];
	uint32_t version;
	uint32_t lifetime;	/* of a verdict, seconds */
	/* Components that must have events and a matching variant. */
	size_t required_count;
	char required[POLICY_NAMES_MAX][32];
	/* Kernel parameters allowed beside the embedded command line. */
	size_t parameter_count;
	char parameter[POLICY_NAMES_MAX][96];
	size_t fact_count;
	struct fact_rule fact[POLICY_FACTS_MAX];
	/* Findings that only warn: policy_may_warn(). */
	size_t warn_count;
	enum reason warn[POLICY_NAMES_MAX];
	/* Submods of the verdict that must affirm. */
	size_t affirm_count;
	char affirm[POLICY_NAMES_MAX][32];
	size_t floor_count;
	struct policy_floor floor[POLICY_NAMES_MAX];
};

/*
 * Whether a policy may let this finding only warn: what firmware does against
 * the profile in events that references still compare as a whole. Never one
 * that says that a log, a quote or a name is not true.
 */
bool policy_may_warn(enum reason r);

/* What is in force until an operator says otherwise. */
void policy_default(struct policy *ret);
enum reason policy_read(struct bytes in, struct policy *ret) must_check;
enum reason policy_write(const struct policy *p, struct blob *ret) must_check;

#endif
