/* SPDX-License-Identifier: Apache-2.0 */
/* SEV-SNP reports: layout, signing keys, judgement. */
#include "cvm_kit.h"

#include "appraise/snp.h"

#define OID "1.3.6.1.4.1.3704.1."

static EVP_PKEY *ark_key, *ask_key, *vcek_key, *other_key;
static uint8_t pin[1][SHA256_LEN];
static struct chain_pool *pool;
static uint8_t report[SNP_REPORT_LEN], chip[64], nonce[64];
static struct snp_result *v;
static struct cvm_evidence e;

/* What varies. */
static enum snp_product product;
static struct snp_roots roots = { pin, &product, 1 };
static struct kit_cert ark, ask, vcek;
static struct kit_extension extension[10];
static uint8_t product_der[16], spl[6][4], chip_der[66];
static const char provider_der[] = "\x16\x05" "CN=us";

static void put(size_t at, uint64_t value, size_t n)
{
	for (size_t i = 0; i < n; i++)
		report[at + i] = (uint8_t)(value >> 8 * i);
}

static void put_tcb(const char *hex)
{
	static const size_t at[] = { 0x38, 0x180, 0x1e0, 0x1f0 };

	for (size_t i = 0; i < ARRAY_LEN(at); i++)
		assert_ok(hex_decode(bytes_str(hex), report + at[i], SNP_TCB_LEN));
}

static void sign_with(EVP_PKEY *key)
{
	uint8_t rs[96];

	kit_sign_raw(key, EVP_sha384(), bytes_of(report, SNP_SIGNED_LEN), 48, rs);
	memset(report + SNP_SIGNED_LEN, 0, SNP_REPORT_LEN - SNP_SIGNED_LEN);
	for (size_t i = 0; i < 48; i++) {
		report[SNP_SIGNED_LEN + i] = rs[47 - i];
		report[SNP_SIGNED_LEN + 72 + i] = rs[95 - i];
	}
}

/* Numbers of the TCB in the order of the OIDs .3.1 .3.2 .3.3 .3.8 .3.9 */
static void set_extensions(const char *name, const uint8_t tcb[5])
{
	static const char *const oids[] = { OID "3.1", OID "3.2", OID "3.3", OID "3.8", OID "3.9" };

	product_der[0] = 0x16;
	product_der[1] = (uint8_t)strlen(name);
	memcpy(product_der + 2, name, strlen(name));
	extension[0] = (struct kit_extension){ OID "2", product_der, 2 + strlen(name), false };
	for (size_t i = 0; i < 5; i++) {
		size_t n = 0;

		spl[i][n++] = 0x02;
		spl[i][n++] = tcb[i] > 0x7f ? 2 : 1;
		if (tcb[i] > 0x7f)
			spl[i][n++] = 0;
		spl[i][n++] = tcb[i];
		extension[1 + i] = (struct kit_extension){ oids[i], spl[i], n, false };
	}
	extension[6] = (struct kit_extension){ OID "4", chip, 64, false };
}

static int setup(void **state)
{
	(void)state;
	assert_ok(chain_pool_make(&pool));
	product = SNP_GENOA;
	ark = (struct kit_cert){ .name = "ARK-Genoa", .issuer = "ARK-Genoa", .key = ark_key,
				 .signer = ark_key, .ca = true, .no_pathlen_zero = true };
	ask = (struct kit_cert){ .name = "SEV-Genoa", .issuer = "ARK-Genoa", .key = ask_key,
				 .signer = ark_key, .ca = true, .serial = 0x10 };
	vcek = (struct kit_cert){ .name = "SEV-VCEK", .issuer = "SEV-Genoa", .key = vcek_key,
				  .signer = ask_key, .extension = extension, .extensions = 7 };
	for (size_t i = 0; i < sizeof(chip); i++)
		chip[i] = (uint8_t)(0xc0 + i);
	for (size_t i = 0; i < sizeof(nonce); i++)
		nonce[i] = (uint8_t)(i + 1);
	set_extensions("Genoa", (const uint8_t[]){ 10, 0, 23, 0x8f, 0 });

	memset(report, 0, sizeof(report));
	put(0, 3, 4);
	put(8, 0x30000, 8);
	put(0x34, 1, 4);
	put_tcb("0a0000000000178f");
	memcpy(report + 0x50, nonce, 64);
	put(0x188, 0x1119, 2);
	memcpy(report + 0x1a0, chip, 64);
	sign_with(vcek_key);
	e = (struct cvm_evidence){ BYTES(report), BYTES(nonce), pool, KIT_NOW };
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	chain_pool_free(&pool);
	return 0;
}

