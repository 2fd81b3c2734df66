/* SPDX-License-Identifier: Apache-2.0 */
#include "message.h"

#include "format/conf.h"

/* What a reader was told, as text. */
struct seen {
	char text[512];
};

static enum reason note(void *ctx, const char *key, const char *value)
{
	struct seen *s = ctx;
	size_t n = strlen(s->text);

	if (strcmp(value, "bad") == 0)
		return R_CONF_VALUE;
	snprintf(s->text + n, sizeof s->text - n, "%s=[%s];", key, value);
	return R_OK;
}

static const struct conf_key keys[] = {
	{ "area.name", true, note },
	{ "area.other", false, note },
	{ "list.*", false, note },
};

static struct seen seen;
static struct conf_error err;

static enum reason read_text(const char *text)
{
	memset(&seen, 0, sizeof seen);
	return conf_read(bytes_str(text), keys, ARRAY_LEN(keys), &seen, &err);
}

static void test_grammar(void **state)
{
	(void)state;
	assert_ok(read_text("area.name = a value\n"));
	assert_string_equal(seen.text, "area.name=[a value];");
	assert_int_equal(err.line, 0);
	assert_ok(read_text("\n# comment, in any language: caf\xc3\xa9\n  \t\n"
			    "\tarea.name=x=y # z \t\n #area.name = 2\n list.a =\n"
			    "list.b.c = 1\narea.other = \"q\""));
	seed("conf", "good", bytes_str("# comment\n\ta.b=x=y # z \t\n\n list.a =\n"
				       "list.b.c = 1\na.c = \"q\""));
	seed("conf", "set", bytes_str("a.b = !\n"));
	assert_string_equal(seen.text,
			    "area.name=[x=y # z];list.a=[];list.b.c=[1];area.other=[\"q\"];");
}

/* The fuzzer has other keys. */
static void seed_bad(size_t i, const char *text)
{
	char name[16], *other = strdup(text);

	for (char *p = other; (p = strstr(p, "area.name")) != NULL;)
		memcpy(p, "     a.b ", 9);
	for (char *p = other; (p = strstr(p, "area.other")) != NULL;)
		memcpy(p, "      a.c ", 10);
	snprintf(name, sizeof name, "bad-%02zu", i);
	seed("conf", name, bytes_str(other));
	free(other);
}

