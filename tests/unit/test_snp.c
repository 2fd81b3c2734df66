/* SPDX-License-Identifier: Apache-2.0 */
/* SEV-SNP reports: signing keys, judgement. */
#include "appraise/snp.h"
#include "snp_kit.h"

static void test_good(void **state)
{
	(void)state;
	add_all();
	assert_ok(verify());
	assert_int_equal(v->product, SNP_GENOA);
	assert_true(v->nonce_checked);
	assert_int_equal(v->signer.path.count, 3);
	assert_int_equal(v->reported.microcode, 0x8f);
	assert_int_equal(v->reported.snp, 23);
	assert_int_equal(v->reported.bootloader, 10);
	assert_true(kit_noted(&v->notes, R_SNP_TCB_UNKNOWN));
	assert_true(kit_noted(&v->notes, R_CHAIN_REVOCATION_UNKNOWN));
	assert_int_equal(v->notes.n, 2);
	assert_string_equal(snp_product_name(v->product), "Genoa");
	/* with a list and a minimum nothing is left to say */
	kit_add_list(pool, &(struct kit_crl){ .issuer = "ARK-Genoa", .signer = ark_key });
	assert_ok(snp_verify(&e, &roots, bytes_of(report + 0x180, 8), v));
	assert_true(v->minimum_checked);
	assert_int_equal(v->notes.n, 0);
}

static void test_turin(void **state)
{
	static const uint8_t minimum[] = { 1, 2, 3, 4, 0, 0, 0, 5 };

	(void)state;
	product = SNP_TURIN;
	set_extensions("Turin", (const uint8_t[]){ 2, 3, 4, 5, 1 });
	/* hwID of Turin is 8 bytes */
	extension[6].n = 8;
	memset(report + 0x1a8, 0, 56);
	put(0x188, 0x021a, 2);
	put(0, 5, 4);
	put(0x1f8, 3, 8);
	put(0x200, 1, 8);
	put_tcb("0102030400000005");
	sign_with(vcek_key);
	add_all();
	assert_ok(snp_verify(&e, &roots, BYTES(minimum), v));
	assert_true(v->reported.has_fmc);
	assert_int_equal(v->reported.fmc, 1);
	assert_int_equal(v->reported.microcode, 5);
	assert_int_equal(v->report.launch_mitigations, 3);
	assert_int_equal(v->report.current_mitigations, 1);
	/* each part counts: as one number this report is above the minimum */
	free_pool(NULL);
	assert_ok(chain_pool_make(&pool));
	e.pool = pool;
	put_tcb("0002030400000006");
	set_extensions("Turin", (const uint8_t[]){ 2, 3, 4, 6, 0 });
	extension[6].n = 8;
	sign_with(vcek_key);
	add_all();
	assert_reason(R_SNP_TCB_MINIMUM, snp_verify(&e, &roots, BYTES(minimum), v));
}

/* The committed TCB is held against the minimum, and so is the reported one. */
static void test_minimum(void **state)
{
	static const uint8_t minimum[] = { 10, 0, 0, 0, 0, 0, 23, 0x8f };

	(void)state;
	add_all();
	assert_ok(snp_verify(&e, &roots, BYTES(minimum), v));
	put(0x1e6, 22, 1);
	sign_with(vcek_key);
	assert_reason(R_SNP_TCB_MINIMUM, snp_verify(&e, &roots, BYTES(minimum), v));
	assert_ok(verify());
	assert_true(kit_noted(&v->notes, R_SNP_TCB_ORDER));
}

static void test_reported_below_minimum(void **state)
{
	/* lower as a number, as its last byte is, but above in the bootloader */
	static const uint8_t minimum[] = { 11, 0, 0, 0, 0, 0, 22, 0x10 };

	(void)state;
	put(0x1e0, 11, 1);
	sign_with(vcek_key);
	add_all();
	assert_reason(R_SNP_TCB_MINIMUM, snp_verify(&e, &roots, BYTES(minimum), v));
	assert_reason(R_SNP_FORMAT, snp_verify(&e, &roots, bytes_of(minimum, 7), v));
}