static void add_all(void)
{
	kit_add_cert(pool, &vcek);
	kit_add_cert(pool, &ask);
	kit_add_cert(pool, &ark);
}

static enum reason verify(void)
{
	return snp_verify(&e, &roots, BYTES_NONE, v);
}

static bool noted(enum reason r)
{
	for (size_t i = 0; i < v->notes.n; i++)
		if (v->notes.v[i] == r)
			return true;
	return false;
}

static void test_good(void **state)
{
	(void)state;
	add_all();
	assert_ok(verify());
	assert_int_equal(v->product, SNP_GENOA);
	assert_true(v->nonce_checked);
	assert_int_equal(v->path.count, 3);
	assert_int_equal(v->reported.microcode, 0x8f);
	assert_int_equal(v->reported.snp, 23);
	assert_int_equal(v->reported.bootloader, 10);
	assert_true(noted(R_SNP_TCB_UNKNOWN));
	assert_true(noted(R_CHAIN_REVOCATION_UNKNOWN));
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
	teardown(NULL);
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
	assert_true(noted(R_SNP_TCB_ORDER));
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
	assert_true(noted(R_SNP_TCB_ORDER));
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
	assert_true(noted(R_SNP_MILAN));
}

static void test_debug(void **state)
{
	(void)state;
	put(8, 0xb0000, 8);
	sign_with(vcek_key);
	add_all();
	assert_ok(verify());
	assert_true(noted(R_SNP_DEBUG));
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
	assert_false(noted(R_SNP_CHIP_MASKED));
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
	assert_int_equal(v->candidates, 1);
	assert_true(v->read);
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
	assert_true(noted(R_SNP_CHIP_MASKED));
}

static void test_chip_octets(void **state)
{
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
	assert_true(noted(R_CHAIN_REVOCATION_STALE));
}

static void test_envelopes(void **state)
{
	static uint8_t wrapped[32 + SNP_REPORT_LEN + 40];

	(void)state;
	add_all();
	memcpy(wrapped + 32, report, sizeof(report));
	/* what SNP_GET_REPORT returns: status, size */
	wrapped[4] = 0xa0;
	wrapped[5] = 0x04;
	e.bytes = BYTES(wrapped);
	assert_ok(verify());
	memcpy(wrapped, "HCLA\x02", 5);
	assert_ok(verify());
	wrapped[1] = 'X';
	assert_reason(R_CVM_EVIDENCE, verify());
	e.bytes = bytes_of(report, sizeof(report) - 1);
	assert_reason(R_CVM_EVIDENCE, verify());
	memmove(wrapped, report, sizeof(report));
	e.bytes = bytes_of(wrapped, sizeof(report) + 40);
	assert_ok(verify());
}

static void test_layout(void **state)
{
	struct snp_report r;

	(void)state;
	assert_ok(snp_report_read(BYTES(report), &r));
	assert_bytes(r.measurement, report + 0x90, 48);
	assert_bytes(r.host_data, report + 0xc0, 32);
	assert_bytes(r.id_key_digest, report + 0xe0, 48);
	assert_bytes(r.author_key_digest, report + 0x110, 48);
	assert_bytes(r.report_id, report + 0x140, 32);
	assert_bytes(r.reported_tcb, report + 0x180, 8);
	assert_bytes(r.chip_id, report + 0x1a0, 64);
	assert_bytes(r.committed_tcb, report + 0x1e0, 8);
	assert_bytes(r.launch_tcb, report + 0x1f0, 8);
	assert_int_equal(r.cpu_family, 0x19);
	assert_int_equal(r.cpu_model, 0x11);
	assert_reason(R_FORMAT_TRUNCATED, snp_report_read(bytes_of(report, 700), &r));
	/* the reader of the report alone takes nothing behind it */
	static uint8_t longer[SNP_REPORT_LEN + 1];
	memcpy(longer, report, sizeof(report));
	assert_reason(R_FORMAT_TRAILING, snp_report_read(BYTES(longer), &r));

	static const struct {
		size_t at;
		uint8_t value;
		enum reason want;
	} wrong[] = {
		{ 0, 1, R_SNP_VERSION },	{ 0, 4, R_SNP_VERSION },
		{ 0, 6, R_SNP_VERSION },	{ 0x34, 2, R_SNP_FORMAT },
		{ 0x48, 2, R_SNP_FORMAT },	{ 0x48, 7 << 2, R_SNP_FORMAT },
		{ 0x2a0 + 48, 1, R_SNP_FORMAT }, { 0x2a0 + 72 + 71, 1, R_SNP_FORMAT },
		{ 0x330, 1, R_SNP_FORMAT },	{ 0x49f, 1, R_SNP_FORMAT },
	};
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		uint8_t before = report[wrong[i].at];

		report[wrong[i].at] = wrong[i].value;
		assert_reason(wrong[i].want, snp_report_read(BYTES(report), &r));
		report[wrong[i].at] = before;
	}
}

