/* SPDX-License-Identifier: Apache-2.0 */
/* Enrolment at the server: AK, list of banks, endorsement keys (T1, T35). */
#include <time.h>

#include "evidence_kit.h"
#include "cert_kit.h"

#include "appraise/ek.h"
#include "appraise/ek_trust.h"
#include "crypto/issue.h"

static struct kit *k;
static struct enrol_request m;
static struct ek_result *result;
static size_t count;
static struct pcr_selection implemented;
static struct cert_store *cas;
static int64_t now;
static struct blob capability, attest, signature, ek[3];
static struct private_key *ek_key;
static uint8_t nonce[NONCE_LEN], new_nonce[NONCE_LEN];
static uint8_t modulus[256];
static struct tpm_attest a;
static uint8_t session_digest[DIGEST_MAX], extra[SHA256_LEN];
static struct tpm_name signer;

static void sign_banks(void)
{
	blob_reset(&k->quote);
	assert_ok(tpm_attest_write(&a, &k->quote));
	kit_sign(k);
	blob_reset(&attest);
	blob_reset(&signature);
	assert_ok(blob_append(&attest, k->quote.p, k->quote.n));
	assert_ok(blob_append(&signature, k->signature.p, k->signature.n));
	m.banks = (struct enrol_banks){ blob_bytes(&capability), blob_bytes(&attest),
					blob_bytes(&signature) };
}

static void make_banks(void)
{
	struct pcr_selection s = { 0 };
	struct tpm_public ak;
	struct tpm_name name;

	assert_ok(pcr_selection_add(&s, ALG_SHA1, 0));
	assert_ok(pcr_selection_add(&s, ALG_SHA256, PCR_ALL));
	assert_ok(pcr_selection_add(&s, ALG_SHA384, PCR_ALL));
	blob_reset(&capability);
	assert_ok(tpm_capability_pcrs_write(&s, &capability));
	assert_ok(quote_qualifying(QUOTE_BANKS, nonce, blob_bytes(&capability), extra));
	assert_ok(tpm_audit_capability_pcrs(ALG_SHA256, blob_bytes(&capability), session_digest));
	assert_ok(tpm_public_read(bytes_of(k->ak_public, k->ak_public_n), &ak));
	assert_ok(tpm_name_of(&ak, &name));
	assert_ok(tpm_qualified_name(TPM_RH_ENDORSEMENT, &name, &signer));
	a = (struct tpm_attest){ .type = TPM_ST_SESSION_AUDIT, .signer = tpm_name_bytes(&signer),
				 .extra = BYTES(extra), .exclusive = true,
				 .session_digest = bytes_of(session_digest, SHA256_LEN) };
	sign_banks();
}

static void make_ek(size_t i, size_t template, struct bytes x, struct bytes y)
{
	struct tpm_public p;

	assert_ok(tpm_public_read(tpm_ek_template[template].pub, &p));
	if (p.type == TPM_ALG_RSA) {
		p.modulus = x;
	} else {
		p.x = x;
		p.y = y;
	}
	blob_reset(&ek[i]);
	assert_ok(tpm_public_write(&p, &ek[i]));
	m.ek[i].public_area = blob_bytes(&ek[i]);
}

static int setup(void **state)
{
	struct ec_public point;

	(void)state;
	k = kit_new();
	result = calloc(LIMIT_EKS, sizeof *result);
	capability = BLOB(1024);
	attest = BLOB(LIMIT_TPM_ATTEST);
	signature = BLOB(LIMIT_TPM_SIGNATURE);
	memset(&m, 0, sizeof m);
	memset(nonce, 1, sizeof nonce);
	memset(new_nonce, 2, sizeof new_nonce);
	memset(modulus, 0xc5, sizeof modulus);
	m.ak_public = bytes_of(k->ak_public, k->ak_public_n);
	make_banks();
	assert_ok(private_key_make(&ek_key));
	assert_ok(private_key_public(ek_key, &point));
	for (size_t i = 0; i < ARRAY_LEN(ek); i++)
		ek[i] = BLOB(LIMIT_TPM_PUBLIC);
	make_ek(0, 0, BYTES(modulus), BYTES_NONE);
	make_ek(1, 1, BYTES(point.x), BYTES(point.y));
	m.ek_count = 2;
	assert_ok(cert_store_make(&cas));
	now = (int64_t)time(NULL);
	return result ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	kit_free(&k);
	free(result);
	blob_free(&capability);
	blob_free(&attest);
	blob_free(&signature);
	for (size_t i = 0; i < ARRAY_LEN(ek); i++)
		blob_free(&ek[i]);
	private_key_free(&ek_key);
	cert_store_free(&cas);
	return 0;
}

