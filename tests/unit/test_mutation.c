/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A real firmware log, of our lab, changed in every way that its author can:
 * events retyped, edited, dropped, swapped, doubled and appended. Once the log
 * alone is a lie, and the registers are what they were; once the lie was
 * extended for real, which only adds. With any set of active banks no change
 * makes a verdict better: a good machine stays at most as good, one that ran
 * something unknown is never let in.
 */
#include "judge_kit.h"

#include "appraise/appraise.h"
#include "base/fd.h"

#define LAB_LOG "tests/data/lab/firmware.log"
#define EVENTS 64u
#define SELECTED_END 16u

struct log_event {
	uint32_t pcr, type;
	struct pcr_digests digests;
	struct bytes data;
};
static struct log_event event[EVENTS];
static size_t count;

static struct blob lab = BLOB(LIMIT_FIRMWARE_LOG);
static struct kit *k;
static struct quote_checked *q;
static struct appraisal *a;
static struct reference_set refs;
static struct policy policy;
static uint16_t log_bank[LIMIT_BANKS];
static size_t log_banks, judged;

/* ---- logs ---------------------------------------------------------------------- */

static void read_lab(void)
{
	struct eventlog log;
	struct event e;

	count = 0;
	assert_ok(eventlog_open(blob_bytes(&lab), &log));
	log_banks = log.bank_count;
	memcpy(log_bank, log.bank, sizeof log_bank);
	assert_ok(eventlog_next(&log, &e));
	while (eventlog_next(&log, &e) == R_OK) {
		struct log_event *to = &event[count++];

		assert_true(count < EVENTS - 4);
		*to = (struct log_event){ .pcr = e.pcr, .type = e.type, .data = e.data };
		to->digests.count = log_banks;
		for (size_t i = 0; i < log_banks; i++) {
			to->digests.bank[i].alg = log_bank[i];
			memcpy(to->digests.bank[i].value, e.digest[i].p, e.digest[i].n);
		}
	}
}

static void insert(size_t at, struct log_event e)
{
	memmove(&event[at + 1], &event[at], (count - at) * sizeof *event);
	event[at] = e;
	count++;
}

static struct log_event make_event(uint32_t pcr, uint32_t type, struct bytes data,
				   const char *hashed)
{
	struct log_event e = { .pcr = pcr, .type = type, .data = data };

	assert_ok(pcr_digests_of(log_bank, log_banks, bytes_str(hashed), &e.digests));
	return e;
}

static void drop(size_t at)
{
	count--;
	memmove(&event[at], &event[at + 1], (count - at) * sizeof *event);
}

static struct blob write_log(void)
{
	struct eventlog_writer w;

	assert_ok(eventlog_writer_begin(log_bank, log_banks, LIMIT_FIRMWARE_LOG, &w));
	for (size_t i = 0; i < count; i++)
		assert_ok(eventlog_writer_event(&w, event[i].pcr, event[i].type,
						&event[i].digests, event[i].data));
	return w.log;
}

/* The registers of firmware become what this log leads to. */
static void extend_for_real(struct bytes log)
{
	static struct eventlog_replay r;

	assert_ok(eventlog_replay(log, &r));
	for (size_t i = 0; i < q->claims.values.count; i++) {
		uint16_t alg = q->claims.values.bank[i].alg;

		for (uint32_t pcr = 0; pcr < SELECTED_END; pcr++)
			if ((KIT_SELECTED & PCR_MASK(pcr)) && pcr != PCR_FACTS &&
			    pcr != PCR_DECISION)
				assert_ok(pcr_values_set(&q->claims.values, alg, pcr,
							 pcr_value(&r.values, alg, pcr).p));
	}
}

/* ---- judging --------------------------------------------------------------------- */

static enum directive judge(bool for_real)
{
	_cleanup_(blob_free) struct blob log = write_log();
	struct pcr_values values = q->claims.values;
	struct node_record none = { 0 };

	if (for_real)
		extend_for_real(blob_bytes(&log));
	q->claims.firmware_log = blob_bytes(&log);
	assert_ok(appraise(q, &k->session, &none, &refs, &policy, NULL, a));
	q->claims.values = values;
	judged++;
	return a->directive;
}

/* A machine with these active banks that booted the lab's log. */
static void boot(const uint16_t *bank, size_t banks)
{
	struct node_record none = { 0 };

	read_lab();
	k->bank_count = banks;
	memcpy(k->bank, bank, banks * sizeof *bank);
	kit_make(k);
	assert_ok(kit_check(k, q));
	q->claims.firmware_log = blob_bytes(&lab);
	extend_for_real(blob_bytes(&lab));
	if (digest_len(bank[0]) < SHA256_LEN && banks == 1)
		return;
	reference_set_free(&refs);
	assert_ok(component_learn(q, "lab", &policy, &refs));
	for (size_t i = 0; i < refs.count; i++)
		refs.variant[i].state = VARIANT_ACTIVE;
	assert_ok(appraise(q, &k->session, &none, &refs, &policy, NULL, a));
	assert_admitted(a);
}

