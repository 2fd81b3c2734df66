/* SPDX-License-Identifier: Apache-2.0 */
/* Linked with each body: both must give the values of an independent one. */
#include "crypto/digest.h"
#include "crypto/init.h"
#include "unit.h"

/* chain: hash of the hashes of 0, 1, ... 300 bytes of 0, 7, 14, ... mod 256 */
static const struct {
	uint16_t alg;
	const char *name;
	const char *empty;
	const char *abc;
	const char *million;
	const char *chain;
	const char *hmac_short;
	const char *hmac_long;
	const char *hmac_empty;
	const char *hmac_middle;	/* key longer than some blocks */
} vectors[] = {
	{ ALG_SHA1, "sha1",
	  "da39a3ee5e6b4b0d3255bfef95601890afd80709",
	  "a9993e364706816aba3e25717850c26c9cd0d89d",
	  "34aa973cd4c4daa4f61eeb2bdbad27316534016f",
	  "2d095daa1437f7f4f361cd003710e0b4d4d9af37",
	  "b617318655057264e28bc0b6fb378c8ef146be00",
	  "f91271dc2fd036f54d74d134ff739fefb59aac86",
	  "fbdb1d1b18aa6c08324b7d64b71fb76370690e1d",
	  "6baa1ac976b7880cf1007fa579fd04daea2870a7" },
	{ ALG_SHA256, "sha256",
	  "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
	  "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
	  "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0",
	  "3b05b530351f50663ba5ac734c246d169eafec6b57c70dc6dc94cad39d04aad8",
	  "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7",
	  "f84c159648a99f6ace4dc6e293ebc50e9ec6936ebd7022091d9ae0f5cd6693ba",
	  "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad",
	  "4e9638590f2780370491dacfd8e20c85600da0ded385d8b4f68b00425d4518f2" },
	{ ALG_SHA384, "sha384",
	  "38b060a751ac96384cd9327eb1b1e36a21fdb71114be07434c0cc7bf63f6e1da"
	  "274edebfe76f65fbd51ad2f14898b95b",
	  "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed"
	  "8086072ba1e7cc2358baeca134c825a7",
	  "9d0e1809716474cb086e834e310a4a1ced149e9c00f248527972cec5704c2a5b"
	  "07b8b3dc38ecc4ebae97ddd87f3d8985",
	  "00ff192ce1d334e39d1ce94d135f2673fdd482a9f3b5bb8a86f1b38f7b7d1ccc"
	  "0c1df396672e98a3d26b1bf65bfa0acf",
	  "afd03944d84895626b0825f4ab46907f15f9dadbe4101ec682aa034c7cebc59c"
	  "faea9ea9076ede7f4af152e8b2fa9cb6",
	  "ec629fe0dc1fab504fc1c89572d6573cf15c3a4b5b69d53f0c13849561a6c13e"
	  "153af48d2538ce056a3fe10d69da16c3",
	  "6c1f2ee938fad2e24bd91298474382ca218c75db3d83e114b3d4367776d14d35"
	  "51289e75e8209cd4b792302840234adc",
	  "91c2453fce427e190b74520d00eb72245d1d92277e3d7cc74142b0ff5e2293b8"
	  "8d5867837cdcc2fbe33fbf0ecb369406" },
	{ ALG_SHA512, "sha512",
	  "cf83e1357eefb8bdf1542850d66d8007d620e4050b5715dc83f4a921d36ce9ce"
	  "47d0d13c5d85f2b0ff8318d2877eec2f63b931bd47417a81a538327af927da3e",
	  "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
	  "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
	  "e718483d0ce769644e2e42c7bc15b4638e1f98b13b2044285632a803afa973eb"
	  "de0ff244877ea60a4cb0432ce577c31beb009c5c2c49aa2e4eadb217ad8cc09b",
	  "8a732a2ef96b72c61264041d982c51f52f584ba520746f8dfcbe356c60311e9d"
	  "68a05c40ac64998fb6bfca078a50d008373e7d30159f0e4626b1102c1cf370b3",
	  "87aa7cdea5ef619d4ff0b4241a1d6cb02379f4e2ce4ec2787ad0b30545e17cde"
	  "daa833b7d6b8a702038b274eaea3f4e4be9d914eeb61f1702e696c203a126854",
	  "9dc6330f4c966b62b735d565343cb77413deccdf42a92d9ef5e4e2ae33f6c924"
	  "bbc8e34c47111bc069482d4dbcfee148419a6547f2d01500e8160b39cc2e4ae8",
	  "b936cee86c9f87aa5d3c6f2e84cb5a4239a5fe50480a6ec66b70ab5b1f4ac673"
	  "0c6c515421b327ec1d69402e53dfb49ad7381eb067b338fd7b0cb22247225d47",
	  "fae1f6ccea063431488787cda53ed9b3b8f14a9c0715ce105f78d5a271ef47ac"
	  "ac8f7eb2ec566e50f22531035071b224da5df6e6f3dbf959790c2dbaad258565" },
	{ ALG_SM3, "sm3",
	  "1ab21d8355cfa17f8e61194831e81a8f22bec8c728fefb747ed035eb5082aa2b",
	  "66c7f0f462eeedd9d1f2d46bdc10e4e24167c4875cf2f7a2297da02b8f4ba8e0",
	  "c8aaf89429554029e231941a2acc0ad61ff2a5acd8fadd25847a3a732b3b02c3",
	  "e6eaa7c1a6e1ccc6a9821419ecb401ecc9d3831a30f681646356e0dbfc9fa514",
	  "51b00d1fb49832bfb01c3ce27848e59f871d9ba938dc563b338ca964755cce70",
	  "7fe81376928b28f18a41cc533a8d654ef78345ecd7b3807c0913545b77abe6e3",
	  "0d23f72ba15e9c189a879aefc70996b06091de6e64d31b7a84004356dd915261",
	  "4af653075dbaf0ef9a62e6ab9dc4f4ca4ee1fc1b66cb71d8978bab917054925f" },
};

