/* SPDX-License-Identifier: Apache-2.0 */
#include "message.h"

#include "format/manifest.h"

static enum reason again(struct bytes in, struct blob *out)
{
	static struct manifest m;

	TRY(manifest_read(in, &m));
	return manifest_write(&m, out);
}

static struct manifest m;

static struct manifest *sample(void)
{
	m = (struct manifest){
		.line = "lab",
		.purpose = PURPOSE_HOST,
		.version = "2026.1-3",
		.security_version = 4,
		.kernel = { .size = 8 << 20 },
		.initrd = { .size = LIMIT_ARTIFACT },
		.memory = 1ull << 33,
		.cmdline = "console=ttyS0 id=%{node}%{run} ip=%{address} host=%{name} n=%{count}",
		.parameter_count = 5,
		.parameter = { { "node", PARAMETER_HEX, 8 }, { "run", PARAMETER_HEX, 2 },
			       { "address", PARAMETER_ADDRESS, 0 }, { "name", PARAMETER_HOST, 20 },
			       { "count", PARAMETER_NUMBER, 16 } },
		.cvm_count = 2,
		.cvm = { { "tenant-a", { .size = 77 } }, { "tenant-b.img", { .size = 78 } } },
	};
	fill(m.kernel.sha256, SHA256_LEN, 1);
	fill(m.initrd.sha256, SHA256_LEN, 2);
	fill(m.cvm[1].image.sha256, SHA256_LEN, 3);
	return &m;
}

static void test_round_trip(void **state)
{
	_cleanup_(blob_free) struct blob b = BLOB(LIMIT_MANIFEST);
	static struct manifest got;

	(void)state;
	assert_ok(manifest_write(sample(), &b));
	assert_ok(manifest_read(blob_bytes(&b), &got));
	assert_string_equal(got.line, "lab");
	assert_int_equal(got.purpose, PURPOSE_HOST);
	assert_string_equal(got.version, "2026.1-3");
	assert_int_equal(got.security_version, 4);
	assert_true(got.kernel.size == 8 << 20 && got.initrd.size == LIMIT_ARTIFACT);
	assert_memory_equal(got.kernel.sha256, m.kernel.sha256, SHA256_LEN);
	assert_memory_equal(got.initrd.sha256, m.initrd.sha256, SHA256_LEN);
	assert_true(got.memory == 1ull << 33);
	assert_string_equal(got.cmdline, m.cmdline);
	assert_int_equal(got.parameter_count, 5);
	/* in the order of the wire */
	assert_string_equal(got.parameter[0].name, "run");
	assert_int_equal(got.parameter[0].bound, 2);
	assert_string_equal(got.parameter[4].name, "address");
	assert_int_equal(got.parameter[4].type, PARAMETER_ADDRESS);
	assert_int_equal(got.cvm_count, 2);
	assert_string_equal(got.cvm[1].name, "tenant-b.img");
	assert_true(got.cvm[1].image.size == 78);
	assert_memory_equal(got.cvm[1].image.sha256, m.cvm[1].image.sha256, SHA256_LEN);
	message_check(again, blob_bytes(&b));
	message_map_check(again, blob_bytes(&b), 0);
	seed("manifest", "full", blob_bytes(&b));
	size_t n = b.n;
	static const char *const values[] = {
		"\xff" "3f2a9c1e\n0a\n10.0.0.1\nhost-1.rack\n15",
		"\xff" "3f2a9c1e\n0a\n2001:db8::1\n10.0.0.1\n17",
		"\xff" "3f2a9c1e\n0a\n\n",
		"\xff" "3f2a9c1E",
	};
	for (size_t i = 0; i < ARRAY_LEN(values); i++) {
		char name[16];

		snprintf(name, sizeof name, "values-%zu", i);
		b.n = n;
		assert_ok(blob_append(&b, values[i], strlen(values[i])));
		seed("manifest", name, blob_bytes(&b));
	}

	/* a line that just does not fit, by its text and by a value */
	static char text[1024];
	for (size_t i = 0; i < 2; i++) {
		sample()->parameter_count = 1;
		m.parameter[0].type = PARAMETER_HOST;
		m.parameter[0].bound = 253;
		memset(m.cmdline, 'a', sizeof m.cmdline);
		memcpy(m.cmdline + (i == 0 ? 2 : LIMIT_CMDLINE - 8), "%{node}", 7);
		m.cmdline[LIMIT_CMDLINE - 1] = '\0';
		memset(text, 'a', 64);
		memcpy(text, "\xff" "a.b.c.", 7);
		blob_reset(&b);
		assert_ok(manifest_write(&m, &b));
		assert_ok(blob_append(&b, text, 64));
		seed("manifest", i == 0 ? "long-text" : "long-value", blob_bytes(&b));
	}

	sample()->parameter_count = 0;
	m.cvm_count = 0;
	m.purpose = PURPOSE_MAINTENANCE;
	strcpy(m.cmdline, "quiet");
	blob_reset(&b);
	assert_ok(manifest_write(&m, &b));
	message_check(again, blob_bytes(&b));
	seed("manifest", "small", blob_bytes(&b));
}

