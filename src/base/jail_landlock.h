/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of jail: what a profile may reach by name (files, TCP ports, other
 * processes), as Landlock rules. Unlike the system call filter it sees paths.
 * It does not know of chmod, chown and the like: those are the filter's.
 */
#ifndef BOOTGATE_BASE_JAIL_LANDLOCK_H
#define BOOTGATE_BASE_JAIL_LANDLOCK_H

#include "base/jail.h"

/* What this kernel knows; 0: it has no Landlock, or it is turned off. */
int jail_landlock_version(void);
/*
 * The rules of j as far as `version` knows them; its folder is looked up here,
 * with the caller's rights. -1 for version 0.
 */
enum reason jail_landlock_make(const struct jail *j, int version, int *ret) must_check;
/* Needs no_new_privs. Nothing to do for -1. */
enum reason jail_landlock_enter(int rules) must_check;

#endif
