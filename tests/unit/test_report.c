/* SPDX-License-Identifier: Apache-2.0 */
#include "message.h"

#include "format/report.h"

static enum reason again(struct bytes in, struct blob *out)
{
	static struct report m;

	TRY(report_read(in, &m));
	return report_write(&m, out);
}

static struct report r;

static struct bytes text(const char *s)
{
	return bytes_str(s);
}

static struct report *sample(void)
{
	memset(&r, 0, sizeof r);
	r.fact_count = 3;
	r.fact[0] = (struct report_fact){ text("system.serial"), text("ABC-123") };
	r.fact[1] = (struct report_fact){ text("net.mac"), text("52:54:00:12:34:56") };
	r.fact[2] = (struct report_fact){ text("net.mac"), text("") };
	r.check_count = 2;
	r.check[0] = (struct report_check){ text("cpu.snp"), CHECK_PASS, text("on"), text("on") };
	r.check[1] = (struct report_check){ text("pci.acs"), CHECK_UNKNOWN, text("unavailable"),
					    text("") };
	return &r;
}

static void test_round_trip(void **state)
{
	_cleanup_(blob_free) struct blob b = BLOB(LIMIT_REPORT);
	static struct report got;

	(void)state;
	assert_ok(report_write(sample(), &b));
	assert_ok(report_read(blob_bytes(&b), &got));
	assert_int_equal(got.fact_count, 3);
	assert_bytes(got.fact[0].name, "system.serial", 13);
	assert_bytes(got.fact[1].value, "52:54:00:12:34:56", 17);
	assert_int_equal(got.fact[2].value.n, 0);
	assert_int_equal(got.check_count, 2);
	assert_bytes(got.check[1].id, "pci.acs", 7);
	assert_int_equal(got.check[1].result, CHECK_UNKNOWN);
	assert_bytes(got.check[1].observed, "unavailable", 11);
	assert_bytes(got.check[0].expected, "on", 2);
	message_check(again, blob_bytes(&b));
	message_map_check(again, blob_bytes(&b), 0);
	seed("report", "report", blob_bytes(&b));

	memset(&r, 0, sizeof r);
	blob_reset(&b);
	assert_ok(report_write(&r, &b));
	message_check(again, blob_bytes(&b));
	seed("report", "empty", blob_bytes(&b));
}

static void test_bounds(void **state)
{
	_cleanup_(blob_free) struct blob b = BLOB(LIMIT_REPORT);
	static uint8_t large[LIMIT_REPORT + 1];
	char value[LIMIT_FACT_VALUE + 2];

	(void)state;
	assert_reason(R_FORMAT_TOO_LARGE, report_read(BYTES(large), &r));
	sample()->fact_count = REPORT_FACTS_MAX + 1;
	assert_reason(R_FORMAT_RANGE, report_write(&r, &b));
	sample()->check_count = REPORT_CHECKS_MAX + 1;
	assert_reason(R_FORMAT_RANGE, report_write(&r, &b));
	sample()->check[0].result = CHECK_RESULT_MAX;
	assert_reason(R_FORMAT_RANGE, report_write(&r, &b));
	sample()->fact[0].name = text("System");
	assert_reason(R_FORMAT_TEXT, report_write(&r, &b));
	sample()->fact[0].value = text("caf\xc3\xa9");
	assert_reason(R_FORMAT_TEXT, report_write(&r, &b));
	sample()->check[0].observed = text("\x1b[31mred");
	assert_reason(R_FORMAT_TEXT, report_write(&r, &b));
	memset(value, 'v', sizeof value);
	value[sizeof value - 1] = '\0';
	sample()->fact[0].value = text(value);
	assert_reason(R_FORMAT_RANGE, report_write(&r, &b));
	assert_int_equal(b.n, 0);
	value[LIMIT_FACT_VALUE] = '\0';
	sample()->fact[0].value = text(value);
	assert_ok(report_write(&r, &b));
}

static void test_names(void **state)
{
	(void)state;
	assert_string_equal(check_result_name(CHECK_PASS), "pass");
	assert_string_equal(check_result_name(CHECK_FAIL), "fail");
	assert_string_equal(check_result_name(CHECK_WARN), "warn");
	assert_string_equal(check_result_name(CHECK_SKIP), "skip");
	assert_string_equal(check_result_name(CHECK_UNKNOWN), "unknown");
	assert_string_equal(check_result_name(CHECK_RESULT_MAX), "invalid");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
