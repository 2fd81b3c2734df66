/* SPDX-License-Identifier: Apache-2.0 */
/* The fleet's AK template, and those of the EK Credential Profile. */
#include "unit.h"

#include "crypto/digest.h"
#include "tpm_kit.h"

static void test_ak_template(void **state)
{
	_cleanup_(blob_free) struct blob raw = unhex(ak_public);
	struct tpm_public p = read_public(&raw);
	struct tpm_public t;

	(void)state;
	assert_true(tpm_ak_public_matches_template(&p));
	for (size_t i = 0; i < p.before_unique.n; i++) {
		struct tpm_public other;

		raw.p[i] ^= 1;
		if (tpm_public_read(blob_bytes(&raw), &other) == R_OK)
			assert_false(tpm_ak_public_matches_template(&other));
		raw.p[i] ^= 1;
	}
	assert_ok(tpm_public_read(tpm_ak_template, &t));
	/* noDA: no boot may run into a lockout */
	assert_true(t.attributes & TPMA_NO_DA);
	assert_true(t.attributes & TPMA_RESTRICTED);
	assert_false(t.attributes & TPMA_DECRYPT);
	p.x = BYTES_NONE;
	assert_false(tpm_ak_public_matches_template(&p));
	p.x = p.whole;
	assert_false(tpm_ak_public_matches_template(&p));
}

static void test_ek_made(void **state)
{
	const char *const made[] = { ek_l1_public, ek_l2_public, ek_h1_public, ek_h2_public,
				     ek_h3_public };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(made); i++) {
		_cleanup_(blob_free) struct blob raw = unhex(made[i]);
		struct tpm_public p = read_public(&raw);
		struct tpm_public t;

		assert_ptr_equal(tpm_ek_template_of(&p), &tpm_ek_template[i]);
		assert_false(tpm_ak_public_matches_template(&p));
		assert_ok(tpm_public_read(tpm_ek_template[i].pub, &t));
		assert_true(t.attributes & TPMA_DECRYPT);
		assert_false(t.attributes & TPMA_SIGN);
	}
}

/* What table and annex B of the profile say, in the order of the indices. */
static const struct {
	const char *name;
	uint32_t index;
	uint16_t type, bits_or_curve, name_alg, aes;
	uint32_t attributes;
	uint32_t policy_index;		/* of PolicyB, 0 for PolicyA */
	size_t unique;			/* bytes of one number in `unique` */
} profile[] = {
	{ "L-1", 0x01c00002, TPM_ALG_RSA, 2048, ALG_SHA256, 128, 0x000300b2, 0, 256 },
	{ "L-2", 0x01c0000a, TPM_ALG_ECC, TPM_ECC_P256, ALG_SHA256, 128, 0x000300b2, 0, 32 },
	{ "H-1", 0x01c00012, TPM_ALG_RSA, 2048, ALG_SHA256, 128, 0x000300f2, 0x01c07f01, 0 },
	{ "H-2", 0x01c00014, TPM_ALG_ECC, TPM_ECC_P256, ALG_SHA256, 128, 0x000300f2, 0x01c07f01, 0 },
	{ "H-3", 0x01c00016, TPM_ALG_ECC, TPM_ECC_P384, ALG_SHA384, 256, 0x000300f2, 0x01c07f02, 0 },
	{ "H-4", 0x01c00018, TPM_ALG_ECC, TPM_ECC_P521, ALG_SHA512, 256, 0x000300f2, 0x01c07f03, 0 },
	{ "H-6", 0x01c0001c, TPM_ALG_RSA, 3072, ALG_SHA384, 256, 0x000300f2, 0x01c07f02, 0 },
	{ "H-7", 0x01c0001e, TPM_ALG_RSA, 4096, ALG_SHA384, 256, 0x000300f2, 0x01c07f02, 0 },
};

