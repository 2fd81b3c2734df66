/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/text.h"

/* The only state of base: a process has one log. */
static struct {
	const char *name;
	enum log_level level;
	enum log_form form;
	int sinks[LOG_SINKS_MAX];
	size_t sink_count;
	bool keeps;
	/* ring: the oldest byte is at `at` once it is full */
	uint8_t kept[LIMIT_FAILURE_LOG];
	size_t at;
	bool full;
} log_state = {
	.name = "bootgate",
	.level = LEVEL_INFO,
	.sinks = { STDERR_FILENO },
	.sink_count = 1,
};

static const char *const level_names[] = {
	[LEVEL_ERROR] = "error",
	[LEVEL_WARN] = "warning",
	[LEVEL_INFO] = "info",
	[LEVEL_DEBUG] = "debug",
};

void log_set_name(const char *name)
{
	log_state.name = name;
}

void log_set_level(enum log_level highest)
{
	log_state.level = highest;
}

void log_set_form(enum log_form form)
{
	log_state.form = form;
}

void log_set_sinks(const int *fds, size_t count)
{
	if (count > LOG_SINKS_MAX)
		count = LOG_SINKS_MAX;
	if (count > 0)
		memcpy(log_state.sinks, fds, count * sizeof(*fds));
	log_state.sink_count = count;
}

void log_keep(void)
{
	log_state.keeps = true;
}

static void keep(const char *line, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		log_state.kept[log_state.at++] = (uint8_t)line[i];
		if (log_state.at == sizeof(log_state.kept)) {
			log_state.at = 0;
			log_state.full = true;
		}
	}
}

enum reason log_kept(struct blob *ret)
{
	size_t n = sizeof(log_state.kept) - log_state.at;

	if (log_state.full) {
		const uint8_t *oldest = log_state.kept + log_state.at;
		/* the first line is cut: begin at the next one */
		const uint8_t *end = memchr(oldest, '\n', n);
		enum reason r = R_OK;

		if (end != NULL)
			r = blob_append(ret, end + 1, n - (size_t)(end + 1 - oldest));
		if (r != R_OK)
			return r;
	}
	return blob_append(ret, log_state.kept, log_state.at);
}

/* A line under construction; what does not fit is dropped. */
struct line {
	char text[LOG_LINE_MAX];
	size_t n;
	size_t room;		/* what may be used, the end is reserved */
};

static void add(struct line *l, const char *s)
{
	size_t n = strlen(s);

	if (n > l->room - l->n)
		n = l->room - l->n;
	memcpy(l->text + l->n, s, n);
	l->n += n;
}

/* JSON wants \u00HH, and a quote and a backslash escaped. */
static void add_json(struct line *l, const char *s)
{
	add(l, "\"");
	for (; *s != '\0'; s++) {
		char one[8] = { *s };

		if (*s == '"' || *s == '\\')
			(void)snprintf(one, sizeof(one), "\\%c", *s);
		else if (*s < 0x20 || *s > 0x7e)
			(void)snprintf(one, sizeof(one), "\\u%04x", (unsigned char)*s);
		if (l->room - l->n < strlen(one) + 1)
			break;
		add(l, one);
	}
	add(l, "\"");
}

/* Our own texts hold backslashes that are meant (\xHH), so these stay. */
static void add_plain(struct line *l, const char *s)
{
	for (; *s != '\0'; s++) {
		char one[5] = { *s };

		if (*s < 0x20 || *s > 0x7e)
			(void)snprintf(one, sizeof(one), "\\x%02x", (unsigned char)*s);
		if (l->room - l->n < strlen(one))
			break;
		add(l, one);
	}
}

