/* SPDX-License-Identifier: Apache-2.0 */
/* Who each process is, and which files are left to it. */
#include <unistd.h>

#include "server/supervisor_internal.h"

static uint32_t user_of(const struct server_conf *c, enum jail_profile profile)
{
	switch (profile) {
	case JAIL_LEDGER:
		return c->ledger_uid;
	case JAIL_SIGNER:
		return c->signer_uid;
	case JAIL_SUPERVISOR:
		return 0;
	default:
		return c->run_uid;
	}
}

struct jail supervisor_jail(const struct supervisor *s, enum jail_profile profile)
{
	struct jail j = { .profile = profile };

	/* The supervisor's children inherit its rules: theirs is the smaller set of both. */
	if (profile == JAIL_LEDGER || profile == JAIL_SUPERVISOR)
		j.folder = s->state;
	if (geteuid() != 0)
		return j;
	j.uid = j.gid = user_of(&s->conf, profile);
	/* Its own user may not even be able to walk there. */
	if (profile == JAIL_LEDGER)
		j.root = s->state;
	return j;
}
