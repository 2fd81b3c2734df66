/* SPDX-License-Identifier: Apache-2.0 */
#include "message.h"

#include "format/url.h"

static void save(const char *kind, const char *const *text, size_t count)
{
	char name[32];

	for (size_t i = 0; i < count; i++) {
		snprintf(name, sizeof name, "%s-%02zu", kind, i);
		seed("url", name, bytes_str(text[i]));
	}
}

static void test_server(void **state)
{
	static const char *const good[] = {
		"https://gate.example.org", "https://gate", "https://10.0.2.2:8443",
		"https://[2001:db8::1]", "https://[::1]:443", "https://a-b.c1:65535",
	};
	static const char *const bad[] = {
		"", "gate", "http://gate", "HTTPS://gate", "https:/gate", "https://",
		"https:///", "https://gate/", "https://gate/v1", "https://user@gate",
		"https://user:pw@gate", "https://gate?x", "https://gate#x", "https://gate:",
		"https://gate:0", "https://gate:65536", "https://gate:08443", "https://gate:8443x",
		"https://gate:-1", "https://gate:1:2", "https://Gate", "https://gate.",
		"https://.gate", "https://a..b", "https://-a", "https://a-", "https://a_b",
		"https://a b", "https://256.0.0.1", "https://10.0.0", "https://1", "https://[::1",
		"https://[::1]x", "https://[::1]:", "https://[::1]:0", "https://[10.0.0.1]",
		"https://[]", "https://[fe80::1%eth0]", "https://::1", " https://gate",
		"https://gate ", "file:///etc/passwd",
		"https://[0000:0000:0000:0000:0000:0000:0000:0000:0000:0000]",
	};
	char label[100] = "https://";

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(good); i++)
		assert_true(url_valid(URL_SERVER, good[i]));
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		assert_false(url_valid(URL_SERVER, bad[i]));
	save("server", good, ARRAY_LEN(good));
	save("server-bad", bad, ARRAY_LEN(bad));
	memset(label + 8, 'a', 63);
	assert_true(url_valid(URL_SERVER, label));
	label[8 + 63] = 'a';
	assert_false(url_valid(URL_SERVER, label));
}

static void test_mirror(void **state)
{
	static const char *const good[] = {
		"http://mirror", "https://mirror", "http://mirror:8080/images",
		"http://10.0.2.2/a/b/c", "http://[::1]/A_b~c.d-e/..f",
	};
	static const char *const bad[] = {
		"ftp://mirror", "http://mirror/", "http://mirror/a/", "http://mirror//a",
		"http://mirror/a//b", "http://mirror/./a", "http://mirror/../a",
		"http://mirror/a/..", "http://mirror/a?b", "http://mirror/a#b",
		"http://mirror/a%2e", "http://mirror/a b", "http://mirror/a\\b",
		"http://user@mirror/a", "http:///a", "http://mirror:0/a", "http://mirror/a\"",
		"http://mirror/caf\xc3\xa9", "https", "http",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(good); i++)
		assert_true(url_valid(URL_MIRROR, good[i]));
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		assert_false(url_valid(URL_MIRROR, bad[i]));
	save("mirror", good, ARRAY_LEN(good));
	save("mirror-bad", bad, ARRAY_LEN(bad));
}

static void test_host(void **state)
{
	char name[300];

	(void)state;
	assert_true(host_valid(bytes_str("a")));
	assert_true(host_valid(bytes_str("10.0.0.1")));
	assert_true(host_valid(bytes_str("1a.2b")));
	assert_false(host_valid(BYTES_NONE));
	assert_false(host_valid(bytes_str("a.1")));
	assert_false(host_valid(bytes_str("100.100.100.100.100")));
	/* labels of one character: 253 in all fit, 255 do not */
	for (size_t i = 0; i < sizeof name; i++)
		name[i] = i % 2 ? '.' : 'a';
	assert_true(host_valid(bytes_of(name, 253)));
	assert_false(host_valid(bytes_of(name, 255)));
}

static void test_address(void **state)
{
	static const char *const seeds[] = {
		"::1", "10.0.0.1", "10.0.0.1/24", "2001:db8::1/64", "gate.example", "10.0.0.1/33",
	};

	(void)state;
	save("address", seeds, ARRAY_LEN(seeds));
	assert_true(address_valid("10.0.0.1"));
	assert_true(address_valid("::"));
	assert_false(address_valid(""));
	assert_false(address_valid("10.0.0.1/8"));
	assert_false(address_valid("gate"));
	assert_true(address_prefix_valid("10.0.0.1/0"));
	assert_true(address_prefix_valid("10.0.0.1/32"));
	assert_true(address_prefix_valid("2001:db8::1/128"));
	assert_false(address_prefix_valid("10.0.0.1/33"));
	assert_false(address_prefix_valid("2001:db8::1/129"));
	assert_false(address_prefix_valid("10.0.0.1"));
	assert_false(address_prefix_valid("10.0.0.1/"));
	assert_false(address_prefix_valid("/24"));
	assert_false(address_prefix_valid("10.0.0.1/255.0.0.0"));
	assert_false(address_prefix_valid("10.0.0.1/024"));
	assert_false(address_prefix_valid(
		"0000:0000:0000:0000:0000:0000:0000:0000:0000:0000/8"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_server),
		cmocka_unit_test(test_mirror),
		cmocka_unit_test(test_host),
		cmocka_unit_test(test_address),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
