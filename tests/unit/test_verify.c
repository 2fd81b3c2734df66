/* SPDX-License-Identifier: Apache-2.0 */
/* Signatures of TPMs as the server checks them: RSA, and ECDSA on other curves. */
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/rsa.h>

#include "crypto/sign.h"
#include "unit.h"

enum { CURVE_P256 = 3, CURVE_P384 = 4, CURVE_P521 = 5 };

struct rsa {
	EVP_PKEY *key;
	uint8_t modulus[512];
	size_t n;
};

static struct rsa rsa_make(unsigned int bits)
{
	struct rsa r = { .key = EVP_RSA_gen(bits) };
	BIGNUM *n = NULL;

	assert_non_null(r.key);
	assert_int_equal(EVP_PKEY_get_bn_param(r.key, OSSL_PKEY_PARAM_RSA_N, &n), 1);
	r.n = (size_t)BN_bn2bin(n, r.modulus);
	BN_free(n);
	return r;
}

static size_t rsa_sign(const struct rsa *r, bool pss, int salt, const EVP_MD *md,
		       const uint8_t *digest, uint8_t sig[512])
{
	EVP_PKEY_CTX *c = EVP_PKEY_CTX_new(r->key, NULL);
	size_t n = 512;

	assert_int_equal(EVP_PKEY_sign_init(c), 1);
	assert_int_equal(EVP_PKEY_CTX_set_rsa_padding(c, pss ? RSA_PKCS1_PSS_PADDING :
							       RSA_PKCS1_PADDING), 1);
	assert_int_equal(EVP_PKEY_CTX_set_signature_md(c, md), 1);
	if (pss)
		assert_int_equal(EVP_PKEY_CTX_set_rsa_pss_saltlen(c, salt), 1);
	assert_int_equal(EVP_PKEY_sign(c, sig, &n, digest, (size_t)EVP_MD_get_size(md)), 1);
	EVP_PKEY_CTX_free(c);
	return n;
}

static int make_rsa(void **state)
{
	static struct rsa r;

	r = rsa_make(2048);
	*state = &r;
	return 0;
}

static int free_rsa(void **state)
{
	EVP_PKEY_free(((struct rsa *)*state)->key);
	return 0;
}

static void test_rsa(void **state)
{
	const struct rsa *r = *state;
	const struct {
		uint16_t alg;
		const EVP_MD *md;
	} algs[] = {
		{ ALG_SHA1, EVP_sha1() },     { ALG_SHA256, EVP_sha256() },
		{ ALG_SHA384, EVP_sha384() }, { ALG_SHA512, EVP_sha512() },
	};
	struct bytes modulus = bytes_of(r->modulus, r->n);
	uint8_t digest[DIGEST_MAX], sig[512];

	for (size_t i = 0; i < ARRAY_LEN(algs); i++) {
		size_t len = digest_len(algs[i].alg);
		struct bytes in = bytes_str("message");

		assert_ok(digest_of(algs[i].alg, &in, 1, digest));
		for (int salt = 0; salt <= 20; salt += 20) {
			size_t n = rsa_sign(r, true, salt, algs[i].md, digest, sig);

			assert_ok(rsa_verify(modulus, 65537, true, algs[i].alg,
					     bytes_of(digest, len), bytes_of(sig, n)));
			/* the scheme is not guessed (T28) */
			assert_reason(R_COSE_SIGNATURE,
				      rsa_verify(modulus, 65537, false, algs[i].alg,
						 bytes_of(digest, len), bytes_of(sig, n)));
		}
		size_t n = rsa_sign(r, false, 0, algs[i].md, digest, sig);

		assert_ok(rsa_verify(modulus, 65537, false, algs[i].alg, bytes_of(digest, len),
				     bytes_of(sig, n)));
		assert_reason(R_COSE_SIGNATURE,
			      rsa_verify(modulus, 65537, true, algs[i].alg, bytes_of(digest, len),
					 bytes_of(sig, n)));
	}
}

