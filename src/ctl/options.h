/* SPDX-License-Identifier: Apache-2.0 */
/* Options of a command: a table in, words out. */
#ifndef BOOTGATE_CTL_OPTIONS_H
#define BOOTGATE_CTL_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OPTION_VALUES_MAX 16u
#define ARGUMENTS_MAX 64u

/* One `--name`, with a value or (`flag`) without. */
struct option_rule {
	const char *name;
	bool flag;
	bool repeat;
};

struct options {
	const struct option_rule *rules;
	size_t rule_count;
	struct {
		const char *value[OPTION_VALUES_MAX];
		size_t count;
	} seen[24];
	const char *argument[ARGUMENTS_MAX];
	size_t arguments;
};

/* False after it said what is wrong on stderr. */
bool options_read(int argc, char **argv, const struct option_rule *rules, size_t count, struct options *ret);
/* The value, NULL where it was not given. */
const char *option(const struct options *o, const char *name);
bool option_flag(const struct options *o, const char *name);
/* Whether the option is one of `words`, or not there; false after it said which there are. */
bool option_one_of(const struct options *o, const char *name, const char *const *words, size_t count);
/* "2026-01-31T12:00:00Z", or the day alone, in UTC: seconds since 1970. */
bool option_time(const char *text, int64_t *ret);
/* All values of a repeated option. */
size_t option_all(const struct options *o, const char *name, const char *const **ret);

#endif
