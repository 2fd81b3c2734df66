/* SPDX-License-Identifier: Apache-2.0 */
#include "message.h"

#include "format/verdict.h"

static enum reason again(struct bytes in, struct blob *out)
{
	static struct verdict m;

	TRY(verdict_read(in, &m));
	return verdict_write(&m, out);
}

static struct verdict v;

/* An admit with everything that a verdict can hold. */
static struct verdict *sample(void)
{
	v = (struct verdict){
		.issued_at = 1767225600,
		.stage = STAGE_GATE,
		.directive = DIRECTIVE_ADMIT,
		.has_manifest = true,
		.lifetime = 300,
		.retry_after = 5,
		.status = EAR_WARNING,
		.submod_count = 3,
		.submod = {
			{ "tpm", EAR_AFFIRMING, { [AR4SI_INSTANCE_IDENTITY] = 2 } },
			{ "gpu0", EAR_NONE, { 0 } },
			{ "firmware", EAR_WARNING,
			  { [AR4SI_EXECUTABLES] = 3, [AR4SI_HARDWARE] = 32, [AR4SI_CONFIGURATION] = -1 } },
		},
		.reason_count = 2,
		.reason = { { "policy.fact", "bios.version: 1.2, wanted 1.3" }, { "log.replay", "" } },
		.parameter_count = 2,
		.parameter = { { "hostname", "n1" }, { "addr", "10.0.0.1" } },
		.node = "rack1-07 (3f2a9c1e)",
		.basis = "operator approved",
		.policy = "default 1 0123abcd",
	};
	fill(v.nonce, sizeof v.nonce, 1);
	fill(v.ak_name, sizeof v.ak_name, 2);
	fill(v.evidence_digest, sizeof v.evidence_digest, 3);
	fill(v.manifest_digest, sizeof v.manifest_digest, 4);
	return &v;
}

static struct verdict *refusal(void)
{
	sample();
	v.directive = DIRECTIVE_REFUSE;
	v.has_manifest = false;
	v.status = EAR_CONTRAINDICATED;
	v.submod_count = 1;
	v.submod[0] = (struct verdict_submod){ "tpm", EAR_CONTRAINDICATED, { 0, 99 } };
	v.parameter_count = 0;
	v.lifetime = 0;
	return &v;
}

static void test_round_trip(void **state)
{
	_cleanup_(blob_free) struct blob b = BLOB(LIMIT_VERDICT);
	static struct verdict m;

	(void)state;
	assert_ok(verdict_write(sample(), &b));
	assert_ok(verdict_read(blob_bytes(&b), &m));
	assert_true(m.issued_at == 1767225600);
	assert_memory_equal(m.nonce, v.nonce, NONCE_LEN);
	assert_int_equal(m.stage, STAGE_GATE);
	assert_memory_equal(m.ak_name, v.ak_name, AK_NAME_LEN);
	assert_memory_equal(m.evidence_digest, v.evidence_digest, SHA256_LEN);
	assert_int_equal(m.directive, DIRECTIVE_ADMIT);
	assert_true(m.has_manifest);
	assert_memory_equal(m.manifest_digest, v.manifest_digest, SHA256_LEN);
	assert_int_equal(m.lifetime, 300);
	assert_int_equal(m.retry_after, 5);
	assert_int_equal(m.status, EAR_WARNING);
	assert_int_equal(m.submod_count, 3);
	/* in the order of the wire */
	assert_string_equal(m.submod[0].name, "tpm");
	assert_string_equal(m.submod[1].name, "gpu0");
	assert_string_equal(m.submod[2].name, "firmware");
	assert_int_equal(m.submod[2].vector[AR4SI_HARDWARE], 32);
	assert_int_equal(m.submod[2].vector[AR4SI_CONFIGURATION], -1);
	assert_int_equal(m.reason_count, 2);
	assert_string_equal(m.reason[0].name, "policy.fact");
	assert_string_equal(m.reason[0].detail, "bios.version: 1.2, wanted 1.3");
	assert_int_equal(m.parameter_count, 2);
	assert_string_equal(m.parameter[0].name, "addr");
	assert_string_equal(m.parameter[0].value, "10.0.0.1");
	assert_string_equal(m.node, v.node);
	assert_string_equal(m.basis, v.basis);
	assert_string_equal(m.policy, v.policy);
	assert_string_equal(m.build, "bootgate " BOOTGATE_VERSION);
	assert_string_equal(m.developer, VERDICT_DEVELOPER);
	message_check(again, blob_bytes(&b));
	message_map_check(again, blob_bytes(&b), 1u << 11);
	seed("verdict", "admit", blob_bytes(&b));
}