static void begin(struct line *l, enum log_level level)
{
	/* "} and the newline always fit */
	l->n = 0;
	l->room = sizeof(l->text) - 4;
	if (log_state.form == LOG_FORM_JSON) {
		char when[32] = "";
		struct timespec now;
		struct tm tm;

		(void)clock_gettime(CLOCK_REALTIME, &now);
		if (gmtime_r(&now.tv_sec, &tm) != NULL)
			(void)strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%SZ", &tm);
		add(l, "{\"time\":");
		add_json(l, when);
		add(l, ",\"level\":");
		add_json(l, level_names[level]);
		add(l, ",\"program\":");
		add_json(l, log_state.name);
		add(l, ",\"message\":");
		return;
	}
	if (log_state.form == LOG_FORM_BOOT) {
		uint64_t ms = clock_boot_ms();
		char when[32];

		(void)snprintf(when, sizeof(when), "[%5llu.%03llu] ",
			       (unsigned long long)(ms / 1000), (unsigned long long)(ms % 1000));
		add(l, when);
	}
	add(l, log_state.name);
	add(l, ": ");
}

static void message(struct line *l, const char *text)
{
	if (log_state.form == LOG_FORM_JSON)
		add_json(l, text);
	else
		add_plain(l, text);
}

static void end(struct line *l)
{
	int saved = errno;

	l->room = sizeof(l->text);
	add(l, log_state.form == LOG_FORM_JSON ? "}\n" : "\n");
	if (log_state.keeps)
		keep(l->text, l->n);
	for (size_t i = 0; i < log_state.sink_count; i++) {
		/* nobody is left to tell when telling fails */
		ssize_t put = write(log_state.sinks[i], l->text, l->n);
		(void)put;
	}
	errno = saved;
}

void log_line(enum log_level level, const char *format, ...)
{
	char text[LOG_LINE_MAX];
	struct line l;
	va_list args;

	if (level > log_state.level)
		return;
	va_start(args, format);
	(void)vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	begin(&l, level);
	message(&l, text);
	end(&l);
}

static void tell(enum reason r, const char *text, int error)
{
	enum log_level level =
		reason_class(r) == REASON_TRANSIENT ? LEVEL_WARN : LEVEL_ERROR;

	if (error != 0)
		log_line(level, "%s: %s: %s", reason_name(r), text, strerror(error));
	else
		log_line(level, "%s: %s", reason_name(r), text);
}

enum reason log_reason(enum reason r, const char *format, ...)
{
	char text[LOG_LINE_MAX];
	va_list args;

	if (r == R_OK)
		return r;
	va_start(args, format);
	(void)vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	tell(r, text, 0);
	return r;
}

enum reason log_reason_errno(enum reason r, const char *format, ...)
{
	char text[LOG_LINE_MAX];
	int error = errno;
	va_list args;

	if (r == R_OK)
		return r;
	va_start(args, format);
	(void)vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	tell(r, text, error);
	return r;
}

/* A value without blanks and quotes stands bare. */
static void add_value(struct line *l, const char *value)
{
	if (value[0] != '\0' && strpbrk(value, " \"=") == NULL) {
		add_plain(l, value);
		return;
	}
	add(l, "\"");
	for (; *value != '\0'; value++) {
		char one[2] = { *value };

		if (*value == '"')
			add(l, "\\");
		add_plain(l, one);
	}
	add(l, "\"");
}

void log_event(enum log_level level, const char *event, ...)
{
	const char *key;
	struct line l;
	va_list args;

	if (level > log_state.level)
		return;
	begin(&l, level);
	message(&l, event);
	va_start(args, event);
	while ((key = va_arg(args, const char *)) != NULL) {
		const char *value = va_arg(args, const char *);

		if (value == NULL)
			continue;
		if (log_state.form == LOG_FORM_JSON) {
			/* a pair that does not fit is left out whole */
			size_t before = l.n;
			size_t limit = l.room;

			add(&l, ",");
			add_json(&l, key);
			add(&l, ":");
			add_json(&l, value);
			if (l.n == limit)
				l.n = before;
			continue;
		}
		add(&l, " ");
		add_plain(&l, key);
		add(&l, "=");
		add_value(&l, value);
	}
	va_end(args);
	end(&l);
}
