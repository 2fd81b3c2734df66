/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Key derivation against vectors of an implementation of its own (Python's
 * hmac and hashlib, from TPM 2.0 Part 1, 11.4.10); that a TPM opens what
 * make_credential makes is tests/swtpm/test_enrol.py.
 */
#include "unit.h"

#include "appraise/credential.h"
#include "appraise/ek.h"
#include "format/spki.h"

static const struct {
	uint16_t alg;
	uint32_t bits;
	const char *kdfa, *kdfe;
} vectors[] = {
	{ ALG_SHA1, 128, "834c4b043b49d318852660b2f254a221",
	  "d9b3f2984980d048acbc7e22d5910c75" },
	{ ALG_SHA1, 509,
	  "06d655debb4884e6c821e87dea639321556a85825b523a30ab235c7e694610f5"
	  "4e0cd3f9e5985360998909190d14f08915ffeadfedf5ee0d8c068a3a33bdf2a6",
	  "19b3f2984980d048acbc7e22d5910c75cf40ec6e73094fd726df1d2cd6b2ebb3"
	  "32f084cb183ec3552ba25c1a55a2c5489abc7c818a90f2c21919e6046da77dae" },
	{ ALG_SHA256, 128, "d023808fb2370aa6fd72c740af68247a",
	  "a28879078533228ef8e898a739421823" },
	{ ALG_SHA256, 256, "64edc2d2af1b1226084b6ddb78d3e7d10c4b86bb33116c5a0d09d1bb8eff0b50",
	  "a28879078533228ef8e898a73942182364e989581904538b7748a7c9fbdeb46d" },
	{ ALG_SHA384, 256, "3b5a8699bb6d396ae309d59f4d5abd7d75ee7c30b1fd060db6e9b15346c08cd7",
	  "5fa1d48c0253ca92f1d613052e2315dbfbb2b31e2a01e7b11d7a576be2efd5a9" },
	{ ALG_SHA384, 509,
	  "1bd999cfd537d763ef3592655d3106b42210c21cb04797b3dbe28443ec346c35"
	  "d979b44fd1dd5f09ccbea5544807cc869e0526abeb331b4a17c03c0ece57af01",
	  "1fa1d48c0253ca92f1d613052e2315dbfbb2b31e2a01e7b11d7a576be2efd5a9"
	  "5b31b6eb4e81bc013293e3a83224ab5fda87572d6a3bf6da691289a09fb432a0" },
	{ ALG_SHA512, 256, "8cda6d0d8f7bda11552f996f5b075bc31e1f68420e974f34ddb19d419fd4cc5e",
	  "0ff404bc5ee0a8c1f8e3280e0546e2ea4e3dac600f3316eed03edf45aa344902" },
};

static void test_derivation(void **state)
{
	uint8_t key[32];
	uint8_t u[34];

	(void)state;
	for (size_t i = 0; i < sizeof key; i++)
		key[i] = (uint8_t)i;
	for (size_t i = 0; i < sizeof u; i++)
		u[i] = (uint8_t)(64 + i);
	for (size_t i = 0; i < ARRAY_LEN(vectors); i++) {
		struct blob a = unhex(vectors[i].kdfa);
		struct blob e = unhex(vectors[i].kdfe);
		uint8_t out[DIGEST_MAX];

		assert_ok(tpm_kdfa(vectors[i].alg, BYTES(key), "STORAGE", BYTES(u),
				   bytes_str("party"), vectors[i].bits, out));
		assert_memory_equal(out, a.p, a.n);
		assert_ok(tpm_kdfe(vectors[i].alg, BYTES(key), "IDENTITY", BYTES(u),
				   bytes_str("party"), vectors[i].bits, out));
		assert_memory_equal(out, e.p, e.n);
		blob_free(&a);
		blob_free(&e);
	}
}

