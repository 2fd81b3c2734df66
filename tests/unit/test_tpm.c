/* SPDX-License-Identifier: Apache-2.0 */
/* TPM structures, against what swtpm answered (tests/tools/tpm-record). */
#include "unit.h"

#include <stdio.h>

#include "crypto/sign.h"
#include "format/tpm.h"
#include "tpm_kit.h"

/* ---- quotes ----------------------------------------------------------------- */

static void test_quote(void **state)
{
	_cleanup_(blob_free) struct blob raw = unhex(quote_attest);
	_cleanup_(blob_free) struct blob qualified = unhex(ak_qualified);
	_cleanup_(blob_free) struct blob again = BLOB(LIMIT_TPM_ATTEST);
	static const struct pcr_selection want = {
		.count = 4,
		.bank = { { ALG_SHA256, 0x4101 }, { ALG_SHA1, 0x100 }, { ALG_SHA384, 0 },
			  { ALG_SHA512, PCR_ALL } },
	};
	struct tpm_attest a;
	uint8_t extra[SHA256_LEN];

	(void)state;
	assert_ok(tpm_quote_read(blob_bytes(&raw), &a));
	assert_int_equal(a.type, TPM_ST_QUOTE);
	assert_bytes(a.signer, qualified.p, qualified.n);
	assert_ok(sha256(bytes_str("nonce"), extra));
	assert_bytes(a.extra, extra, sizeof(extra));
	assert_true(pcr_selection_equal(&a.selection, &want));
	assert_int_equal(a.pcr_digest.n, 32);
	assert_int_equal(a.restart_count, 0);
	assert_true(a.reset_count > 0);
	assert_true(a.clock > 0);
	assert_true(a.firmware != 0);
	assert_ok(tpm_attest_write(&a, &again));
	assert_bytes(blob_bytes(&again), raw.p, raw.n);
}

static void test_quote_digest(void **state)
{
	_cleanup_(blob_free) struct blob raw = unhex(quote_attest);
	_cleanup_(blob_free) struct blob sha256_8 = unhex(pcr8_sha256);
	_cleanup_(blob_free) struct blob sha1_8 = unhex(pcr8_sha1);
	_cleanup_(blob_free) struct blob sha512_8 = unhex(pcr8_sha512);
	struct pcr_values v = { 0 };
	uint8_t value[DIGEST_MAX], got[DIGEST_MAX];
	struct tpm_attest a;

	(void)state;
	assert_ok(tpm_quote_read(blob_bytes(&raw), &a));
	for (uint32_t pcr = 0; pcr < PCR_COUNT; pcr++) {
		pcr_reset_value(pcr, value);
		assert_ok(pcr_values_set(&v, ALG_SHA512, pcr, value));
		assert_ok(pcr_values_set(&v, ALG_SHA256, pcr, value));
	}
	assert_ok(pcr_values_set(&v, ALG_SHA256, 8, sha256_8.p));
	assert_ok(pcr_values_set(&v, ALG_SHA512, 8, sha512_8.p));
	assert_ok(pcr_values_set(&v, ALG_SHA1, 8, sha1_8.p));
	assert_ok(pcr_composite(&a.selection, &v, ALG_SHA256, got));
	assert_bytes(a.pcr_digest, got, 32);
	/* what the TPM makes of the extend is what we make of it */
	pcr_reset_value(8, value);
	memset(got, 2, sizeof(got));
	assert_ok(pcr_extend(ALG_SHA256, value, bytes_of(got, 32)));
	assert_memory_equal(value, sha256_8.p, 32);
}

