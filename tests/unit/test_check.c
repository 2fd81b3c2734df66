/* SPDX-License-Identifier: Apache-2.0 */
/* The table of checks, and what the engine makes of results; the checks themselves: tests/check. */
#include "unit.h"

#include <stdio.h>

#include "check/find.h"

static bool good_id(const char *s)
{
	size_t area = strspn(s, "abcdefghijklmnopqrstuvwxyz");
	const char *detail = s + area + 1;
	size_t n;

	if (area == 0 || s[area] != '.')
		return false;
	n = strspn(detail, "abcdefghijklmnopqrstuvwxyz0123456789-");
	return n > 0 && detail[n] == 0 && detail[0] != '-' && detail[n - 1] != '-';
}

static bool good_text(const char *s, size_t max)
{
	return s[0] != 0 && strlen(s) <= max && text_printable(bytes_str(s)) &&
	       s[strlen(s) - 1] != '.' && s[strlen(s) - 1] != ' ';
}

static void test_table(void **state)
{
	(void)state;
	assert_in_range(CHECK_COUNT, 1, REPORT_CHECKS_MAX);
	for (size_t i = 0; i < CHECK_COUNT; i++) {
		const struct check *c = &checks[i];
		enum reason r;

		if (!good_id(c->id) || strlen(c->id) > 20)
			fail_msg("bad id %s", c->id);
		/* one name says one thing: reasons have names of this form too */
		if (reason_find(c->id, &r))
			fail_msg("%s is a reason", c->id);
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(c->id, checks[k].id);
		if (!good_text(c->title, 40) || !good_text(c->source, 120) ||
		    !good_text(c->expected, 160) || !good_text(c->remedy, 160))
			fail_msg("a text of %s", c->id);
	}
}

/* Each parent stands in front, once, and is checked no later than its child. */
static void test_parents(void **state)
{
	(void)state;
	for (size_t i = 0; i < CHECK_COUNT; i++) {
		char parents[200], *rest = parents, *one;

		assert_true(strlen(checks[i].parents) < sizeof(parents));
		strcpy(parents, checks[i].parents);
		while (*parents && (one = strsep(&rest, " "))) {
			size_t k = 0;

			while (k < i && strcmp(checks[k].id, one) != 0)
				k++;
			if (k == i)
				fail_msg("%s: parent %s", checks[i].id, one);
			assert_true(checks[k].stage <= checks[i].stage);
			assert_true(checks[k].scope == SCOPE_ANY ||
				    checks[k].scope == checks[i].scope);
		}
	}
}

static void test_found(void **state)
{
	struct finding f = { CHECK_PASS, "" };
	char longest[2 * CHECK_OBSERVED];

	(void)state;
	found(&f, CHECK_WARN, "a\n%s\x7f", "b");
	assert_int_equal(f.result, CHECK_WARN);
	assert_string_equal(f.observed, "a\\x0ab\\x7f");
	memset(longest, '\t', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = 0;
	found(&f, CHECK_PASS, "%s", longest);
	assert_true(strlen(f.observed) < CHECK_OBSERVED);
	found_if(&f, false, "%d", 1);
	assert_int_equal(f.result, CHECK_FAIL);
	found_if(&f, true, "%d", 1);
	assert_int_equal(f.result, CHECK_PASS);
	found_unread(&f, "it", R_FILE);
	assert_int_equal(f.result, CHECK_UNKNOWN);
	assert_string_equal(f.observed, "it: cannot be read");
	found_unread(&f, "it", R_FORMAT_RANGE);
	assert_string_equal(f.observed, "it: format.range");
}

static void test_verdict(void **state)
{
	struct check_summary s = { { 0 } };

	(void)state;
	assert_reason(R_CHECK_NO_SOURCE, check_verdict(&s));
	s.by_result[CHECK_UNKNOWN] = s.by_result[CHECK_SKIP] = s.by_result[CHECK_WARN] = 3;
	assert_reason(R_CHECK_NO_SOURCE, check_verdict(&s));
	s.by_result[CHECK_PASS] = 1;
	assert_ok(check_verdict(&s));
	s.by_result[CHECK_FAIL] = 1;
	assert_reason(R_CHECK_FAILED, check_verdict(&s));
	assert_int_equal(reason_exit(R_CHECK_FAILED), 3);
	assert_int_equal(reason_exit(R_CHECK_NO_SOURCE), 1);
}

static void test_cpu_list(void **state)
{
	uint16_t cpu[MACHINE_CPUS_MAX];
	unsigned n;

	(void)state;
	assert_ok(cpu_list_read("0-3,8,10-11", cpu, &n));
	assert_int_equal(n, 7);
	assert_int_equal(cpu[3], 3);
	assert_int_equal(cpu[4], 8);
	assert_int_equal(cpu[6], 11);
	assert_ok(cpu_list_read("0-4095", cpu, &n));
	assert_int_equal(n, MACHINE_CPUS_MAX);
	assert_reason(R_FORMAT_TEXT, cpu_list_read("0-4096", cpu, &n));
	assert_reason(R_FORMAT_TEXT, cpu_list_read("", cpu, &n));
	assert_reason(R_FORMAT_TEXT, cpu_list_read("1,", cpu, &n));
	assert_reason(R_FORMAT_TEXT, cpu_list_read("1-", cpu, &n));
	assert_reason(R_FORMAT_TEXT, cpu_list_read("1 2", cpu, &n));
	assert_reason(R_FORMAT_RANGE, cpu_list_read("3-1", cpu, &n));
	assert_reason(R_FORMAT_RANGE, cpu_list_read("1-3,3", cpu, &n));
}

/* A register that the processor does not have is not one that was not read. */
static void test_not_implemented(void **state)
{
	char folder[] = "/tmp/bootgate-check-XXXXXX", path[64];
	struct source s;
	uint64_t v;

	(void)state;
	assert_non_null(mkdtemp(folder));
	assert_ok(source_open(folder, &s));
	assert_reason(R_FILE, source_msr(&s, 0, 0x10, &v));
	snprintf(path, sizeof(path), "mkdir -p %s/dev/cpu/0", folder);
	assert_int_equal(system(path), 0);
	snprintf(path, sizeof(path), "%s/dev/cpu/0/msr.txt", folder);
	assert_ok(fd_write_new(path, bytes_str("0x00000010 -\n0x00000011 0x00000000000000ff\n"),
			       0600));
	assert_reason(R_CHECK_NOT_IMPLEMENTED, source_msr(&s, 0, 0x10, &v));
	assert_ok(source_msr(&s, 0, 0x11, &v));
	assert_int_equal(v, 0xff);
	assert_reason(R_FILE, source_msr(&s, 0, 0x12, &v));
	source_close(&s);
	snprintf(path, sizeof(path), "rm -r %s", folder);
	assert_int_equal(system(path), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),	cmocka_unit_test(test_parents),
		cmocka_unit_test(test_found),	cmocka_unit_test(test_verdict),
		cmocka_unit_test(test_cpu_list), cmocka_unit_test(test_not_implemented),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
