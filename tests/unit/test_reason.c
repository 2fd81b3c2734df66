/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "unit.h"

static void test_ok_is_zero(void **state)
{
	(void)state;
	/* unistd.h and fcntl.h, above, would have it 4 */
	assert_int_equal(R_OK, 0);
	assert_string_equal(reason_name(R_OK), "ok");
	assert_int_equal(reason_exit(R_OK), 0);
}

static bool word(const char **s)
{
	const char *start = *s;

	while ((**s >= 'a' && **s <= 'z') || (**s >= '0' && **s <= '9'))
		++*s;
	return *s != start;
}

/* area.detail, words of lower-case letters and digits, joined by hyphens. */
static bool good_name(const char *s)
{
	bool dot = false;

	for (;;) {
		if (!word(&s))
			return false;
		if (*s == '\0')
			return true;
		if (*s == '.' && !dot)
			dot = true;
		else if (*s != '-')
			return false;
		s++;
	}
}

static void test_grammar(void **state)
{
	(void)state;
	assert_true(good_name("log.separator-twice"));
	assert_false(good_name("log.Separator"));
	assert_false(good_name("log..x"));
	assert_false(good_name("log.a.b"));
	assert_false(good_name("log.x-"));
	for (int r = 1; r < R_MAX; r++) {
		const char *sentence = reason_sentence((enum reason)r);

		if (!good_name(reason_name((enum reason)r)))
			fail_msg("bad name %s", reason_name((enum reason)r));
		/* shown on consoles: ASCII, one sentence */
		assert_true(text_printable(bytes_str(sentence)));
		assert_int_equal(sentence[strlen(sentence) - 1], '.');
		assert_true(text_printable(bytes_str(reason_remedy((enum reason)r))));
		assert_true(strlen(reason_remedy((enum reason)r)) > 0);
		/* the wire's field for it */
		assert_true(strlen(reason_name((enum reason)r)) < 64);
	}
}

static void test_unique_and_found(void **state)
{
	(void)state;
	for (int r = 0; r < R_MAX; r++) {
		enum reason found = R_MAX;

		assert_true(reason_find(reason_name((enum reason)r), &found));
		/* the first with this name: so it is the only one */
		assert_int_equal(found, r);
	}
}

static void test_not_found(void **state)
{
	enum reason r = R_MAX;

	(void)state;
	assert_false(reason_find("quote.nonc", &r));
	assert_false(reason_find("", &r));
	assert_int_equal(r, R_MAX);
}

static void test_outside(void **state)
{
	(void)state;
	assert_string_equal(reason_name(R_MAX), "internal");
	assert_string_equal(reason_name((enum reason)-1), "internal");
	assert_int_equal(reason_class((enum reason)9999), REASON_BROKEN);
	assert_string_equal(reason_class_name((enum reason_class)17), "broken");
}

static void test_exit_codes(void **state)
{
	(void)state;
	assert_int_equal(reason_exit(R_USAGE), 2);
	assert_int_equal(reason_exit(R_FILE), 1);
	assert_int_equal(reason_exit(R_QUOTE_NONCE), 3);
	assert_int_equal(reason_exit(R_NODE_PENDING), 75);
	assert_int_equal(reason_exit(R_INTERNAL), 1);
	assert_string_equal(reason_class_name(reason_class(R_NET_DNS)), "transient");
	assert_string_equal(reason_class_name(reason_class(R_QUOTE_NONCE)), "refused");
	assert_string_equal(reason_class_name(reason_class(R_TPM_ABSENT)), "broken");
	assert_string_equal(reason_class_name(reason_class(R_CONF_VALUE)), "usage");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ok_is_zero),
		cmocka_unit_test(test_grammar),
		cmocka_unit_test(test_unique_and_found),
		cmocka_unit_test(test_not_found),
		cmocka_unit_test(test_outside),
		cmocka_unit_test(test_exit_codes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