static void test_quote_refused(void **state)
{
	_cleanup_(blob_free) struct blob raw = unhex(quote_attest);
	_cleanup_(blob_free) struct blob time = unhex(time_attest);
	_cleanup_(blob_free) struct blob audit = unhex(audit_attest);
	_cleanup_(blob_free) struct blob big = BLOB(LIMIT_TPM_ATTEST + 1);
	struct tpm_attest a = { .type = 7 };
	uint8_t *to;

	(void)state;
	for (size_t n = 0; n < raw.n; n++)
		assert_reason(R_QUOTE_FORMAT, tpm_quote_read(bytes_of(raw.p, n), &a));
	assert_ok(blob_u8(&raw, 0));
	assert_reason(R_QUOTE_FORMAT, tpm_quote_read(blob_bytes(&raw), &a));
	raw.n--;
	/* signed by a restricted key, but not a quote */
	assert_reason(R_QUOTE_TYPE, tpm_quote_read(blob_bytes(&time), &a));
	assert_reason(R_QUOTE_TYPE, tpm_quote_read(blob_bytes(&audit), &a));
	assert_reason(R_QUOTE_TYPE, tpm_session_audit_read(blob_bytes(&raw), &a));
	/* not made inside a TPM */
	raw.p[0] ^= 1;
	assert_reason(R_QUOTE_MAGIC, tpm_quote_read(blob_bytes(&raw), &a));
	raw.p[0] ^= 1;
	/* a name longer than any, a safe flag of 2 */
	raw.p[6] = 0xff;
	assert_reason(R_QUOTE_FORMAT, tpm_quote_read(blob_bytes(&raw), &a));
	raw.p[6] = 0;
	raw.p[6 + 2 + 34 + 2 + 32 + 16] = 2;
	assert_reason(R_QUOTE_FORMAT, tpm_quote_read(blob_bytes(&raw), &a));
	assert_ok(blob_extend(&big, LIMIT_TPM_ATTEST + 1, &to));
	memset(to, 0, LIMIT_TPM_ATTEST + 1);
	memcpy(to, raw.p, raw.n);
	assert_reason(R_QUOTE_FORMAT, tpm_quote_read(blob_bytes(&big), &a));
	assert_int_equal(a.type, 7);
	assert_reason(R_QUOTE_TYPE, tpm_attest_write(&a, &big));
}

/* ---- signatures --------------------------------------------------------------- */

static void test_signature_verifies(void **state)
{
	_cleanup_(blob_free) struct blob raw = unhex(quote_signature);
	_cleanup_(blob_free) struct blob attest = unhex(quote_attest);
	_cleanup_(blob_free) struct blob public = unhex(ak_public);
	_cleanup_(blob_free) struct blob again = BLOB(LIMIT_TPM_SIGNATURE);
	struct tpm_public p = read_public(&public);
	struct tpm_signature s;
	struct ec_public key;
	uint8_t digest[SHA256_LEN], fixed[ES256_LEN];

	(void)state;
	assert_ok(tpm_signature_read(blob_bytes(&raw), &s));
	assert_int_equal(s.scheme, TPM_ALG_ECDSA);
	assert_int_equal(s.hash, ALG_SHA256);
	assert_ok(tpm_signature_ecdsa(&s, P256_LEN, fixed));
	assert_int_equal(p.x.n, P256_LEN);
	memcpy(key.x, p.x.p, P256_LEN);
	memcpy(key.y, p.y.p, P256_LEN);
	assert_ok(sha256(blob_bytes(&attest), digest));
	assert_ok(es256_verify(&key, digest, fixed));
	assert_ok(tpm_signature_write(&s, &again));
	assert_bytes(blob_bytes(&again), raw.p, raw.n);
	fixed[5] ^= 1;
	assert_reason(R_COSE_SIGNATURE, es256_verify(&key, digest, fixed));
}

static void test_signature_rsa(void **state)
{
	const char *const signatures[] = { rsassa_signature, rsapss_signature };
	const char *const publics[] = { rsassa_public, rsapss_public };
	const char *const names[] = { rsassa_name, rsapss_name };
	const uint16_t schemes[] = { TPM_ALG_RSASSA, TPM_ALG_RSAPSS };

	(void)state;
	for (int i = 0; i < 2; i++) {
		_cleanup_(blob_free) struct blob raw = unhex(signatures[i]);
		_cleanup_(blob_free) struct blob public = unhex(publics[i]);
		_cleanup_(blob_free) struct blob want = unhex(names[i]);
		_cleanup_(blob_free) struct blob again = BLOB(LIMIT_TPM_SIGNATURE);
		struct tpm_public p = read_public(&public);
		struct tpm_signature s;
		struct tpm_name name;
		uint8_t fixed[ES256_LEN];

		assert_ok(tpm_signature_read(blob_bytes(&raw), &s));
		assert_int_equal(s.scheme, schemes[i]);
		assert_int_equal(s.rsa.n, 256);
		assert_int_equal(p.scheme.alg, schemes[i]);
		assert_int_equal(p.scheme.hash, ALG_SHA256);
		assert_int_equal(p.rsa_bits, 2048);
		assert_int_equal(p.exponent, 65537);
		assert_int_equal(p.modulus.n, 256);
		assert_ok(tpm_name_of(&p, &name));
		assert_bytes(tpm_name_bytes(&name), want.p, want.n);
		assert_reason(R_QUOTE_SCHEME, tpm_signature_ecdsa(&s, P256_LEN, fixed));
		assert_ok(tpm_signature_write(&s, &again));
		assert_bytes(blob_bytes(&again), raw.p, raw.n);
		assert_false(tpm_ak_public_matches_template(&p));
		assert_null(tpm_ek_template_of(&p));
	}
}