static void test_rsa_refusals(void **state)
{
	const struct rsa *r = *state;
	struct bytes modulus = bytes_of(r->modulus, r->n);
	uint8_t digest[SHA256_LEN], sig[513];
	struct bytes d = BYTES(digest);
	size_t n;

	assert_ok(sha256(bytes_str("message"), digest));
	n = rsa_sign(r, false, 0, EVP_sha256(), digest, sig);
	sig[n] = 0;
	/* length, exponent, algorithm, digest length */
	assert_reason(R_COSE_SIGNATURE,
		      rsa_verify(modulus, 65537, false, ALG_SHA256, d, bytes_of(sig, n + 1)));
	assert_reason(R_COSE_SIGNATURE,
		      rsa_verify(modulus, 65537, false, ALG_SHA256, d, bytes_of(sig, n - 1)));
	assert_reason(R_COSE_SIGNATURE,
		      rsa_verify(modulus, 65537, false, ALG_SHA256, d, BYTES_NONE));
	assert_reason(R_COSE_SIGNATURE,
		      rsa_verify(modulus, 3, false, ALG_SHA256, d, bytes_of(sig, n)));
	assert_reason(R_COSE_SIGNATURE,
		      rsa_verify(modulus, 0, false, ALG_SHA256, d, bytes_of(sig, n)));
	assert_reason(R_COSE_SIGNATURE,
		      rsa_verify(modulus, 65537, false, ALG_SM3, d, bytes_of(sig, n)));
	assert_reason(R_COSE_SIGNATURE,
		      rsa_verify(modulus, 65537, false, 0x0010, d, bytes_of(sig, n)));
	assert_reason(R_COSE_SIGNATURE, rsa_verify(modulus, 65537, false, ALG_SHA256,
						   bytes_of(digest, 31), bytes_of(sig, n)));
	/* another key, no key */
	assert_reason(R_COSE_SIGNATURE, rsa_verify(bytes_of(r->modulus, r->n - 1), 65537, false,
						   ALG_SHA256, d, bytes_of(sig, n)));
	assert_reason(R_COSE_SIGNATURE,
		      rsa_verify(BYTES_NONE, 65537, false, ALG_SHA256, d, bytes_of(sig, n)));
	static uint8_t huge[1025] = { 0x80 };
	assert_reason(R_COSE_SIGNATURE,
		      rsa_verify(BYTES(huge), 65537, false, ALG_SHA256, d, bytes_of(sig, n)));
	for (size_t i = 0; i < n; i += 17) {
		sig[i] ^= 1;
		assert_reason(R_COSE_SIGNATURE,
			      rsa_verify(modulus, 65537, false, ALG_SHA256, d, bytes_of(sig, n)));
		sig[i] ^= 1;
	}
	assert_ok(rsa_verify(modulus, 65537, false, ALG_SHA256, d, bytes_of(sig, n)));
}

static void test_rsa_too_short(void **state)
{
	struct rsa r = rsa_make(1024);
	uint8_t digest[SHA256_LEN], sig[512];
	size_t n;

	(void)state;
	assert_ok(sha256(bytes_str("message"), digest));
	n = rsa_sign(&r, false, 0, EVP_sha256(), digest, sig);
	assert_reason(R_COSE_SIGNATURE, rsa_verify(bytes_of(r.modulus, r.n), 65537, false,
						   ALG_SHA256, BYTES(digest), bytes_of(sig, n)));
	EVP_PKEY_free(r.key);
}

/* RFC 6979 A.2.6 and A.2.7, message "sample". */
static const struct {
	uint16_t curve, alg;
	const char *x, *y, *r, *s;
} ecdsa[] = {
	{ CURVE_P384, ALG_SHA384,
	  "ec3a4e415b4e19a4568618029f427fa5da9a8bc4ae92e02e06aae5286b300c64"
	  "def8f0ea9055866064a254515480bc13",
	  "8015d9b72d7d57244ea8ef9ac0c621896708a59367f9dfb9f54ca84b3f1c9db1"
	  "288b231c3ae0d4fe7344fd2533264720",
	  "94edbb92a5ecb8aad4736e56c691916b3f88140666ce9fa73d64c4ea95ad133c"
	  "81a648152e44acf96e36dd1e80fabe46",
	  "99ef4aeb15f178cea1fe40db2603138f130e740a19624526203b6351d0a3a94f"
	  "a329c145786e679e7b82c71a38628ac8" },
	{ CURVE_P384, ALG_SHA256,
	  "ec3a4e415b4e19a4568618029f427fa5da9a8bc4ae92e02e06aae5286b300c64"
	  "def8f0ea9055866064a254515480bc13",
	  "8015d9b72d7d57244ea8ef9ac0c621896708a59367f9dfb9f54ca84b3f1c9db1"
	  "288b231c3ae0d4fe7344fd2533264720",
	  "21b13d1e013c7fa1392d03c5f99af8b30c570c6f98d4ea8e354b63a21d3daa33"
	  "bde1e888e63355d92fa2b3c36d8fb2cd",
	  "f3aa443fb107745bf4bd77cb3891674632068a10ca67e3d45db2266fa7d1feeb"
	  "efdc63eccd1ac42ec0cb8668a4fa0ab0" },
	{ CURVE_P521, ALG_SHA512,
	  "01894550d0785932e00eaa23b694f213f8c3121f86dc97a04e5a7167db4e5bcd"
	  "371123d46e45db6b5d5370a7f20fb633155d38ffa16d2bd761dcac474b9a2f50"
	  "23a4",
	  "00493101c962cd4d2fddf782285e64584139c2f91b47f87ff82354d6630f746a"
	  "28a0db25741b5b34a828008b22acc23f924faafbd4d33f81ea66956dfeaa2bfd"
	  "fcf5",
	  "00c328fafcbd79dd77850370c46325d987cb525569fb63c5d3bc53950e6d4c5f"
	  "174e25a1ee9017b5d450606add152b534931d7d4e8455cc91f9b15bf05ec36e3"
	  "77fa",
	  "00617cce7cf5064806c467f678d3b4080d6f1cc50af26ca209417308281b68af"
	  "282623eaa63e5b5c0723d8b8c37ff0777b1a20f8ccb1dccc43997f1ee0e44da4"
	  "a67a" },
};

