/* SPDX-License-Identifier: Apache-2.0 */
/* The same with the default policy: components, what is not compared, facts. */
#ifndef BOOTGATE_TESTS_COMPONENT_KIT_H
#define BOOTGATE_TESTS_COMPONENT_KIT_H

#include "appraise_kit.h"

static struct policy policy;

static inline int setup_policy(void **state)
{
	policy_default(&policy);
	return setup(state);
}

static inline void judge(void)
{
	kit_make(k);
	kit_judge(k, &refs, &policy, NULL, a);
}

static inline size_t variant_of(const struct kit_refs *r, const char *component)
{
	for (size_t i = 0; i < r->set.count; i++)
		if (strcmp(r->set.variant[i].component, component) == 0)
			return i;
	fail_msg("no variant of %s", component);
	return 0;
}

/* One set out of two; the bytes of both must live on. */
static inline void merge(struct kit_refs *to, const struct kit_refs *from)
{
	struct reference_variant *v;

	v = realloc(to->set.variant, (to->set.count + from->set.count) * sizeof *v);
	assert_non_null(v);
	to->set.variant = v;
	for (size_t i = 0; i < from->set.count; i++) {
		v[to->set.count] = from->set.variant[i];
		v[to->set.count].id += 100;
		v[to->set.count].event = calloc(from->set.variant[i].event_count,
						sizeof *v->event);
		memcpy(v[to->set.count].event, from->set.variant[i].event,
		       from->set.variant[i].event_count * sizeof *v->event);
		to->set.count++;
	}
}

static inline bool differs(const char *component)
{
	for (size_t i = 0; i < a->explanation.count; i++)
		if (a->explanation.finding[i].reason == R_POLICY_VARIANT &&
		    strcmp(a->explanation.finding[i].component, component) == 0)
			return true;
	return false;
}

/* Seeds of tests/fuzz/fuzz_appraise.c; see message.h. */
static inline void save_seed(const char *name)
{
	const char *folder = getenv("BOOTGATE_SEEDS");
	char path[512];
	FILE *f;

	if (!folder)
		return;
	snprintf(path, sizeof path, "%s/appraise/%s", folder, name);
	f = fopen(path, "wb");
	assert_non_null(f);
	assert_int_equal(fwrite(k->claims_bytes.p, 1, k->claims_bytes.n, f), k->claims_bytes.n);
	assert_int_equal(fclose(f), 0);
}

#endif