static void test_refusal(void **state)
{
	_cleanup_(blob_free) struct blob b = BLOB(LIMIT_VERDICT);

	(void)state;
	assert_ok(verdict_write(refusal(), &b));
	message_check(again, blob_bytes(&b));
	message_map_check(again, blob_bytes(&b), 0);
	seed("verdict", "refuse", blob_bytes(&b));
}

/* Puts text of the same length in place of another. */
static void swap_in(struct blob *b, const char *from, const char *to)
{
	memcpy(find(b, from, strlen(from)), to, strlen(to));
}

static void test_manifest_only_to_boot(void **state)
{
	_cleanup_(blob_free) struct blob b = BLOB(LIMIT_VERDICT);

	(void)state;
	for (unsigned d = 0; d < DIRECTIVE_MAX; d++) {
		for (unsigned s = 0; s < STAGE_MAX; s++) {
			bool boots = s == STAGE_GATE && d <= DIRECTIVE_UPDATE;

			sample();
			v.stage = (enum stage)s;
			v.directive = (enum directive)d;
			v.has_manifest = boots;
			assert_ok(verdict_write(&v, &b));
			blob_reset(&b);
			v.has_manifest = !boots;
			assert_reason(R_FORMAT_RANGE, verdict_write(&v, &b));
		}
	}
	/* and the reader: -70004 is 3a 00 01 11 73 */
	assert_ok(verdict_write(sample(), &b));
	find(&b, "\x3a\x00\x01\x11\x73", 5)[5] = DIRECTIVE_HOLD;
	assert_reason(R_FORMAT_RANGE, verdict_read(blob_bytes(&b), &v));
}

static void test_status(void **state)
{
	_cleanup_(blob_free) struct blob b = BLOB(LIMIT_VERDICT);
	static const struct {
		int8_t claim, status;
	} tiers[] = {
		{ -128, 96 }, { -97, 96 }, { -96, 32 }, { -33, 32 }, { -32, 2 }, { -2, 2 },
		{ -1, 0 }, { 1, 0 }, { 2, 2 }, { 31, 2 }, { 32, 32 }, { 95, 32 }, { 96, 96 },
		{ 127, 96 },
	};
	static const int8_t unknown[] = { -1, 1, 3, 31, 33, 97 };

	(void)state;
	/* better than a submod */
	sample()->status = EAR_AFFIRMING;
	assert_reason(R_FORMAT_RANGE, verdict_write(&v, &b));
	sample()->status = EAR_NONE;
	assert_reason(R_FORMAT_RANGE, verdict_write(&v, &b));
	sample()->status = EAR_CONTRAINDICATED;
	assert_ok(verdict_write(&v, &b));
	for (size_t i = 0; i < ARRAY_LEN(unknown); i++) {
		sample()->status = unknown[i];
		assert_reason(R_FORMAT_RANGE, verdict_write(&v, &b));
		sample()->submod[1].status = unknown[i];
		assert_reason(R_FORMAT_RANGE, verdict_write(&v, &b));
	}
	/* a submod better than a claim of its vector */
	for (size_t i = 0; i < ARRAY_LEN(tiers); i++) {
		sample()->status = EAR_CONTRAINDICATED;
		v.submod[1].vector[AR4SI_RUNTIME_OPAQUE] = tiers[i].claim;
		v.submod[1].status = tiers[i].status;
		blob_reset(&b);
		assert_ok(verdict_write(&v, &b));
		if (tiers[i].status == EAR_NONE)
			continue;
		v.submod[1].status = tiers[i].status == EAR_CONTRAINDICATED ? EAR_WARNING : EAR_NONE;
		assert_reason(R_FORMAT_RANGE, verdict_write(&v, &b));
	}
	/* the reader: overall status 32 becomes 2; 1000 is 19 03 e8, before 1003 */
	blob_reset(&b);
	assert_ok(verdict_write(sample(), &b));
	uint8_t *p = find(&b, "\x19\x03\xe8\x18\x20\x19\x03\xeb", 8);
	p[4] = 0x1f;
	assert_reason(R_FORMAT_RANGE, verdict_read(blob_bytes(&b), &v));
}