#define BE16(v) (uint8_t)((v) >> 8), (uint8_t)(v)
#define BE32(v) BE16((v) >> 16), BE16((v) & 0xffffu)

static void hash(uint16_t alg, struct bytes a, struct bytes b, struct bytes c, uint8_t ret[DIGEST_MAX])
{
	const struct bytes pieces[] = { a, b, c };

	assert_ok(digest_of(alg, pieces, ARRAY_LEN(pieces), ret));
}

/* PolicySecret(TPM_RH_ENDORSEMENT) with an empty policyRef: hashed twice. */
static void policy_a(uint16_t alg, uint8_t ret[DIGEST_MAX])
{
	static const uint8_t command[] = { BE32(0x151u), BE32(0x4000000bu) };
	const uint8_t zero[DIGEST_MAX] = { 0 };
	uint8_t once[DIGEST_MAX];

	hash(alg, bytes_of(zero, digest_len(alg)), BYTES(command), BYTES_NONE, once);
	hash(alg, bytes_of(once, digest_len(alg)), BYTES_NONE, BYTES_NONE, ret);
}

/* PolicyOR(PolicyA, PolicyAuthorizeNV(index)), the index as the profile defines it. */
static void policy_b(uint16_t alg, uint32_t index, uint8_t ret[DIGEST_MAX])
{
	static const uint8_t authorize_nv[] = { BE32(0x192u) }, or[] = { BE32(0x171u) };
	const uint8_t zero[DIGEST_MAX] = { 0 };
	const size_t n = digest_len(alg);
	const uint8_t start[] = { BE32(index), BE16(alg), BE32(0x220f1008u), BE16(n) };
	const uint8_t size[] = { BE16(n + 2) };
	uint8_t name[2 + DIGEST_MAX] = { BE16(alg) };
	uint8_t both[2 * DIGEST_MAX];

	policy_a(alg, both);
	hash(alg, BYTES(start), bytes_of(both, n), BYTES(size), name + 2);
	hash(alg, bytes_of(zero, n), BYTES(authorize_nv), bytes_of(name, 2 + n), both + n);
	hash(alg, bytes_of(zero, n), BYTES(or), bytes_of(both, 2 * n), ret);
}

static void test_ek_profile(void **state)
{
	(void)state;
	assert_int_equal(ARRAY_LEN(profile), TPM_EK_TEMPLATES);
	for (size_t i = 0; i < ARRAY_LEN(profile); i++) {
		const struct tpm_ek_template *t = &tpm_ek_template[i];
		bool rsa = profile[i].type == TPM_ALG_RSA;
		uint8_t policy[DIGEST_MAX];
		struct tpm_public p;

		assert_string_equal(t->name, profile[i].name);
		assert_int_equal(t->cert_index, profile[i].index);
		assert_ok(tpm_public_read(t->pub, &p));
		assert_int_equal(p.type, profile[i].type);
		assert_int_equal(rsa ? p.rsa_bits : p.curve, profile[i].bits_or_curve);
		assert_int_equal(p.name_alg, profile[i].name_alg);
		assert_int_equal(p.attributes, profile[i].attributes);
		assert_int_equal(p.symmetric.alg, TPM_ALG_AES);
		assert_int_equal(p.symmetric.bits, profile[i].aes);
		assert_int_equal(p.symmetric.mode, TPM_ALG_CFB);
		assert_int_equal(p.scheme.alg, TPM_ALG_NULL);
		assert_int_equal(rsa ? p.modulus.n : p.x.n, profile[i].unique);
		assert_int_equal(p.y.n, rsa ? 0 : profile[i].unique);
		if (profile[i].policy_index != 0)
			policy_b(p.name_alg, profile[i].policy_index, policy);
		else
			policy_a(p.name_alg, policy);
		assert_bytes(p.policy, policy, digest_len(p.name_alg));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ak_template),
		cmocka_unit_test(test_ek_made),
		cmocka_unit_test(test_ek_profile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
