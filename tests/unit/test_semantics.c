/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What firmware may measure where, and in which order. Each case is a whole
 * log that leads to the quoted registers, learned or judged: no reference can
 * make up for a rule.
 */
#include "appraise/appraise.h"
#include "appraise_kit.h"

static void judge(void)
{
	kit_make(k);
	kit_judge(k, &refs, NULL, NULL, a);
}

/* Refused, and refused to be learned from, at this event. */
static void refused_at(enum reason r, size_t at)
{
	struct quote_checked *q = calloc(1, sizeof *q);
	struct reference_set set;
	struct policy p;
	const struct finding *f;

	judge();
	assert_refused(a, r);
	f = find_reason(a, r);
	assert_true(f->has_event);
	/* the header is event 0 */
	assert_int_equal(f->event, at + 1);
	assert_true(f->offset > 0);
	policy_default(&p);
	assert_ok(kit_check(k, q));
	assert_int_not_equal(component_learn(q, "x", &p, &set), R_OK);
	free(q);
}

static void admitted_when_learned(void)
{
	kit_refs_free(&refs);
	refs = kit_learn(k);
	judge();
	assert_int_equal(a->directive, DIRECTIVE_ADMIT);
}

static size_t action(size_t at, uint32_t pcr, const char *text)
{
	kit_event_at(k, at, pcr, EV_EFI_ACTION, bytes_str(text), bytes_str(text));
	return at;
}

static size_t variable(size_t at, const char *name)
{
	_cleanup_(blob_free) struct blob b = kit_variable(name, bytes_str("x"));

	kit_event_at(k, at, 7, EV_EFI_VARIABLE_DRIVER_CONFIG, blob_bytes(&b), blob_bytes(&b));
	return at;
}

static size_t separator(uint32_t pcr)
{
	return kit_find(k, pcr, EV_SEPARATOR, 0);
}

/* ---- registers 0 to 3 and 6 ------------------------------------------------------ */

