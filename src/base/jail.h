/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one way in which a process of any of our programs confines itself:
 * drop everything, then parse. What each profile may ask of the kernel is a
 * table in jail_profiles.c; whatever is not there ends the process (SIGSYS).
 * What it may reach by name is Landlock's, where the kernel has it: NET and
 * SUPERVISOR read files, LEDGER has its folder, the others have nothing.
 */
#ifndef BOOTGATE_BASE_JAIL_H
#define BOOTGATE_BASE_JAIL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/reason.h"

enum jail_profile {
	JAIL_NET,		/* gate: DNS, TLS, HTTP as a client; reads files */
	JAIL_FRONT,		/* server: accepts connections; no files */
	JAIL_LEDGER,		/* server: the database's files; no network */
	JAIL_WORKER,		/* server: its channels, nothing else */
	JAIL_SIGNER,		/* server: its channels, nothing else */
	JAIL_SUPERVISOR,	/* server: forks all the others; never executes a file */
	JAIL_PROFILE_MAX,
};

struct jail {
	enum jail_profile profile;
	uid_t uid;		/* 0: stays who it is, without capabilities */
	gid_t gid;
	const char *root;	/* becomes "/"; NULL: as it was */
	const char *folder;	/* by Landlock, the only files it may write; NULL: none */
	uint64_t memory;	/* most bytes of address space; 0: no limit */
	uint32_t files;		/* most open descriptors; 0: as it was */
};

/*
 * Enters for good. Descriptors that are open stay open. After a failure the
 * process is neither free nor confined: log and _exit().
 */
enum reason jail_enter(const struct jail *j) must_check;
/* Without, `folder` is not enforced: jail_enter() goes on, the caller says so. */
bool jail_has_landlock(void);
/*
 * What could come back by executing a file: only root can drop it, and needs
 * to. `kept`: bits of the capabilities that stay. False with errno.
 */
bool jail_bound_capabilities(uint64_t kept);
const char *jail_profile_name(enum jail_profile profile);

#endif
