/* SPDX-License-Identifier: Apache-2.0 */
#include "pe_kit.h"

#include "appraise/predict.h"
#include "format/eventlog.h"
#include "format/pe.h"

#define STUB252 "#### LoaderInfo: systemd-stub 252.39-1 ####"

struct parts {
	const char *stub, *cmdline, *left_out, *more;
};

static struct image kernel;

static void build(struct image *i, const struct parts *p)
{
	image_begin(&kernel);
	image_text(&kernel, ".setup", "kernel code");
	image_sign(&kernel, "signed");
	image_begin(i);
	image_text(i, ".sdmagic", p->stub ? p->stub : STUB252);
	image_text(i, ".osrel", "ID=bootgate");
	image_text(i, ".uname", "6.1");
	image_text(i, ".cmdline", p->cmdline ? p->cmdline : "quiet a=b");
	image_text(i, ".initrd", "initrd");
	image_section(i, ".linux", image_bytes(&kernel));
	if (p->more)
		image_text(i, p->more, "x");
	for (size_t row = 0; p->left_out && row < i->sections; row++) {
		uint8_t *name = i->b + KIT_SECTIONS + 40 * row;

		if (strncmp((char *)name, p->left_out, 8) == 0)
			name[1] = '_';
	}
}

static void predicts_as(const struct parts *parts, const char *ipxe, enum reason want)
{
	struct prediction p;
	struct image i;

	build(&i, parts);
	assert_reason(want, predict_image(image_bytes(&i), ipxe, &p));
}

static void event_is(const struct predicted_event *e, uint8_t pcr, uint32_t type, enum component c,
		     struct bytes content)
{
	uint8_t want[DIGEST_MAX];

	assert_int_equal(e->pcr, pcr);
	assert_int_equal(e->type, type);
	assert_int_equal(e->component, c);
	for (size_t k = 0; k < PREDICT_BANKS; k++) {
		assert_ok(digest_of(predict_bank[k], &content, 1, want));
		assert_memory_equal(e->digest[k], want, digest_len(predict_bank[k]));
	}
}

static void application_is(const struct predicted_event *e, const struct image *i)
{
	uint8_t want[DIGEST_MAX];
	struct pe pe;

	assert_ok(pe_read(image_bytes(i), &pe));
	assert_int_equal(e->pcr, 4);
	assert_int_equal(e->type, EV_EFI_BOOT_SERVICES_APPLICATION);
	assert_int_equal(e->component, COMPONENT_GATE);
	for (size_t k = 0; k < PREDICT_BANKS; k++) {
		assert_ok(pe_digest(&pe, predict_bank[k], want));
		assert_memory_equal(e->digest[k], want, digest_len(predict_bank[k]));
	}
}

#define CONTENT(s) bytes_of((s), sizeof(s) - 1)

static void sections_are(const struct predicted_event *e)
{
	const struct bytes want[] = { CONTENT(".linux\0"),   image_bytes(&kernel), CONTENT(".osrel\0"),
				      CONTENT("ID=bootgate"), CONTENT(".cmdline\0"), CONTENT("quiet a=b"),
				      CONTENT(".initrd\0"),  CONTENT("initrd") };

	for (size_t k = 0; k < ARRAY_LEN(want); k++)
		event_is(&e[k], 11, EV_IPL, COMPONENT_GATE, want[k]);
}

static void test_firmware(void **state)
{
	struct prediction p;
	struct image i;
	(void)state;

	build(&i, &(struct parts){ 0 });
	assert_ok(predict_image(image_bytes(&i), NULL, &p));
	assert_int_equal(p.count, 12);
	application_is(&p.event[0], &i);
	sections_are(&p.event[1]);
	application_is(&p.event[9], &kernel);
	event_is(&p.event[10], 9, EV_EVENT_TAG, COMPONENT_COMMAND_LINE,
		 CONTENT("q\0u\0i\0e\0t\0 \0a\0=\0b\0\0\0"));
	event_is(&p.event[11], 9, EV_EVENT_TAG, COMPONENT_GATE, CONTENT("initrd"));
}

static void test_ipxe(void **state)
{
	const struct bytes name = CONTENT("g\0.\0e\0f\0i\0\0\0");
	struct prediction p;
	struct image i;
	(void)state;

	build(&i, &(struct parts){ 0 });
	assert_ok(predict_image(image_bytes(&i), "g.efi", &p));
	assert_int_equal(p.count, PREDICT_EVENTS_MAX);
	application_is(&p.event[0], &i);
	application_is(&p.event[1], &i);
	sections_are(&p.event[2]);
	event_is(&p.event[10], 12, EV_IPL, COMPONENT_COMMAND_LINE, name);
	application_is(&p.event[11], &kernel);
	event_is(&p.event[12], 9, EV_EVENT_TAG, COMPONENT_COMMAND_LINE, name);
	event_is(&p.event[13], 9, EV_EVENT_TAG, COMPONENT_GATE, CONTENT("initrd"));
}

static void test_other_stubs(void **state)
{
	(void)state;

	predicts_as(&(struct parts){ .stub = "#### LoaderInfo: systemd-stub 257.8-1 ####" }, NULL, R_FORMAT_VERSION);
	predicts_as(&(struct parts){ .stub = "#### LoaderInfo: systemd-stub 2520 ####" }, NULL, R_FORMAT_VERSION);
	predicts_as(&(struct parts){ .stub = "#### LoaderInfo" }, NULL, R_FORMAT_VERSION);
	predicts_as(&(struct parts){ .left_out = ".sdmagic" }, NULL, R_FORMAT_MISSING_KEY);
}

static void test_sections(void **state)
{
	static const char *const needed[] = { ".linux", ".osrel", ".cmdline", ".initrd" };
	static const char *const more[] = { ".splash", ".dtb", ".pcrsig", ".pcrpkey" };
	(void)state;

	for (size_t i = 0; i < ARRAY_LEN(needed); i++)
		predicts_as(&(struct parts){ .left_out = needed[i] }, NULL, R_FORMAT_MISSING_KEY);
	for (size_t i = 0; i < ARRAY_LEN(more); i++)
		predicts_as(&(struct parts){ .more = more[i] }, NULL, R_FORMAT_UNKNOWN_KEY);
	predicts_as(&(struct parts){ .more = ".sbat" }, NULL, R_OK);
}

static void test_command_line(void **state)
{
	static const char *const bad[] = { "", " a", "a ", "a\n", "a\tb", "\xc3\xa4" };
	static char name[5000];
	(void)state;

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		predicts_as(&(struct parts){ .cmdline = bad[i] }, NULL, R_FORMAT_TEXT);
		predicts_as(&(struct parts){ 0 }, bad[i], R_FORMAT_TEXT);
	}
	memset(name, 'a', 4096);
	predicts_as(&(struct parts){ 0 }, name, R_OK);
	name[4096] = 'a';
	predicts_as(&(struct parts){ 0 }, name, R_INTERNAL_TOO_LARGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_firmware),    cmocka_unit_test(test_ipxe),
		cmocka_unit_test(test_other_stubs), cmocka_unit_test(test_sections),
		cmocka_unit_test(test_command_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
