/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A rollout changes components of the nodes of a group from older variants to
 * new ones. What the ledger knows of it for one node, and what its evidence
 * says. docs/rollouts.md.
 */
#ifndef BOOTGATE_APPRAISE_ROLLOUT_H
#define BOOTGATE_APPRAISE_ROLLOUT_H

#include "format/explanation.h"
#include "format/reference.h"

#define ROLLOUT_NAME_MAX 64u
#define ROLLOUT_NEW_MAX 16u		/* variants that one brings */

enum rollout_mode {
	ROLLOUT_NONE = 0,	/* the node's group has none */
	ROLLOUT_CLOSED,		/* it is over: what it brings is looked for, no more */
	ROLLOUT_ACCEPT,		/* older and new ones alike: paused, or not its turn */
	ROLLOUT_UPDATE,		/* who has an older one gets `update` */
	ROLLOUT_FAILED,		/* who has an older one waits for an operator */
	ROLLOUT_MODE_MAX,
};

struct rollout_terms {
	enum rollout_mode mode;
	char name[ROLLOUT_NAME_MAX];
	/* The last try was given: `update` in that boot alone, by its reset count. */
	bool last_try;
	uint32_t reset_count;
	size_t new_count;
	uint64_t new_id[ROLLOUT_NEW_MAX];
	/* Variants that this node may not come back to. */
	size_t retired_count;
	uint64_t retired[REFERENCE_SET_MAX];
};

/* What the components that the rollout changes are. */
enum rollout_seen {
	ROLLOUT_SEEN_NOTHING = 0,	/* it changes none, or none was judged */
	ROLLOUT_SEEN_NEW,		/* all of them are new */
	ROLLOUT_SEEN_OLD,		/* an older one that is known is among them */
	ROLLOUT_SEEN_OTHER,		/* one is not known at all */
	ROLLOUT_SEEN_MAX,
};

/*
 * After components were judged: e says which variant each matched, and what
 * else was found. Adds its own findings. *ret_update: this evidence is good
 * for `update`, and for nothing better.
 */
void rollout_judge(const struct rollout_terms *t, const struct reference_set *refs, uint32_t reset_count,
		   struct explanation *e, enum rollout_seen *ret_seen, bool *ret_update);

#endif
