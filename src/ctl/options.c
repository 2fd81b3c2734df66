/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "ctl/options.h"

static size_t rule_find(const struct options *o, const char *name, size_t n)
{
	size_t i = 0;

	while (i < o->rule_count &&
	       (strlen(o->rules[i].name) != n || strncmp(o->rules[i].name, name, n) != 0))
		i++;
	return i;
}

bool options_read(int argc, char **argv, const struct option_rule *rules, size_t count, struct options *ret)
{
	bool only_arguments = false;

	memset(ret, 0, sizeof(*ret));
	ret->rules = rules;
	ret->rule_count = count;
	for (int i = 0; i < argc; i++) {
		if (only_arguments || strncmp(argv[i], "--", 2) != 0) {
			if (ret->arguments == ARGUMENTS_MAX) {
				fprintf(stderr, "bootgatectl: too many arguments\n");
				return false;
			}
			ret->argument[ret->arguments++] = argv[i];
			continue;
		}
		const char *name = argv[i] + 2, *equals = strchr(name, '=');
		if (*name == '\0') {
			only_arguments = true;
			continue;
		}
		size_t at = rule_find(ret, name, equals ? (size_t)(equals - name) : strlen(name));
		if (at == count) {
			fprintf(stderr, "bootgatectl: there is no option %s\n", argv[i]);
			return false;
		}
		const char *value = equals ? equals + 1 : "";
		if (rules[at].flag ? equals != NULL : !equals && i + 1 == argc) {
			fprintf(stderr, "bootgatectl: --%s %s\n", rules[at].name,
				rules[at].flag ? "takes no value" : "needs a value");
			return false;
		}
		if (!rules[at].flag && !equals)
			value = argv[++i];
		size_t max = rules[at].repeat ? OPTION_VALUES_MAX : 1;
		if (ret->seen[at].count == max) {
			fprintf(stderr, "bootgatectl: --%s is given too often\n", rules[at].name);
			return false;
		}
		ret->seen[at].value[ret->seen[at].count++] = value;
	}
	return true;
}

size_t option_all(const struct options *o, const char *name, const char *const **ret)
{
	size_t at = rule_find(o, name, strlen(name));

	*ret = o->seen[at].value;
	return o->seen[at].count;
}

const char *option(const struct options *o, const char *name)
{
	const char *const *values;

	return option_all(o, name, &values) ? values[0] : NULL;
}

bool option_flag(const struct options *o, const char *name)
{
	return option(o, name) != NULL;
}

bool option_one_of(const struct options *o, const char *name, const char *const *words, size_t count)
{
	const char *value = option(o, name);

	for (size_t i = 0; value && i < count; i++)
		if (strcmp(value, words[i]) == 0)
			return true;
	if (!value)
		return true;
	fprintf(stderr, "bootgatectl: --%s %s: there is", name, value);
	for (size_t i = 0; i < count; i++)
		fprintf(stderr, "%s %s", i ? "," : "", words[i]);
	fprintf(stderr, "\n");
	return false;
}

bool option_time(const char *text, int64_t *ret)
{
	struct tm tm = { 0 };
	const char *end = strptime(text, "%Y-%m-%dT%H:%M:%SZ", &tm);

	if (!end) {
		tm = (struct tm){ 0 };
		end = strptime(text, "%Y-%m-%d", &tm);
	}
	if (!end || *end)
		return false;
	*ret = (int64_t)timegm(&tm);
	return true;
}