static void test_bounds(void **state)
{
	_cleanup_(blob_free) struct blob b = BLOB(LIMIT_MANIFEST);
	static uint8_t large[LIMIT_MANIFEST + 1];

	(void)state;
	assert_reason(R_FORMAT_TOO_LARGE, manifest_read(BYTES(large), &m));
	/* one byte more than kexec takes, and none at all */
	sample()->kernel.size = LIMIT_ARTIFACT + 1;
	assert_reason(R_FORMAT_RANGE, manifest_write(&m, &b));
	sample()->initrd.size = 0;
	assert_reason(R_FORMAT_RANGE, manifest_write(&m, &b));
	sample()->cvm[0].image.size = LIMIT_ARTIFACT + 1;
	assert_reason(R_FORMAT_RANGE, manifest_write(&m, &b));
	sample()->parameter_count = MANIFEST_PARAMETERS_MAX + 1;
	assert_reason(R_FORMAT_RANGE, manifest_write(&m, &b));
	sample()->cvm_count = MANIFEST_CVMS_MAX + 1;
	assert_reason(R_FORMAT_RANGE, manifest_write(&m, &b));
	sample()->purpose = PURPOSE_MAX;
	assert_reason(R_FORMAT_RANGE, manifest_write(&m, &b));
	strcpy(sample()->line, "Lab");
	assert_reason(R_FORMAT_TEXT, manifest_write(&m, &b));
	strcpy(sample()->line, "");
	assert_reason(R_FORMAT_RANGE, manifest_write(&m, &b));
	strcpy(sample()->cvm[1].name, "tenant-a");
	assert_reason(R_FORMAT_DUPLICATE, manifest_write(&m, &b));
	strcpy(sample()->parameter[1].name, "node");
	strcpy(m.cmdline, "id=%{node} ip=%{address} host=%{name} n=%{count}");
	assert_true(manifest_write(&m, &b) != R_OK);
	strcpy(sample()->cmdline, "a\tb=%{node}%{run}%{address}%{name}%{count}");
	assert_reason(R_FORMAT_TEXT, manifest_write(&m, &b));
	assert_int_equal(b.n, 0);
}

static void test_duplicate_parameter(void **state)
{
	_cleanup_(blob_free) struct blob b = BLOB(LIMIT_MANIFEST);

	(void)state;
	sample()->parameter_count = 2;
	strcpy(m.parameter[1].name, "node");
	strcpy(m.cmdline, "id=%{node}");
	/* the second of the name has no place of its own */
	assert_reason(R_MANIFEST_TEMPLATE, manifest_write(&m, &b));
	/* nine parameters on the wire */
	assert_ok(manifest_write(sample(), &b));
	find(&b, "\xa5\x63run", 5)[0] = 0xa9;
	assert_reason(R_FORMAT_RANGE, manifest_read(blob_bytes(&b), &m));
	/* a CVM twice */
	*find(&b, "\xa9\x63run", 5) = 0xa5;
	memmove(find(&b, "\x6ctenant-b.img", 13), "\x68tenant-a", 9);
	uint8_t *p = find(&b, "\x68tenant-a.img", 13);
	memmove(p + 9, p + 13, b.n - (size_t)(p - b.p) - 13);
	b.n -= 4;
	assert_reason(R_FORMAT_DUPLICATE, manifest_read(blob_bytes(&b), &m));
	seed("manifest", "twice", blob_bytes(&b));
}