static void test_behind_separator(void **state)
{
	static const struct {
		uint32_t pcr, type;
		bool allowed;
	} cases[] = {
		{ 0, EV_POST_CODE, false },
		{ 0, EV_EFI_PLATFORM_FIRMWARE_BLOB2, false },
		{ 1, EV_POST_CODE, false },
		{ 1, EV_EFI_HANDOFF_TABLES, true },
		{ 1, EV_EFI_HANDOFF_TABLES2, true },
		{ 1, EV_EFI_VARIABLE_BOOT, true },
		{ 1, EV_EFI_VARIABLE_BOOT2, true },
		{ 1, EV_EFI_VARIABLE_DRIVER_CONFIG, true },
		{ 1, EV_PLATFORM_CONFIG_FLAGS, true },
		{ 1, 0x8200, false },
		{ 2, EV_EFI_BOOT_SERVICES_DRIVER, false },
		{ 2, 0x8401, false },
		{ 3, EV_PLATFORM_CONFIG_FLAGS, false },
		{ 5, EV_EFI_GPT_EVENT, true },
		{ 6, EV_COMPACT_HASH, false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		size_t at = k->count;

		kit_event(k, cases[i].pcr, cases[i].type, bytes_str("late"));
		if (cases[i].allowed) {
			judge();
			assert_null(find_reason(a, R_LOG_BEHIND_SEPARATOR));
		} else {
			refused_at(R_LOG_BEHIND_SEPARATOR, at);
		}
		kit_drop(k, at);
	}
	judge();
	assert_admitted(a);
}

/* Some firmware writes an event of its own into register 2 when it is ready to boot. */
static void test_vendor_type(void **state)
{
	static const uint8_t byte[1] = { 1 };
	static const uint32_t known[] = { EV_EFI_BOOT_SERVICES_DRIVER, EV_EFI_ACTION, EV_POST_CODE };
	size_t at = kit_find(k, 4, EV_EFI_BOOT_SERVICES_APPLICATION, 0);

	(void)state;
	/* the first image behind the separator of register 4 */
	assert_true(at > separator(4));
	kit_event_at(k, at, 2, 0x8401, BYTES(byte), BYTES(byte));
	/* it is compared like any other */
	judge();
	assert_refused(a, R_POLICY_VARIANT);
	assert_null(find_reason(a, R_LOG_BEHIND_SEPARATOR));
	admitted_when_learned();
	/* of a type that means something it has its place in front */
	for (size_t i = 0; i < ARRAY_LEN(known); i++) {
		k->event[at].type = known[i];
		refused_at(R_LOG_BEHIND_SEPARATOR, at);
	}
	k->event[at].type = 0x8401;
	/* other registers have no such event */
	k->event[at].pcr = 3;
	refused_at(R_LOG_BEHIND_SEPARATOR, at);
	k->event[at].pcr = 2;
	/* images of firmware's own, in front of the separator, do not end it */
	kit_event_at(k, kit_find(k, 4, EV_EFI_ACTION, 0), 4, EV_EFI_BOOT_SERVICES_APPLICATION,
		     bytes_str("path"), bytes_str("set-up.efi"));
	admitted_when_learned();
	/* but the first image that is booted does */
	kit_drop(k, at + 1);
	kit_event_at(k, at + 2, 2, 0x8401, BYTES(byte), BYTES(byte));
	refused_at(R_LOG_BEHIND_SEPARATOR, at + 2);
}

static void test_crtm(void **state)
{
	size_t at = kit_find(k, 0, EV_S_CRTM_VERSION, 0);

	(void)state;
	k->event[at].type = EV_POST_CODE;
	refused_at(R_LOG_CRTM_MISSING, separator(0));
	k->event[at].type = EV_S_CRTM_VERSION;
	k->event[at].pcr = 2;
	refused_at(R_LOG_CRTM_MISSING, separator(0));
}

/* ---- register 4 ------------------------------------------------------------------- */

static void test_attempts(void **state)
{
	size_t calling = kit_find(k, 4, EV_EFI_ACTION, 0);
	size_t end;

	(void)state;
	/* two tries that loaded something, and one that did not return */
	end = k->count;
	action(end, 4, RETURNING);
	action(end + 1, 4, CALLING);
	admitted_when_learned();
	/* older firmware tells of the first call only */
	action(end + 2, 4, RETURNING);
	action(end + 3, 4, RETURNING);
	kit_opaque(k, 4, EV_EFI_BOOT_SERVICES_APPLICATION, "path", "other.efi");
	action(end + 5, 4, RETURNING);
	admitted_when_learned();
	/* and is free to call, once */
	action(end + 6, 4, CALLING);
	admitted_when_learned();
	refused_at(R_LOG_BOOT_ATTEMPT, action(end + 7, 4, CALLING));
	k->count = end;
	/* returned when nothing was ever called */
	refused_at(R_LOG_BOOT_ATTEMPT, action(calling, 4, RETURNING));
	kit_drop(k, calling);
	/* called twice */
	refused_at(R_LOG_BOOT_ATTEMPT, action(end, 4, CALLING));
	kit_drop(k, end);
	/* something else that calls itself an action, of either type */
	refused_at(R_LOG_BOOT_ATTEMPT, action(end, 4, "Booting BCV device 80h"));
	k->event[end].type = EV_ACTION;
	refused_at(R_LOG_BOOT_ATTEMPT, end);
	kit_drop(k, end);
	/* an attempt where they were to be omitted, in either order; omitted twice */
	kit_event_at(k, calling, 4, EV_OMIT_BOOT_DEVICE_EVENTS, bytes_str("omit"),
		     bytes_str("omit"));
	refused_at(R_LOG_BOOT_ATTEMPT, calling + 1);
	kit_drop(k, calling + 1);
	admitted_when_learned();
	kit_event_at(k, calling, 4, EV_OMIT_BOOT_DEVICE_EVENTS, bytes_str("omit"),
		     bytes_str("omit"));
	refused_at(R_LOG_BOOT_ATTEMPT, calling + 1);
	k->event[calling] = k->event[calling + 1];
	action(calling, 4, CALLING);
	kit_drop(k, calling + 1);
	refused_at(R_LOG_BOOT_ATTEMPT, calling + 1);
}

/* ---- register 5 ------------------------------------------------------------------- */

static void test_boot_services(void **state)
{
	static const char failed[] = "Exit Boot Services Returned with Failure";
	size_t end = k->count;

	(void)state;
	k->stays = true;
	/* a log that was read before, and one try that failed */
	admitted_when_learned();
	action(end, 5, LEAVING);
	action(end + 1, 5, failed);
	action(end + 2, 5, LEAVING);
	action(end + 3, 5, LEFT);
	admitted_when_learned();
	/* it failed and that was the end; which is odd and no pair is broken */
	k->count = end + 2;
	admitted_when_learned();
	/* no outcome, at the end and in the middle */
	k->count = end + 1;
	refused_at(R_LOG_BOOT_SERVICES, end);
	refused_at(R_LOG_BOOT_SERVICES, action(end + 1, 5, LEAVING));
	k->count = end + 1;
	kit_event(k, 5, EV_EFI_GPT_EVENT, bytes_str("gpt"));
	refused_at(R_LOG_BOOT_SERVICES, end + 1);
	/* a failure that was not announced, once or twice, and then it worked */
	k->count = end;
	action(end, 5, failed);
	admitted_when_learned();
	action(end + 1, 5, failed);
	action(end + 2, 5, LEAVING);
	action(end + 3, 5, LEFT);
	admitted_when_learned();
	/* success is announced, also behind such a failure */
	kit_drop(k, end + 2);
	refused_at(R_LOG_BOOT_SERVICES, end + 2);
	k->count = end;
	refused_at(R_LOG_BOOT_SERVICES, action(end, 5, LEFT));
	/* whatever comes once boot services were left */
	k->count = end;
	kit_leave(k);
	for (uint32_t pcr = 0; pcr < 14; pcr++) {
		if (!(KIT_SELECTED & PCR_MASK(pcr)) || pcr == 8)
			continue;
		kit_event(k, pcr, EV_IPL, bytes_str("late"));
		refused_at(R_LOG_BOOT_SERVICES, end + 2);
		kit_drop(k, end + 2);
	}
}

/* ---- register 7 ------------------------------------------------------------------- */

static void test_secure_boot_missing(void **state)
{
	(void)state;
	for (size_t i = 0; i < 5; i++) {
		size_t at = kit_find(k, 7, EV_EFI_VARIABLE_DRIVER_CONFIG, i);
		struct kit_event e = k->event[at];

		kit_drop(k, at);
		/* told where the next one, or the separator, stands instead */
		refused_at(R_LOG_SECURE_BOOT_MISSING,
			   i < 4 ? kit_find(k, 7, EV_EFI_VARIABLE_DRIVER_CONFIG, i) : separator(7));
		kit_event_at(k, at, 7, e.type, bytes_of(e.data, e.data_n),
			     bytes_of(e.hashed, e.hashed_n));
		/* of another vendor's GUID it is not this variable */
		k->event[at].data[0] ^= 1;
		k->event[at].hashed[0] ^= 1;
		refused_at(R_LOG_SECURE_BOOT_EVENT, at);
		k->event[at] = e;
	}
	judge();
	assert_admitted(a);
}

static void test_secure_boot_order(void **state)
{
	(void)state;
	for (size_t i = 0; i < 4; i++) {
		size_t at = kit_find(k, 7, EV_EFI_VARIABLE_DRIVER_CONFIG, i);
		struct kit_event e = k->event[at];

		/* one for the other */
		k->event[at] = k->event[at + 1];
		k->event[at + 1] = e;
		refused_at(R_LOG_SECURE_BOOT_EVENT, at + 1);
		k->event[at + 1] = k->event[at];
		k->event[at] = e;
		/* twice */
		kit_event_at(k, at, 7, e.type, bytes_of(e.data, e.data_n),
			     bytes_of(e.hashed, e.hashed_n));
		refused_at(R_LOG_SECURE_BOOT_EVENT, at + 1);
		kit_drop(k, at);
		/* again, behind the separator */
		kit_event(k, 7, e.type, bytes_of(e.data, e.data_n));
		refused_at(R_LOG_SECURE_BOOT_EVENT, k->count - 1);
		kit_drop(k, k->count - 1);
	}
	/* nor one that could still come */
	refused_at(R_LOG_SECURE_BOOT_EVENT, variable(k->count, "dbt"));
}

static void test_secure_boot_list(void **state)
{
	static const char *const newer[] = { "dbt", "dbr" };
	static const uint32_t authority[] = { EV_EFI_VARIABLE_AUTHORITY,
					      EV_EFI_SPDM_DEVICE_AUTHORITY };
	_cleanup_(blob_free) struct blob cert = kit_variable("db", bytes_str("certificate"));
	size_t at = separator(7);

	(void)state;
	/* what newer firmware adds, in this order */
	for (size_t i = 0; i < ARRAY_LEN(newer); i++)
		variable(at + i, newer[i]);
	kit_event_at(k, at, 7, EV_EFI_SPDM_DEVICE_POLICY, blob_bytes(&cert), blob_bytes(&cert));
	/* an option ROM that was let run and a device let in, then the gate and one more */
	for (size_t i = 0; i < ARRAY_LEN(authority); i++) {
		kit_event_at(k, at, 7, authority[i], blob_bytes(&cert), blob_bytes(&cert));
		kit_event(k, 7, authority[i], blob_bytes(&cert));
	}
	admitted_when_learned();
	/* what is asked of devices is said by firmware, not later */
	kit_event(k, 7, EV_EFI_SPDM_DEVICE_POLICY, blob_bytes(&cert));
	refused_at(R_LOG_SECURE_BOOT_EVENT, k->count - 1);
	kit_drop(k, k->count - 1);
	/* nothing else, on either side */
	refused_at(R_LOG_SECURE_BOOT_EVENT, variable(at, "OsRecovery"));
	kit_drop(k, at);
	for (int i = 0; i < 2; i++) {
		size_t place = i ? k->count : at;

		kit_event_at(k, place, 7, EV_IPL, bytes_str("x"), bytes_str("x"));
		refused_at(R_LOG_SECURE_BOOT_EVENT, place);
		k->event[place].type = EV_EFI_VARIABLE_AUTHORITY;
		refused_at(R_LOG_SECURE_BOOT_EVENT, place);
		k->event[place].type = EV_EFI_SPDM_DEVICE_POLICY;
		refused_at(R_LOG_SECURE_BOOT_EVENT, place);
		k->event[place].type = EV_EFI_ACTION;
		refused_at(R_LOG_SECURE_BOOT_EVENT, place);
		kit_drop(k, place);
	}
	/* SecureBoot is a byte, or nothing where there is none */
	at = kit_find(k, 7, EV_EFI_VARIABLE_DRIVER_CONFIG, 0);
	kit_drop(k, at);
	{
		_cleanup_(blob_free) struct blob two = kit_variable("SecureBoot", bytes_str("ab"));
		_cleanup_(blob_free) struct blob none = kit_variable("SecureBoot", BYTES_NONE);

		kit_event_at(k, at, 7, EV_EFI_VARIABLE_DRIVER_CONFIG, blob_bytes(&two),
			     blob_bytes(&two));
		refused_at(R_LOG_SECURE_BOOT_EVENT, at);
		kit_drop(k, at);
		kit_event_at(k, at, 7, EV_EFI_VARIABLE_DRIVER_CONFIG, blob_bytes(&none),
			     blob_bytes(&none));
		admitted_when_learned();
	}
}

/* Anywhere in front of the separator, each once. */
static void test_modes(void **state)
{
	static const char *const modes[] = { "AuditMode", "DeployedMode" };
	size_t first = kit_find(k, 7, EV_EFI_VARIABLE_DRIVER_CONFIG, 0);
	size_t last = kit_find(k, 7, EV_EFI_VARIABLE_DRIVER_CONFIG, 4) + 1;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(modes); i++) {
		for (size_t at = first; at <= last; at++) {
			variable(at, modes[i]);
			admitted_when_learned();
			/* the other one as well */
			variable(at, modes[1 - i]);
			admitted_when_learned();
			/* but none twice */
			refused_at(R_LOG_SECURE_BOOT_EVENT, variable(last + 2, modes[i]));
			kit_drop(k, last + 2);
			kit_drop(k, at);
			/* nor by another vendor */
			k->event[at].data[0] ^= 1;
			k->event[at].hashed[0] ^= 1;
			refused_at(R_LOG_SECURE_BOOT_EVENT, at);
			kit_drop(k, at);
		}
		refused_at(R_LOG_SECURE_BOOT_EVENT, variable(k->count, modes[i]));
		kit_drop(k, k->count - 1);
	}
}

