/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every console the machine may have: the active ones, ttyS0, ttyS1 and one
 * that the site names. All log lines go there, wrapped at 78 columns, ASCII,
 * without escape codes. A console that takes nothing never holds us up for
 * long.
 */
#ifndef BOOTGATE_NODE_CONSOLE_H
#define BOOTGATE_NODE_CONSOLE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define CONSOLES_MAX 8u
#define CONSOLE_COLUMNS 78u

struct console_device {
	int fd;
	dev_t dev;
	ino_t ino;
	dev_t rdev;
	bool slow;			/* gets what it takes without waiting */
};

struct console {
	int in, out;			/* the pipe between log.h and the devices */
	size_t count;
	struct console_device device[CONSOLES_MAX];
};

/* Takes over the log's lines; standard output when there is no console. */
void console_open(struct console *c, const char *root);
/* One more device, by its name below /dev. */
void console_add(struct console *c, const char *root, const char *name);
/* Writes out what was logged since the last call. */
void console_flush(struct console *c);
/* A log line, written out at once. */
void console_say(struct console *c, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void console_close(struct console *c);

/*
 * Next piece of `text` for a line of at most `columns`: its length, cut at a
 * blank where there is one. *text moves behind it and the blanks there.
 */
size_t console_wrap(const char **text, size_t columns);

#endif
