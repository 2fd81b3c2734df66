/* SPDX-License-Identifier: Apache-2.0 */
/* What is not compared: boot entries of cards, attempts that failed. */
#include "appraise/appraise.h"
#include "component_kit.h"

static void test_other_card(void **state)
{
	(void)state;
	for (size_t i = k->count; i-- > 0;)
		if (k->event[i].pcr == 1 && k->event[i].type == EV_EFI_VARIABLE_BOOT)
			kit_drop(k, i);
	/* another address, another order, firmware's own entries as before */
	{
		static const uint8_t order[] = { 0, 0, 1, 0, 7, 0 };
		_cleanup_(blob_free) struct blob setup_entry = kit_option("UiApp", 4, 6, 0x55);
		_cleanup_(blob_free) struct blob card = kit_option("UEFI PXEv4", 3, 11, 0x99);
		_cleanup_(blob_free) struct blob stick = kit_option("UEFI stick", 3, 5, 0x11);
		struct kit_event e[4];

		kit_add_variable(k, 1, EV_EFI_VARIABLE_BOOT, "BootOrder", BYTES(order), false);
		kit_add_variable(k, 1, EV_EFI_VARIABLE_BOOT, "Boot0000", blob_bytes(&setup_entry),
				 false);
		kit_add_variable(k, 1, EV_EFI_VARIABLE_BOOT, "Boot0001", blob_bytes(&card), false);
		kit_add_variable(k, 1, EV_EFI_VARIABLE_BOOT, "Boot0007", blob_bytes(&stick),
				 false);
		/* they stand in front of the separator */
		memcpy(e, &k->event[k->count - 4], sizeof e);
		k->count -= 4;
		memmove(&k->event[4], k->event, k->count * sizeof *k->event);
		memcpy(k->event, e, sizeof e);
		k->count += 4;
	}
	judge();
	assert_admitted(a);
	save_seed("entries");
	/* an entry of firmware that nobody knows */
	{
		_cleanup_(blob_free) struct blob entry = kit_option("Diagnostics", 4, 6, 0x56);

		kit_event_at(k, 0, 1, EV_EFI_VARIABLE_BOOT, BYTES_NONE, BYTES_NONE);
		kit_drop(k, 0);
		kit_add_variable(k, 1, EV_EFI_VARIABLE_BOOT, "Boot0009", blob_bytes(&entry),
				 false);
	}
	judge();
	assert_refused(a, R_POLICY_VARIANT);
	assert_string_equal(find_reason(a, R_POLICY_VARIANT)->component, "firmware-config");
}

/* Newer firmware hashes the name as well; then the order needs no witnesses. */
static void test_named(void **state)
{
	static const uint8_t order[] = { 3, 0, 2, 0 };
	static const uint8_t twice[] = { 3, 0, 3, 0 };

	(void)state;
	kit_add_variable(k, 1, EV_EFI_VARIABLE_BOOT2, "BootOrder", BYTES(order), true);
	judge();
	assert_admitted(a);
	kit_drop(k, k->count - 1);
	/* not a list; another variable; half a number; in another register */
	kit_add_variable(k, 1, EV_EFI_VARIABLE_BOOT2, "BootOrder", BYTES(twice), true);
	judge();
	assert_refused(a, R_POLICY_VARIANT);
	kit_drop(k, k->count - 1);
	kit_add_variable(k, 1, EV_EFI_VARIABLE_BOOT2, "BootNext", BYTES(order), true);
	judge();
	assert_refused(a, R_POLICY_VARIANT);
	kit_drop(k, k->count - 1);
	kit_add_variable(k, 1, EV_EFI_VARIABLE_BOOT2, "BootOrder", bytes_of(order, 3), true);
	judge();
	assert_refused(a, R_POLICY_VARIANT);
	kit_drop(k, k->count - 1);
	kit_add_variable(k, 5, EV_EFI_VARIABLE_BOOT2, "BootOrder", BYTES(order), true);
	judge();
	assert_refused(a, R_POLICY_VARIANT);
	kit_drop(k, k->count - 1);
	/* the order alone, without its name and without its entries */
	kit_add_variable(k, 1, EV_EFI_VARIABLE_BOOT, "BootOrder", BYTES(order), false);
	judge();
	assert_refused(a, R_POLICY_VARIANT);
}