static void test_refusals(void **state)
{
	static const struct {
		const char *text;
		enum reason reason;
		unsigned line;
		const char *key;
	} cases[] = {
		{ "", R_CONF_MISSING, 0, "area.name" },
		{ "area.other = 1\n", R_CONF_MISSING, 0, "area.name" },
		{ "# area.name = 1\n", R_CONF_MISSING, 0, "area.name" },
		{ "area.name = 1\narea.name = 1\n", R_CONF_REPEATED, 2, "area.name" },
		{ "area.name = 1\n\nlist.x = 1\nlist.y = 1\nlist.x = 2", R_CONF_REPEATED, 5, "list.x" },
		{ "area.nam = 1\n", R_CONF_UNKNOWN, 1, "area.nam" },
		{ "area.name2 = 1\n", R_CONF_UNKNOWN, 1, "area.name2" },
		{ "area.name.x = 1\n", R_CONF_UNKNOWN, 1, "area.name.x" },
		{ "lists.x = 1\n", R_CONF_UNKNOWN, 1, "lists.x" },
		{ "area.name = 1\nfoo\n", R_CONF_SYNTAX, 2, "" },
		{ "name = 1\n", R_CONF_UNKNOWN, 1, "name" },
		{ "Area.name = 1\n", R_CONF_SYNTAX, 1, "" },
		{ "area. = 1\n", R_CONF_UNKNOWN, 1, "area." },
		{ ".name = 1\n", R_CONF_UNKNOWN, 1, ".name" },
		{ "area..name = 1\n", R_CONF_UNKNOWN, 1, "area..name" },
		{ "list. = 1\n", R_CONF_UNKNOWN, 1, "list." },
		{ "area name = 1\n", R_CONF_SYNTAX, 1, "" },
		{ "= 1\n", R_CONF_SYNTAX, 1, "" },
		{ "[area]\n", R_CONF_SYNTAX, 1, "" },
		{ "\xef\xbb\xbf" "area.name = 1\n", R_CONF_SYNTAX, 1, "" },
		{ "area.name = caf\xc3\xa9\n", R_CONF_VALUE, 1, "area.name" },
		{ "area.name = a\tb\n", R_CONF_VALUE, 1, "area.name" },
		{ "area.name = 1\r\n", R_CONF_VALUE, 1, "area.name" },
		{ "#\n#\narea.name = bad\n", R_CONF_VALUE, 3, "area.name" },
		{ "list.aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa = 1",
		  R_CONF_SYNTAX, 1, "" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		assert_reason(cases[i].reason, read_text(cases[i].text));
		assert_int_equal(err.line, cases[i].line);
		assert_string_equal(err.key, cases[i].key);
		seed_bad(i, cases[i].text);
	}
	/* a NUL ends nothing */
	assert_reason(R_CONF_VALUE, conf_read(bytes_of("area.name = a\0b", 15), keys,
					      ARRAY_LEN(keys), &seen, &err));
}

static void test_sizes(void **state)
{
	static char text[LIMIT_CONF + 1];
	char line[CONF_VALUE_MAX + 32] = "area.name = ";

	(void)state;
	memset(text, '\n', sizeof text);
	assert_reason(R_FORMAT_TOO_LARGE, conf_read(bytes_of(text, sizeof text), keys,
						    ARRAY_LEN(keys), &seen, &err));
	memset(line + 12, 'v', CONF_VALUE_MAX);
	line[12 + CONF_VALUE_MAX] = '\0';
	assert_reason(R_CONF_VALUE, read_text(line));
	line[12 + CONF_VALUE_MAX - 1] = '\0';
	assert_ok(read_text(line));
}

static void test_write(void **state)
{
	_cleanup_(blob_free) struct blob b = BLOB(64);

	(void)state;
	assert_ok(conf_write(&b, "area.name", "a = b # c"));
	assert_ok(conf_write(&b, "list.x", ""));
	assert_bytes(blob_bytes(&b), "area.name = a = b # c\nlist.x = \n", 32);
	assert_ok(conf_read(blob_bytes(&b), keys, ARRAY_LEN(keys), &seen, &err));
	assert_reason(R_CONF_VALUE, conf_write(&b, "area.name", " x"));
	assert_reason(R_CONF_VALUE, conf_write(&b, "area.name", "x "));
	assert_reason(R_CONF_VALUE, conf_write(&b, "area.name", "a\nlist.y = 1"));
	assert_reason(R_CONF_VALUE, conf_write(&b, "name", "x"));
	assert_reason(R_INTERNAL_TOO_LARGE, conf_write(&b, "area.name", "0123456789012345678901234"));
	assert_int_equal(b.n, 32);
}

static const char full[] =
	"# a site\n"
	"server.url = https://gate.example.org:8443\n"
	"mirror.url = http://10.0.2.2/images\n"
	"net.method = static\n"
	"net.address = 10.0.2.15/24\n"
	"net.gateway = 10.0.2.2\n"
	"net.dns = 2001:db8::53\n"
	"net.carrier-timeout = 45\n"
	"console.device = ttyS1\n"
	"fail.refused = wait\n"
	"fail.broken = reboot\n"
	"fail.delay = 90\n"
	"contact.text = Operations, +1 555 0100\n"
	"release.threshold = 2\n"
	"release.floor.lab = 3\n"
	"release.floor.gpu-host = 4294967295\n";

static void test_boot(void **state)
{
	_cleanup_(blob_free) struct blob b = BLOB(LIMIT_CONF);
	struct boot_conf c, again;
	uint32_t floor;

	(void)state;
	assert_ok(boot_conf_read(bytes_str(full), &c, &err));
	assert_string_equal(c.server_url, "https://gate.example.org:8443");
	assert_string_equal(c.mirror_url, "http://10.0.2.2/images");
	assert_string_equal(c.net_method, "static");
	assert_string_equal(c.net_address, "10.0.2.15/24");
	assert_string_equal(c.net_gateway, "10.0.2.2");
	assert_string_equal(c.net_dns, "2001:db8::53");
	assert_int_equal(c.net_carrier_timeout, 45);
	assert_string_equal(c.console_device, "ttyS1");
	assert_int_equal(c.fail_refused, FAIL_WAIT);
	assert_int_equal(c.fail_broken, FAIL_REBOOT);
	assert_int_equal(c.fail_delay, 90);
	assert_string_equal(c.contact_text, "Operations, +1 555 0100");
	assert_int_equal(c.release_threshold, 2);
	assert_true(boot_conf_floor(&c, "lab", &floor));
	assert_int_equal(floor, 3);
	assert_true(boot_conf_floor(&c, "gpu-host", &floor));
	assert_int_equal(floor, UINT32_MAX);
	/* a line that is not named would be a way around the floor of one that is */
	assert_false(boot_conf_floor(&c, "other", &floor));
	assert_ok(boot_conf_write(&c, &b));
	assert_ok(boot_conf_read(blob_bytes(&b), &again, &err));
	assert_memory_equal(&again, &c, sizeof c);
	/* the comment is all that writing loses */
	assert_bytes(blob_bytes(&b), full + 9, sizeof full - 10);
	seed("boot_conf", "full", bytes_str(full));
}

#define URLS "server.url = https://g\nmirror.url = http://m\n"

static void test_boot_defaults(void **state)
{
	_cleanup_(blob_free) struct blob b = BLOB(LIMIT_CONF);
	struct boot_conf c, again;
	uint32_t floor;

	(void)state;
	assert_ok(boot_conf_read(bytes_str(URLS), &c, &err));
	assert_string_equal(c.net_method, "dhcp");
	assert_int_equal(c.net_carrier_timeout, 30);
	assert_string_equal(c.console_device, "");
	assert_int_equal(c.fail_refused, FAIL_REBOOT);
	assert_int_equal(c.fail_broken, FAIL_POWEROFF);
	assert_int_equal(c.fail_delay, 60);
	assert_int_equal(c.release_threshold, 1);
	assert_int_equal(c.floor_count, 0);
	assert_true(boot_conf_floor(&c, "any", &floor));
	assert_int_equal(floor, 0);
	assert_ok(boot_conf_write(&c, &b));
	assert_ok(boot_conf_read(blob_bytes(&b), &again, &err));
	assert_memory_equal(&again, &c, sizeof c);
	seed("boot_conf", "small", bytes_str(URLS));
}

static void test_boot_refusals(void **state)
{
	static const struct {
		const char *line;	/* after the two URLs */
		enum reason reason;
		const char *key;
	} cases[] = {
		{ "net.method = bootp", R_CONF_VALUE, "net.method" },
		{ "net.method = static", R_CONF_MISSING, "net.address" },
		{ "net.address = 10.0.0.1", R_CONF_VALUE, "net.address" },
		{ "net.gateway = gw", R_CONF_VALUE, "net.gateway" },
		{ "net.dns = 1.1.1.1 8.8.8.8", R_CONF_VALUE, "net.dns" },
		{ "net.carrier-timeout = 0", R_CONF_VALUE, "net.carrier-timeout" },
		{ "net.carrier-timeout = 30s", R_CONF_VALUE, "net.carrier-timeout" },
		{ "net.carrier-timeout = 3601", R_CONF_VALUE, "net.carrier-timeout" },
		{ "console.device = /dev/ttyS0", R_CONF_VALUE, "console.device" },
		{ "console.device = ..", R_CONF_VALUE, "console.device" },
		{ "console.device = sda", R_CONF_VALUE, "console.device" },
		{ "fail.refused = shell", R_CONF_VALUE, "fail.refused" },
		{ "fail.broken =", R_CONF_VALUE, "fail.broken" },
		{ "release.threshold = 0", R_CONF_VALUE, "release.threshold" },
		{ "release.threshold = 17", R_CONF_VALUE, "release.threshold" },
		{ "release.floor.a.b = 1", R_CONF_VALUE, "release.floor.a.b" },
		{ "release.floor.lab = -1", R_CONF_VALUE, "release.floor.lab" },
		{ "release.floor.lab = 4294967296", R_CONF_VALUE, "release.floor.lab" },
		{ "release.floor = 1", R_CONF_UNKNOWN, "release.floor" },
		{ "server.url = https://h", R_CONF_REPEATED, "server.url" },
		{ "server.urls = https://h", R_CONF_UNKNOWN, "server.urls" },
		{ "tls.verify = no", R_CONF_UNKNOWN, "tls.verify" },
	};
	char text[512];
	struct boot_conf c;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		snprintf(text, sizeof text, "%s%s\n", URLS, cases[i].line);
		assert_reason(cases[i].reason, boot_conf_read(bytes_str(text), &c, &err));
		assert_string_equal(err.key, cases[i].key);
		assert_int_equal(err.line, cases[i].reason == R_CONF_MISSING ? 0 : 3);
		char name[16];
		snprintf(name, sizeof name, "bad-%02zu", i);
		seed("boot_conf", name, bytes_str(text));
	}
	assert_reason(R_CONF_VALUE, boot_conf_read(bytes_str("server.url = http://g\n"), &c, &err));
	assert_reason(R_CONF_VALUE, boot_conf_read(bytes_str("mirror.url = ftp://m\n"), &c, &err));
	assert_reason(R_CONF_MISSING, boot_conf_read(bytes_str("server.url = https://g\n"), &c, &err));
	assert_string_equal(err.key, "mirror.url");
	/* a text of one character too many for its place */
	snprintf(text, sizeof text, "%scontact.text = %0200d\n", URLS, 0);
	assert_reason(R_CONF_VALUE, boot_conf_read(bytes_str(text), &c, &err));
	snprintf(text, sizeof text, "%scontact.text = %0199d\n", URLS, 0);
	assert_ok(boot_conf_read(bytes_str(text), &c, &err));
}

