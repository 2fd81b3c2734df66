/* SPDX-License-Identifier: Apache-2.0 */
#include "node/console.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <termios.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "node/sysfs.h"

#define PREFIX "bootgate: "
/* A serial line at 115200 needs 7 ms for a full line. */
#define PATIENCE_MS 100
/* What is still in a port's buffer when we go gets a second. */
#define DRAIN_TRIES 20
#define DRAIN_MS 50

/*
 * A port that is no console of the kernel's is still at 9600 baud; whoever
 * reads it (serial over LAN) expects 115200.
 */
static void set_speed(int fd)
{
	struct termios t;

	if (tcgetattr(fd, &t) < 0)
		return;
	cfsetispeed(&t, B115200);
	cfsetospeed(&t, B115200);
	t.c_cflag |= CLOCAL;
	t.c_oflag |= OPOST | ONLCR;
	tcsetattr(fd, TCSANOW, &t);
}

static bool name_usable(const char *name)
{
	return *name != 0 && strspn(name, "abcdefghijklmnopqrstuvwxyz"
					  "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == strlen(name);
}

static void add(struct console *c, const char *root, const char *name, bool is_active)
{
	char path[SYSFS_PATH_MAX];
	struct stat st;
	int fd;

	if (c->count == CONSOLES_MAX || !name_usable(name) ||
	    sysfs_path(path, root, "/dev/%s", name))
		return;
	fd = open(path, O_WRONLY | O_APPEND | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return;
	if (fstat(fd, &st) < 0)
		goto drop;
	for (size_t i = 0; i < c->count; i++) {
		const struct console_device *d = &c->device[i];

		if (S_ISCHR(st.st_mode) ? d->rdev == st.st_rdev :
					  d->dev == st.st_dev && d->ino == st.st_ino)
			goto drop;
	}
	if (!is_active)
		set_speed(fd);
	c->device[c->count++] =
		(struct console_device){ fd, st.st_dev, st.st_ino, st.st_rdev, false };
	return;
drop:
	close(fd);
}

void console_add(struct console *c, const char *root, const char *name)
{
	if (strncmp(name, "/dev/", 5) == 0)
		name += 5;
	add(c, root, name, false);
}

void console_open(struct console *c, const char *root)
{
	char active[256], *name, *rest = active;
	int ends[2];

	*c = (struct console){ .in = -1, .out = -1 };
	if (sysfs_line(root, "/sys/class/tty/console/active", active, sizeof(active)) == R_OK)
		while ((name = strsep(&rest, " ")))
			add(c, root, name, true);
	add(c, root, "ttyS0", false);
	add(c, root, "ttyS1", false);
	if (c->count == 0) {
		int fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);

		if (fd >= 0)
			c->device[c->count++] = (struct console_device){ .fd = fd };
	}
	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
		return;	/* the log stays at stderr */
	c->out = ends[0];
	c->in = ends[1];
	log_set_name("bootgate");
	log_set_form(LOG_FORM_PLAIN);
	log_set_sinks(&c->in, 1);
}

static void write_device(struct console_device *d, const char *p, size_t n)
{
	while (n > 0) {
		struct pollfd wait = { d->fd, POLLOUT, 0 };
		ssize_t done = write(d->fd, p, n);

		if (done > 0) {
			p += done;
			n -= (size_t)done;
			d->slow = false;
			continue;
		}
		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0 && errno != EAGAIN) {
			/* there is no port behind this name */
			close(d->fd);
			d->fd = -1;
			return;
		}
		if (d->slow || poll(&wait, 1, PATIENCE_MS) <= 0) {
			d->slow = true;
			return;
		}
	}
}

size_t console_wrap(const char **text, size_t columns)
{
	const char *p = *text;
	size_t n = strlen(p), cut;

	if (n <= columns) {
		*text = p + n;
		return n;
	}
	for (cut = columns; cut > 0 && p[cut] != ' '; cut--)
		;
	if (cut == 0)
		cut = columns;	/* one long word */
	*text = p + cut;
	while (**text == ' ')
		(*text)++;
	return cut;
}

static void show(struct console *c, const char *line)
{
	size_t prefix = strlen(PREFIX);
	const char *rest = strncmp(line, PREFIX, prefix) == 0 ? line + prefix : line;
	bool first = true;

	do {
		char out[CONSOLE_COLUMNS + 2];
		const char *piece = rest;
		size_t n = console_wrap(&rest, CONSOLE_COLUMNS - prefix - (first ? 0 : 2));
		int length = snprintf(out, sizeof(out), PREFIX "%s%.*s\n", first ? "" : "  ",
				      (int)n, piece);

		for (size_t i = 0; i < c->count; i++)
			if (c->device[i].fd >= 0)
				write_device(&c->device[i], out, (size_t)length);
		first = false;
	} while (*rest);
}

void console_flush(struct console *c)
{
	char line[LOG_LINE_MAX + 2] = "";
	size_t n = 0;

	if (c->out < 0)
		return;
	/* log.h writes whole lines, and a pipe takes each as a whole */
	for (;;) {
		char piece[512];
		ssize_t got = read(c->out, piece, sizeof(piece));

		if (got <= 0)
			return;
		for (ssize_t i = 0; i < got; i++) {
			if (piece[i] != '\n' && n < sizeof(line) - 1) {
				line[n++] = piece[i];
				continue;
			}
			line[n] = 0;
			n = 0;
			show(c, line);
		}
	}
}

void console_say(struct console *c, const char *format, ...)
{
	char text[LOG_LINE_MAX];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	log_info("%s", text);
	console_flush(c);
}

/* tcdrain(3) would wait for ever for a port that nobody reads. */
static void drain(const struct console *c)
{
	for (int tries = 0; tries < DRAIN_TRIES; tries++) {
		bool waiting = false;

		for (size_t i = 0; i < c->count; i++) {
			int queued = 0;

			if (c->device[i].fd >= 0 &&
			    syscall(SYS_ioctl, c->device[i].fd, TIOCOUTQ, &queued) == 0)
				waiting = waiting || queued > 0;
		}
		if (!waiting)
			return;
		poll(NULL, 0, DRAIN_MS);
	}
}

void console_close(struct console *c)
{
	console_flush(c);
	drain(c);
	for (size_t i = 0; i < c->count; i++)
		cleanup_fd(&c->device[i].fd);
	log_set_sinks(NULL, 0);
	cleanup_fd(&c->in);
	cleanup_fd(&c->out);
	*c = (struct console){ .in = -1, .out = -1 };
}
