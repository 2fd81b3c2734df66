/* SPDX-License-Identifier: Apache-2.0 */
/* The report for people and, as JSON, for programs. */
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "check/check.h"

/* The order of the summary: what matters most comes first. */
static const enum check_result order[] = {
	CHECK_FAIL, CHECK_UNKNOWN, CHECK_WARN, CHECK_PASS, CHECK_SKIP,
};

static const char *colour(enum check_result r)
{
	static const char *const codes[] = {
		[CHECK_UNKNOWN] = "\033[35m", [CHECK_PASS] = "\033[32m",
		[CHECK_FAIL] = "\033[31m", [CHECK_WARN] = "\033[33m", [CHECK_SKIP] = "\033[2m",
	};

	return codes[r];
}

void check_print_table(const struct finding findings[CHECK_COUNT], bool colours)
{
	struct check_summary s = check_count(findings);

	for (size_t i = 0; i < CHECK_COUNT; i++) {
		const struct finding *f = &findings[i];

		printf("%s%-7s%s  %-20s  %s: %s\n", colours ? colour(f->result) : "",
		       check_result_name(f->result), colours ? "\033[0m" : "", checks[i].id,
		       checks[i].title, f->observed);
		if (f->result == CHECK_FAIL || f->result == CHECK_WARN)
			printf("%9sexpected: %s\n%9smend: %s\n", "", checks[i].expected, "",
			       checks[i].remedy);
	}
	printf("%u checks:", (unsigned)CHECK_COUNT);
	for (size_t i = 0; i < ARRAY_LEN(order); i++)
		printf("%s %u %s", i ? "," : "", s.by_result[order[i]],
		       check_result_name(order[i]));
	printf("\n");
}

static void member(const char *name, const char *text)
{
	printf(", \"%s\": ", name);
	text_print_json(bytes_str(text));
}

static void print_parents(const char *parents)
{
	const char *separator = "";

	printf(", \"parents\": [");
	while (*parents) {
		size_t n = strcspn(parents, " ");

		printf("%s\"%.*s\"", separator, (int)n, parents);
		separator = ", ";
		parents += n;
		parents += strspn(parents, " ");
	}
	printf("]");
}

static void print_check(const struct check *c, const struct finding *f)
{
	printf("  {\"id\": \"%s\", \"result\": \"%s\"", c->id, check_result_name(f->result));
	member("observed", f->observed);
	member("title", c->title);
	member("stage", c->stage == STAGE_GATE ? "gate" : "host");
	print_parents(c->parents);
	member("source", c->source);
	member("expected", c->expected);
	member("remedy", c->remedy);
	printf("}");
}

void check_print_json(const struct machine *m, enum check_stage stage,
		      const struct finding findings[CHECK_COUNT])
{
	struct check_summary s = check_count(findings);
	char vendor[4 * sizeof(m->vendor_text)];

	(void)text_escape(bytes_str(m->vendor_text), vendor, sizeof(vendor));
	printf("{\"version\": 1, \"stage\": \"%s\", \"processors\": %u, \"vendor\": ",
	       stage == STAGE_GATE ? "gate" : "host", m->cpus);
	text_print_json(bytes_str(vendor));
	printf(",\n \"summary\": {");
	for (size_t i = 0; i < ARRAY_LEN(order); i++)
		printf("%s\"%s\": %u", i ? ", " : "", check_result_name(order[i]),
		       s.by_result[order[i]]);
	printf("},\n \"checks\": [\n");
	for (size_t i = 0; i < CHECK_COUNT; i++) {
		print_check(&checks[i], &findings[i]);
		printf("%s\n", i + 1 < CHECK_COUNT ? "," : "");
	}
	printf(" ]}\n");
}
