/* SPDX-License-Identifier: Apache-2.0 */
/* Lies about what is not hashed, with logs and registers that agree (T16). */
#include "appraise/appraise.h"
#include "appraise_kit.h"

static void judge(void)
{
	kit_make(k);
	kit_judge(k, &refs, NULL, NULL, a);
}

static const uint32_t all_types[] = {
	EV_POST_CODE, EV_NO_ACTION, EV_SEPARATOR, EV_ACTION, EV_EVENT_TAG, EV_S_CRTM_CONTENTS,
	EV_S_CRTM_VERSION, EV_CPU_MICROCODE, EV_PLATFORM_CONFIG_FLAGS, EV_TABLE_OF_DEVICES,
	EV_COMPACT_HASH, EV_IPL, EV_NONHOST_CODE, EV_NONHOST_CONFIG, EV_NONHOST_INFO,
	EV_OMIT_BOOT_DEVICE_EVENTS, EV_EFI_VARIABLE_DRIVER_CONFIG, EV_EFI_VARIABLE_BOOT,
	EV_EFI_BOOT_SERVICES_APPLICATION, EV_EFI_BOOT_SERVICES_DRIVER,
	EV_EFI_RUNTIME_SERVICES_DRIVER, EV_EFI_GPT_EVENT, EV_EFI_ACTION,
	EV_EFI_PLATFORM_FIRMWARE_BLOB, EV_EFI_HANDOFF_TABLES, EV_EFI_PLATFORM_FIRMWARE_BLOB2,
	EV_EFI_VARIABLE_BOOT2, EV_EFI_HCRTM_EVENT, EV_EFI_VARIABLE_AUTHORITY, 0x8200, 0xabcdef01,
};

static void test_retype(void **state)
{
	(void)state;
	for (size_t i = 0; i < k->count; i++) {
		uint32_t type = k->event[i].type;

		for (size_t t = 0; t < ARRAY_LEN(all_types); t++) {
			if (all_types[t] == type)
				continue;
			k->event[i].type = all_types[t];
			judge();
			/*
			 * The two entries that are not compared may call
			 * themselves the other kind of variable: no gain.
			 */
			if (a->directive == DIRECTIVE_ADMIT)
				assert_int_equal(k->event[i].pcr, 1);
			else
				assert_int_equal(a->directive, DIRECTIVE_REFUSE);
		}
		k->event[i].type = type;
	}
}

/* A new event of each kind in each register, logged and extended for real. */
static void test_append(void **state)
{
	(void)state;
	for (uint32_t pcr = 0; pcr < 14; pcr++) {
		if (!(KIT_SELECTED & PCR_MASK(pcr)))
			continue;
		for (size_t t = 0; t < ARRAY_LEN(all_types); t++) {
			if (all_types[t] == EV_NO_ACTION)
				continue;
			kit_event(k, pcr, all_types[t], bytes_str("SecureBoot"));
			judge();
			assert_int_equal(a->directive, DIRECTIVE_REFUSE);
			kit_drop(k, k->count - 1);
		}
	}
}

/* Dropped, doubled or swapped, and consistent: no event may be spared. */
static void test_shuffle(void **state)
{
	(void)state;
	for (size_t i = 0; i < k->count; i++) {
		struct kit_event e = k->event[i];
		bool ignored = e.pcr == 1 && e.type == EV_EFI_VARIABLE_BOOT;

		kit_drop(k, i);
		judge();
		assert_true(a->directive == DIRECTIVE_REFUSE || ignored);
		kit_event_at(k, i, e.pcr, e.type, bytes_of(e.data, e.data_n),
			     bytes_of(e.hashed, e.hashed_n));
		k->event[k->count++] = e;
		judge();
		assert_true(a->directive == DIRECTIVE_REFUSE || ignored);
		k->count--;
		for (size_t j = i + 1; j < k->count; j++) {
			struct kit_event other = k->event[j];

			if (other.pcr != e.pcr || (other.hashed_n == e.hashed_n &&
			    memcmp(other.hashed, e.hashed, e.hashed_n) == 0))
				continue;
			k->event[i] = other;
			k->event[j] = e;
			judge();
			assert_true(a->directive == DIRECTIVE_REFUSE || ignored ||
				    (other.pcr == 1 && other.type == EV_EFI_VARIABLE_BOOT));
			k->event[i] = e;
			k->event[j] = other;
		}
	}
	judge();
	assert_admitted(a);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_retype), TEST(test_append), TEST(test_shuffle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