static void test_processors(void **state)
{
	static const struct {
		uint8_t family, model;
		enum snp_product want;
	} cases[] = {
		{ 0x19, 0x01, SNP_MILAN },  { 0x19, 0x0f, SNP_MILAN },	{ 0x19, 0x10, SNP_GENOA },
		{ 0x19, 0x1f, SNP_GENOA },  { 0x19, 0xa0, SNP_GENOA },	{ 0x19, 0xaf, SNP_GENOA },
		{ 0x1a, 0x00, SNP_TURIN },  { 0x1a, 0x11, SNP_TURIN },	{ 0x1a, 0x12, SNP_PRODUCT_UNKNOWN },
		{ 0x19, 0x20, SNP_PRODUCT_UNKNOWN }, { 0x19, 0x9f, SNP_PRODUCT_UNKNOWN },
		{ 0x19, 0xb0, SNP_PRODUCT_UNKNOWN }, { 0x17, 0x01, SNP_PRODUCT_UNKNOWN },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		assert_int_equal(snp_product_cpuid(cases[i].family, cases[i].model), cases[i].want);
}

static void test_key_extensions(void **state)
{
	static const uint8_t one[] = { 2, 1, 1 }, two_bytes[] = { 2, 2, 1, 0 }, text[] = { 0x16, 1, 'a' };
	static const char milan[] = "\x16\x05Milan", milano[] = "\x16\x06Milano", no[] = "\x16\x04Rome";
	struct snp_key_extensions x = {
		.product = bytes_of(milan, 7), .bootloader = BYTES(one), .tee = BYTES(one),
		.snp = BYTES(one), .microcode = BYTES(one),
	};
	struct snp_key_extensions y;
	struct snp_key key;

	(void)state;
	assert_ok(snp_key_read(&x, &key));
	assert_int_equal(key.product, SNP_MILAN);
	for (size_t i = 0; i < 12; i++) {
		y = x;
		switch (i) {
		case 0: y.product = bytes_of(milano, 8); break;
		case 1: y.product = bytes_of(no, 6); break;
		case 2: y.product = BYTES(one); break;
		case 3: y.bootloader = BYTES(two_bytes); break;
		case 4: y.tee = BYTES(text); break;
		case 5: y.snp = BYTES_NONE; break;
		case 6: y.microcode = bytes_of(one, 2); break;
		/* Turin's without its FMC */
		case 7: y.product = bytes_of("\x16\x05Turin", 7); break;
		case 8: y.chip = BYTES(one); break;
		case 9: y.chip = BYTES(text); break;
		case 10: y.provider = BYTES(one); break;
		default: y.product = BYTES_NONE; break;
		}
		assert_reason(R_SNP_FORMAT, snp_key_read(&y, &key));
	}
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
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
		T(test_good), T(test_turin), T(test_minimum), T(test_reported_below_minimum), T(test_order),
		T(test_milan), T(test_debug), T(test_vlek), T(test_no_key), T(test_signature),
		T(test_own_ark), T(test_amd_roots), T(test_product_of_root), T(test_product_of_report),
		T(test_tcb), T(test_chip), T(test_chip_octets), T(test_nonce), T(test_revoked),
		T(test_stale_list), T(test_envelopes), T(test_layout), T(test_processors),
		T(test_key_extensions), T(test_bits),
	};
	int r;

	v = calloc(1, sizeof(*v));
	ark_key = kit_key("P-384");
	ask_key = kit_key("P-384");
	vcek_key = kit_key("P-384");
	other_key = kit_key("P-384");
	kit_pin(ark_key, pin[0]);
	r = cmocka_run_group_tests(tests, NULL, NULL);
	EVP_PKEY_free(ark_key);
	EVP_PKEY_free(ask_key);
	EVP_PKEY_free(vcek_key);
	EVP_PKEY_free(other_key);
	free(v);
	return r;
}
