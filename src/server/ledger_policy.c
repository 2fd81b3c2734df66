/* SPDX-License-Identifier: Apache-2.0 */
/* The policies in force: one for all nodes, and those of groups. */
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "server/ledger.h"

/* Policies of groups that are in force at once. */
#define POLICIES_MAX 1024u

static void policy_free(struct group_policy *p)
{
	if (p)
		blob_free(&p->encoded);
	free(p);
}

void policies_free(struct policies *p)
{
	for (size_t i = 0; i < p->count; i++)
		policy_free(p->list[i]);
	free(p->list);
	*p = (struct policies){ 0 };
}

static enum reason take(struct policies *to, const char *group, struct bytes body)
{
	struct group_policy *p = to->list[0];

	if (group[0]) {
		if (to->count == POLICIES_MAX)
			return R_POLICY_FULL;
		p = calloc(1, sizeof(*p));
		if (!p)
			return R_INTERNAL_MEMORY;
		to->list[to->count++] = p;
		snprintf(p->group, sizeof(p->group), "%s", group);
		p->encoded = BLOB(LIMIT_REFERENCE);
	}
	blob_reset(&p->encoded);
	TRY(blob_append(&p->encoded, body.p, body.n));
	return policy_read(body, &p->values);
}

static enum reason take_row(void *ctx, const char *group, struct bytes body)
{
	return take(ctx, group, body);
}

enum reason policies_read(struct ledger *l, struct policies *to)
{
	*to = (struct policies){ .list = calloc(POLICIES_MAX, sizeof(struct group_policy *)) };
	if (!to->list)
		return R_INTERNAL_MEMORY;
	to->list[0] = calloc(1, sizeof(**to->list));
	if (!to->list[0])
		return R_INTERNAL_MEMORY;
	to->count = 1;
	to->list[0]->encoded = BLOB(LIMIT_REFERENCE);
	policy_default(&to->list[0]->values);
	TRY(policy_write(&to->list[0]->values, &to->list[0]->encoded));
	return store_policy_each(l->store, take_row, to);
}

const struct group_policy *policy_of(const struct ledger *l, const char *group)
{
	const struct policies *p = &l->policies;

	for (size_t i = 1; i < p->count; i++)
		if (strcmp(p->list[i]->group, group) == 0)
			return p->list[i];
	return p->list[0];
}