static void assert_hex(const uint8_t *got, size_t n, const char *want)
{
	char text[2 * DIGEST_MAX + 1];

	hex_encode(bytes_of(got, n), text);
	assert_string_equal(text, want);
}

static void test_table(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(vectors); i++) {
		assert_string_equal(digest_name(vectors[i].alg), vectors[i].name);
		assert_int_equal(digest_find(vectors[i].name), vectors[i].alg);
		assert_int_equal(digest_len(vectors[i].alg), strlen(vectors[i].empty) / 2);
	}
	assert_int_equal(digest_len(0x000e), 0);
	assert_int_equal(digest_len(0x0027), 0);	/* SHA3-256 */
	assert_null(digest_name(0));
	assert_int_equal(digest_find("SHA256"), 0);
	assert_int_equal(digest_find(""), 0);
}

static void test_short(void **state)
{
	uint8_t hash[DIGEST_MAX];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(vectors); i++) {
		struct bytes abc = bytes_str("abc");
		size_t n = digest_len(vectors[i].alg);

		assert_ok(digest_of(vectors[i].alg, NULL, 0, hash));
		assert_hex(hash, n, vectors[i].empty);
		assert_ok(digest_of(vectors[i].alg, &abc, 1, hash));
		assert_hex(hash, n, vectors[i].abc);
	}
	assert_ok(sha256(bytes_str("abc"), hash));
	assert_hex(hash, SHA256_LEN, vectors[1].abc);
	assert_ok(sha256(BYTES_NONE, hash));
	assert_hex(hash, SHA256_LEN, vectors[1].empty);
}

static void test_pieces(void **state)
{
	const struct bytes pieces[] = {
		bytes_str("a"), BYTES_NONE, bytes_str(""), bytes_str("bc"),
	};
	uint8_t hash[DIGEST_MAX];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(vectors); i++) {
		assert_ok(digest_of(vectors[i].alg, pieces, ARRAY_LEN(pieces), hash));
		assert_hex(hash, digest_len(vectors[i].alg), vectors[i].abc);
	}
}

