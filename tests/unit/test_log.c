/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/limits.h"
#include "base/log.h"
#include "unit.h"

/* What was logged since the last call. */
static int sink[2];
static char seen[65536];

static int open_sink(void **state)
{
	(void)state;
	if (pipe(sink) != 0 || fd_set_nonblock(sink[0], true) != R_OK)
		return -1;
	log_set_sinks(&sink[1], 1);
	log_set_name("test");
	log_set_level(LEVEL_INFO);
	log_set_form(LOG_FORM_PLAIN);
	return 0;
}

static int close_sink(void **state)
{
	(void)state;
	log_set_sinks(NULL, 0);
	close(sink[0]);
	close(sink[1]);
	return 0;
}

static const char *logged(void)
{
	ssize_t n = read(sink[0], seen, sizeof(seen) - 1);

	seen[n < 0 ? 0 : n] = '\0';
	return seen;
}

static void test_plain(void **state)
{
	(void)state;
	log_info("started on %s, %d times", "host", 3);
	assert_string_equal(logged(), "test: started on host, 3 times\n");
	log_debug("not shown");
	assert_string_equal(logged(), "");
	log_set_level(LEVEL_DEBUG);
	log_debug("shown");
	assert_string_equal(logged(), "test: shown\n");
	log_set_level(LEVEL_ERROR);
	log_warn("not shown");
	log_error("shown");
	assert_string_equal(logged(), "test: shown\n");
}

/* T12: whoever names a thing cannot write a second line, or colour the first. */
static void test_forging(void **state)
{
	(void)state;
	log_info("name %s", "a\nroot: all is well\r\x1b[2J\x7f\xc3\xa9\t");
	assert_string_equal(logged(), "test: name a\\x0aroot: all is well\\x0d\\x1b[2J\\x7f"
				      "\\xc3\\xa9\\x09\n");
}

static void test_long(void **state)
{
	static char text[3 * LOG_LINE_MAX];

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	log_info("%s", text);
	assert_true(strlen(logged()) < LOG_LINE_MAX);
	assert_int_equal(seen[strlen(seen) - 1], '\n');
	/* never half an escape */
	memset(text, '\n', sizeof(text) - 1);
	log_info("%s", text);
	logged();
	assert_string_equal(seen + strlen(seen) - 5, "\\x0a\n");
	log_set_form(LOG_FORM_JSON);
	log_info("%s", text);
	json_t *j = json_loads(logged(), 0, NULL);
	assert_non_null(j);
	json_decref(j);
}

static void test_reason(void **state)
{
	(void)state;
	assert_reason(R_NET_DNS, log_reason(R_NET_DNS, "%s", "server.example"));
	assert_string_equal(logged(), "test: net.dns: server.example\n");
	assert_ok(log_reason(R_OK, "nothing"));
	assert_ok(log_reason_errno(R_OK, "nothing"));
	assert_string_equal(logged(), "");
	errno = ENOENT;
	assert_reason(R_FILE, log_reason_errno(R_FILE, "%s", "/etc/x"));
	assert_string_equal(logged(), "test: file: /etc/x: No such file or directory\n");
	/* logging leaves errno alone */
	assert_int_equal(errno, ENOENT);
	/* transient ones are warnings */
	log_set_level(LEVEL_ERROR);
	assert_reason(R_NET_DNS, log_reason(R_NET_DNS, "x"));
	assert_string_equal(logged(), "");
	assert_reason(R_QUOTE_NONCE, log_reason(R_QUOTE_NONCE, "x"));
	assert_string_equal(logged(), "test: quote.nonce: x\n");
}

static void test_boot_form(void **state)
{
	unsigned long long s, ms;
	char rest[64];

	(void)state;
	log_set_form(LOG_FORM_BOOT);
	log_info("hello");
	assert_int_equal(sscanf(logged(), "[%llu.%3llu] %63[^\n]", &s, &ms, rest), 3);
	assert_string_equal(rest, "test: hello");
	assert_true(ms < 1000);
}