static void test_derivation_bounds(void **state)
{
	uint8_t out[DIGEST_MAX];

	(void)state;
	assert_reason(R_FORMAT_RANGE, tpm_kdfa(ALG_SHA256, BYTES_NONE, "X", BYTES_NONE, BYTES_NONE,
					       8 * DIGEST_MAX + 1, out));
	assert_reason(R_FORMAT_RANGE, tpm_kdfe(ALG_SHA256, BYTES_NONE, "X", BYTES_NONE, BYTES_NONE,
					       8 * DIGEST_MAX + 1, out));
	assert_reason(R_FORMAT_RANGE, tpm_kdfa(0x99, BYTES_NONE, "X", BYTES_NONE, BYTES_NONE, 128,
					       out));
	assert_reason(R_FORMAT_RANGE, tpm_kdfe(0x99, BYTES_NONE, "X", BYTES_NONE, BYTES_NONE, 128,
					       out));
}

static void test_refused(void **state)
{
	_cleanup_(blob_free) struct blob id = BLOB(512);
	_cleanup_(blob_free) struct blob sealed = BLOB(1024);
	static const uint8_t name[34] = { 0, 11 };
	static const uint8_t secret[33] = { 1 };
	struct tpm_public ek;

	(void)state;
	assert_ok(tpm_public_read(tpm_ek_template[0].pub, &ek));
	assert_reason(R_FORMAT_RANGE, make_credential(&ek, BYTES(name), BYTES_NONE, &id, &sealed));
	/* longer than the digest of the EK's name */
	assert_reason(R_FORMAT_RANGE, make_credential(&ek, BYTES(name), BYTES(secret), &id,
						      &sealed));
	ek.symmetric.alg = TPM_ALG_NULL;
	assert_reason(R_FORMAT_TYPE, make_credential(&ek, BYTES(name), bytes_of(secret, 32), &id,
						     &sealed));
	ek.symmetric.alg = TPM_ALG_AES;
	ek.symmetric.bits = 192;
	assert_reason(R_FORMAT_TYPE, make_credential(&ek, BYTES(name), bytes_of(secret, 32), &id,
						     &sealed));
	ek.symmetric.bits = 128;
	ek.type = 0x0008;
	assert_reason(R_FORMAT_TYPE, make_credential(&ek, BYTES(name), bytes_of(secret, 32), &id,
						     &sealed));
	/* the template has no key in it: a point at zero is none */
	assert_ok(tpm_public_read(tpm_ek_template[1].pub, &ek));
	assert_true(make_credential(&ek, BYTES(name), bytes_of(secret, 32), &id, &sealed) != R_OK);
}

/* What OpenSSL writes for the same keys. */
static void test_spki(void **state)
{
	_cleanup_(blob_free) struct blob der = BLOB(SPKI_MAX);
	uint8_t modulus[256];
	struct tpm_public key = { .type = TPM_ALG_RSA, .exponent = 65537 };

	(void)state;
	memset(modulus, 0xc1, sizeof modulus);
	key.modulus = BYTES(modulus);
	assert_ok(spki_write(&key, &der));
	assert_int_equal(der.n, 294);
	assert_memory_equal(der.p, "\x30\x82\x01\x22\x30\x0d\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x01"
				   "\x01\x05\x00\x03\x82\x01\x0f\x00\x30\x82\x01\x0a\x02\x82\x01\x01"
				   "\x00\xc1", 34);
	assert_memory_equal(der.p + 289, "\x02\x03\x01\x00\x01", 5);
	key = (struct tpm_public){ .type = TPM_ALG_ECC };
	for (uint16_t curve = TPM_ECC_P256; curve <= TPM_ECC_P521; curve++) {
		static const size_t size[] = { 91, 120, 158 };
		size_t len = curve == TPM_ECC_P256 ? 32 : curve == TPM_ECC_P384 ? 48 : 66;

		key.curve = curve;
		/* coordinates without their leading zero */
		key.x = bytes_of(modulus, len - 1);
		key.y = bytes_of(modulus, len);
		blob_reset(&der);
		assert_ok(spki_write(&key, &der));
		assert_int_equal(der.n, size[curve - TPM_ECC_P256]);
		assert_int_equal(der.p[der.n - 2 * len], 0);
		key.x = bytes_of(modulus, len + 1);
		blob_reset(&der);
		assert_reason(R_FORMAT_RANGE, spki_write(&key, &der));
	}
	key.curve = 0x20;
	assert_reason(R_FORMAT_TYPE, spki_write(&key, &der));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_derivation),
		cmocka_unit_test(test_derivation_bounds),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_spki),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