static enum reason check(void)
{
	return enrol_check(&m, k->session.ak_name, nonce, new_nonce, cas, now, &implemented,
			   result, &count);
}

static void test_good(void **state)
{
	struct tpm_id_object o;
	struct bytes secret;

	(void)state;
	assert_ok(check());
	assert_int_equal(count, 2);
	assert_int_equal(implemented.count, 3);
	assert_int_equal(implemented.bank[2].alg, ALG_SHA384);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(result[i].trust, EK_TRUST_NONE);
		assert_reason(R_EK_UNTRUSTED, result[i].reason);
		assert_false(result[i].has_certificate);
		assert_int_equal(result[i].name_len, 34);
		assert_ok(tpm_id_object_read(bytes_of(result[i].id_object,
						      result[i].id_object_len), &o));
		assert_int_equal(o.hmac.n, 32);
		assert_int_equal(o.identity.n, 34);
		assert_ok(tpm_secret_read(bytes_of(result[i].secret, result[i].secret_len),
					  &secret));
	}
	assert_int_equal(secret.n, 2 + 32 + 2 + 32);
	assert_memory_not_equal(result[0].proof, result[1].proof, SHA256_LEN);
}

static void test_ak(void **state)
{
	(void)state;
	k->session.ak_name[4] ^= 1;
	assert_reason(R_NODE_AK, check());
	k->session.ak_name[4] ^= 1;
	k->ak_public[8] ^= 1;
	assert_reason(R_NODE_AK, check());
	m.ak_public.n--;
	assert_reason(R_NODE_AK, check());
}

/* The list of banks is the TPM's word or nobody's. */
static void test_banks(void **state)
{
	struct tpm_name other = signer;

	(void)state;
	nonce[0] ^= 1;
	assert_reason(R_ENROL_BANKS, check());
	nonce[0] ^= 1;
	signature.p[signature.n - 1] ^= 1;
	assert_reason(R_ENROL_BANKS, check());
	signature.p[signature.n - 1] ^= 1;
	assert_ok(check());
	/* another list than the session saw */
	capability.p[capability.n - 1] ^= 1;
	assert_reason(R_ENROL_BANKS, check());
	capability.p[capability.n - 1] ^= 1;
	session_digest[0] ^= 1;
	sign_banks();
	assert_reason(R_ENROL_BANKS, check());
	session_digest[0] ^= 1;
	other.b[5] ^= 1;
	a.signer = tpm_name_bytes(&other);
	sign_banks();
	assert_reason(R_ENROL_BANKS, check());
	a.signer = tpm_name_bytes(&signer);
	/* a quote is no session audit */
	kit_make(k);
	m.banks.attest = blob_bytes(&k->quote);
	m.banks.signature = blob_bytes(&k->signature);
	assert_reason(R_ENROL_BANKS, check());
}