/* ---- changes ---------------------------------------------------------------------- */

/* What is not compared: boot entries of register 1. */
static bool is_ignored(const struct log_event *e)
{
	return e->pcr == 1 && e->type == EV_EFI_VARIABLE_BOOT;
}

/*
 * Whether this changed log may be let in: `spared` says that the change is to
 * something that is not compared.
 */
static bool good;			/* the machine, before its log is changed */

static size_t changed;			/* the event, for messages */

static void check(bool spared)
{
	for (int for_real = 0; for_real < 2; for_real++) {
		enum directive d = judge(for_real);

		if (d != DIRECTIVE_REFUSE && !(good && spared)) {
			print_findings(a);
			fail_msg("event %zu, now of type %08x, for real: %d", changed,
				 event[changed].type, for_real);
		}
	}
}

static const uint32_t types[] = {
	EV_NO_ACTION, EV_SEPARATOR, EV_ACTION, EV_EVENT_TAG, EV_POST_CODE, EV_S_CRTM_VERSION,
	EV_PLATFORM_CONFIG_FLAGS, EV_IPL, EV_OMIT_BOOT_DEVICE_EVENTS,
	EV_EFI_VARIABLE_DRIVER_CONFIG, EV_EFI_VARIABLE_BOOT, EV_EFI_VARIABLE_BOOT2,
	EV_EFI_BOOT_SERVICES_APPLICATION, EV_EFI_BOOT_SERVICES_DRIVER, EV_EFI_ACTION,
	EV_EFI_PLATFORM_FIRMWARE_BLOB, EV_EFI_HANDOFF_TABLES, EV_EFI_VARIABLE_AUTHORITY,
	EV_EFI_SPDM_DEVICE_POLICY, 0x8200,
};

static void retype(void)
{
	for (size_t i = 0; i < count; i++) {
		struct log_event e = event[i];

		changed = i;
		for (size_t t = 0; t < ARRAY_LEN(types); t++) {
			if (types[t] == e.type)
				continue;
			event[i].type = types[t];
			/* the other kind of variable; or none at all, if it was never extended */
			check(is_ignored(&e) && (types[t] == EV_EFI_VARIABLE_BOOT2 ||
						 types[t] == EV_NO_ACTION));
		}
		event[i] = e;
	}
}

/* Into another register as well: the log's word for where it was extended. */
static void move_register(void)
{
	for (size_t i = 0; i < count; i++) {
		uint32_t pcr = event[i].pcr;

		changed = i;
		for (uint32_t to = 0; to < SELECTED_END; to++) {
			event[i].pcr = to;
			if (to != pcr && to != 10)
				check(false);
		}
		event[i].pcr = pcr;
	}
}

/* The first and the last byte; and nothing left of it. */
static void edit(void)
{
	static uint8_t data[4096];

	for (size_t i = 0; i < count; i++) {
		struct bytes was = event[i].data;
		struct log_event *e = &event[i];
		/* no digest says anything about it: shown as a hint, and not compared */
		bool hint = e->type == EV_EFI_BOOT_SERVICES_APPLICATION || e->type == EV_IPL ||
			    e->type == EV_EFI_PLATFORM_FIRMWARE_BLOB ||
			    e->type == EV_S_CRTM_VERSION;

		changed = i;
		assert_true(was.n > 0 && was.n <= sizeof data);
		memcpy(data, was.p, was.n);
		e->data = bytes_of(data, was.n);
		data[0] ^= 1;
		/* older firmware hashes the content of a boot variable, not its name */
		check(hint || e->type == EV_EFI_VARIABLE_BOOT);
		data[0] ^= 1;
		data[was.n - 1] ^= 1;
		/* of a tag the number alone counts: options and initrd are digests */
		check(hint || e->type == EV_EVENT_TAG);
		e->data = BYTES_NONE;
		check(hint);
		e->data = was;
	}
}

static void drop_and_double(void)
{
	size_t all = count;

	for (size_t i = 0; i < all; i++) {
		struct log_event e = event[i];

		changed = i;
		drop(i);
		check(is_ignored(&e));
		insert(i, e);
		insert(i, e);
		check(is_ignored(&e));
		drop(i);
		insert(count, e);
		check(false);
		drop(count - 1);
	}
}

/* Order between registers is nobody's word; within one it is the digest's. */
static void swap(void)
{
	for (size_t i = 0; i < count; i++) {
		for (size_t j = i + 1; j < count; j++) {
			struct log_event e = event[i];
			bool same = e.pcr != event[j].pcr || is_ignored(&e) ||
				    is_ignored(&event[j]) ||
				    memcmp(&e.digests, &event[j].digests, sizeof e.digests) == 0;

			event[i] = event[j];
			event[j] = e;
			check(same);
			event[j] = event[i];
			event[i] = e;
		}
	}
}