/* Unproved, or a file of the firmware behind a card: compared like any event. */
static void test_entries_compared(void **state)
{
	_cleanup_(blob_free) struct blob card = kit_option("UEFI PXEv4", 3, 11, 0x99);
	_cleanup_(blob_free) struct blob v = kit_variable("Boot0005", blob_bytes(&card));
	uint8_t both[] = { 1, 0, 0, 0, 16, 0, 'x', 0, 0, 0, 3, 11, 6, 0, 1, 2,
			   4, 6, 6, 0, 1, 2, 0x7f, 0xff, 4, 0 };

	(void)state;
	kit_event_at(k, k->count, 1, EV_EFI_VARIABLE_BOOT, blob_bytes(&v), bytes_str("other"));
	judge();
	assert_refused(a, R_LOG_DIGEST_DATA);
	assert_true(differs("firmware-config"));
	kit_drop(k, k->count - 1);
	kit_add_variable(k, 1, EV_EFI_VARIABLE_BOOT, "Boot0005", BYTES(both), false);
	judge();
	assert_refused(a, R_POLICY_VARIANT);
	kit_drop(k, k->count - 1);
	both[17] = 5;
	kit_add_variable(k, 1, EV_EFI_VARIABLE_BOOT, "Boot0005", BYTES(both), false);
	judge();
	assert_admitted(a);
}

/* An entry that does not decode whole is compared like any event. */
static void test_half_entry(void **state)
{
	_cleanup_(blob_free) struct blob card = kit_option("UEFI PXEv4", 3, 11, 0x99);

	(void)state;
	/* the path does not end */
	card.p[card.n - 4] = 1;
	kit_add_variable(k, 1, EV_EFI_VARIABLE_BOOT2, "Boot0005", blob_bytes(&card), true);
	judge();
	assert_refused(a, R_POLICY_VARIANT);
	kit_drop(k, k->count - 1);
	card.p[card.n - 4] = 0x7f;
	kit_add_variable(k, 1, EV_EFI_VARIABLE_BOOT2, "Boot0005", blob_bytes(&card), true);
	judge();
	assert_admitted(a);
	kit_drop(k, k->count - 1);
	/* names that are not of boot entries */
	kit_add_variable(k, 1, EV_EFI_VARIABLE_BOOT2, "Boot000g", blob_bytes(&card), true);
	judge();
	assert_refused(a, R_POLICY_VARIANT);
	kit_drop(k, k->count - 1);
	kit_add_variable(k, 1, EV_EFI_VARIABLE_BOOT2, "Driver0005", blob_bytes(&card), true);
	judge();
	assert_refused(a, R_POLICY_VARIANT);
}

/* One network card without a server more or less. */
static void test_attempts(void **state)
{
	size_t at = kit_find(k, 4, EV_EFI_BOOT_SERVICES_APPLICATION, 0);

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		kit_event_at(k, at, 4, EV_EFI_ACTION, bytes_str(CALLING), bytes_str(CALLING));
		kit_event_at(k, at, 4, EV_EFI_ACTION, bytes_str(RETURNING), bytes_str(RETURNING));
		judge();
		assert_admitted(a);
	}
	save_seed("attempts");
	/* but something was loaded in between */
	kit_event_at(k, at, 4, EV_EFI_BOOT_SERVICES_APPLICATION, bytes_str("x"),
		     bytes_str("shell.efi"));
	judge();
	assert_refused(a, R_POLICY_VARIANT);
	assert_true(differs("gate") && differs("boot-path"));
	kit_drop(k, at);
	judge();
	assert_admitted(a);
	/* another step that is no attempt */
	kit_event_at(k, at, 4, EV_OMIT_BOOT_DEVICE_EVENTS, bytes_str("x"), bytes_str("x"));
	judge();
	assert_refused(a, R_POLICY_VARIANT);
}

/* Older firmware calls once, and then tells of each option that returned. */
static void test_attempts_uncalled(void **state)
{
	size_t at = kit_find(k, 4, EV_EFI_BOOT_SERVICES_APPLICATION, 0);

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		kit_event_at(k, at, 4, EV_EFI_ACTION, bytes_str(RETURNING), bytes_str(RETURNING));
		judge();
		assert_admitted(a);
	}
	/* something was loaded in front of one of them, or behind the call */
	for (size_t i = 0; i < 3; i++) {
		kit_event_at(k, at + i, 4, EV_EFI_BOOT_SERVICES_APPLICATION, bytes_str("x"),
			     bytes_str("shell.efi"));
		judge();
		assert_refused(a, R_POLICY_VARIANT);
		assert_true(differs("gate") && differs("boot-path"));
		kit_drop(k, at + i);
	}
	/* the gate itself has returned */
	kit_event(k, 4, EV_EFI_ACTION, bytes_str(RETURNING));
	judge();
	assert_refused(a, R_POLICY_VARIANT);
	assert_true(differs("boot-path"));
	/* and where that is known the call behind it counts as well */
	kit_refs_free(&refs);
	refs = kit_learn(k);
	judge();
	assert_admitted(a);
	kit_event(k, 4, EV_EFI_ACTION, bytes_str(CALLING));
	judge();
	assert_refused(a, R_POLICY_VARIANT);
	assert_true(differs("boot-path"));
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup_policy, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_other_card), TEST(test_named), TEST(test_entries_compared),
		TEST(test_half_entry), TEST(test_attempts),
		TEST(test_attempts_uncalled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