static void test_parameter_bounds(void **state)
{
	static const struct {
		enum parameter_type type;
		uint32_t bound;
		bool good;
	} cases[] = {
		{ PARAMETER_HEX, 0, false }, { PARAMETER_HEX, 1, true },
		{ PARAMETER_HEX, 128, true }, { PARAMETER_HEX, 129, false },
		{ PARAMETER_ADDRESS, 0, true }, { PARAMETER_ADDRESS, 1, false },
		{ PARAMETER_HOST, 0, false }, { PARAMETER_HOST, 253, true },
		{ PARAMETER_HOST, 254, false }, { PARAMETER_NUMBER, 0, true },
		{ PARAMETER_NUMBER, UINT32_MAX, true }, { PARAMETER_TYPE_MAX, 1, false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		_cleanup_(blob_free) struct blob b = BLOB(LIMIT_MANIFEST);

		sample()->parameter_count = 1;
		strcpy(m.cmdline, "id=%{node}");
		m.parameter[0].type = cases[i].type;
		m.parameter[0].bound = cases[i].bound;
		assert_reason(cases[i].good ? R_OK : R_FORMAT_RANGE, manifest_write(&m, &b));
	}
}

static enum reason template(const char *text)
{
	_cleanup_(blob_free) struct blob b = BLOB(LIMIT_MANIFEST);

	sample()->parameter_count = 1;
	strcpy(m.cmdline, text);
	return manifest_write(&m, &b);
}

static void test_template(void **state)
{
	static const char *const bad[] = {
		"", "quiet", "%{node}", "a %{node}", "a=%{node} %{node}", "a=%{other}",
		"a=%{node} b=%{other}", "a=%{node", "a=%{node} b=%", "a=%node", "a=%{node} 100%",
		"a=%{node}%%", "a=%{}", "a=%{node} b=%{}", "a=%{ node}", "a=%{node }", "a=%{NODE}",
		"a=%{node}} %{", "a=%{%{node}}", "a=%{node}%{other}", "%",
	};
	static const char *const good[] = {
		"a=%{node}", "a=%{node}b", "a=%{node}%{node}", "a=%{node}}", "a=%{node} {b}",
		"a=x%{node}y%{node}z", "a%{node}",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		assert_reason(R_MANIFEST_TEMPLATE, template(bad[i]));
	for (size_t i = 0; i < ARRAY_LEN(good); i++)
		assert_ok(template(good[i]));
}

struct value {
	const char *name, *value;
};

static const char *value_of(void *ctx, const char *name)
{
	for (const struct value *v = ctx; v->name != NULL; v++)
		if (strcmp(v->name, name) == 0)
			return v->value;
	return NULL;
}

static void test_cmdline(void **state)
{
	struct value values[] = { { "node", "3f2a9c1e" }, { "run", "0a" },
				  { "address", "2001:db8::1" }, { "name", "n1.rack.example" },
				  { "count", "16" }, { NULL, NULL } };
	char line[LIMIT_CMDLINE] = "untouched";

	(void)state;
	assert_ok(manifest_cmdline(sample(), value_of, values, line));
	assert_string_equal(line, "console=ttyS0 id=3f2a9c1e0a ip=2001:db8::1 "
				  "host=n1.rack.example n=16");
	strcpy(line, "untouched");
	values[4].name = "other";
	assert_reason(R_MANIFEST_TEMPLATE, manifest_cmdline(sample(), value_of, values, line));
	assert_string_equal(line, "untouched");
	strcpy(sample()->cmdline, "%{node}");
	assert_reason(R_MANIFEST_TEMPLATE, manifest_cmdline(&m, value_of, values, line));
}

static void test_values(void **state)
{
	static const struct {
		enum parameter_type type;
		uint32_t bound;
		const char *value;
		bool good;
	} cases[] = {
		{ PARAMETER_HEX, 4, "01ef", true },
		{ PARAMETER_HEX, 4, "01eF", false },
		{ PARAMETER_HEX, 4, "01e", false },
		{ PARAMETER_HEX, 4, "01ef0", false },
		{ PARAMETER_HEX, 4, "0x1e", false },
		{ PARAMETER_HEX, 4, "01 e", false },
		{ PARAMETER_ADDRESS, 0, "10.0.0.1", true },
		{ PARAMETER_ADDRESS, 0, "fe80::1", true },
		{ PARAMETER_ADDRESS, 0, "fe80::1%eth0", false },
		{ PARAMETER_ADDRESS, 0, "10.0.0", false },
		{ PARAMETER_ADDRESS, 0, "10.0.0.1 init=/bin/sh", false },
		{ PARAMETER_ADDRESS, 0, "", false },
		{ PARAMETER_HOST, 10, "a.b-c.d", true },
		{ PARAMETER_HOST, 10, "0123456789a", false },
		{ PARAMETER_HOST, 10, "", false },
		{ PARAMETER_HOST, 10, "-a", false },
		{ PARAMETER_HOST, 10, "a..b", false },
		{ PARAMETER_HOST, 10, "A", false },
		{ PARAMETER_HOST, 10, "a b", false },
		{ PARAMETER_HOST, 10, "a\"b", false },
		{ PARAMETER_NUMBER, 100, "0", true },
		{ PARAMETER_NUMBER, 100, "100", true },
		{ PARAMETER_NUMBER, 100, "101", false },
		{ PARAMETER_NUMBER, 100, "007", false },
		{ PARAMETER_NUMBER, 100, "-1", false },
		{ PARAMETER_NUMBER, 100, "1e1", false },
		{ PARAMETER_NUMBER, 100, "", false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct value values[] = { { "node", cases[i].value }, { NULL, NULL } };
		char line[LIMIT_CMDLINE];

		sample()->parameter_count = 1;
		strcpy(m.cmdline, "x=%{node}");
		m.parameter[0].type = cases[i].type;
		m.parameter[0].bound = cases[i].bound;
		assert_reason(cases[i].good ? R_OK : R_MANIFEST_TEMPLATE,
			      manifest_cmdline(&m, value_of, values, line));
	}
	/* a type that only memory gone wrong can hold */
	sample()->parameter_count = 1;
	strcpy(m.cmdline, "x=%{node}");
	m.parameter[0].type = PARAMETER_TYPE_MAX;
	struct value values[] = { { "node", "0" }, { NULL, NULL } };
	char line[LIMIT_CMDLINE];
	assert_reason(R_MANIFEST_TEMPLATE, manifest_cmdline(&m, value_of, values, line));
}

/* LIMIT_CMDLINE counts the NUL: one character fewer fits, not one more. */
static void test_cmdline_too_long(void **state)
{
	struct value values[] = { { "node", "0123" }, { NULL, NULL } };
	char line[LIMIT_CMDLINE];
	size_t room = LIMIT_CMDLINE - 1;

	(void)state;
	sample()->parameter_count = 1;
	m.parameter[0].bound = 4;
	memset(m.cmdline, 'a', sizeof m.cmdline);
	memcpy(m.cmdline, "x=%{node}", 9);
	/* nine characters become six */
	m.cmdline[room] = '\0';
	assert_ok(manifest_cmdline(&m, value_of, values, line));
	assert_int_equal(strlen(line), room - 3);
	values[0].value = "0123456789ab";
	m.parameter[0].bound = 12;
	m.cmdline[room - 5] = '\0';
	assert_ok(manifest_cmdline(&m, value_of, values, line));
	assert_int_equal(strlen(line), room);
	m.cmdline[room - 5] = 'a';
	m.cmdline[room - 4] = '\0';
	assert_reason(R_IMAGE_CMDLINE, manifest_cmdline(&m, value_of, values, line));
	m.cmdline[room - 4] = 'a';
	m.cmdline[room] = '\0';
	assert_reason(R_IMAGE_CMDLINE, manifest_cmdline(&m, value_of, values, line));
	/* the value itself is too much */
	memset(m.cmdline, 'a', sizeof m.cmdline);
	memcpy(m.cmdline + room - 7, "%{node}", 8);
	assert_reason(R_IMAGE_CMDLINE, manifest_cmdline(&m, value_of, values, line));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_duplicate_parameter),
		cmocka_unit_test(test_parameter_bounds),
		cmocka_unit_test(test_template),
		cmocka_unit_test(test_cmdline),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_cmdline_too_long),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
