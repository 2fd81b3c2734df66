/* SPDX-License-Identifier: Apache-2.0 */
/* Each check of a quote, provoked one at a time (T14, T17, T18, T22, T24-T28, T35). */
#include "evidence_kit.h"

#include "appraise/quote.h"

static struct kit *k;
static struct quote_checked *q;

static int setup(void **state)
{
	(void)state;
	k = kit_new();
	q = calloc(1, sizeof *q);
	kit_make(k);
	return q ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	kit_free(&k);
	free(q);
	return 0;
}

static void test_good(void **state)
{
	static const uint16_t all[] = { ALG_SHA1, ALG_SHA256, ALG_SHA384, ALG_SHA512 };

	(void)state;
	assert_ok(kit_check(k, q));
	assert_int_equal(q->attest.reset_count, 7);
	assert_memory_equal(q->claims.nonce, k->claims.nonce, NONCE_LEN);
	for (size_t n = 1; n <= ARRAY_LEN(all); n++) {
		kit_banks(k, n, all);
		kit_make(k);
		assert_ok(kit_check(k, q));
	}
}

static void test_envelope(void **state)
{
	(void)state;
	k->evidence.n--;
	assert_reason(R_FORMAT_TRUNCATED, kit_check(k, q));
	k->evidence.n++;
	assert_ok(blob_u8(&k->evidence, 0));
	assert_reason(R_FORMAT_TRAILING, kit_check(k, q));
}

/* The key: the fleet's template, and the name of the session (T35). */
static void test_key(void **state)
{
	static const uint32_t wrong[] = {
		TPMA_FIXED_TPM, TPMA_FIXED_PARENT, TPMA_SENSITIVE_DATA_ORIGIN, TPMA_RESTRICTED,
		TPMA_SIGN, TPMA_DECRYPT,
	};
	_cleanup_(blob_free) struct blob b = BLOB(LIMIT_TPM_PUBLIC);
	struct tpm_public p;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		assert_ok(tpm_public_read(bytes_of(k->ak_public, k->ak_public_n), &p));
		p.attributes ^= wrong[i];
		blob_reset(&b);
		assert_ok(tpm_public_write(&p, &b));
		k->claims.ak_public = blob_bytes(&b);
		kit_seal(k);
		assert_reason(R_NODE_AK, kit_check(k, q));
	}
	/* another nameAlg makes another name of the same key */
	assert_ok(tpm_public_read(bytes_of(k->ak_public, k->ak_public_n), &p));
	p.name_alg = ALG_SHA384;
	blob_reset(&b);
	assert_ok(tpm_public_write(&p, &b));
	k->claims.ak_public = blob_bytes(&b);
	kit_seal(k);
	assert_reason(R_NODE_AK, kit_check(k, q));
	/* not a public area at all */
	k->claims.ak_public = bytes_str("key");
	kit_seal(k);
	assert_reason(R_NODE_AK, kit_check(k, q));
	/* of the template, but not the one that the session is for */
	k->claims.ak_public = bytes_of(k->ak_public, k->ak_public_n);
	k->session.ak_name[5] ^= 1;
	kit_seal(k);
	assert_reason(R_QUOTE_SIGNER, kit_check(k, q));
}