static void test_signature_refused(void **state)
{
	_cleanup_(blob_free) struct blob raw = unhex(quote_signature);
	_cleanup_(blob_free) struct blob big = BLOB(LIMIT_TPM_SIGNATURE + 1);
	static const uint8_t hmac[] = { 0x00, 0x05, 0x00, 0x0b, 0x00 };
	static const uint8_t none[] = { 0x00, 0x10 };
	struct tpm_signature s = { .scheme = 7 };
	uint8_t *to;

	(void)state;
	for (size_t n = 0; n < raw.n; n++)
		assert_reason(R_QUOTE_FORMAT, tpm_signature_read(bytes_of(raw.p, n), &s));
	assert_ok(blob_u8(&raw, 0));
	assert_reason(R_QUOTE_FORMAT, tpm_signature_read(blob_bytes(&raw), &s));
	assert_reason(R_QUOTE_SCHEME, tpm_signature_read(BYTES(hmac), &s));
	assert_reason(R_QUOTE_SCHEME, tpm_signature_read(BYTES(none), &s));
	raw.p[4] = 0xff;
	assert_reason(R_QUOTE_FORMAT, tpm_signature_read(blob_bytes(&raw), &s));
	assert_ok(blob_extend(&big, LIMIT_TPM_SIGNATURE + 1, &to));
	memset(to, 0, LIMIT_TPM_SIGNATURE + 1);
	assert_reason(R_QUOTE_FORMAT, tpm_signature_read(blob_bytes(&big), &s));
	assert_int_equal(s.scheme, 7);
	assert_reason(R_QUOTE_SCHEME, tpm_signature_write(&s, &big));
}

static void test_signature_padding(void **state)
{
	static const uint8_t n33[33] = { [1] = 0x80, [32] = 1 };
	static const uint8_t big33[33] = { [0] = 1 };
	static const uint8_t n31[31] = { [0] = 5 };
	static const uint8_t zero[32] = { 0 };
	struct tpm_signature s = { .scheme = TPM_ALG_ECDSA, .r = BYTES(n33), .s = BYTES(n31) };
	uint8_t fixed[2 * TPM_COORD_MAX] = { 0x77 };

	(void)state;
	/* one zero too many is stripped, one too few is added */
	assert_ok(tpm_signature_ecdsa(&s, 32, fixed));
	assert_memory_equal(fixed, n33 + 1, 32);
	assert_int_equal(fixed[32], 0);
	assert_memory_equal(fixed + 33, n31, 31);
	memset(fixed, 0x77, sizeof(fixed));
	s.r = BYTES(big33);
	assert_reason(R_QUOTE_FORMAT, tpm_signature_ecdsa(&s, 32, fixed));
	s.r = BYTES(zero);
	assert_reason(R_QUOTE_FORMAT, tpm_signature_ecdsa(&s, 32, fixed));
	s.r = BYTES_NONE;
	assert_reason(R_QUOTE_FORMAT, tpm_signature_ecdsa(&s, 32, fixed));
	s.r = s.s;
	s.s = BYTES(zero);
	assert_reason(R_QUOTE_FORMAT, tpm_signature_ecdsa(&s, 32, fixed));
	assert_reason(R_QUOTE_FORMAT, tpm_signature_ecdsa(&s, TPM_COORD_MAX + 1, fixed));
	assert_int_equal(fixed[0], 0x77);
}

/* ---- capabilities and audit ----------------------------------------------------- */