/* At the end, and in front of the separators; what it says is proved. */
static void append(void)
{
	static const char text[] = "Calling EFI Application from Boot Option";

	for (uint32_t pcr = 0; pcr < SELECTED_END; pcr++) {
		if (!(KIT_SELECTED & PCR_MASK(pcr)))
			continue;
		for (size_t t = 0; t < ARRAY_LEN(types); t++) {
			struct log_event e = make_event(pcr, types[t], bytes_str(text), text);

			if (types[t] == EV_NO_ACTION)
				continue;
			insert(count, e);
			check(false);
			drop(count - 1);
			insert(3, e);
			check(false);
			drop(3);
		}
	}
}

static void change_all(bool wholly)
{
	retype();
	edit();
	drop_and_double();
	if (!wholly)
		return;
	move_register();
	swap();
	append();
}

/* ---- machines ---------------------------------------------------------------------- */

/*
 * Something ran that is not known: `e` was measured at this place, and the
 * registers say so for good. Changes to the log cannot take it back.
 */
static void bad_machine(size_t at, struct log_event e, bool wholly)
{
	_cleanup_(blob_free) struct blob log = BLOB(0);
	struct pcr_values before = q->claims.values;

	insert(at, e);
	log = write_log();
	extend_for_real(blob_bytes(&log));
	good = false;
	assert_int_equal(judge(false), DIRECTIVE_REFUSE);
	for (size_t i = 0; i < count; i++) {
		struct log_event one = event[i];

		/* the lie that matters: the log without it, registers as they are */
		drop(i);
		assert_int_equal(judge(false), DIRECTIVE_REFUSE);
		insert(i, one);
		for (size_t t = 0; t < ARRAY_LEN(types); t++) {
			event[i].type = types[t];
			assert_int_equal(judge(false), DIRECTIVE_REFUSE);
		}
		event[i] = one;
		for (size_t j = i + 1; wholly && j < count; j++) {
			event[i] = event[j];
			event[j] = one;
			assert_int_equal(judge(false), DIRECTIVE_REFUSE);
			event[j] = event[i];
			event[i] = one;
		}
	}
	if (wholly)
		append();
	drop(at);
	q->claims.values = before;
}

static void bad_machines(bool wholly)
{
	static const uint8_t one = 1;
	size_t end = count - 2;

	/* a program behind the gate, an option ROM, a setting; under true and false names */
	bad_machine(end, make_event(4, EV_EFI_BOOT_SERVICES_APPLICATION, bytes_str("path"),
				    "unknown.efi"), wholly);
	bad_machine(end, make_event(4, EV_ACTION, bytes_str(CALLING), "unknown.efi"), wholly);
	bad_machine(3, make_event(2, EV_EFI_BOOT_SERVICES_DRIVER, bytes_str("rom"), "unknown.rom"),
		    wholly);
	bad_machine(3, make_event(1, EV_EFI_VARIABLE_BOOT, bytes_str("entry"), "unknown"), wholly);
	bad_machine(end, make_event(7, EV_SEPARATOR, bytes_of(&one, 1), "unknown"), wholly);
}

static void each_set_of_banks(void (*test)(bool wholly))
{
	static const uint16_t one[] = { ALG_SHA256, ALG_SHA384 };
	static const uint16_t all[] = { ALG_SHA1, ALG_SHA256, ALG_SHA384 };

	for (size_t i = 0; i < ARRAY_LEN(one); i++) {
		boot(&one[i], 1);
		test(i == 0);
	}
	boot(all, ARRAY_LEN(all));
	test(false);
}

static void change_good(bool wholly)
{
	good = true;
	change_all(wholly);
	assert_int_equal(judge(false), DIRECTIVE_ADMIT);
}

static void test_good_machine(void **state)
{
	(void)state;
	each_set_of_banks(change_good);
}

static void test_bad_machine(void **state)
{
	(void)state;
	each_set_of_banks(bad_machines);
}

/* No change to the log makes SHA-1 a proof. */
static void test_sha1_alone(void **state)
{
	static const uint16_t bank[] = { ALG_SHA1 };

	(void)state;
	boot(bank, 1);
	good = false;
	assert_int_equal(judge(false), DIRECTIVE_REFUSE);
	retype();
	drop_and_double();
}

static int setup_all(void **state)
{
	(void)state;
	k = kit_new();
	q = calloc(1, sizeof *q);
	a = calloc(1, sizeof *a);
	policy_default(&policy);
	return q && a && fd_read_file(LAB_LOG, &lab) == R_OK ? 0 : -1;
}

static int teardown_all(void **state)
{
	(void)state;
	print_message("%zu logs judged\n", judged);
	reference_set_free(&refs);
	blob_free(&lab);
	kit_free(&k);
	free(q);
	free(a);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good_machine),
		cmocka_unit_test(test_bad_machine),
		cmocka_unit_test(test_sha1_alone),
	};

	return cmocka_run_group_tests(tests, setup_all, teardown_all);
}
