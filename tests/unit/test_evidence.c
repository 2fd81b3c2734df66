/* SPDX-License-Identifier: Apache-2.0 */
#include "message.h"

#include "format/evidence.h"

static enum reason evidence_again(struct bytes in, struct blob *out)
{
	struct evidence m;

	TRY(evidence_read(in, &m));
	return evidence_write(&m, out);
}

static enum reason claims_again(struct bytes in, struct blob *out)
{
	static struct claims m;

	TRY(claims_read(in, &m));
	return claims_write(&m, out);
}

static enum reason receipt_again(struct bytes in, struct blob *out)
{
	static struct receipt m;

	TRY(receipt_read(in, &m));
	return receipt_write(&m, out);
}

static enum reason ack_again(struct bytes in, struct blob *out)
{
	uint8_t digest[SHA256_LEN];

	TRY(receipt_ack_read(in, digest));
	return receipt_ack_write(digest, out);
}

static struct claims claims;
static uint8_t names[2][EK_NAME_MAX];

/* SHA-256 with three registers, an inactive SHA-1 bank, SHA-384 with one. */
static void values_sample(struct pcr_values *v)
{
	memset(v, 0, sizeof *v);
	v->count = 3;
	v->bank[0].alg = ALG_SHA256;
	v->bank[0].present = PCR_MASK(0) | PCR_MASK(7) | PCR_MASK(23);
	fill(v->bank[0].value[0], 32, 1);
	fill(v->bank[0].value[7], 32, 2);
	fill(v->bank[0].value[23], 32, 3);
	v->bank[1].alg = ALG_SHA1;
	v->bank[2].alg = ALG_SHA384;
	v->bank[2].present = PCR_MASK(4);
	fill(v->bank[2].value[4], 48, 4);
}

static struct claims *claims_sample(void)
{
	memset(&claims, 0, sizeof claims);
	claims.stage = STAGE_GATE;
	claims.token = bytes_of("token", 5);
	fill(claims.nonce, NONCE_LEN, 9);
	claims.ak_public = bytes_of("public", 6);
	claims.firmware_log = bytes_of("firmware log", 12);
	claims.gate_log = bytes_of("gate log", 8);
	values_sample(&claims.values);
	claims.report = bytes_of("report", 6);
	return &claims;
}

static struct claims *claims_full(void)
{
	struct claims *m = claims_sample();

	m->stage = STAGE_HOST;
	m->ek_digest_count = 2;
	fill(m->ek_digest[0], SHA256_LEN, 10);
	fill(m->ek_digest[1], SHA256_LEN, 11);
	m->device_count = 2;
	m->device[0] = (struct device_evidence){ bytes_of("gpu.nvidia", 10), bytes_of("spdm", 4) };
	m->device[1] = (struct device_evidence){ bytes_of("gpu.nvidia", 10), BYTES_NONE };
	m->enrol_token = bytes_of("enrol token", 11);
	m->proof_count = 2;
	fill(names[0], sizeof names[0], 20);
	fill(names[1], sizeof names[1], 21);
	m->proof[0].ek_name = bytes_of(names[0], EK_NAME_MIN);
	m->proof[1].ek_name = bytes_of(names[1], EK_NAME_MAX);
	fill(m->proof[0].proof, SHA256_LEN, 30);
	fill(m->proof[1].proof, SHA256_LEN, 31);
	m->has_cnf = true;
	fill(m->cnf_x, 32, 40);
	fill(m->cnf_y, 32, 41);
	return m;
}

static void test_evidence(void **state)
{
	_cleanup_(blob_free) struct blob b = BLOB(1024);
	struct evidence m = { bytes_of("claims", 6), bytes_of("quote", 5),
			      bytes_of("signature", 9) }, again;

	(void)state;
	assert_ok(evidence_write(&m, &b));
	assert_ok(evidence_read(blob_bytes(&b), &again));
	assert_bytes(again.claims, "claims", 6);
	assert_bytes(again.quote, "quote", 5);
	assert_bytes(again.signature, "signature", 9);
	message_check(evidence_again, blob_bytes(&b));
	seed("evidence", "evidence", blob_bytes(&b));

	m.quote.n = 0;
	assert_reason(R_FORMAT_RANGE, evidence_write(&m, &b));
	b.p[0] = 0x84;
	assert_reason(R_FORMAT_RANGE, evidence_read(blob_bytes(&b), &again));
	b.p[0] = 0xa1;
	assert_reason(R_FORMAT_TYPE, evidence_read(blob_bytes(&b), &again));
}