static void test_audit(void **state)
{
	_cleanup_(blob_free) struct blob answer = unhex(audit_answer);
	_cleanup_(blob_free) struct blob raw = unhex(audit_attest);
	_cleanup_(blob_free) struct blob again = BLOB(LIMIT_TPM_ATTEST);
	_cleanup_(blob_free) struct blob same = BLOB(256);
	struct bytes capability = bytes_of(answer.p + 1, answer.n - 1);
	struct pcr_selection banks;
	uint8_t digest[DIGEST_MAX];
	struct tpm_attest a;

	(void)state;
	assert_int_equal(answer.p[0], 0);	/* moreData */
	assert_ok(tpm_session_audit_read(blob_bytes(&raw), &a));
	assert_ok(tpm_audit_capability_pcrs(ALG_SHA256, capability, digest));
	assert_bytes(a.session_digest, digest, 32);
	assert_true(a.exclusive);
	assert_ok(tpm_attest_write(&a, &again));
	assert_bytes(blob_bytes(&again), raw.p, raw.n);

	assert_ok(tpm_capability_pcrs_read(capability, &banks));
	assert_int_equal(banks.count, 4);
	assert_int_equal(pcr_selection_bank(&banks, ALG_SHA384)->mask, PCR_ALL);
	assert_ok(tpm_capability_pcrs_write(&banks, &same));
	assert_bytes(blob_bytes(&same), capability.p, capability.n);

	for (size_t n = 0; n < capability.n; n++)
		assert_reason(R_FORMAT_TRUNCATED,
			      tpm_capability_pcrs_read(bytes_of(capability.p, n), &banks));
	assert_ok(blob_u8(&same, 0));
	assert_reason(R_FORMAT_TRAILING, tpm_capability_pcrs_read(blob_bytes(&same), &banks));
	same.p[3] = 6;
	assert_reason(R_FORMAT_TYPE, tpm_capability_pcrs_read(blob_bytes(&same), &banks));
	assert_reason(R_FORMAT_TYPE, tpm_audit_capability_pcrs(0x7fff, capability, digest));

	raw.p[raw.n - 35] = 2;		/* exclusive */
	assert_reason(R_QUOTE_FORMAT, tpm_session_audit_read(blob_bytes(&raw), &a));
}

/* ---- credentials ------------------------------------------------------------------ */

static void test_credentials(void **state)
{
	const char *const blobs[] = { ek_l1_credential, ek_h3_credential };
	const char *const secrets[] = { ek_l1_secret, ek_h3_secret };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(blobs); i++) {
		_cleanup_(blob_free) struct blob raw = unhex(blobs[i]);
		_cleanup_(blob_free) struct blob raw_secret = unhex(secrets[i]);
		_cleanup_(blob_free) struct blob out = BLOB(1024);
		struct tpm_id_object o;
		struct bytes secret;

		assert_ok(tpm_id_object_read(blob_bytes(&raw), &o));
		assert_int_equal(o.hmac.n, i == 0 ? 32 : 48);
		assert_int_equal(o.identity.n, 2 + strlen("the secret"));
		assert_ok(tpm_id_object_write(&o, &out));
		assert_bytes(blob_bytes(&out), raw.p, raw.n);
		for (size_t n = 0; n < raw.n; n++)
			assert_reason(R_FORMAT_TRUNCATED,
				      tpm_id_object_read(bytes_of(raw.p, n), &o));
		assert_ok(blob_u8(&raw, 0));
		assert_reason(R_FORMAT_TRAILING, tpm_id_object_read(blob_bytes(&raw), &o));

		blob_reset(&out);
		assert_ok(tpm_secret_read(blob_bytes(&raw_secret), &secret));
		assert_ok(tpm_secret_write(secret, &out));
		assert_bytes(blob_bytes(&out), raw_secret.p, raw_secret.n);
		assert_ok(blob_u8(&raw_secret, 0));
		assert_reason(R_FORMAT_TRAILING,
			      tpm_secret_read(blob_bytes(&raw_secret), &secret));
	}
}

static void test_credentials_refused(void **state)
{
	static const uint8_t large[TPM_SECRET_MAX + 1] = { 0xff, 0xff };
	static const uint8_t long_hmac[] = { 0, 2, 0, 65 };
	struct tpm_id_object o = { .hmac = bytes_of(large, 65) };
	struct bytes secret;
	uint8_t wide[2 + 2 + 67] = { 0, 69 };

	(void)state;
	assert_reason(R_FORMAT_RANGE, tpm_id_object_read(BYTES(large), &o));
	assert_reason(R_FORMAT_RANGE, tpm_id_object_read(BYTES(long_hmac), &o));
	assert_reason(R_FORMAT_RANGE, tpm_id_object_read(BYTES(wide), &o));
	assert_reason(R_FORMAT_RANGE, tpm_secret_read(BYTES(large), &secret));
	{
		_cleanup_(blob_free) struct blob out = BLOB(1024);

		assert_reason(R_FORMAT_RANGE, tpm_id_object_write(&o, &out));
		o = (struct tpm_id_object){ .identity = bytes_of(large, 67) };
		assert_reason(R_FORMAT_RANGE, tpm_id_object_write(&o, &out));
		assert_reason(R_FORMAT_RANGE, tpm_secret_write(BYTES(large), &out));
	}
}

