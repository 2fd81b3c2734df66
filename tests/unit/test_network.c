/* SPDX-License-Identifier: Apache-2.0 */
/* Source networks of rules: how they are written, and who comes from them. */
#include "format/network.h"
#include "unit.h"

static void test_read(void **state)
{
	static const struct {
		const char *text;
		enum reason r;
		const char *shown;	/* as it was written, where NULL */
	} cases[] = {
		{ "10.20.0.0/16", R_OK, NULL },
		{ "10.20.30.40/32", R_OK, NULL },
		{ "128.0.0.0/1", R_OK, NULL },
		{ "2001:db8::/32", R_OK, NULL },
		{ "2001:db8::1/128", R_OK, NULL },
		{ "fe80::/10", R_OK, NULL },
		/* the same network, as IPv6 writes it */
		{ "::ffff:10.20.0.0/112", R_OK, "10.20.0.0/16" },
		{ "", R_RULE_CIDR, NULL },
		{ "10.20.0.0", R_RULE_CIDR, NULL },
		{ "10.20.0.0/", R_RULE_CIDR, NULL },
		{ "/16", R_RULE_CIDR, NULL },
		{ "10.20.0.0/16/16", R_RULE_CIDR, NULL },
		{ "10.20.0.0/33", R_RULE_CIDR, NULL },
		{ "10.20.0.0/016", R_RULE_CIDR, NULL },
		{ "10.20.0.0/-1", R_RULE_CIDR, NULL },
		{ "10.20.0.0 /16", R_RULE_CIDR, NULL },
		{ "10.20/16", R_RULE_CIDR, NULL },
		{ "010.20.0.0/16", R_RULE_CIDR, NULL },
		{ "2001:db8::/129", R_RULE_CIDR, NULL },
		{ "fe80::%lo/64", R_RULE_CIDR, NULL },
		{ "rack7/16", R_RULE_CIDR, NULL },
		{ "1111:1111:1111:1111:1111:1111:1111:11111111111111/64", R_RULE_CIDR, NULL },
		/* everybody */
		{ "0.0.0.0/0", R_RULE_CIDR, NULL },
		{ "::/0", R_RULE_CIDR, NULL },
		/* bits behind the prefix */
		{ "10.20.0.1/16", R_RULE_CIDR, NULL },
		{ "10.20.128.0/16", R_RULE_CIDR, NULL },
		{ "10.20.0.0/10", R_RULE_CIDR, NULL },
		{ "2001:db8::1/127", R_RULE_CIDR, NULL },
		/* what no node comes from, and what holds it */
		{ "127.0.0.0/8", R_RULE_LOOPBACK, NULL },
		{ "127.0.0.1/32", R_RULE_LOOPBACK, NULL },
		{ "0.0.0.0/1", R_RULE_LOOPBACK, NULL },
		{ "::1/128", R_RULE_LOOPBACK, NULL },
		{ "::/96", R_RULE_LOOPBACK, NULL },
		{ "::/1", R_RULE_LOOPBACK, NULL },
		{ "::ffff:0:0/96", R_RULE_LOOPBACK, NULL },
		{ "::ffff:127.0.0.0/104", R_RULE_LOOPBACK, NULL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		char text[NETWORK_TEXT_MAX];
		struct network n = { .bits = 77 };

		assert_reason(cases[i].r, network_read(cases[i].text, &n));
		if (cases[i].r != R_OK) {
			assert_int_equal(n.bits, 77);
			continue;
		}
		network_text(&n, text);
		assert_string_equal(text, cases[i].shown ? cases[i].shown : cases[i].text);
	}
}

static void test_has(void **state)
{
	static const struct {
		const char *network, *peer;
		bool has;
	} cases[] = {
		{ "10.20.0.0/16", "10.20.0.0", true },	{ "10.20.0.0/16", "10.20.255.255", true },
		{ "10.20.0.0/16", "10.21.0.0", false },	{ "10.20.0.0/16", "10.19.255.255", false },
		{ "10.20.0.0/15", "10.21.9.9", true },	{ "10.20.0.0/15", "10.22.0.0", false },
		{ "10.20.0.7/32", "10.20.0.7", true },	{ "10.20.0.7/32", "10.20.0.6", false },
		/* a listener for both families shows IPv4 like this */
		{ "10.20.0.0/16", "::ffff:10.20.1.1", true },
		{ "10.20.0.0/16", "::10.20.1.1", false },
		{ "2001:db8::/33", "2001:db8:7fff::1", true },
		{ "2001:db8::/33", "2001:db8:8000::1", false },
		{ "2001:db8::/33", "10.20.1.1", false },
		{ "10.20.0.0/16", "", false },	{ "10.20.0.0/16", "unknown", false },
		{ "10.20.0.0/16", "uid 0", false },	{ "10.20.0.0/16", "10.20.1.1 ", false },
	};
	/* One that a reader would never have made. */
	const struct network all = { .bits = 0 }, long_ = { .bits = 255 };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct network n;

		assert_ok(network_read(cases[i].network, &n));
		assert_int_equal(network_has(&n, cases[i].peer), cases[i].has);
	}
	assert_reason(R_RULE_CIDR, network_check(&all));
	assert_reason(R_RULE_CIDR, network_check(&long_));
	assert_false(network_has(&all, "127.0.0.1"));
	assert_false(network_has(&all, "::1"));
	assert_false(network_has(&all, "::ffff:127.0.0.1"));
	assert_false(network_has(&long_, "::2"));
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_read), cmocka_unit_test(test_has) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
