/* SPDX-License-Identifier: Apache-2.0 */
/* SEV-SNP reports: layout and envelopes, processors, extensions of the keys. */
#include "appraise/snp.h"
#include "snp_kit.h"

static void test_envelopes(void **state)
{
	static uint8_t wrapped[32 + SNP_REPORT_LEN + 40];

	(void)state;
	add_all();
	memcpy(wrapped + 32, report, sizeof(report));
	/* what SNP_GET_REPORT returns: status, size */
	wrapped[4] = 0xa0;
	wrapped[5] = 0x04;
	e.bytes = BYTES(wrapped);
	assert_ok(verify());
	memcpy(wrapped, "HCLA\x02", 5);
	assert_ok(verify());
	wrapped[1] = 'X';
	assert_reason(R_CVM_EVIDENCE, verify());
	e.bytes = bytes_of(report, sizeof(report) - 1);
	assert_reason(R_CVM_EVIDENCE, verify());
	memmove(wrapped, report, sizeof(report));
	e.bytes = bytes_of(wrapped, sizeof(report) + 40);
	assert_ok(verify());
}

static void test_layout(void **state)
{
	struct snp_report r;

	(void)state;
	assert_ok(snp_report_read(BYTES(report), &r));
	assert_bytes(r.measurement, report + 0x90, 48);
	assert_bytes(r.host_data, report + 0xc0, 32);
	assert_bytes(r.id_key_digest, report + 0xe0, 48);
	assert_bytes(r.author_key_digest, report + 0x110, 48);
	assert_bytes(r.report_id, report + 0x140, 32);
	assert_bytes(r.reported_tcb, report + 0x180, 8);
	assert_bytes(r.chip_id, report + 0x1a0, 64);
	assert_bytes(r.committed_tcb, report + 0x1e0, 8);
	assert_bytes(r.launch_tcb, report + 0x1f0, 8);
	assert_int_equal(r.cpu_family, 0x19);
	assert_int_equal(r.cpu_model, 0x11);
	assert_reason(R_FORMAT_TRUNCATED, snp_report_read(bytes_of(report, 700), &r));
	/* the reader of the report alone takes nothing behind it */
	static uint8_t longer[SNP_REPORT_LEN + 1];
	memcpy(longer, report, sizeof(report));
	assert_reason(R_FORMAT_TRAILING, snp_report_read(BYTES(longer), &r));

	static const struct {
		size_t at;
		uint8_t value;
		enum reason want;
	} wrong[] = {
		{ 0, 1, R_SNP_VERSION },	{ 0, 4, R_SNP_VERSION },
		{ 0, 6, R_SNP_VERSION },	{ 0x34, 2, R_SNP_FORMAT },
		{ 0x48, 2, R_SNP_FORMAT },	{ 0x48, 7 << 2, R_SNP_FORMAT },
		{ 0x2a0 + 48, 1, R_SNP_FORMAT }, { 0x2a0 + 72 + 71, 1, R_SNP_FORMAT },
		{ 0x330, 1, R_SNP_FORMAT },	{ 0x49f, 1, R_SNP_FORMAT },
	};
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		uint8_t before = report[wrong[i].at];

		report[wrong[i].at] = wrong[i].value;
		assert_reason(wrong[i].want, snp_report_read(BYTES(report), &r));
		report[wrong[i].at] = before;
	}
}

static void test_processors(void **state)
{
	static const struct {
		uint8_t family, model;
		enum snp_product want;
	} cases[] = {
		{ 0x19, 0x01, SNP_MILAN },  { 0x19, 0x0f, SNP_MILAN },	{ 0x19, 0x10, SNP_GENOA },
		{ 0x19, 0x1f, SNP_GENOA },  { 0x19, 0xa0, SNP_GENOA },	{ 0x19, 0xaf, SNP_GENOA },
		{ 0x1a, 0x00, SNP_TURIN },  { 0x1a, 0x11, SNP_TURIN },	{ 0x1a, 0x12, SNP_PRODUCT_UNKNOWN },
		{ 0x19, 0x20, SNP_PRODUCT_UNKNOWN }, { 0x19, 0x9f, SNP_PRODUCT_UNKNOWN },
		{ 0x19, 0xb0, SNP_PRODUCT_UNKNOWN }, { 0x17, 0x01, SNP_PRODUCT_UNKNOWN },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		assert_int_equal(snp_product_cpuid(cases[i].family, cases[i].model), cases[i].want);
}

static void test_key_extensions(void **state)
{
	static const uint8_t one[] = { 2, 1, 1 }, two_bytes[] = { 2, 2, 1, 0 }, text[] = { 0x16, 1, 'a' };
	static const char milan[] = "\x16\x05Milan", milano[] = "\x16\x06Milano", no[] = "\x16\x04Rome";
	struct snp_key_extensions x = {
		.product = bytes_of(milan, 7), .bootloader = BYTES(one), .tee = BYTES(one),
		.snp = BYTES(one), .microcode = BYTES(one),
	};
	struct snp_key_extensions y;
	struct snp_key key;

	(void)state;
	assert_ok(snp_key_read(&x, &key));
	assert_int_equal(key.product, SNP_MILAN);
	for (size_t i = 0; i < 12; i++) {
		y = x;
		switch (i) {
		case 0: y.product = bytes_of(milano, 8); break;
		case 1: y.product = bytes_of(no, 6); break;
		case 2: y.product = BYTES(one); break;
		case 3: y.bootloader = BYTES(two_bytes); break;
		case 4: y.tee = BYTES(text); break;
		case 5: y.snp = BYTES_NONE; break;
		case 6: y.microcode = bytes_of(one, 2); break;
		/* Turin's without its FMC */
		case 7: y.product = bytes_of("\x16\x05Turin", 7); break;
		case 8: y.chip = BYTES(one); break;
		case 9: y.chip = BYTES(text); break;
		case 10: y.provider = BYTES(one); break;
		default: y.product = BYTES_NONE; break;
		}
		assert_reason(R_SNP_FORMAT, snp_key_read(&y, &key));
	}
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, free_pool)
	const struct CMUnitTest tests[] = {
		TEST(test_envelopes), TEST(test_layout), TEST(test_processors),
		TEST(test_key_extensions),
	};

	return cmocka_run_group_tests(tests, make_keys, free_keys);
}
