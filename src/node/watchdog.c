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

#define LEAST_SECONDS 30u

static const char *const names[] = { "watchdog0", "watchdog1", "watchdog2", "watchdog3",
				     "watchdog" };

/* Some have a low maximum; what is refused as a whole keeps its own time. */
static unsigned set_timeout(int fd, unsigned timeout)
{
	int seconds;

	for (unsigned t = timeout; t >= LEAST_SECONDS; t /= 2) {
		seconds = (int)t;
		if (control(fd, WDIOC_SETTIMEOUT, &seconds) == 0)
			return seconds > 0 ? (unsigned)seconds : t;
	}
	if (control(fd, WDIOC_GETTIMEOUT, &seconds) != 0 || seconds < 0)
		return 0;
	return (unsigned)seconds;
}

enum reason watchdog_start(const char *root, unsigned timeout, struct watchdog *ret)
{
	struct watchdog_info info = { 0 };
	struct watchdog w = WATCHDOG_NONE;

	for (size_t i = 0; w.fd < 0 && i < sizeof(names) / sizeof(names[0]); i++) {
		char path[SYSFS_PATH_MAX];

		if (sysfs_path(path, root, "/dev/%s", names[i]) == R_OK)
			w.fd = open(path, O_WRONLY | O_CLOEXEC);
	}
	if (w.fd < 0)
		return R_BOOT_WATCHDOG;
	if (control(w.fd, WDIOC_GETSUPPORT, &info) == 0)
		snprintf(w.name, sizeof(w.name), "%.32s", (const char *)info.identity);
	w.timeout = set_timeout(w.fd, timeout);
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