static void test_claims(void **state)
{
	_cleanup_(blob_free) struct blob b = BLOB(4096);
	static struct claims again;
	const struct claims *m = claims_sample();

	(void)state;
	assert_ok(claims_write(m, &b));
	assert_ok(claims_read(blob_bytes(&b), &again));
	assert_int_equal(again.stage, STAGE_GATE);
	assert_memory_equal(again.nonce, m->nonce, NONCE_LEN);
	assert_bytes(again.firmware_log, "firmware log", 12);
	assert_bytes(again.gate_log, "gate log", 8);
	assert_bytes(again.report, "report", 6);
	assert_memory_equal(&again.values, &m->values, sizeof m->values);
	assert_int_equal(again.proof_count, 0);
	assert_false(again.has_cnf);
	message_check(claims_again, blob_bytes(&b));
	message_map_check(claims_again, blob_bytes(&b), 0);
	seed("evidence", "claims", blob_bytes(&b));
}

static void test_claims_full(void **state)
{
	_cleanup_(blob_free) struct blob b = BLOB(4096);
	static struct claims again;
	const struct claims *m = claims_full();

	(void)state;
	assert_ok(claims_write(m, &b));
	assert_ok(claims_read(blob_bytes(&b), &again));
	assert_int_equal(again.ek_digest_count, 2);
	assert_memory_equal(again.ek_digest, m->ek_digest, sizeof m->ek_digest);
	assert_int_equal(again.device_count, 2);
	assert_bytes(again.device[0].kind, "gpu.nvidia", 10);
	assert_bytes(again.device[0].data, "spdm", 4);
	assert_bytes(again.enrol_token, "enrol token", 11);
	assert_int_equal(again.proof_count, 2);
	assert_bytes(again.proof[1].ek_name, names[1], EK_NAME_MAX);
	assert_memory_equal(again.proof[1].proof, m->proof[1].proof, SHA256_LEN);
	assert_true(again.has_cnf);
	assert_memory_equal(again.cnf_x, m->cnf_x, 32);
	assert_memory_equal(again.cnf_y, m->cnf_y, 32);
	message_check(claims_again, blob_bytes(&b));
	message_map_check(claims_again, blob_bytes(&b), 1u << 11 | 1u << 12);
	seed("evidence", "claims-full", blob_bytes(&b));
}

/* What the writer makes of this claims, and the reader of that. */
static enum reason claims_try(const struct claims *m, const char *name)
{
	_cleanup_(blob_free) struct blob b = BLOB(LIMIT_EVIDENCE);
	static struct claims again;

	TRY(claims_write(m, &b));
	if (name != NULL)
		seed("evidence", name, blob_bytes(&b));
	return claims_read(blob_bytes(&b), &again);
}

static void test_claims_refusals(void **state)
{
	struct claims *m;

	(void)state;
	m = claims_full();
	memcpy(m->ek_digest[1], m->ek_digest[0], SHA256_LEN);
	assert_reason(R_FORMAT_DUPLICATE, claims_try(m, "twice-ek"));
	m = claims_full();
	m->proof[1].ek_name = m->proof[0].ek_name;
	assert_reason(R_FORMAT_DUPLICATE, claims_try(m, "twice-proof"));
	m = claims_full();
	m->values.bank[2] = m->values.bank[0];
	assert_reason(R_FORMAT_DUPLICATE, claims_try(m, "twice-bank"));
	m = claims_full();
	m->device[0].kind = bytes_of("GPU", 3);
	assert_reason(R_FORMAT_TEXT, claims_try(m, NULL));
	m = claims_full();
	m->proof_count = 0;
	assert_reason(R_FORMAT_RANGE, claims_try(m, NULL));
	m->proof_count = LIMIT_EKS + 1;
	assert_reason(R_FORMAT_RANGE, claims_try(m, NULL));
	m = claims_full();
	m->ek_digest_count = LIMIT_EKS + 1;
	assert_reason(R_FORMAT_RANGE, claims_try(m, NULL));
	m = claims_full();
	m->device_count = LIMIT_DEVICES + 1;
	assert_reason(R_FORMAT_RANGE, claims_try(m, NULL));
	m = claims_full();
	m->values.count = LIMIT_BANKS + 1;
	assert_reason(R_FORMAT_RANGE, claims_try(m, NULL));
	m = claims_full();
	m->stage = STAGE_MAX;
	assert_reason(R_FORMAT_RANGE, claims_try(m, NULL));
	m = claims_full();
	m->proof[0].ek_name.n = EK_NAME_MIN - 1;
	assert_reason(R_FORMAT_RANGE, claims_try(m, NULL));
	m = claims_full();
	m->values.bank[0].present = PCR_ALL + 1;
	assert_reason(R_FORMAT_RANGE, claims_try(m, NULL));
}