static void test_point(void **state)
{
	_cleanup_(blob_free) struct blob raw = unhex(ek_h3_secret);
	_cleanup_(blob_free) struct blob out = BLOB(1024);
	static const uint8_t wide[TPM_COORD_MAX + 1];
	struct tpm_point p;
	struct bytes secret;

	(void)state;
	assert_ok(tpm_secret_read(blob_bytes(&raw), &secret));
	assert_ok(tpm_point_read(secret, &p));
	assert_int_equal(p.x.n, 48);
	assert_int_equal(p.y.n, 48);
	assert_ok(tpm_point_write(&p, &out));
	assert_bytes(blob_bytes(&out), secret.p, secret.n);
	for (size_t n = 0; n < secret.n; n++)
		assert_reason(R_FORMAT_TRUNCATED, tpm_point_read(bytes_of(secret.p, n), &p));
	assert_ok(blob_u8(&out, 0));
	assert_reason(R_FORMAT_TRAILING, tpm_point_read(blob_bytes(&out), &p));
	p.x = BYTES(wide);
	assert_reason(R_FORMAT_RANGE, tpm_point_write(&p, &out));
	out.p[1] = TPM_COORD_MAX + 1;
	assert_reason(R_FORMAT_RANGE, tpm_point_read(blob_bytes(&out), &p));
}

/* ---- what other tools wrote ------------------------------------------------------- */

/* A file of the corpus, whose folder is $CORPUS or what it was built with. */
static bool corpus_file(const char *name, struct blob *ret)
{
	const char *folder = getenv("CORPUS");
	char path[1024];
	uint8_t chunk[4096];
	size_t n;
	FILE *f;

	snprintf(path, sizeof(path), "%s/quote/%s", folder ? folder : CORPUS, name);
	f = fopen(path, "rb");
	if (!f)
		return false;
	while ((n = fread(chunk, 1, sizeof(chunk), f)) > 0)
		assert_ok(blob_append(ret, chunk, n));
	fclose(f);
	return true;
}

#define KEYLIME "keylime+keylime/test-data/files/"

static void test_corpus(void **state)
{
	_cleanup_(blob_free) struct blob ak = BLOB(8192), name = BLOB(8192), ek = BLOB(8192);
	_cleanup_(blob_free) struct blob quote = BLOB(8192), sig = BLOB(8192), cred = BLOB(8192);
	struct tpm_public p;
	struct tpm_name got;
	struct tpm_attest a;
	struct tpm_signature s;
	struct tpm_id_object o;
	struct cursor c;
	uint16_t size;

	(void)state;
	if (!corpus_file(KEYLIME "ak.pub", &ak))
		return;		/* no corpus here */
	assert_true(corpus_file(KEYLIME "ak.name", &name));
	assert_true(corpus_file(KEYLIME "ek.pub", &ek));
	assert_true(corpus_file(KEYLIME "quote.out", &quote));
	assert_true(corpus_file(KEYLIME "quotesig.out", &sig));
	assert_true(corpus_file(KEYLIME "mkcred.out", &cred));

	assert_ok(tpm_public_read_file(blob_bytes(&ak), &p));
	assert_ok(tpm_name_of(&p, &got));
	assert_bytes(tpm_name_bytes(&got), name.p, name.n);
	assert_ok(tpm_public_read_file(blob_bytes(&ek), &p));
	assert_string_equal(tpm_ek_template_of(&p)->name, "L-1");
	assert_ok(tpm_quote_read(blob_bytes(&quote), &a));
	assert_ok(tpm_signature_read(blob_bytes(&sig), &s));
	assert_int_equal(s.scheme, TPM_ALG_RSASSA);
	/* tpm2-tools put a header of 8 bytes in front, and the secret behind */
	c = cursor_of(bytes_of(cred.p + 8, cred.n - 8));
	assert_ok(cursor_be16(&c, &size));
	assert_ok(tpm_id_object_read(bytes_of(cred.p + 8, 2u + size), &o));
	assert_int_equal(o.hmac.n, 32);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_quote),
		cmocka_unit_test(test_quote_digest),
		cmocka_unit_test(test_quote_refused),
		cmocka_unit_test(test_signature_verifies),
		cmocka_unit_test(test_signature_rsa),
		cmocka_unit_test(test_signature_refused),
		cmocka_unit_test(test_signature_padding),
		cmocka_unit_test(test_audit),
		cmocka_unit_test(test_credentials),
		cmocka_unit_test(test_credentials_refused),
		cmocka_unit_test(test_point),
		cmocka_unit_test(test_corpus),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