static void test_ecdsa(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(ecdsa); i++) {
		_cleanup_(blob_free) struct blob x = unhex(ecdsa[i].x);
		_cleanup_(blob_free) struct blob y = unhex(ecdsa[i].y);
		_cleanup_(blob_free) struct blob r = unhex(ecdsa[i].r);
		_cleanup_(blob_free) struct blob s = unhex(ecdsa[i].s);
		struct bytes in = bytes_str("sample");
		uint8_t digest[DIGEST_MAX];
		struct bytes d = bytes_of(digest, digest_len(ecdsa[i].alg));
		uint16_t curve = ecdsa[i].curve;

		assert_ok(digest_of(ecdsa[i].alg, &in, 1, digest));
		assert_ok(ecdsa_verify(curve, blob_bytes(&x), blob_bytes(&y), d, blob_bytes(&r),
				       blob_bytes(&s)));
		/* another curve, r and s exchanged, zero, nothing, too long */
		assert_reason(R_COSE_SIGNATURE,
			      ecdsa_verify(curve == CURVE_P384 ? CURVE_P521 : CURVE_P384,
					   blob_bytes(&x), blob_bytes(&y), d, blob_bytes(&r),
					   blob_bytes(&s)));
		assert_reason(R_COSE_SIGNATURE,
			      ecdsa_verify(0x0010, blob_bytes(&x), blob_bytes(&y), d,
					   blob_bytes(&r), blob_bytes(&s)));
		assert_reason(R_COSE_SIGNATURE,
			      ecdsa_verify(curve, blob_bytes(&x), blob_bytes(&y), d,
					   blob_bytes(&s), blob_bytes(&r)));
		assert_reason(R_COSE_SIGNATURE,
			      ecdsa_verify(curve, blob_bytes(&x), blob_bytes(&y), d, BYTES_NONE,
					   blob_bytes(&s)));
		assert_reason(R_COSE_SIGNATURE,
			      ecdsa_verify(curve, blob_bytes(&x), blob_bytes(&y), d,
					   blob_bytes(&r), BYTES_NONE));
		static const uint8_t zeros[67];
		assert_reason(R_COSE_SIGNATURE,
			      ecdsa_verify(curve, blob_bytes(&x), blob_bytes(&y), d,
					   bytes_of(zeros, 1), blob_bytes(&s)));
		assert_reason(R_COSE_SIGNATURE,
			      ecdsa_verify(curve, blob_bytes(&x), blob_bytes(&y), d, BYTES(zeros),
					   blob_bytes(&s)));
		assert_reason(R_COSE_SIGNATURE,
			      ecdsa_verify(curve, BYTES(zeros), blob_bytes(&y), d,
					   blob_bytes(&r), blob_bytes(&s)));
		assert_reason(R_COSE_SIGNATURE,
			      ecdsa_verify(curve, BYTES_NONE, BYTES_NONE, d, blob_bytes(&r),
					   blob_bytes(&s)));
		digest[0] ^= 1;
		assert_reason(R_COSE_SIGNATURE,
			      ecdsa_verify(curve, blob_bytes(&x), blob_bytes(&y), d,
					   blob_bytes(&r), blob_bytes(&s)));
	}
}

/* As TPMs write them: without the zeros in front. */
static void test_short_numbers(void **state)
{
	_cleanup_(blob_free) struct blob x = unhex(
		"60fed4ba255a9d31c961eb74c6356d68c049b8923b61fa6ce669622e60f29fb6");
	_cleanup_(blob_free) struct blob y = unhex(
		"7903fe1008b8bc99a41ae9e95628bc64f2f1b20c2d7e9f5177a3c294d4462299");
	_cleanup_(blob_free) struct blob r = unhex(
		"a97af007fe15eb5cf162f7a01365711d59d0ee28d997a619289d64db87b424");
	_cleanup_(blob_free) struct blob s = unhex(
		"c50e22c0f08f7e87c047b550321e7fb69b783bd317ff71d70f9a06b2881e65e4");
	uint8_t digest[SHA256_LEN];

	(void)state;
	assert_ok(sha256(bytes_str("sample"), digest));
	assert_ok(ecdsa_verify(CURVE_P256, blob_bytes(&x), blob_bytes(&y), BYTES(digest),
			       blob_bytes(&r), blob_bytes(&s)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rsa),
		cmocka_unit_test(test_rsa_refusals),
		cmocka_unit_test(test_rsa_too_short),
		cmocka_unit_test(test_ecdsa),
		cmocka_unit_test(test_short_numbers),
	};

	return cmocka_run_group_tests(tests, make_rsa, free_rsa);
}