static void test_bounds(void **state)
{
	_cleanup_(blob_free) struct blob b = BLOB(LIMIT_VERDICT);

	(void)state;
	sample()->submod_count = 0;
	assert_reason(R_FORMAT_RANGE, verdict_write(&v, &b));
	sample()->submod_count = VERDICT_SUBMODS_MAX + 1;
	assert_reason(R_FORMAT_RANGE, verdict_write(&v, &b));
	sample()->reason_count = VERDICT_REASONS_MAX + 1;
	assert_reason(R_FORMAT_RANGE, verdict_write(&v, &b));
	sample()->parameter_count = VERDICT_PARAMETERS_MAX + 1;
	assert_reason(R_FORMAT_RANGE, verdict_write(&v, &b));
	strcpy(sample()->submod[1].name, "tpm");
	assert_reason(R_FORMAT_DUPLICATE, verdict_write(&v, &b));
	strcpy(sample()->parameter[1].name, "hostname");
	assert_reason(R_FORMAT_DUPLICATE, verdict_write(&v, &b));
	strcpy(sample()->reason[0].detail, "line\nbreak");
	assert_reason(R_FORMAT_TEXT, verdict_write(&v, &b));
	sample()->policy[0] = '\0';
	assert_reason(R_FORMAT_RANGE, verdict_write(&v, &b));
	sample()->lifetime = 86401;
	assert_reason(R_FORMAT_RANGE, verdict_write(&v, &b));
	sample()->issued_at = UINT64_MAX;
	assert_reason(R_FORMAT_RANGE, verdict_write(&v, &b));
	sample()->stage = STAGE_MAX;
	v.has_manifest = false;
	assert_reason(R_FORMAT_RANGE, verdict_write(&v, &b));
	assert_int_equal(b.n, 0);
}

static void test_reader_refusals(void **state)
{
	_cleanup_(blob_free) struct blob b = BLOB(LIMIT_VERDICT);
	static uint8_t large[LIMIT_VERDICT + 1];

	(void)state;
	assert_reason(R_FORMAT_TOO_LARGE, verdict_read(BYTES(large), &v));
	assert_ok(verdict_write(sample(), &b));
	swap_in(&b, "verdict-1", "verdict-2");
	assert_reason(R_FORMAT_VERSION, verdict_read(blob_bytes(&b), &v));
	swap_in(&b, "verdict-2", "verdict-1");
	assert_ok(verdict_read(blob_bytes(&b), &v));
	swap_in(&b, "hostname", "Hostname");
	assert_reason(R_FORMAT_TEXT, verdict_read(blob_bytes(&b), &v));
	swap_in(&b, "Hostname", "hostname");
	swap_in(&b, "n1", "\x1b" "1");
	assert_reason(R_FORMAT_TEXT, verdict_read(blob_bytes(&b), &v));
}

/* A claim of value 0, an empty vector: two ways to say nothing. */
static void test_vector_is_minimal(void **state)
{
	_cleanup_(blob_free) struct blob b = BLOB(LIMIT_VERDICT);
	uint8_t *p;

	(void)state;
	assert_ok(verdict_write(refusal(), &b));
	/* 1001 => {1: 99} */
	p = find(&b, "\x19\x03\xe9\xa1\x01\x18\x63", 7);
	p[5] = 0x00;
	memmove(p + 6, p + 7, b.n - (size_t)(p - b.p) - 7);
	b.n--;
	assert_reason(R_FORMAT_CANONICAL, verdict_read(blob_bytes(&b), &v));
	p[3] = 0xa0;
	memmove(p + 4, p + 6, b.n - (size_t)(p - b.p) - 6);
	b.n -= 2;
	assert_reason(R_FORMAT_CANONICAL, verdict_read(blob_bytes(&b), &v));
	/* a claim that nobody defined */
	blob_reset(&b);
	assert_ok(verdict_write(refusal(), &b));
	find(&b, "\x19\x03\xe9\xa1\x01\x18\x63", 7)[4] = AR4SI_MAX;
	assert_reason(R_FORMAT_RANGE, verdict_read(blob_bytes(&b), &v));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_refusal),
		cmocka_unit_test(test_manifest_only_to_boot),
		cmocka_unit_test(test_status),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_reader_refusals),
		cmocka_unit_test(test_vector_is_minimal),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
