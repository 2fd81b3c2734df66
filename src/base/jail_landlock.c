/* SPDX-License-Identifier: Apache-2.0 */
#include "base/jail_landlock.h"

#include <fcntl.h>
#include <linux/landlock.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"

/* What is newer than Debian 12's headers. */
enum {
	FS_TRUNCATE = 1 << 14,	/* version 3 */
	FS_IOCTL_DEV = 1 << 15,	/* version 5 */
	NET_BIND_TCP = 1 << 0,	/* version 4 */
	NET_CONNECT_TCP = 1 << 1,
	SCOPE_ABSTRACT_UNIX = 1 << 0,	/* version 6 */
	SCOPE_SIGNAL = 1 << 1,
};

/* The kernel takes a longer struct than it knows as long as the rest is zero. */
struct rules {
	uint64_t fs, net, scope;
};

enum {
	FS_FIRST = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1,	/* all of version 1 */
	FS_READ = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR,
	FS_WRITE = FS_READ | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_MAKE_REG |
		   LANDLOCK_ACCESS_FS_REMOVE_FILE | FS_TRUNCATE,
};

int jail_landlock_version(void)
{
	long version = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);

	return version > 0 ? (int)version : 0;
}

/* All that this version can forbid; what no rule allows is then forbidden. */
static struct rules everything(const struct jail *j, int version)
{
	struct rules r = { .fs = FS_FIRST };

	if (version >= 2)
		r.fs |= LANDLOCK_ACCESS_FS_REFER;
	if (version >= 3)
		r.fs |= FS_TRUNCATE;
	if (version >= 4)
		r.net = NET_BIND_TCP | (j->profile == JAIL_NET ? 0 : NET_CONNECT_TCP);
	if (version >= 5)
		r.fs |= FS_IOCTL_DEV;
	if (version >= 6)
		r.scope = SCOPE_ABSTRACT_UNIX | SCOPE_SIGNAL;
	return r;
}

static bool allow(int rules, const char *folder, uint64_t access)
{
	struct landlock_path_beneath_attr below = { .allowed_access = access };
	_cleanup_fd_ int fd = open(folder, O_PATH | O_CLOEXEC);

	below.parent_fd = fd;
	return fd >= 0 && syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &below, 0) == 0;
}

enum reason jail_landlock_make(const struct jail *j, int version, int *ret)
{
	const struct rules all = everything(j, version);
	bool reads = j->profile == JAIL_NET || j->profile == JAIL_SUPERVISOR;

	if (version == 0) {
		*ret = -1;
		return R_OK;
	}
	_cleanup_fd_ int rules = (int)syscall(SYS_landlock_create_ruleset, &all, sizeof(all), 0);
	if (rules < 0)
		return R_INTERNAL_JAIL;
	if (reads && !allow(rules, "/", FS_READ))
		return R_INTERNAL_JAIL;
	if (j->folder && !allow(rules, j->folder, FS_WRITE & all.fs))
		return R_INTERNAL_JAIL;
#ifdef __SANITIZE_ADDRESS__
	/* a report names files by /proc/self/maps */
	if (!allow(rules, "/proc", FS_READ))
		return R_INTERNAL_JAIL;
#endif
	*ret = take_fd(rules);
	return R_OK;
}

enum reason jail_landlock_enter(int rules)
{
	if (rules >= 0 && syscall(SYS_landlock_restrict_self, rules, 0) != 0)
		return R_INTERNAL_JAIL;
	return R_OK;
}