static void test_order(void **state)
{
	(void)state;
	/* current microcode is below the committed one */
	put(0x3f, 0x8e, 1);
	sign_with(vcek_key);
	add_all();
	assert_ok(verify());
	assert_true(kit_noted(&v->notes, R_SNP_TCB_ORDER));
}

static void test_milan(void **state)
{
	(void)state;
	/* version 2 says nothing of the processor; "Milan-B0" is Milan */
	put(0, 2, 4);
	put(0x188, 0, 2);
	sign_with(vcek_key);
	product = SNP_MILAN;
	set_extensions("Milan-B0", (const uint8_t[]){ 10, 0, 23, 0x8f, 0 });
	add_all();
	assert_ok(verify());
	assert_true(kit_noted(&v->notes, R_SNP_MILAN));
}

static void test_debug(void **state)
{
	(void)state;
	put(8, 0xb0000, 8);
	sign_with(vcek_key);
	add_all();
	assert_ok(verify());
	assert_true(kit_noted(&v->notes, R_SNP_DEBUG));
}

static void test_vlek(void **state)
{
	(void)state;
	put(0x48, SNP_VLEK << 2, 4);
	memset(report + 0x1a0, 0, 64);
	sign_with(vcek_key);
	add_all();
	/* a VCEK does not sign what a VLEK is said to have signed */
	assert_reason(R_SNP_KEY, verify());
	vcek.name = "SEV-VLEK";
	extension[6] = (struct kit_extension){ OID "5", provider_der, sizeof(provider_der) - 1, false };
	kit_add_cert(pool, &vcek);
	assert_ok(verify());
	assert_bytes(v->key.provider, "CN=us", 5);
	assert_false(kit_noted(&v->notes, R_SNP_CHIP_MASKED));
}

static void test_no_key(void **state)
{
	(void)state;
	kit_add_cert(pool, &ask);
	assert_reason(R_SNP_KEY, verify());
	/* a key on another curve is none */
	vcek.key = kit_key("P-256");
	kit_add_cert(pool, &vcek);
	assert_reason(R_SNP_KEY, verify());
	EVP_PKEY_free(vcek.key);
}

static void test_signature(void **state)
{
	(void)state;
	sign_with(other_key);
	add_all();
	assert_reason(R_SNP_SIGNATURE, verify());
	assert_int_equal(v->signer.candidates, 1);
	assert_true(v->read);
}

/* Another certificate of the same key does not hide the right one. */
static void test_reissued(void **state)
{
	struct kit_cert other = vcek;

	(void)state;
	other.issuer = "Nobody";
	other.signer = other_key;
	kit_add_cert(pool, &other);
	assert_reason(R_CHAIN_INCOMPLETE, verify());
	/* one that is late says more than one that leads nowhere */
	other = vcek;
	other.not_after = KIT_NOW - 1;
	kit_add_cert(pool, &other);
	kit_add_cert(pool, &ask);
	kit_add_cert(pool, &ark);
	assert_reason(R_CHAIN_DATES, verify());
	kit_add_cert(pool, &vcek);
	assert_ok(verify());
	assert_int_equal(v->signer.candidates, 3);
	assert_int_equal(v->signer.path.count, 3);
	assert_string_equal(v->signer.cert->issuer, "CN=SEV-Genoa");
}

static void test_own_ark(void **state)
{
	(void)state;
	ark.key = ark.signer = ask.signer = other_key;
	add_all();
	assert_reason(R_CHAIN_ROOT, verify());
}

/* AMD's own roots are pinned, and a root of this test is none of them. */
static void test_amd_roots(void **state)
{
	(void)state;
	add_all();
	assert_int_equal(snp_amd_roots()->count, 3);
	assert_reason(R_CHAIN_ROOT, snp_verify(&e, snp_amd_roots(), BYTES_NONE, v));
}

static void test_product_of_root(void **state)
{
	(void)state;
	/* version 2 does not name the processor itself */
	put(0, 2, 4);
	sign_with(vcek_key);
	product = SNP_MILAN;
	add_all();
	assert_reason(R_SNP_PRODUCT, verify());
}