static void test_boot_floors(void **state)
{
	_cleanup_(blob_free) struct blob b = BLOB(LIMIT_CONF);
	struct boot_conf c;
	char key[32];

	(void)state;
	assert_ok(blob_append(&b, URLS, strlen(URLS)));
	for (unsigned i = 0; i < SITE_FLOORS_MAX; i++) {
		snprintf(key, sizeof key, "release.floor.l%u", i);
		assert_ok(conf_write(&b, key, "1"));
	}
	assert_ok(boot_conf_read(blob_bytes(&b), &c, &err));
	assert_int_equal(c.floor_count, SITE_FLOORS_MAX);
	assert_ok(conf_write(&b, "release.floor.more", "1"));
	assert_reason(R_CONF_VALUE, boot_conf_read(blob_bytes(&b), &c, &err));
	assert_int_equal(err.line, 3 + SITE_FLOORS_MAX);
}

/* What could not be read back is not written. */
static void test_boot_write_refusals(void **state)
{
	_cleanup_(blob_free) struct blob b = BLOB(LIMIT_CONF);
	struct boot_conf good, c;

	(void)state;
	assert_ok(boot_conf_read(bytes_str(full), &good, &err));
	c = good;
	c.server_url[0] = '\0';
	assert_reason(R_CONF_MISSING, boot_conf_write(&c, &b));
	c = good;
	strcpy(c.server_url, "http://g");
	assert_reason(R_CONF_VALUE, boot_conf_write(&c, &b));
	c = good;
	c.fail_delay = 0;
	assert_reason(R_CONF_VALUE, boot_conf_write(&c, &b));
	c = good;
	memset(&c.fail_broken, 0x7f, sizeof c.fail_broken);
	assert_reason(R_CONF_VALUE, boot_conf_write(&c, &b));
	c = good;
	strcpy(c.contact_text, "a\nfail.delay = 1");
	assert_reason(R_CONF_VALUE, boot_conf_write(&c, &b));
	c = good;
	strcpy(c.floor[0].line, "");
	assert_reason(R_CONF_VALUE, boot_conf_write(&c, &b));
	assert_int_equal(b.n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_grammar),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_write),
		cmocka_unit_test(test_boot),
		cmocka_unit_test(test_boot_defaults),
		cmocka_unit_test(test_boot_refusals),
		cmocka_unit_test(test_boot_floors),
		cmocka_unit_test(test_boot_write_refusals),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
