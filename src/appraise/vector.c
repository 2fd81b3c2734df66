/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trustworthiness vectors (AR4SI) and the directive out of the findings. A
 * claim is made only for what was judged; the status of a submod is never
 * better than its worst claim or its worst finding.
 */
#include "appraise/judge.h"

#include <stdio.h>
#include <string.h>

#include "appraise/findings.h"

/* Values of AR4SI section 2.3.4. */
#define KNOWN_INSTANCE 2
#define APPROVED_BOOT 3
#define APPROVED_CONFIG 2
#define UNSAFE 32
#define UNRECOGNISED 33
#define CONTRAINDICATED 96

enum submod { SUBMOD_TPM, SUBMOD_FIRMWARE, SUBMOD_GATE, SUBMOD_HOST, SUBMOD_COUNT };
static const char *const submod_names[SUBMOD_COUNT] = { "tpm", "firmware", "gate", "host" };

static enum submod submod_find(const char *name)
{
	for (unsigned i = 0; i < SUBMOD_COUNT; i++)
		if (strcmp(submod_names[i], name) == 0)
			return (enum submod)i;
	return SUBMOD_COUNT;
}

/* Which submod a finding is about, and which of its claims it lowers. */
static enum submod submod_of(const struct finding *f, enum ar4si *ret_claim)
{
	enum component component = component_find(f->component);
	enum submod named = submod_find(f->component);

	if (component != COMPONENT_NONE) {
		*ret_claim = component_claim(component);
		return submod_find(component_submod(component));
	}
	if (named == SUBMOD_TPM) {
		*ret_claim = AR4SI_HARDWARE;
		return SUBMOD_TPM;
	}
	if (named == SUBMOD_HOST || strcmp(f->component, "facts") == 0) {
		*ret_claim = AR4SI_CONFIGURATION;
		return SUBMOD_HOST;
	}
	*ret_claim = AR4SI_EXECUTABLES;
	return f->gate_log ? SUBMOD_GATE : SUBMOD_FIRMWARE;
}

static int8_t claim_value(const struct finding *f, enum ar4si claim)
{
	switch (f->severity) {
	case SEVERITY_REFUSE:
		break;
	case SEVERITY_HOLD:
	case SEVERITY_WARN:
		return claim == AR4SI_EXECUTABLES ? UNRECOGNISED : UNSAFE;
	case SEVERITY_INFO:
	case SEVERITY_MAX:
		return 0;
	}
	/* Not known is less than known to be bad. */
	if (claim == AR4SI_EXECUTABLES &&
	    (f->reason == R_POLICY_VARIANT || f->reason == R_POLICY_UNCLAIMED ||
	     f->reason == R_POLICY_NO_REFERENCE))
		return UNRECOGNISED;
	return CONTRAINDICATED;
}

static int8_t tier_of_severity(enum severity s)
{
	switch (s) {
	case SEVERITY_WARN:
	case SEVERITY_HOLD:
		return EAR_WARNING;
	case SEVERITY_REFUSE:
		return EAR_CONTRAINDICATED;
	case SEVERITY_INFO:
	case SEVERITY_MAX:
		break;
	}
	return EAR_NONE;
}

static int8_t tier_of_value(int8_t value)
{
	if (value >= CONTRAINDICATED)
		return EAR_CONTRAINDICATED;
	if (value >= UNSAFE)
		return EAR_WARNING;
	return value >= 2 ? EAR_AFFIRMING : EAR_NONE;
}

static void raise(int8_t *to, int8_t value)
{
	if (value > *to)
		*to = value;
}

static void start(const struct judged *j, struct appraisal *a)
{
	a->submod_count = SUBMOD_COUNT;
	for (unsigned i = 0; i < SUBMOD_COUNT; i++)
		snprintf(a->submod[i].name, sizeof a->submod[i].name, "%s", submod_names[i]);
	a->submod[SUBMOD_TPM].vector[AR4SI_INSTANCE_IDENTITY] = KNOWN_INSTANCE;
	if (j->components) {
		a->submod[SUBMOD_FIRMWARE].vector[AR4SI_EXECUTABLES] = APPROVED_BOOT;
		a->submod[SUBMOD_FIRMWARE].vector[AR4SI_CONFIGURATION] = APPROVED_CONFIG;
		a->submod[SUBMOD_GATE].vector[AR4SI_EXECUTABLES] = APPROVED_BOOT;
		a->submod[SUBMOD_GATE].vector[AR4SI_CONFIGURATION] = APPROVED_CONFIG;
	}
	/* Without a rule nobody has looked at the facts. */
	if (j->facts)
		a->submod[SUBMOD_HOST].vector[AR4SI_CONFIGURATION] = APPROVED_CONFIG;
}

void vector_make(const struct judged *j, struct appraisal *a)
{
	enum severity worst = explanation_worst(&a->explanation);

	start(j, a);
	for (size_t i = 0; i < a->explanation.count; i++) {
		const struct finding *f = &a->explanation.finding[i];
		enum ar4si claim;
		struct verdict_submod *s = &a->submod[submod_of(f, &claim)];

		raise(&s->vector[claim], claim_value(f, claim));
		raise(&s->status, tier_of_severity(f->severity));
	}
	a->status = tier_of_severity(worst);
	for (size_t i = 0; i < a->submod_count; i++) {
		for (unsigned k = 0; k < AR4SI_MAX; k++)
			raise(&a->submod[i].status, tier_of_value(a->submod[i].vector[k]));
		raise(&a->status, a->submod[i].status);
	}
	if (worst == SEVERITY_REFUSE)
		a->directive = DIRECTIVE_REFUSE;
	else if (worst == SEVERITY_HOLD)
		a->directive = DIRECTIVE_HOLD;
	else if (j->update)
		a->directive = DIRECTIVE_UPDATE;
	else
		a->directive = DIRECTIVE_ADMIT;
}