static void test_signature(void **state)
{
	struct tpm_signature s;
	_cleanup_(blob_free) struct blob old = BLOB(LIMIT_TPM_SIGNATURE);
	_cleanup_(blob_free) struct blob padded = BLOB(64);

	(void)state;
	/* every byte of what was signed counts */
	for (size_t i = 0; i < k->quote.n; i++) {
		k->quote.p[i] ^= 1;
		kit_wrap(k);
		assert_true(kit_check(k, q) != R_OK);
		k->quote.p[i] ^= 1;
	}
	k->quote.p[k->quote.n - 1] ^= 1;
	kit_wrap(k);
	assert_reason(R_QUOTE_SIGNATURE, kit_check(k, q));
	k->quote.p[k->quote.n - 1] ^= 1;

	assert_ok(blob_append(&old, k->signature.p, k->signature.n));
	assert_ok(tpm_signature_read(blob_bytes(&old), &s));
	/* leading zeros are the same number */
	assert_ok(blob_u8(&padded, 0));
	assert_ok(blob_append(&padded, s.r.p, s.r.n));
	s.r = blob_bytes(&padded);
	blob_reset(&k->signature);
	assert_ok(tpm_signature_write(&s, &k->signature));
	kit_wrap(k);
	assert_ok(kit_check(k, q));
	/* zero is no value of a signature */
	s.r = bytes_of("\0", 1);
	blob_reset(&k->signature);
	assert_ok(tpm_signature_write(&s, &k->signature));
	kit_wrap(k);
	assert_true(kit_check(k, q) != R_OK);
	/* another hash, another scheme: not tried (T28) */
	assert_ok(tpm_signature_read(blob_bytes(&old), &s));
	s.hash = ALG_SHA384;
	blob_reset(&k->signature);
	assert_ok(tpm_signature_write(&s, &k->signature));
	kit_wrap(k);
	assert_reason(R_QUOTE_SCHEME, kit_check(k, q));
	s = (struct tpm_signature){ .scheme = TPM_ALG_RSASSA, .hash = ALG_SHA256,
				    .rsa = blob_bytes(&old) };
	blob_reset(&k->signature);
	assert_ok(tpm_signature_write(&s, &k->signature));
	kit_wrap(k);
	assert_reason(R_QUOTE_SCHEME, kit_check(k, q));
	/* bytes behind it */
	blob_reset(&k->signature);
	assert_ok(blob_append(&k->signature, old.p, old.n));
	assert_ok(blob_u8(&k->signature, 0));
	kit_wrap(k);
	assert_reason(R_QUOTE_FORMAT, kit_check(k, q));
}

/* Another key signs the same statement. */
static void test_other_key(void **state)
{
	struct private_key *own = k->ak;

	(void)state;
	k->ak = NULL;
	assert_ok(private_key_make(&k->ak));
	kit_sign(k);
	kit_wrap(k);
	assert_reason(R_QUOTE_SIGNATURE, kit_check(k, q));
	private_key_free(&k->ak);
	k->ak = own;
}

/* The AK signs something else of the right layout (T17, T24). */
static void test_magic_and_type(void **state)
{
	static const uint16_t types[] = { 0x8014, 0x8015, 0x8016, 0x8017, 0x8019, 0x801a, 0x801c };

	(void)state;
	k->quote.p[0] ^= 1;
	kit_sign(k);
	kit_wrap(k);
	assert_reason(R_QUOTE_MAGIC, kit_check(k, q));
	k->quote.p[0] ^= 1;
	for (size_t i = 0; i < ARRAY_LEN(types); i++) {
		k->quote.p[4] = (uint8_t)(types[i] >> 8);
		k->quote.p[5] = (uint8_t)types[i];
		kit_sign(k);
		kit_wrap(k);
		assert_reason(R_QUOTE_TYPE, kit_check(k, q));
	}
	/* but without the signature the type is nobody's word */
	k->signature.p[10] ^= 1;
	kit_wrap(k);
	assert_reason(R_QUOTE_SIGNATURE, kit_check(k, q));
}

static void test_trailing(void **state)
{
	(void)state;
	assert_ok(blob_u8(&k->quote, 0));
	kit_sign(k);
	kit_wrap(k);
	assert_reason(R_QUOTE_FORMAT, kit_check(k, q));
}

