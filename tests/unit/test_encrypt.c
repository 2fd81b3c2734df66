/* SPDX-License-Identifier: Apache-2.0 */
/* What the server encrypts to a TPM; the TPM's part is played by OpenSSL. */
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/rsa.h>

#include "crypto/cert.h"
#include "unit.h"

static void test_rsa_oaep(void **state)
{
	static const struct {
		uint16_t alg;
		const char *name;
	} algs[] = {
		{ ALG_SHA1, "SHA1" },	  { ALG_SHA256, "SHA256" }, { ALG_SHA384, "SHA384" },
		{ ALG_SHA512, "SHA512" }, { ALG_SM3, "SM3" },
	};
	EVP_PKEY *key = EVP_RSA_gen(2048);
	uint8_t modulus[256];
	BIGNUM *n = NULL;

	(void)state;
	assert_int_equal(EVP_PKEY_get_bn_param(key, OSSL_PKEY_PARAM_RSA_N, &n), 1);
	assert_int_equal(BN_bn2bin(n, modulus), 256);
	BN_free(n);
	for (size_t i = 0; i < ARRAY_LEN(algs); i++) {
		_cleanup_(blob_free) struct blob sealed = BLOB(300);
		EVP_PKEY_CTX *c = EVP_PKEY_CTX_new(key, NULL);
		uint8_t plain[256];
		size_t len = sizeof(plain);

		/* TPM 2.0 Part 1 B.4: the label has its NUL */
		assert_ok(rsa_oaep(BYTES(modulus), 65537, algs[i].alg, bytes_of("IDENTITY", 9),
				   bytes_str("seed"), &sealed));
		assert_int_equal(sealed.n, 256);
		assert_int_equal(EVP_PKEY_decrypt_init(c), 1);
		assert_int_equal(EVP_PKEY_CTX_set_rsa_padding(c, RSA_PKCS1_OAEP_PADDING), 1);
		assert_int_equal(EVP_PKEY_CTX_set_rsa_oaep_md_name(c, algs[i].name, NULL), 1);
		assert_int_equal(EVP_PKEY_CTX_set_rsa_mgf1_md_name(c, algs[i].name, NULL), 1);
		assert_int_equal(EVP_PKEY_CTX_set0_rsa_oaep_label(
			c, OPENSSL_memdup("IDENTITY", 9), 9), 1);
		assert_int_equal(EVP_PKEY_decrypt(c, plain, &len, sealed.p, sealed.n), 1);
		assert_bytes(bytes_of(plain, len), "seed", 4);
		EVP_PKEY_CTX_free(c);
	}
	EVP_PKEY_free(key);
}

static void test_rsa_oaep_refusals(void **state)
{
	_cleanup_(blob_free) struct blob out = BLOB(300);
	uint8_t modulus[256], label[65] = { 0 }, plain[200] = { 0 };

	(void)state;
	memset(modulus, 0xff, sizeof(modulus));
	/* too long a plaintext, an empty key, a short one */
	assert_reason(R_EK_FORMAT, rsa_oaep(BYTES(modulus), 65537, ALG_SHA256,
					    bytes_str("x"), BYTES(plain), &out));
	assert_reason(R_EK_FORMAT, rsa_oaep(BYTES_NONE, 65537, ALG_SHA256, bytes_str("x"),
					    bytes_str("seed"), &out));
	assert_reason(R_EK_FORMAT, rsa_oaep(bytes_of(modulus, 16), 65537, ALG_SHA256,
					    bytes_str("x"), bytes_str("seed"), &out));
	assert_reason(R_INTERNAL_CRYPTO, rsa_oaep(BYTES(modulus), 65537, 0x0010, bytes_str("x"),
						  bytes_str("seed"), &out));
	assert_reason(R_INTERNAL_CRYPTO, rsa_oaep(BYTES(modulus), 65537, ALG_SHA256, BYTES(label),
						  bytes_str("seed"), &out));
	assert_int_equal(out.n, 0);
}

static void test_ecdh(void **state)
{
	static const struct {
		const char *group;
		uint16_t curve;
		size_t len;
	} curves[] = { { "P-256", 3, 32 }, { "P-384", 4, 48 }, { "P-521", 5, 66 } };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(curves); i++) {
		_cleanup_(blob_free) struct blob z = BLOB(66), ex = BLOB(66), ey = BLOB(66);
		EVP_PKEY *tpm = EVP_EC_gen(curves[i].group);
		EVP_PKEY *peer = EVP_PKEY_new();
		size_t len = curves[i].len;
		uint8_t point[133], shared[66];
		size_t n;

		assert_int_equal(EVP_PKEY_get_octet_string_param(tpm, "pub", point, sizeof(point),
								 &n), 1);
		assert_ok(ecdh_ephemeral(curves[i].curve, bytes_of(point + 1, len),
					 bytes_of(point + 1 + len, len), &z, &ex, &ey));
		assert_int_equal(z.n, len);
		assert_int_equal(ex.n, len);
		assert_int_equal(ey.n, len);
		/* the TPM's side comes to the same */
		point[0] = 4;
		memcpy(point + 1, ex.p, len);
		memcpy(point + 1 + len, ey.p, len);
		assert_int_equal(EVP_PKEY_copy_parameters(peer, tpm), 1);
		assert_int_equal(EVP_PKEY_set1_encoded_public_key(peer, point, 1 + 2 * len), 1);
		EVP_PKEY_CTX *c = EVP_PKEY_CTX_new(tpm, NULL);
		n = sizeof(shared);
		assert_int_equal(EVP_PKEY_derive_init(c), 1);
		assert_int_equal(EVP_PKEY_derive_set_peer(c, peer), 1);
		assert_int_equal(EVP_PKEY_derive(c, shared, &n), 1);
		assert_bytes(blob_bytes(&z), shared, n);
		EVP_PKEY_CTX_free(c);
		EVP_PKEY_free(peer);
		EVP_PKEY_free(tpm);
	}
}

