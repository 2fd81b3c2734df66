/* SPDX-License-Identifier: Apache-2.0 */
/* TPM firmware that gives keys away: which versions, and exceptions for a time. */
#include "appraise/ek_firmware.h"
#include "unit.h"

#define IFX 0x49465800u
#define STM 0x53544d20u		/* filled up with a blank */
#define NTC 0x4e544300u

static const struct ek_firmware_exceptions none = { NULL, 0 };

static uint64_t version(uint16_t major, uint16_t minor)
{
	return (uint64_t)major << 48 | (uint64_t)minor << 32 | 0x00110011;
}

static void test_ranges(void **state)
{
	static const struct {
		uint32_t manufacturer;
		uint16_t major, minor;
		enum reason want;
	} cases[] = {
		{ IFX, 4, 33, R_EK_FIRMWARE }, { IFX, 4, 34, R_OK }, { IFX, 4, 40, R_EK_FIRMWARE },
		{ IFX, 4, 42, R_EK_FIRMWARE }, { IFX, 4, 43, R_OK }, { IFX, 5, 0, R_EK_FIRMWARE },
		{ IFX, 5, 61, R_EK_FIRMWARE }, { IFX, 5, 62, R_OK }, { IFX, 6, 42, R_EK_FIRMWARE },
		{ IFX, 6, 43, R_OK }, { IFX, 7, 0, R_EK_FIRMWARE }, { IFX, 7, 61, R_EK_FIRMWARE },
		{ IFX, 7, 62, R_OK }, { IFX, 7, 85, R_OK }, { IFX, 8, 0, R_OK },
		{ IFX, 133, 32, R_EK_FIRMWARE }, { IFX, 133, 33, R_OK }, { IFX, 15, 20, R_OK },
		{ STM, 71, 0, R_EK_FIRMWARE }, { STM, 71, 12, R_EK_FIRMWARE }, { STM, 71, 16, R_OK },
		{ STM, 73, 4, R_EK_FIRMWARE }, { STM, 73, 9, R_EK_FIRMWARE }, { STM, 73, 20, R_OK },
		{ STM, 74, 16, R_EK_FIRMWARE }, { STM, 74, 20, R_OK }, { STM, 70, 0, R_OK },
		{ STM, 1, 258, R_OK }, { STM, 7, 60, R_OK }, { IFX, 73, 4, R_OK },
		{ NTC, 7, 2, R_OK }, { 0, 7, 0, R_OK },
	};
	struct ek_firmware f;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		assert_reason(cases[i].want,
			      ek_firmware_judge(cases[i].manufacturer,
						version(cases[i].major, cases[i].minor), &none,
						1000, &f));
		assert_int_equal(cases[i].want == R_OK, f.name == NULL);
		assert_int_equal(f.name == NULL, f.source == NULL);
	}
	assert_reason(R_EK_FIRMWARE, ek_firmware_judge(STM, version(73, 4), &none, 0, &f));
	assert_non_null(strstr(f.name, "CVE-2019-16863"));
	assert_false(f.excepted);
	/* the first two numbers decide, not the vendor's own that follow */
	assert_reason(R_EK_FIRMWARE, ek_firmware_judge(IFX, version(7, 61) | 0xffffffff, &none, 0,
						       &f));
}

static void test_exceptions(void **state)
{
	const struct ek_firmware_exception one = {
		.manufacturer = IFX, .from = version(7, 40), .to = version(7, 61), .until = 500,
	};
	const struct ek_firmware_exceptions some = { &one, 1 };
	struct ek_firmware f;

	(void)state;
	assert_ok(ek_firmware_judge(IFX, version(7, 40), &some, 499, &f));
	assert_true(f.excepted);
	assert_non_null(f.name);
	assert_ok(ek_firmware_judge(IFX, version(7, 61), &some, 499, &f));
	/* over */
	assert_reason(R_EK_FIRMWARE, ek_firmware_judge(IFX, version(7, 61), &some, 500, &f));
	assert_false(f.excepted);
	/* for others */
	assert_reason(R_EK_FIRMWARE, ek_firmware_judge(IFX, version(7, 39), &some, 499, &f));
	assert_reason(R_EK_FIRMWARE, ek_firmware_judge(IFX, version(5, 61), &some, 499, &f));
	assert_reason(R_EK_FIRMWARE, ek_firmware_judge(STM, version(73, 4), &some, 499, &f));
	const struct ek_firmware_exception wide = { IFX, 0, UINT64_MAX, 500 };
	const struct ek_firmware_exceptions all = { &wide, 1 };
	assert_ok(ek_firmware_judge(IFX, version(5, 61), &all, 499, &f));
	assert_reason(R_EK_FIRMWARE, ek_firmware_judge(STM, version(73, 4), &all, 499, &f));
	/* where nothing is wrong there is none either */
	assert_ok(ek_firmware_judge(IFX, version(7, 62), &some, 499, &f));
	assert_false(f.excepted);
}

static void test_texts(void **state)
{
	static const char *const wrong[] = { "", "id:", "id:053", "id:0007000", "id:000700022",
					     "05.3E", "id:05 E", "ID:0007000A", "id:0g07003e" };
	char text[16];
	uint64_t v;

	(void)state;
	assert_true(ek_firmware_version("id:0007003E", &v));
	assert_int_equal(v, (uint64_t)0x0007003e << 32);
	ek_firmware_text(v, text, sizeof text);
	assert_string_equal(text, "7.62");
	/* Infineon: eight bits each */
	assert_true(ek_firmware_version("id:053e", &v));
	ek_firmware_text(v, text, sizeof text);
	assert_string_equal(text, "5.62");
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
		assert_false(ek_firmware_version(wrong[i], &v));
	assert_string_equal(ek_vendor_name(IFX), "Infineon");
	assert_string_equal(ek_vendor_name(STM), "STMicroelectronics");
	assert_string_equal(ek_vendor_name(0x494e5443), "Intel");
	assert_null(ek_vendor_name(0x00001014));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_exceptions),
		cmocka_unit_test(test_texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