static void test_keys(void **state)
{
	struct tpm_public p;

	(void)state;
	/* the same twice is one */
	m.ek[2].public_area = m.ek[1].public_area;
	m.ek_count = 3;
	assert_ok(check());
	assert_int_equal(count, 2);
	/* not of a template: left out; none left: refused */
	for (size_t i = 0; i < 2; i++) {
		assert_ok(tpm_public_read(blob_bytes(&ek[i]), &p));
		p.attributes &= ~TPMA_RESTRICTED;
		struct blob b = BLOB(LIMIT_TPM_PUBLIC);
		assert_ok(tpm_public_write(&p, &b));
		blob_free(&ek[i]);
		ek[i] = b;
		m.ek[i].public_area = blob_bytes(&ek[i]);
		m.ek_count = 2;
		assert_reason(i == 0 ? R_OK : R_EK_TEMPLATE, check());
	}
	m.ek[0].public_area = bytes_str("no key");
	m.ek_count = 1;
	assert_reason(R_FORMAT_TYPE, check());
}

static struct blob decoded(struct bytes pem)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	struct blob der = BLOB(LIMIT_EK_CERT);
	const char *at = memmem(pem.p, pem.n, "-----\n", 6);
	uint32_t bits = 0;
	unsigned have = 0;

	assert_non_null(at);
	for (at += 6; *at != '-' && *at != '='; at++) {
		if (*at == '\n')
			continue;
		bits = bits << 6 | (uint32_t)(strchr(digits, *at) - digits);
		have += 6;
		if (have >= 8) {
			have -= 8;
			assert_ok(blob_u8(&der, (uint8_t)(bits >> have)));
		}
	}
	return der;
}

/* A list of certificates must not find this key by one that was not seen to be its own. */
static void assert_no_digest(size_t i)
{
	static const uint8_t none[SHA256_LEN];

	assert_false(result[i].has_certificate);
	assert_memory_equal(result[i].certificate_digest, none, sizeof none);
}

/* T1: the certificate of one TPM with the key of another. */
static void test_certificates(void **state)
{
	_cleanup_(blob_free) struct blob pem = BLOB(LIMIT_EK_CERT);
	struct blob der;
	struct private_key *other = NULL;
	uint8_t digest[SHA256_LEN];

	(void)state;
	assert_ok(issue_ca(ek_key, "ek", 10, &pem));
	der = decoded(blob_bytes(&pem));
	m.ek[1].certificate = blob_bytes(&der);
	assert_ok(check());
	assert_true(result[1].has_certificate);
	assert_ok(sha256(blob_bytes(&der), digest));
	assert_memory_equal(result[1].certificate_digest, digest, sizeof digest);
	/* its own key, but a CA's */
	assert_reason(R_EK_PROFILE, result[1].reason);
	assert_string_equal(result[1].detail, "EK certificate: the certificate is a CA's");
	assert_int_equal(result[1].trust, EK_TRUST_NONE);
	/* a trailing byte is no certificate */
	assert_ok(blob_u8(&der, 0));
	m.ek[1].certificate = blob_bytes(&der);
	assert_ok(check());
	assert_reason(R_EK_FORMAT, result[1].reason);
	assert_no_digest(1);
	der.n--;
	m.ek[1].certificate = blob_bytes(&der);
	/* an RSA key with it */
	m.ek[0].certificate = blob_bytes(&der);
	assert_ok(check());
	assert_reason(R_EK_MISMATCH, result[0].reason);
	assert_no_digest(0);
	blob_free(&der);
	assert_ok(private_key_make(&other));
	blob_reset(&pem);
	assert_ok(issue_ca(other, "ek", 10, &pem));
	der = decoded(blob_bytes(&pem));
	m.ek[1].certificate = blob_bytes(&der);
	m.ek[0].certificate = BYTES_NONE;
	assert_ok(check());
	assert_reason(R_EK_MISMATCH, result[1].reason);
	assert_no_digest(1);
	assert_int_equal(result[1].trust, EK_TRUST_NONE);
	blob_free(&der);
	private_key_free(&other);
}

/* ---- certificates that lead to a vendor ----------------------------------------- */

static struct made root, issuer, leaf;
static struct blob leaf_der;

