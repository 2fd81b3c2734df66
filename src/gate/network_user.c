/* SPDX-License-Identifier: Apache-2.0 */
#include "gate/network_user.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/jail.h"
#include "base/log.h"

#define NETWORK_UID 64511u

static const int kept[] = { CAP_NET_ADMIN, CAP_NET_RAW };
#define KEPT_MASK (1u << CAP_NET_ADMIN | 1u << CAP_NET_RAW)

/* Tests may run as nobody, and then nothing is left to drop. */
static bool is_root(void)
{
	return geteuid() == 0;
}

enum reason network_user_folder(const char *folder)
{
	if (mkdir(folder, 0755) != 0 && errno != EEXIST)
		return log_reason_errno(R_INTERNAL_JAIL, "%s", folder);
	if (is_root() && lchown(folder, NETWORK_UID, NETWORK_UID) != 0)
		return log_reason_errno(R_INTERNAL_JAIL, "%s", folder);
	return R_OK;
}

static bool set_user(void)
{
	return prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) == 0 && setgroups(0, NULL) == 0 &&
	       setresgid(NETWORK_UID, NETWORK_UID, NETWORK_UID) == 0 &&
	       setresuid(NETWORK_UID, NETWORK_UID, NETWORK_UID) == 0;
}

static bool keep_capabilities(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct set[_LINUX_CAPABILITY_U32S_3] = {
		{ .effective = KEPT_MASK, .permitted = KEPT_MASK, .inheritable = KEPT_MASK },
	};

	if (syscall(SYS_capset, &header, set) != 0)
		return false;
	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
		if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, kept[i], 0, 0) != 0)
			return false;
	return true;
}

enum reason network_user_become(void)
{
	if (is_root() && !(jail_bound_capabilities(KEPT_MASK) && set_user() && keep_capabilities()))
		return log_reason_errno(R_INTERNAL_JAIL, "network script");
	/* the change of user forgot the signal at the parent's death */
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0)
		return log_reason_errno(R_INTERNAL_JAIL, "network script");
	return R_OK;
}