static void test_ecdh_refusals(void **state)
{
	_cleanup_(blob_free) struct blob z = BLOB(66), ex = BLOB(66), ey = BLOB(66);
	static const uint8_t one[32] = { 1 }, wide[67] = { 1 };

	(void)state;
	/* off the curve: would leak bits of a static key, and is no EK anyway */
	assert_reason(R_EK_FORMAT, ecdh_ephemeral(3, BYTES(one), BYTES(one), &z, &ex, &ey));
	assert_reason(R_EK_FORMAT, ecdh_ephemeral(3, BYTES_NONE, BYTES_NONE, &z, &ex, &ey));
	assert_reason(R_EK_FORMAT, ecdh_ephemeral(5, BYTES(wide), BYTES(one), &z, &ex, &ey));
	assert_reason(R_EK_FORMAT, ecdh_ephemeral(0x0010, BYTES(one), BYTES(one), &z, &ex, &ey));
	assert_int_equal(z.n + ex.n + ey.n, 0);
}

static void test_ecdh_is_ephemeral(void **state)
{
	_cleanup_(blob_free) struct blob z = BLOB(99), ex = BLOB(99), ey = BLOB(99);
	_cleanup_(blob_free) struct blob x = unhex(
		"60fed4ba255a9d31c961eb74c6356d68c049b8923b61fa6ce669622e60f29fb6");
	_cleanup_(blob_free) struct blob y = unhex(
		"7903fe1008b8bc99a41ae9e95628bc64f2f1b20c2d7e9f5177a3c294d4462299");

	(void)state;
	assert_ok(ecdh_ephemeral(3, blob_bytes(&x), blob_bytes(&y), &z, &ex, &ey));
	assert_ok(ecdh_ephemeral(3, blob_bytes(&x), blob_bytes(&y), &z, &ex, &ey));
	assert_memory_not_equal(ex.p, ex.p + 32, 32);
	assert_memory_not_equal(z.p, z.p + 32, 32);
}

/* openssl enc -aes-128-cfb -K 00..0f -iv 0, and with a 256-bit key */
static void test_cfb(void **state)
{
	static const char text[] = "the quick brown fox jumps over the lazy dog";
	uint8_t key[32];

	(void)state;
	for (unsigned int i = 0; i < sizeof(key); i++)
		key[i] = (uint8_t)i;
	for (size_t len = 16; len <= 32; len += 16) {
		_cleanup_(blob_free) struct blob out = BLOB(100);
		EVP_CIPHER_CTX *c = EVP_CIPHER_CTX_new();
		uint8_t back[64], iv[16] = { 0 };
		int n;

		assert_ok(aes_cfb_zero_iv(bytes_of(key, len), bytes_str(text), &out));
		assert_int_equal(out.n, strlen(text));
		assert_int_equal(EVP_DecryptInit_ex2(c, len == 16 ? EVP_aes_128_cfb128() :
								    EVP_aes_256_cfb128(),
						     key, iv, NULL), 1);
		assert_int_equal(EVP_DecryptUpdate(c, back, &n, out.p, (int)out.n), 1);
		assert_bytes(bytes_of(back, (size_t)n), text, strlen(text));
		EVP_CIPHER_CTX_free(c);
		if (len == 16) {
			/* FIPS 197: the first block is AES of zeros, XORed */
			out.n = 0;
			assert_ok(aes_cfb_zero_iv(bytes_of(key, 16), bytes_of(iv, 16), &out));
			_cleanup_(blob_free) struct blob want =
				unhex("c6a13b37878f5b826f4f8162a1c8d879");
			assert_bytes(blob_bytes(&out), want.p, want.n);
		}
	}
}

static void test_cfb_refusals(void **state)
{
	_cleanup_(blob_free) struct blob out = BLOB(10);
	uint8_t key[32] = { 0 };
	static uint8_t big[(1 << 16) + 1];

	(void)state;
	assert_reason(R_INTERNAL_CRYPTO, aes_cfb_zero_iv(bytes_of(key, 24), bytes_str("x"), &out));
	assert_reason(R_INTERNAL_CRYPTO, aes_cfb_zero_iv(BYTES_NONE, bytes_str("x"), &out));
	assert_reason(R_INTERNAL_CRYPTO, aes_cfb_zero_iv(BYTES(key), BYTES(big), &out));
	assert_reason(R_INTERNAL_TOO_LARGE,
		      aes_cfb_zero_iv(BYTES(key), bytes_str("01234567890"), &out));
	assert_ok(aes_cfb_zero_iv(BYTES(key), BYTES_NONE, &out));
	assert_int_equal(out.n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rsa_oaep),
		cmocka_unit_test(test_rsa_oaep_refusals),
		cmocka_unit_test(test_ecdh),
		cmocka_unit_test(test_ecdh_refusals),
		cmocka_unit_test(test_ecdh_is_ephemeral),
		cmocka_unit_test(test_cfb),
		cmocka_unit_test(test_cfb_refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
