/* SPDX-License-Identifier: Apache-2.0 */
#include "crypto/sign.h"
#include "unit.h"

static void test_sign_and_verify(void **state)
{
	_cleanup_(private_key_free) struct private_key *key = NULL;
	_cleanup_(private_key_free) struct private_key *other = NULL;
	uint8_t digest[SHA256_LEN], sig[ES256_LEN];
	struct ec_public public, foreign;

	(void)state;
	assert_ok(private_key_make(&key));
	assert_ok(private_key_make(&other));
	assert_ok(private_key_public(key, &public));
	assert_ok(private_key_public(other, &foreign));
	assert_memory_not_equal(&public, &foreign, sizeof(public));
	assert_ok(sha256(bytes_str("message"), digest));
	assert_ok(es256_sign(key, digest, sig));
	assert_ok(es256_verify(&public, digest, sig));
	assert_reason(R_COSE_SIGNATURE, es256_verify(&foreign, digest, sig));
}

/* One in 128 signatures has a number that begins with a zero byte. */
static void test_padding(void **state)
{
	_cleanup_(private_key_free) struct private_key *key = NULL;
	uint8_t digest[SHA256_LEN], sig[ES256_LEN];
	struct ec_public public;
	bool r = false, s = false;

	(void)state;
	assert_ok(private_key_make(&key));
	assert_ok(private_key_public(key, &public));
	assert_ok(sha256(bytes_str("message"), digest));
	for (unsigned int i = 0; i < 10000 && !(r && s); i++) {
		assert_ok(es256_sign(key, digest, sig));
		if (sig[0] != 0 && sig[P256_LEN] != 0)
			continue;
		r = r || sig[0] == 0;
		s = s || sig[P256_LEN] == 0;
		assert_ok(es256_verify(&public, digest, sig));
	}
	assert_true(r && s);
}

static void test_pem(void **state)
{
	_cleanup_(private_key_free) struct private_key *key = NULL;
	_cleanup_(private_key_free) struct private_key *again = NULL;
	_cleanup_(blob_free) struct blob pem = BLOB(4096);
	_cleanup_(blob_free) struct blob public_pem = BLOB(4096);
	struct ec_public a, b, c;

	(void)state;
	assert_ok(private_key_make(&key));
	assert_ok(private_key_to_pem(key, &pem));
	assert_memory_equal(pem.p, "-----BEGIN PRIVATE KEY-----\n", 28);
	assert_ok(private_key_from_pem(blob_bytes(&pem), &again));
	assert_ok(private_key_public(key, &a));
	assert_ok(private_key_public(again, &b));
	assert_memory_equal(&a, &b, sizeof(a));
	/* what openssl writes is what our strict reader reads */
	assert_ok(private_key_public_pem(key, &public_pem));
	assert_ok(ec_public_from_pem(blob_bytes(&public_pem), &c));
	assert_memory_equal(&a, &c, sizeof(a));
	/* a private key is no public one, and the other way round */
	assert_reason(R_SITE_KEYS, ec_public_from_pem(blob_bytes(&pem), &c));
	private_key_free(&again);
	assert_reason(R_SITE_KEYS, private_key_from_pem(blob_bytes(&public_pem), &again));
	assert_null(again);
}

static void test_pem_ceiling(void **state)
{
	_cleanup_(private_key_free) struct private_key *key = NULL;
	_cleanup_(blob_free) struct blob pem = BLOB(10);

	(void)state;
	assert_ok(private_key_make(&key));
	assert_reason(R_INTERNAL_TOO_LARGE, private_key_to_pem(key, &pem));
	assert_reason(R_INTERNAL_TOO_LARGE, private_key_public_pem(key, &pem));
	assert_int_equal(pem.n, 0);
}

static void test_pem_refused(void **state)
{
	static const char *const bad[] = {
		"",
		"nonsense",
		"-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----\n",
		/* P-384 */
		"-----BEGIN PRIVATE KEY-----\n"
		"MIG2AgEAMBAGByqGSM49AgEGBSuBBAAiBIGeMIGbAgEBBDBruYJ/p16l44mG8IkI\n"
		"4N6LnFqVJzs8zYjtJoFyA5wmlZYXR6Ks9T6XYNUG7CoQzQahZANiAAQg\n"
		"-----END PRIVATE KEY-----\n",
		/* Ed25519 */
		"-----BEGIN PRIVATE KEY-----\n"
		"MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC\n"
		"-----END PRIVATE KEY-----\n",
		/* encrypted: must not ask at the terminal */
		"-----BEGIN EC PRIVATE KEY-----\n"
		"Proc-Type: 4,ENCRYPTED\n"
		"DEK-Info: AES-128-CBC,0123456789ABCDEF0123456789ABCDEF\n"
		"\n"
		"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n"
		"-----END EC PRIVATE KEY-----\n",
	};
	struct private_key *key = NULL;
	static char big[10000];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		assert_reason(R_SITE_KEYS, private_key_from_pem(bytes_str(bad[i]), &key));
	memset(big, 'A', sizeof(big));
	assert_reason(R_SITE_KEYS, private_key_from_pem(bytes_of(big, sizeof(big)), &key));
	assert_null(key);
	private_key_free(&key);
}

static void test_no_memory(void **state)
{
	struct private_key *key = NULL;

	(void)state;
	unit_fail_allocation(0);
	assert_reason(R_INTERNAL_MEMORY, private_key_make(&key));
	assert_null(key);
	unit_fail_allocation(-1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sign_and_verify),
		cmocka_unit_test(test_padding),
		cmocka_unit_test(test_pem),
		cmocka_unit_test(test_pem_ceiling),
		cmocka_unit_test(test_pem_refused),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
