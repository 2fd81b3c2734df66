/* SPDX-License-Identifier: Apache-2.0 */
#include "node/watchdog.h"

#include <fcntl.h>
#include <linux/watchdog.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "node/sysfs.h"

/* musl declares ioctl(2) with an int, glibc with an unsigned long. */
static long control(int fd, unsigned long request, void *argument)
{
	return syscall(SYS_ioctl, fd, request, argument);
}

static const char *const names[] = { "watchdog0", "watchdog1", "watchdog2", "watchdog3",
				     "watchdog" };

enum reason watchdog_start(const char *root, unsigned timeout, struct watchdog *ret)
{
	struct watchdog_info info = { 0 };
	struct watchdog w = WATCHDOG_NONE;
	int seconds = (int)timeout;

	for (size_t i = 0; w.fd < 0 && i < sizeof(names) / sizeof(names[0]); i++) {
		char path[SYSFS_PATH_MAX];

		if (sysfs_path(path, root, "/dev/%s", names[i]) == R_OK)
			w.fd = open(path, O_WRONLY | O_CLOEXEC);
	}
	if (w.fd < 0)
		return R_BOOT_WATCHDOG;
	if (control(w.fd, WDIOC_GETSUPPORT, &info) == 0)
		snprintf(w.name, sizeof(w.name), "%.32s", (const char *)info.identity);
	/* the driver rounds, or keeps its own: then that is the time */
	if (control(w.fd, WDIOC_SETTIMEOUT, &seconds) == 0 ||
	    control(w.fd, WDIOC_GETTIMEOUT, &seconds) == 0)
		w.timeout = seconds > 0 ? (unsigned)seconds : 0;
	watchdog_feed(&w);
	*ret = w;
	return R_OK;
}

void watchdog_feed(const struct watchdog *w)
{
	/* any byte but V, which would allow to stop it */
	if (w->fd >= 0 && write(w->fd, "", 1) != 1)
		return;
}
