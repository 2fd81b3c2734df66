/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a program tells people: one line per event, never more, whatever the
 * text holds (what is not printable ASCII is written as \xHH). Lines go to
 * stderr until log_set_sinks() says otherwise. Secrets are never logged.
 */
#ifndef BOOTGATE_BASE_LOG_H
#define BOOTGATE_BASE_LOG_H

#include <stdbool.h>
#include <stddef.h>

#include "base/bytes.h"
#include "base/reason.h"

enum log_level {
	LEVEL_ERROR,
	LEVEL_WARN,
	LEVEL_INFO,
	LEVEL_DEBUG,
};

enum log_form {
	LOG_FORM_PLAIN,		/* name: message */
	LOG_FORM_BOOT,		/* [   12.345] name: message */
	LOG_FORM_JSON,		/* {"time":"...","level":"info","program":"name","message":"..."} */
};

#define LOG_LINE_MAX 1024u	/* longer ones are cut */
#define LOG_SINKS_MAX 8u

void log_set_name(const char *name);
void log_set_level(enum log_level highest);
void log_set_form(enum log_form form);
/* Up to LOG_SINKS_MAX descriptors; they stay the caller's. A full or broken one is passed over. */
void log_set_sinks(const int *fds, size_t count);
/* From now on the last LIMIT_FAILURE_LOG bytes of lines are kept, for reports. */
void log_keep(void);
enum reason log_kept(struct blob *ret) must_check;

void log_line(enum log_level level, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
#define log_error(...) log_line(LEVEL_ERROR, __VA_ARGS__)
#define log_warn(...) log_line(LEVEL_WARN, __VA_ARGS__)
#define log_info(...) log_line(LEVEL_INFO, __VA_ARGS__)
#define log_debug(...) log_line(LEVEL_DEBUG, __VA_ARGS__)

/*
 * The log line is the return: `return log_reason(R_NET_DNS, "%s", host);`
 * logs "net.dns: HOST" and returns the reason. R_OK logs nothing.
 */
enum reason log_reason(enum reason r, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Same, and adds the text of errno. */
enum reason log_reason_errno(enum reason r, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * An event with fields: pairs of key and value (strings, a NULL value is left
 * out) up to a NULL key. `verdict node=3f2a directive=hold` in the plain
 * forms, members of the object in JSON.
 *	log_event(LEVEL_INFO, "verdict", "node", id, "directive", d, NULL);
 */
void log_event(enum log_level level, const char *event, ...) __attribute__((sentinel));

#endif