static void test_nonce(void **state)
{
	(void)state;
	k->session.nonce[31] ^= 1;
	assert_reason(R_QUOTE_NONCE, kit_check(k, q));
	k->session.nonce[31] ^= 1;
	assert_ok(kit_check(k, q));
	/* the claims are bound as well: byte for byte, in one form (T27) */
	k->claims.nonce[0] ^= 1;
	blob_reset(&k->claims_bytes);
	assert_ok(claims_write(&k->claims, &k->claims_bytes));
	kit_wrap(k);
	assert_reason(R_QUOTE_NONCE, kit_check(k, q));
}

/* A quote for one purpose is none for another. */
static void test_domain(void **state)
{
	(void)state;
	assert_reason(R_QUOTE_NONCE, quote_check(blob_bytes(&k->evidence), QUOTE_CONTINUITY,
						 &k->session, q));
	k->domain = QUOTE_RECEIPT;
	kit_seal(k);
	assert_reason(R_QUOTE_NONCE, quote_check(blob_bytes(&k->evidence), QUOTE_EVIDENCE,
						 &k->session, q));
}

/* A nonce that is cut, or longer, or empty. */
static void test_nonce_length(void **state)
{
	uint8_t extra[SHA256_LEN + 1] = { 0 };

	(void)state;
	assert_ok(quote_qualifying(k->domain, k->session.nonce, blob_bytes(&k->claims_bytes),
				   extra));
	for (size_t n = 0; n <= sizeof extra; n++) {
		struct tpm_attest a;
		_cleanup_(blob_free) struct blob b = BLOB(LIMIT_TPM_ATTEST);

		assert_ok(tpm_quote_read(blob_bytes(&k->quote), &a));
		a.extra = bytes_of(extra, n);
		assert_ok(tpm_attest_write(&a, &b));
		blob_reset(&k->quote);
		assert_ok(blob_append(&k->quote, b.p, b.n));
		kit_sign(k);
		kit_wrap(k);
		assert_reason(n == SHA256_LEN ? R_OK : R_QUOTE_NONCE, kit_check(k, q));
	}
}

/* Quotes `s` whatever was asked for, with values that fit. */
static enum reason quote_over(const struct pcr_selection *s)
{
	struct session asked = k->session;
	enum reason r;

	k->session.selection = *s;
	memset(&k->claims.values, 0, sizeof k->claims.values);
	for (size_t i = 0; i < s->count; i++)
		for (uint32_t pcr = 0; pcr < PCR_COUNT; pcr++) {
			struct bytes v = pcr_value(&k->pcr, s->bank[i].alg, pcr);

			if ((s->bank[i].mask & PCR_MASK(pcr)) && v.n > 0)
				assert_ok(pcr_values_set(&k->claims.values, s->bank[i].alg, pcr,
							 v.p));
		}
	kit_seal(k);
	k->session = asked;
	r = kit_check(k, q);
	return r;
}

/* T14, T18, POL-UNSIGNED-PCR: every other selection than the one asked for. */
static void test_selection(void **state)
{
	const struct pcr_selection asked = k->session.selection;
	struct pcr_selection s;

	(void)state;
	assert_ok(quote_over(&asked));
	/* nothing at all */
	s = (struct pcr_selection){ 0 };
	assert_reason(R_QUOTE_SELECTION, quote_over(&s));
	s = asked;
	for (size_t i = 0; i < s.count; i++)
		s.bank[i].mask = 0;
	assert_reason(R_QUOTE_SELECTION, quote_over(&s));
	/* one register less, in each place */
	for (uint32_t pcr = 0; pcr < 16; pcr++) {
		s = asked;
		if (!(s.bank[0].mask & PCR_MASK(pcr)))
			continue;
		s.bank[0].mask &= ~PCR_MASK(pcr);
		assert_reason(R_QUOTE_SELECTION, quote_over(&s));
	}
	/* a bank less, a bank more, another order */
	s = asked;
	s.count--;
	assert_reason(R_QUOTE_SELECTION, quote_over(&s));
	s = asked;
	assert_ok(pcr_selection_add(&s, ALG_SM3, 0));
	assert_reason(R_QUOTE_SELECTION, quote_over(&s));
	s = asked;
	s.bank[0] = asked.bank[1];
	s.bank[1] = asked.bank[0];
	assert_reason(R_QUOTE_SELECTION, quote_over(&s));
	/* another bank under the same number of registers */
	s = asked;
	s.bank[3].alg = ALG_SM3;
	assert_reason(R_QUOTE_SELECTION, quote_over(&s));
}

