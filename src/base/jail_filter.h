/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of jail: what a profile allows, as data, and the filter made of it. */
#ifndef BOOTGATE_BASE_JAIL_FILTER_H
#define BOOTGATE_BASE_JAIL_FILTER_H

#include <stddef.h>
#include <stdint.h>

#include "base/jail.h"

/*
 * One row. The first row that fits decides: the call's number is `nr` and
 * argument `arg` masked with `mask` is `value` (mask 0: whatever it is).
 * `error` 0 allows it, else the caller gets this errno and lives.
 */
struct jail_rule {
	int nr;
	int error;
	unsigned int arg;
	uint64_t mask;
	uint64_t value;
};

struct jail_group {
	const struct jail_rule *rules;
	size_t count;
};

/* The groups of a profile, in order, ended by one without rules. */
const struct jail_group *jail_groups(enum jail_profile profile);
enum reason jail_filter_load(const struct jail_group *groups) must_check;

#endif