static void test_product_of_report(void **state)
{
	(void)state;
	put(0x188, 0x0119, 2);
	sign_with(vcek_key);
	add_all();
	assert_reason(R_SNP_PRODUCT, verify());
}

static void test_tcb(void **state)
{
	/* each part in turn */
	static const size_t at[] = { 0x180, 0x181, 0x186, 0x187 };

	(void)state;
	add_all();
	for (size_t i = 0; i < ARRAY_LEN(at); i++) {
		report[at[i]]++;
		sign_with(vcek_key);
		assert_reason(R_SNP_TCB, verify());
		report[at[i]]--;
	}
}

static void test_chip(void **state)
{
	(void)state;
	add_all();
	report[0x1a0] ^= 1;
	sign_with(vcek_key);
	assert_reason(R_SNP_CHIP, verify());
	memset(report + 0x1a0, 0, 64);
	sign_with(vcek_key);
	assert_ok(verify());
	assert_true(kit_noted(&v->notes, R_SNP_CHIP_MASKED));
}

static void test_chip_octets(void **state)
{
	static uint8_t chip_der[66];

	(void)state;
	chip_der[0] = 0x04;
	chip_der[1] = 64;
	memcpy(chip_der + 2, chip, 64);
	extension[6] = (struct kit_extension){ OID "4", chip_der, sizeof(chip_der), false };
	add_all();
	assert_ok(verify());
	assert_bytes(v->key.chip, chip, 64);
}

static void test_nonce(void **state)
{
	(void)state;
	add_all();
	nonce[63] ^= 1;
	assert_reason(R_SNP_NONCE, verify());
	/* a short one is filled with zeros, and only so */
	e.nonce = bytes_of(nonce, 32);
	assert_reason(R_SNP_NONCE, verify());
	memset(report + 0x50 + 32, 0, 32);
	sign_with(vcek_key);
	assert_ok(verify());
	e.nonce = bytes_of(nonce, 31);
	assert_reason(R_SNP_NONCE, verify());
	e.nonce = bytes_of(nonce, 0);
	assert_reason(R_SNP_NONCE, verify());
	e.nonce = BYTES_NONE;
	assert_ok(verify());
	assert_false(v->nonce_checked);
}

static void test_revoked(void **state)
{
	(void)state;
	add_all();
	kit_add_list(pool, &(struct kit_crl){ .issuer = "ARK-Genoa", .signer = ark_key, .revoked = 0x10 });
	assert_reason(R_CHAIN_REVOKED, verify());
}

static void test_stale_list(void **state)
{
	(void)state;
	add_all();
	kit_add_list(pool, &(struct kit_crl){ .issuer = "ARK-Genoa", .signer = ark_key,
					      .next_update = KIT_NOW - 1 });
	assert_ok(verify());
	assert_true(kit_noted(&v->notes, R_CHAIN_REVOCATION_STALE));
}

/* No byte of the report can be changed. */
static void test_bits(void **state)
{
	(void)state;
	add_all();
	assert_ok(verify());
	e.nonce = BYTES_NONE;
	for (size_t bit = 0; bit < sizeof(report) * 8; bit++) {
		report[bit / 8] ^= (uint8_t)(1u << bit % 8);
		if (verify() == R_OK)
			fail_msg("bit %zu may be changed", bit);
		report[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
	assert_ok(verify());
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, free_pool)
	const struct CMUnitTest tests[] = {
		TEST(test_good), TEST(test_turin), TEST(test_minimum),
		TEST(test_reported_below_minimum), TEST(test_order), TEST(test_milan),
		TEST(test_debug), TEST(test_vlek), TEST(test_no_key), TEST(test_signature),
		TEST(test_reissued), TEST(test_own_ark), TEST(test_amd_roots), TEST(test_product_of_root),
		TEST(test_product_of_report), TEST(test_tcb), TEST(test_chip),
		TEST(test_chip_octets), TEST(test_nonce), TEST(test_revoked),
		TEST(test_stale_list), TEST(test_bits),
	};

	return cmocka_run_group_tests(tests, make_keys, free_keys);
}