/* Registers that can be reset, in place of those that cannot (T18). */
static void test_relabel(void **state)
{
	struct pcr_selection s = k->session.selection;
	uint8_t value[DIGEST_MAX] = { 0 };

	(void)state;
	s.bank[0].mask = (s.bank[0].mask & ~(PCR_MASK(4) | PCR_MASK(7))) | PCR_MASK(16) |
			 PCR_MASK(23);
	assert_ok(pcr_values_set(&k->pcr, ALG_SHA256, 16, value));
	assert_ok(pcr_values_set(&k->pcr, ALG_SHA256, 23, value));
	assert_reason(R_QUOTE_SELECTION, quote_over(&s));
}

/* Values: exactly the quoted ones (T22: what is absent is not equal). */
static void test_values(void **state)
{
	uint8_t value[DIGEST_MAX] = { 0 };

	(void)state;
	/* another value */
	k->claims.values.bank[0].value[3][0] ^= 1;
	kit_seal(k);
	assert_reason(R_QUOTE_DIGEST, kit_check(k, q));
	k->claims.values = k->pcr;
	/* one less */
	k->claims.values.bank[0].present &= ~PCR_MASK(3);
	kit_seal(k);
	assert_reason(R_QUOTE_DIGEST, kit_check(k, q));
	/* none */
	memset(&k->claims.values, 0, sizeof k->claims.values);
	kit_seal(k);
	assert_reason(R_QUOTE_DIGEST, kit_check(k, q));
	/* one that the quote does not cover */
	k->claims.values = k->pcr;
	assert_ok(pcr_values_set(&k->claims.values, ALG_SHA256, 16, value));
	kit_seal(k);
	assert_reason(R_QUOTE_DIGEST, kit_check(k, q));
	/* a bank that the quote proves inactive */
	k->claims.values = k->pcr;
	assert_ok(pcr_values_set(&k->claims.values, ALG_SHA384, 0, value));
	kit_seal(k);
	assert_reason(R_QUOTE_DIGEST, kit_check(k, q));
}

/* A signed digest that is a prefix of the right one, or empty. */
static void test_digest_length(void **state)
{
	(void)state;
	for (size_t n = 0; n < SHA256_LEN; n++) {
		struct tpm_attest a;
		_cleanup_(blob_free) struct blob b = BLOB(LIMIT_TPM_ATTEST);

		assert_ok(tpm_quote_read(blob_bytes(&k->quote), &a));
		a.pcr_digest.n = n;
		assert_ok(tpm_attest_write(&a, &b));
		blob_reset(&k->quote);
		assert_ok(blob_append(&k->quote, b.p, b.n));
		kit_sign(k);
		kit_wrap(k);
		assert_reason(R_QUOTE_DIGEST, kit_check(k, q));
		kit_quote(k);
	}
}

/* A bank with an algorithm that nobody here can hash is refused by name. */
static void test_unknown_bank(void **state)
{
	struct tpm_attest a;
	_cleanup_(blob_free) struct blob b = BLOB(LIMIT_TPM_ATTEST);

	(void)state;
	assert_ok(pcr_selection_add(&k->session.selection, 0x0027, KIT_SELECTED));
	kit_quote(k);
	assert_ok(tpm_quote_read(blob_bytes(&k->quote), &a));
	a.selection.bank[4].mask = KIT_SELECTED;
	assert_ok(tpm_attest_write(&a, &b));
	blob_reset(&k->quote);
	assert_ok(blob_append(&k->quote, b.p, b.n));
	kit_sign(k);
	kit_wrap(k);
	assert_reason(R_POLICY_UNSUPPORTED_BANK, kit_check(k, q));
}

