/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Firmware logs of real machines, as if a gate had booted there: without what
 * their systems wrote to register 8 and above. What can be learned is admitted
 * afterwards, and with one event less it is not. Passes where there is no
 * corpus.
 */
#include "judge_kit.h"

#include <ftw.h>
#include <sys/stat.h>

#include "appraise/findings.h"

static struct kit *k;
static struct quote_checked *q;
static struct appraisal *a;
static size_t learned, admitted, refused[R_MAX];

/* The log of a machine, and registers that fit it in its banks. */
static bool take_log(struct bytes log)
{
	struct eventlog_replay *r = calloc(1, sizeof *r);
	bool fits = eventlog_replay(log, r) == R_OK && !r->legacy;
	static const uint16_t known[] = { ALG_SHA256, ALG_SHA1, ALG_SHA384, ALG_SHA512 };

	k->bank_count = k->log_bank_count = 0;
	for (size_t i = 0; fits && i < r->values.count; i++) {
		bool asked = false;

		for (size_t j = 0; j < ARRAY_LEN(known); j++)
			asked |= known[j] == r->values.bank[i].alg;
		fits &= asked;
		k->bank[k->bank_count++] = k->log_bank[k->log_bank_count++] =
			r->values.bank[i].alg;
	}
	if (fits) {
		kit_make(k);
		for (size_t i = 0; i < k->pcr.count; i++)
			for (uint32_t pcr = 0; pcr < 16; pcr++)
				if ((KIT_SELECTED & PCR_MASK(pcr)) && pcr != 8 && pcr != 14)
					assert_ok(pcr_values_set(
						&k->pcr, k->pcr.bank[i].alg, pcr,
						pcr_value(&r->values, k->pcr.bank[i].alg, pcr).p));
		k->claims.firmware_log = log;
		k->claims.values = k->pcr;
		kit_seal(k);
	}
	free(r);
	return fits;
}

/* Events of registers 0 to 7, and those that are not extended. */
static bool firmware_part(struct bytes log, struct eventlog_writer *ret)
{
	struct eventlog in;
	struct event e;
	bool whole = true;

	if (eventlog_open(log, &in) != R_OK || in.legacy ||
	    eventlog_writer_begin(in.bank, in.bank_count, LIMIT_FIRMWARE_LOG, ret) != R_OK)
		return false;
	assert_ok(eventlog_next(&in, &e));
	while (eventlog_next(&in, &e) == R_OK) {
		struct pcr_digests d = { .count = in.bank_count };

		if (e.pcr >= 8)
			continue;
		/* an event without a digest of some bank: no log to trust */
		whole &= e.type == EV_NO_ACTION || e.digest_count == in.bank_count;
		for (size_t i = 0; i < in.bank_count; i++) {
			d.bank[i].alg = in.bank[i];
			if (e.digest[i].n > 0)
				memcpy(d.bank[i].value, e.digest[i].p, e.digest[i].n);
		}
		if (eventlog_writer_event(ret, e.pcr, e.type, &d, e.data) != R_OK)
			break;
	}
	if (!whole)
		eventlog_writer_free(ret);
	return whole;
}

static bool only_unclaimed(void)
{
	for (size_t i = 0; i < a->explanation.count; i++) {
		const struct finding *f = &a->explanation.finding[i];

		if (f->severity == SEVERITY_REFUSE && f->reason != R_POLICY_UNCLAIMED &&
		    f->reason != R_POLICY_MISSING)
			return false;
	}
	return true;
}

static void judge(struct bytes log, const char *name)
{
	struct node_record none = { 0 };
	struct reference_set set;
	struct policy p;
	enum reason r;

	if (!take_log(log))
		return;
	policy_default(&p);
	assert_ok(kit_check(k, q));
	r = component_learn(q, "corpus", &p, &set);
	if (r != R_OK) {
		refused[r]++;
		/* and then it is not admitted either */
		if (getenv("VERBOSE"))
			print_message("%s: %s\n", reason_name(r), name);
		set = (struct reference_set){ 0 };
		assert_ok(appraise(q, &k->session, &none, &set, &p, NULL, a));
		assert_int_equal(a->directive, DIRECTIVE_REFUSE);
		return;
	}
	learned++;
	for (size_t i = 0; i < set.count; i++)
		set.variant[i].state = VARIANT_ACTIVE;
	assert_ok(appraise(q, &k->session, &none, &set, &p, NULL, a));
	if (a->directive != DIRECTIVE_ADMIT && !only_unclaimed()) {
		print_message("%s\n", name);
		print_findings(a);
		fail();
	}
	admitted += a->directive == DIRECTIVE_ADMIT;
	for (size_t i = 0; i < set.count; i++) {
		set.variant[i].event_count--;
		assert_ok(appraise(q, &k->session, &none, &set, &p, NULL, a));
		assert_int_equal(a->directive, DIRECTIVE_REFUSE);
		set.variant[i].event_count++;
	}
	reference_set_free(&set);
}

static int visit(const char *path, const struct stat *s, int kind, struct FTW *ftw)
{
	struct blob b = BLOB(LIMIT_FIRMWARE_LOG);
	struct eventlog_writer w;
	uint8_t *to;
	FILE *f;

	(void)ftw;
	if (kind != FTW_F || s->st_size == 0 || s->st_size > LIMIT_FIRMWARE_LOG)
		return 0;
	f = fopen(path, "rb");
	assert_non_null(f);
	assert_ok(blob_extend(&b, (size_t)s->st_size, &to));
	assert_int_equal(fread(to, 1, (size_t)s->st_size, f), s->st_size);
	assert_int_equal(fclose(f), 0);
	if (firmware_part(blob_bytes(&b), &w)) {
		judge(blob_bytes(&w.log), path);
		eventlog_writer_free(&w);
	}
	blob_free(&b);
	return 0;
}

static void test_logs(void **state)
{
	struct stat s;

	(void)state;
	if (stat(CORPUS "/eventlog", &s) != 0) {
		print_message("no corpus\n");
		return;
	}
	k = kit_new();
	q = calloc(1, sizeof *q);
	a = calloc(1, sizeof *a);
	assert_int_equal(nftw(CORPUS "/eventlog", visit, 16, FTW_PHYS), 0);
	print_message("%zu learned, %zu of them admitted as they are\n", learned, admitted);
	for (unsigned r = 0; r < R_MAX; r++)
		if (refused[r] > 0)
			print_message("%zu refused: %s\n", refused[r], reason_name((enum reason)r));
	assert_true(learned > 45);
	kit_free(&k);
	free(q);
	free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_logs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