/* A bank whose hash is not known may be there when it is empty. */
static void test_unknown_bank(void **state)
{
	_cleanup_(blob_free) struct blob b = BLOB(4096);
	static struct claims again;
	struct claims *m = claims_sample();

	(void)state;
	m->values.bank[1].alg = 0x0027;
	assert_ok(claims_try(m, NULL));
	m->values.bank[1].present = 1;
	assert_reason(R_FORMAT_RANGE, claims_try(m, NULL));
	m = claims_sample();
	assert_ok(claims_write(m, &b));
	/* SHA-256 becomes 0x17, whose digests have no length here */
	*find(&b, "\x0b\x1a\x00\x80\x00\x81", 6) = 0x17;
	assert_reason(R_FORMAT_RANGE, claims_read(blob_bytes(&b), &again));
	/* a bitmap that says more, or fewer, than there are values */
	*find(&b, "\x17\x1a\x00\x80\x00\x81", 6) = 0x0b;
	find(&b, "\x0b\x1a\x00\x80\x00\x81", 6)[5] = 0x83;
	assert_reason(R_FORMAT_RANGE, claims_read(blob_bytes(&b), &again));
	find(&b, "\x0b\x1a\x00\x80\x00\x83", 6)[5] = 0x80;
	assert_reason(R_FORMAT_RANGE, claims_read(blob_bytes(&b), &again));
}

static void test_receipt(void **state)
{
	_cleanup_(blob_free) struct blob b = BLOB(4096), ack = BLOB(64);
	static struct receipt m, again;
	uint8_t digest[SHA256_LEN];

	(void)state;
	fill(m.verdict_digest, SHA256_LEN, 1);
	fill(m.ak_name, AK_NAME_LEN, 2);
	m.gate_log = bytes_of("gate log", 8);
	values_sample(&m.values);
	assert_ok(receipt_write(&m, &b));
	assert_ok(receipt_read(blob_bytes(&b), &again));
	assert_memory_equal(again.verdict_digest, m.verdict_digest, SHA256_LEN);
	assert_memory_equal(again.ak_name, m.ak_name, AK_NAME_LEN);
	assert_bytes(again.gate_log, "gate log", 8);
	assert_memory_equal(&again.values, &m.values, sizeof m.values);
	message_check(receipt_again, blob_bytes(&b));
	message_map_check(receipt_again, blob_bytes(&b), 0);
	seed("evidence", "receipt", blob_bytes(&b));

	struct bytes pair[PAIRS_MAX];
	assert_int_equal(pairs_of(blob_bytes(&b), pair), 5);
	seed("wire", "values", bytes_of(pair[4].p + 1, pair[4].n - 1));

	assert_ok(receipt_ack_write(m.verdict_digest, &ack));
	assert_ok(receipt_ack_read(blob_bytes(&ack), digest));
	assert_memory_equal(digest, m.verdict_digest, SHA256_LEN);
	message_check(ack_again, blob_bytes(&ack));
	message_map_check(ack_again, blob_bytes(&ack), 0);
	seed("evidence", "ack", blob_bytes(&ack));
}

static void test_too_large(void **state)
{
	static uint8_t large[LIMIT_EVIDENCE + 1];
	static struct receipt receipt;
	struct evidence evidence;

	(void)state;
	assert_reason(R_FORMAT_TOO_LARGE, evidence_read(BYTES(large), &evidence));
	assert_reason(R_FORMAT_TOO_LARGE, claims_read(BYTES(large), &claims));
	assert_reason(R_FORMAT_TOO_LARGE, receipt_read(BYTES(large), &receipt));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_evidence),
		cmocka_unit_test(test_claims),
		cmocka_unit_test(test_claims_full),
		cmocka_unit_test(test_claims_refusals),
		cmocka_unit_test(test_unknown_bank),
		cmocka_unit_test(test_receipt),
		cmocka_unit_test(test_too_large),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