/* The EK at 1 with a certificate; only the root is in the folder. */
static void make_certified(const char *names)
{
	struct spec s = leaf_spec;
	uint8_t point[1 + 2 * 32];
	size_t n;

	s.names = names;
	root = make(&root_spec, NULL);
	issuer = make(&issuer_spec, &root);
	leaf = make(&s, &issuer);
	assert_int_equal(EVP_PKEY_get_octet_string_param(leaf.key, "pub", point, sizeof point, &n),
			 1);
	make_ek(1, 1, bytes_of(point + 1, 32), bytes_of(point + 33, 32));
	leaf_der = der_of(&leaf);
	m.ek[1].certificate = blob_bytes(&leaf_der);
	trust(cas, &root);
}

static void free_certified(void)
{
	unmake(&root);
	unmake(&issuer);
	unmake(&leaf);
	blob_free(&leaf_der);
}

/* Of the root and of what the EK certificate says of its TPM, and of nothing else. */
static void assert_origin(const struct ek_result *e)
{
	struct cert_info i;
	struct cert *c;
	struct blob der = der_of(&root);
	uint8_t want[SHA256_LEN], other[SHA256_LEN];

	assert_true(e->has_origin);
	assert_ok(cert_read(blob_bytes(&der), &c));
	assert_ok(cert_describe(c, &i));
	assert_ok(ek_origin(i.digest, "IBM", "SW  TPM", want));
	assert_memory_equal(e->origin, want, SHA256_LEN);
	assert_ok(ek_origin(i.digest, "IBMS", "W  TPM", other));
	assert_memory_not_equal(want, other, SHA256_LEN);
	i.digest[0] ^= 1;
	assert_ok(ek_origin(i.digest, "IBM", "SW  TPM", other));
	assert_memory_not_equal(want, other, SHA256_LEN);
	cert_free(&c);
	blob_free(&der);
}

/* The CAs in between come from the TPM. */
static void test_trusted(void **state)
{
	struct blob chain;

	(void)state;
	make_certified("critical,dirName:tpm");
	assert_ok(check());
	assert_reason(R_EK_UNTRUSTED, result[1].reason);
	assert_string_equal(result[1].detail,
			    "EK certificate: no certificate of its issuer is there");
	chain = der_of(&issuer);
	m.chain = blob_bytes(&chain);
	assert_ok(check());
	assert_reason(R_OK, result[1].reason);
	assert_int_equal(result[1].trust, EK_TRUST_CA);
	assert_string_equal(result[1].detail, "");
	assert_origin(&result[1]);
	now += 2L * DAY;
	assert_ok(check());
	assert_reason(R_EK_EXPIRED, result[1].reason);
	assert_int_equal(result[1].trust, EK_TRUST_NONE);
	assert_false(result[1].has_origin);
	blob_free(&chain);
	free_certified();
}

static void with_firmware(uint16_t major, uint16_t minor)
{
	a.firmware = (uint64_t)major << 48 | (uint64_t)minor << 32 | 0x1234;
	sign_banks();
	assert_ok(check());
}

/* The version counts that the TPM signs, not that of the certificate. */
static void test_firmware(void **state)
{
	struct blob chain;

	(void)state;
	make_certified("critical,dirName:infineon");
	chain = der_of(&issuer);
	m.chain = blob_bytes(&chain);
	with_firmware(5, 62);
	assert_reason(R_OK, result[1].reason);
	with_firmware(5, 61);
	assert_reason(R_EK_FIRMWARE, result[1].reason);
	assert_int_equal(result[1].trust, EK_TRUST_NONE);
	assert_string_equal(result[1].detail,
			    "firmware 5.61: CVE-2017-15361 (ROCA), see Microsoft ADV170012");
	/* whatever else there is to say */
	m.chain = BYTES_NONE;
	with_firmware(5, 61);
	assert_reason(R_EK_FIRMWARE, result[1].reason);
	with_firmware(5, 62);
	assert_reason(R_EK_UNTRUSTED, result[1].reason);
	blob_free(&chain);
	free_certified();
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_good), TEST(test_ak), TEST(test_banks), TEST(test_keys),
		TEST(test_certificates), TEST(test_trusted), TEST(test_firmware),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