static void test_event(void **state)
{
	(void)state;
	log_event(LEVEL_INFO, "verdict", "node", "3f2a", "why", "two words", "absent", NULL, "empty",
		  "", "quote", "a\"b c", NULL);
	assert_string_equal(logged(), "test: verdict node=3f2a why=\"two words\" empty=\"\" "
				      "quote=\"a\\\"b c\"\n");
	/* a value cannot pretend to be a further pair */
	log_event(LEVEL_INFO, "verdict", "label", "x directive=admit", "y", "a=b", NULL);
	assert_string_equal(logged(), "test: verdict label=\"x directive=admit\" y=\"a=b\"\n");
	log_event(LEVEL_DEBUG, "verdict", "node", "3f2a", NULL);
	assert_string_equal(logged(), "");
}

static void test_event_json(void **state)
{
	json_t *j;

	(void)state;
	log_set_form(LOG_FORM_JSON);
	log_event(LEVEL_WARN, "ver\"dict", "node", "3f2a", "text", "a\"\\\n\xff", NULL);
	j = json_loads(logged(), JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(j);
	assert_string_equal(json_string_value(json_object_get(j, "level")), "warning");
	assert_string_equal(json_string_value(json_object_get(j, "program")), "test");
	assert_string_equal(json_string_value(json_object_get(j, "message")), "ver\"dict");
	assert_string_equal(json_string_value(json_object_get(j, "node")), "3f2a");
	assert_string_equal(json_string_value(json_object_get(j, "text")), "a\"\\\n\xc3\xbf");
	assert_int_equal(strlen(json_string_value(json_object_get(j, "time"))), 20);
	json_decref(j);
}

/* Whatever the lengths are, a line is one object. */
static void test_event_json_cut(void **state)
{
	static char value[2 * LOG_LINE_MAX];

	(void)state;
	log_set_form(LOG_FORM_JSON);
	for (size_t n = 850; n < 1000; n++) {
		json_t *j;

		memset(value, 'x', n);
		value[n] = '\0';
		value[n / 2] = '"';
		log_event(LEVEL_INFO, "e", "one", value, "two", "2", "three", "\n\n", NULL);
		j = json_loads(logged(), JSON_REJECT_DUPLICATES, NULL);
		if (j == NULL)
			fail_msg("not JSON: %s", seen);
		json_decref(j);
	}
}

static void test_many_sinks(void **state)
{
	int fds[LOG_SINKS_MAX + 2];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(fds); i++)
		fds[i] = i % 2 == 0 ? -1 : sink[1];
	/* more than there may be are cut; a broken one does not stop the others */
	log_set_sinks(fds, ARRAY_LEN(fds));
	log_info("x");
	assert_string_equal(logged(), "test: x\ntest: x\ntest: x\ntest: x\n");
}

static void test_keep(void **state)
{
	_cleanup_(blob_free) struct blob b = BLOB(2 * LIMIT_FAILURE_LOG);
	_cleanup_(blob_free) struct blob small = BLOB(4);

	(void)state;
	log_set_sinks(NULL, 0);
	log_info("before");
	assert_ok(log_kept(&b));
	assert_int_equal(b.n, 0);
	log_keep();
	log_info("first");
	assert_ok(log_kept(&b));
	assert_bytes(blob_bytes(&b), "test: first\n", 12);
	assert_reason(R_INTERNAL_TOO_LARGE, log_kept(&small));
	for (unsigned int i = 0; i < 3000; i++)
		log_info("line %u", i);
	b.n = 0;
	assert_ok(log_kept(&b));
	assert_true(b.n <= LIMIT_FAILURE_LOG);
	assert_true(b.n > LIMIT_FAILURE_LOG - 32);
	/* whole lines, the last ones, in order */
	assert_memory_equal(b.p, "test: line ", 11);
	assert_memory_equal(b.p + b.n - 16, "test: line 2999\n", 16);
	unsigned int at = (unsigned int)strtoul((char *)b.p + 11, NULL, 10);
	for (const uint8_t *p = b.p; p < b.p + b.n;
	     p = (const uint8_t *)memchr(p, '\n', 64) + 1)
		assert_int_equal(strtoul((const char *)p + 11, NULL, 10), at++);
	assert_int_equal(at, 3000);
}

#define with_sink(f) cmocka_unit_test_setup_teardown(f, open_sink, close_sink)

int main(void)
{
	const struct CMUnitTest tests[] = {
		with_sink(test_plain),
		with_sink(test_forging),
		with_sink(test_long),
		with_sink(test_reason),
		with_sink(test_boot_form),
		with_sink(test_event),
		with_sink(test_event_json),
		with_sink(test_event_json_cut),
		with_sink(test_many_sinks),
		with_sink(test_keep),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