/* In steps of a length that meets every place in a block. */
static void test_million(void **state)
{
	uint8_t step[997];

	(void)state;
	memset(step, 'a', sizeof(step));
	for (size_t i = 0; i < ARRAY_LEN(vectors); i++) {
		_cleanup_(digest_free) struct digest *d = NULL;
		uint8_t hash[DIGEST_MAX];
		size_t left = 1000000;

		assert_ok(digest_begin(vectors[i].alg, &d));
		while (left > 0) {
			size_t n = left < sizeof(step) ? left : sizeof(step);

			assert_ok(digest_update(d, bytes_of(step, n)));
			left -= n;
		}
		assert_ok(digest_end(d, hash));
		assert_hex(hash, digest_len(vectors[i].alg), vectors[i].million);
	}
}

static void test_every_length(void **state)
{
	uint8_t pattern[300];

	(void)state;
	for (size_t i = 0; i < sizeof(pattern); i++)
		pattern[i] = (uint8_t)(7 * i);
	for (size_t i = 0; i < ARRAY_LEN(vectors); i++) {
		_cleanup_(digest_free) struct digest *chain = NULL;
		size_t len = digest_len(vectors[i].alg);
		uint8_t hash[DIGEST_MAX];

		assert_ok(digest_begin(vectors[i].alg, &chain));
		for (size_t n = 0; n <= sizeof(pattern); n++) {
			struct bytes in = bytes_of(pattern, n);

			assert_ok(digest_of(vectors[i].alg, &in, 1, hash));
			assert_ok(digest_update(chain, bytes_of(hash, len)));
		}
		assert_ok(digest_end(chain, hash));
		assert_hex(hash, len, vectors[i].chain);
	}
}

static void test_hmac(void **state)
{
	static const char long_text[] = "Test Using Larger Than Block-Size Key - Hash Key First";
	const struct bytes halves[] = { bytes_of(long_text, 10), bytes_str(long_text + 10) };
	struct bytes hi = bytes_str("Hi There");
	uint8_t short_key[20], long_key[200], hash[DIGEST_MAX];

	(void)state;
	memset(short_key, 0x0b, sizeof(short_key));
	memset(long_key, 0xaa, sizeof(long_key));
	for (size_t i = 0; i < ARRAY_LEN(vectors); i++) {
		uint16_t alg = vectors[i].alg;
		size_t n = digest_len(alg);

		assert_ok(hmac_of(alg, BYTES(short_key), &hi, 1, hash));
		assert_hex(hash, n, vectors[i].hmac_short);
		assert_ok(hmac_of(alg, BYTES(long_key), halves, 2, hash));
		assert_hex(hash, n, vectors[i].hmac_long);
		assert_ok(hmac_of(alg, bytes_of(long_key, 100), &hi, 1, hash));
		assert_hex(hash, n, vectors[i].hmac_middle);
		assert_ok(hmac_of(alg, BYTES_NONE, NULL, 0, hash));
		assert_hex(hash, n, vectors[i].hmac_empty);
	}
}

static void test_unknown(void **state)
{
	struct digest *d = NULL;
	struct bytes in = bytes_str("abc");
	uint8_t hash[DIGEST_MAX];

	(void)state;
	assert_reason(R_INTERNAL_CRYPTO, digest_begin(0x0010, &d));
	assert_null(d);
	assert_reason(R_INTERNAL_CRYPTO, digest_of(0, &in, 1, hash));
	assert_reason(R_INTERNAL_CRYPTO, hmac_of(0x0027, in, &in, 1, hash));
	digest_free(&d);
}

static void test_no_memory(void **state)
{
	struct digest *d = NULL;

	(void)state;
	assert_ok(crypto_init());
	unit_fail_allocation(0);
	assert_reason(R_INTERNAL_MEMORY, digest_begin(ALG_SHA256, &d));
	assert_null(d);
	unit_fail_allocation(-1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_short),
		cmocka_unit_test(test_pieces),
		cmocka_unit_test(test_million),
		cmocka_unit_test(test_every_length),
		cmocka_unit_test(test_hmac),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
