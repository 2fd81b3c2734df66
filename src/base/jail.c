/* SPDX-License-Identifier: Apache-2.0 */
#include "base/jail.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/jail_filter.h"
#include "base/jail_landlock.h"
#include "base/log.h"

#ifdef __SANITIZE_ADDRESS__
/* The leak checker traces its own process, which a jail forbids. */
int __lsan_is_turned_off(void);
static int jailed;
int __lsan_is_turned_off(void)
{
	return jailed;
}
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif

const char *jail_profile_name(enum jail_profile profile)
{
	static const char *const names[] = {
		[JAIL_NET] = "net",
		[JAIL_FRONT] = "front",
		[JAIL_LEDGER] = "ledger",
		[JAIL_WORKER] = "worker",
		[JAIL_SIGNER] = "signer",
		[JAIL_SUPERVISOR] = "supervisor",
	};

	return (unsigned int)profile < JAIL_PROFILE_MAX ? names[profile] : "unknown";
}

static bool limit(int resource, uint64_t most)
{
	struct rlimit l;

	if (getrlimit(resource, &l) != 0)
		return false;
	if (l.rlim_max > most)
		l.rlim_max = most;
	l.rlim_cur = l.rlim_max;
	return setrlimit(resource, &l) == 0;
}

static bool set_limits(const struct jail *j)
{
	if (!limit(RLIMIT_CORE, 0))
		return false;
	if (j->files != 0 && !limit(RLIMIT_NOFILE, j->files))
		return false;
	/* the sanitizer's shadow alone is terabytes of address space */
	if (j->memory != 0 && !SANITIZED && !limit(RLIMIT_AS, j->memory))
		return false;
	return true;
}

static bool enter_root(const char *root)
{
	return root == NULL || (chroot(root) == 0 && chdir("/") == 0);
}

bool jail_bound_capabilities(uint64_t kept)
{
	for (int cap = 0; prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; cap++) {
		if (cap < 64 && (kept >> cap & 1) != 0)
			continue;
		if (prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) != 0)
			return false;
	}
	return true;
}

static bool drop_user(const struct jail *j)
{
	uid_t uid, euid, suid;
	gid_t gid, egid, sgid;

	if (j->uid == 0)
		return true;
	if (geteuid() == 0 && setgroups(0, NULL) != 0)
		return false;
	if (setresgid(j->gid, j->gid, j->gid) != 0 || setresuid(j->uid, j->uid, j->uid) != 0)
		return false;
	if (getresuid(&uid, &euid, &suid) != 0 || getresgid(&gid, &egid, &sgid) != 0)
		return false;
	return uid == j->uid && euid == j->uid && suid == j->uid && gid == j->gid &&
	       egid == j->gid && sgid == j->gid;
}

static bool drop_capabilities(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = { 0 };

	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) != 0)
		return false;
	return syscall(SYS_capset, &header, none) == 0;
}

static bool drop_privileges(const struct jail *j)
{
	int death = 0;

	/* a change of user forgets the signal at the parent's death */
	if (prctl(PR_GET_PDEATHSIG, &death, 0, 0, 0) != 0)
		return false;
	if (geteuid() == 0 && !jail_bound_capabilities(0))
		return false;
	if (!drop_user(j) || !drop_capabilities())
		return false;
	return prctl(PR_SET_PDEATHSIG, death, 0, 0, 0) == 0;
}

static enum reason failed(const struct jail *j, const char *step)
{
	return log_reason_errno(R_INTERNAL_JAIL, "%s: %s", jail_profile_name(j->profile), step);
}

bool jail_has_landlock(void)
{
	return jail_landlock_version() > 0;
}

enum reason jail_enter(const struct jail *j)
{
	_cleanup_fd_ int landlock = -1;

	if ((unsigned int)j->profile >= JAIL_PROFILE_MAX) {
		errno = EINVAL;
		return failed(j, "profile");
	}
#ifdef __SANITIZE_ADDRESS__
	jailed = 1;
	log_debug("jail %s: with what the sanitizer needs", jail_profile_name(j->profile));
#endif
	/* before the root folder and the user change: what `folder` means is the caller's */
	if (jail_landlock_make(j, jail_landlock_version(), &landlock) != R_OK)
		return failed(j, "Landlock rules");
	if (!set_limits(j))
		return failed(j, "limits");
	if (!enter_root(j->root))
		return failed(j, "root folder");
	/* the supervisor gives its children their users: it keeps what that needs */
	if (j->profile != JAIL_SUPERVISOR && !drop_privileges(j))
		return failed(j, "privileges");
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0)
		return failed(j, "not dumpable");
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return failed(j, "no new privileges");
	if (jail_landlock_enter(landlock) != R_OK)
		return failed(j, "Landlock");
	cleanup_fd(&landlock);
	landlock = -1;
	if (jail_filter_load(jail_groups(j->profile)) != R_OK)
		return failed(j, "system call filter");
	return R_OK;
}
