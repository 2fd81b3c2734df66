/* SPDX-License-Identifier: Apache-2.0 */
#include "crypto/aead.h"
#include "unit.h"

static const uint8_t key[AEAD_KEY_LEN] = { 1, 2, 3 };
static const uint8_t other_key[AEAD_KEY_LEN] = { 1, 2, 4 };

static void test_round_trip(void **state)
{
	_cleanup_(blob_free) struct blob sealed = BLOB(100);
	_cleanup_(blob_free) struct blob plain = BLOB(100);

	(void)state;
	assert_ok(blob_append(&sealed, "x", 1));
	assert_ok(aead_seal(key, bytes_str("aad"), bytes_str("hello"), &sealed));
	assert_int_equal(sealed.n, 1 + AEAD_OVERHEAD + 5);
	assert_ok(blob_append(&plain, "y", 1));
	assert_ok(aead_open(key, bytes_str("aad"), bytes_of(sealed.p + 1, sealed.n - 1), &plain));
	assert_bytes(blob_bytes(&plain), "yhello", 6);
}

static void test_empty(void **state)
{
	_cleanup_(blob_free) struct blob sealed = BLOB(100);
	_cleanup_(blob_free) struct blob plain = BLOB(100);

	(void)state;
	assert_ok(aead_seal(key, BYTES_NONE, BYTES_NONE, &sealed));
	assert_ok(aead_open(key, BYTES_NONE, blob_bytes(&sealed), &plain));
	assert_int_equal(plain.n, 0);
}

/* Test case 16 of the GCM specification (McGrew, Viega). */
static void test_vector(void **state)
{
	_cleanup_(blob_free) struct blob k = unhex(
		"feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308");
	_cleanup_(blob_free) struct blob aad = unhex("feedfacedeadbeeffeedfacedeadbeefabaddad2");
	_cleanup_(blob_free) struct blob want = unhex(
		"d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
		"1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39");
	_cleanup_(blob_free) struct blob sealed = unhex(
		"cafebabefacedbaddecaf888"
		"522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa"
		"8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662"
		"76fc6ece0f4e1768cddf8853bb2d551b");
	_cleanup_(blob_free) struct blob plain = BLOB(100);

	(void)state;
	assert_ok(aead_open(k.p, blob_bytes(&aad), blob_bytes(&sealed), &plain));
	assert_bytes(blob_bytes(&plain), want.p, want.n);
}

static void test_every_byte_counts(void **state)
{
	_cleanup_(blob_free) struct blob sealed = BLOB(100);
	_cleanup_(blob_free) struct blob plain = BLOB(100);
	struct bytes aad = bytes_str("aad");

	(void)state;
	assert_ok(aead_seal(key, aad, bytes_str("hello"), &sealed));
	for (size_t i = 0; i < sealed.n; i++) {
		sealed.p[i] ^= 0x80;
		assert_reason(R_SESSION_TOKEN, aead_open(key, aad, blob_bytes(&sealed), &plain));
		sealed.p[i] ^= 0x80;
	}
	for (size_t n = 0; n < sealed.n; n++)
		assert_reason(R_SESSION_TOKEN, aead_open(key, aad, bytes_of(sealed.p, n), &plain));
	assert_reason(R_SESSION_TOKEN,
		      aead_open(key, bytes_str("aae"), blob_bytes(&sealed), &plain));
	assert_reason(R_SESSION_TOKEN, aead_open(key, BYTES_NONE, blob_bytes(&sealed), &plain));
	assert_reason(R_SESSION_TOKEN, aead_open(other_key, aad, blob_bytes(&sealed), &plain));
	assert_int_equal(plain.n, 0);
	/* nothing of the plaintext was left in the memory behind */
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(plain.p[i], 0);
	assert_ok(aead_open(key, aad, blob_bytes(&sealed), &plain));
}

static void test_nonce_is_fresh(void **state)
{
	_cleanup_(blob_free) struct blob a = BLOB(100);
	_cleanup_(blob_free) struct blob b = BLOB(100);

	(void)state;
	assert_ok(aead_seal(key, BYTES_NONE, bytes_str("x"), &a));
	assert_ok(aead_seal(key, BYTES_NONE, bytes_str("x"), &b));
	assert_memory_not_equal(a.p, b.p, 12);
}

static void test_ceilings(void **state)
{
	_cleanup_(blob_free) struct blob small = BLOB(30);
	_cleanup_(blob_free) struct blob sealed = BLOB(100);
	static uint8_t big[(1 << 20) + 1];

	(void)state;
	assert_reason(R_INTERNAL_TOO_LARGE, aead_seal(key, BYTES_NONE, bytes_str("abc"), &small));
	assert_int_equal(small.n, 0);
	assert_reason(R_INTERNAL_TOO_LARGE, aead_seal(key, BYTES_NONE, BYTES(big), &sealed));
	assert_reason(R_INTERNAL_TOO_LARGE, aead_seal(key, BYTES(big), BYTES_NONE, &sealed));
	assert_int_equal(sealed.n, 0);
	assert_reason(R_SESSION_TOKEN, aead_open(key, BYTES_NONE, BYTES(big), &sealed));
	assert_ok(aead_seal(key, BYTES_NONE, bytes_str("0123456789012345678901234567890123456789"),
			    &sealed));
	assert_reason(R_INTERNAL_TOO_LARGE,
		      aead_open(key, BYTES_NONE, blob_bytes(&sealed), &small));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_vector),
		cmocka_unit_test(test_every_byte_counts),
		cmocka_unit_test(test_nonce_is_fresh),
		cmocka_unit_test(test_ceilings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