/* The same key, but below another parent (T35). */
static void test_signer(void **state)
{
	struct tpm_attest a;
	struct tpm_public ak;
	struct tpm_name name;
	struct tpm_name signer;
	_cleanup_(blob_free) struct blob b = BLOB(LIMIT_TPM_ATTEST);

	(void)state;
	assert_ok(tpm_public_read(bytes_of(k->ak_public, k->ak_public_n), &ak));
	assert_ok(tpm_name_of(&ak, &name));
	assert_ok(tpm_qualified_name(0x40000001, &name, &signer));
	assert_ok(tpm_quote_read(blob_bytes(&k->quote), &a));
	a.signer = tpm_name_bytes(&signer);
	assert_ok(tpm_attest_write(&a, &b));
	blob_reset(&k->quote);
	assert_ok(blob_append(&k->quote, b.p, b.n));
	kit_sign(k);
	kit_wrap(k);
	assert_reason(R_QUOTE_SIGNER, kit_check(k, q));
}

static void test_stage(void **state)
{
	(void)state;
	k->claims.stage = STAGE_HOST;
	kit_seal(k);
	assert_reason(R_SESSION_STAGE, kit_check(k, q));
}

/* Keys of other tools, offline: restricted or nothing. */
static void test_signature_check(void **state)
{
	_cleanup_(blob_free) struct blob b = BLOB(LIMIT_TPM_PUBLIC);
	struct bytes ak = bytes_of(k->ak_public, k->ak_public_n);
	struct tpm_public p;

	(void)state;
	assert_ok(quote_signature_check(ak, blob_bytes(&k->quote), blob_bytes(&k->signature)));
	assert_reason(R_QUOTE_SIGNATURE, quote_signature_check(ak, blob_bytes(&k->signature),
							       blob_bytes(&k->signature)));
	assert_reason(R_QUOTE_FORMAT, quote_signature_check(ak, blob_bytes(&k->evidence),
							    blob_bytes(&k->signature)));
	assert_ok(tpm_public_read(ak, &p));
	p.attributes &= ~TPMA_RESTRICTED;
	assert_ok(tpm_public_write(&p, &b));
	assert_reason(R_QUOTE_KEY, quote_signature_check(blob_bytes(&b), blob_bytes(&k->quote),
							 blob_bytes(&k->signature)));
	assert_ok(tpm_public_read(ak, &p));
	p.scheme = (struct tpm_scheme){ .alg = TPM_ALG_NULL };
	blob_reset(&b);
	assert_ok(tpm_public_write(&p, &b));
	assert_reason(R_QUOTE_SCHEME, quote_signature_check(blob_bytes(&b), blob_bytes(&k->quote),
							    blob_bytes(&k->signature)));
	/* SHA-1 is no hash to sign with */
	p.scheme = (struct tpm_scheme){ .alg = TPM_ALG_ECDSA, .hash = ALG_SHA1 };
	struct tpm_signature s;
	assert_ok(tpm_signature_read(blob_bytes(&k->signature), &s));
	s.hash = ALG_SHA1;
	assert_reason(R_QUOTE_SCHEME, quote_signature_verify(&p, &s, blob_bytes(&k->quote)));
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_good),	 TEST(test_envelope),	   TEST(test_key),
		TEST(test_signature),	 TEST(test_other_key),	   TEST(test_magic_and_type),
		TEST(test_trailing),	 TEST(test_nonce),	   TEST(test_domain),
		TEST(test_nonce_length), TEST(test_selection),	   TEST(test_relabel),
		TEST(test_values),	 TEST(test_digest_length), TEST(test_unknown_bank),
		TEST(test_signer),	 TEST(test_stage),	   TEST(test_signature_check),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