/* EVL-DMA-EVENT: with and without NUL, around the variables, behind the separator. */
static void test_actions(void **state)
{
	static const char dma[] = "DMA Protection Disabled";
	static const char debug[] = "UEFI Debug Mode";
	size_t first = kit_find(k, 7, EV_EFI_VARIABLE_DRIVER_CONFIG, 0);

	(void)state;
	for (int nul = 0; nul < 2; nul++) {
		const struct bytes text = bytes_of(dma, sizeof dma - 1 + (size_t)nul);

		for (int place = 0; place < 3; place++) {
			size_t at = place == 0 ? first : place == 1 ? separator(7) : k->count;

			kit_event_at(k, at, 7, EV_EFI_ACTION, text, text);
			admitted_when_learned();
			/* told even where somebody approved it */
			assert_int_equal(a->status, EAR_WARNING);
			assert_int_equal(find_reason(a, R_LOG_DMA_PROTECTION)->event, at + 1);
			kit_drop(k, at);
		}
	}
	refused_at(R_LOG_DEBUG_MODE, action(first, 7, debug));
	kit_drop(k, first);
	refused_at(R_LOG_DEBUG_MODE, action(k->count, 7, debug));
	kit_drop(k, k->count - 1);
	refused_at(R_LOG_SECURE_BOOT_EVENT, action(first, 7, "Security Level is Downgraded to 0"));
}

/* ---- separators that tell of an error --------------------------------------------- */

static void test_separator_error(void **state)
{
	static const uint8_t error[4] = { 1, 0, 0, 0 };

	(void)state;
	for (uint32_t pcr = 0; pcr < 8; pcr++) {
		size_t at = separator(pcr);
		struct kit_event e = k->event[at];

		memcpy(k->event[at].hashed, error, 4);
		refused_at(R_LOG_SEPARATOR_ERROR, at);
		/* the data may tell more, and is not hashed */
		memcpy(k->event[at].data, "why?", 4);
		refused_at(R_LOG_SEPARATOR_ERROR, at);
		/* nor does another type hide it where it matters */
		k->event[at].type = EV_IPL;
		if (pcr == 4 || pcr == 7)
			refused_at(R_LOG_SEPARATOR_ERROR, at);
		k->event[at] = e;
	}
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_behind_separator),
		TEST(test_vendor_type),
		TEST(test_crtm),
		TEST(test_attempts),
		TEST(test_boot_services),
		TEST(test_secure_boot_missing),
		TEST(test_secure_boot_order),
		TEST(test_secure_boot_list),
		TEST(test_modes),
		TEST(test_actions),
		TEST(test_separator_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
