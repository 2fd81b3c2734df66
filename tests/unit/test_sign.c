/* SPDX-License-Identifier: Apache-2.0 */
/* Linked with each body: what one accepts the other must accept, and refuse. */
#include "crypto/sign.h"
#include "unit.h"

#define KEY_X "60fed4ba255a9d31c961eb74c6356d68c049b8923b61fa6ce669622e60f29fb6"
#define KEY_Y "7903fe1008b8bc99a41ae9e95628bc64f2f1b20c2d7e9f5177a3c294d4462299"
/* RFC 6979 A.2.5, SHA-256, messages "sample" and "test" */
#define SAMPLE_R "efd48b2aacb6a8fd1140dd9cd45e81d69d2c877b56aaf991c34d0ea84eaf3716"
#define SAMPLE_S "f7cb1c942d657c41d436c7a1b6e29f65f3e900dbb9aff4064dc4ab2f843acda8"
#define TEST_R "f1abb023518351cd71d881567b1ea663ed3efcf6c5132b354f28d3b0b7d38367"
#define TEST_S "019f4113742a2b14bd25926b49c649155f267e60d3814b4c0cc84250e46f0083"
/* same key and message, by another implementation, until a byte was zero */
#define ZERO_R "00a97af007fe15eb5cf162f7a01365711d59d0ee28d997a619289d64db87b424" \
	       "c50e22c0f08f7e87c047b550321e7fb69b783bd317ff71d70f9a06b2881e65e4"
#define ZERO_S "815a5da23ea9d5a604e086a0d250db6a81daf3a3d731b87e56d93cf908abe68a" \
	       "00b80ca6653d1808c2326cde46da9104dd2b376e18a987024cf90f2870ff7c89"
/* order of the group, and the field's prime */
#define ORDER "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551"
#define PRIME "ffffffff00000001000000000000000000000000ffffffffffffffffffffffff"
#define ZERO "0000000000000000000000000000000000000000000000000000000000000000"
#define ONE "0000000000000000000000000000000000000000000000000000000000000001"
#define FULL "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"

static const char pem[] =
	"-----BEGIN PUBLIC KEY-----\n"
	"MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEYP7UuiVanTHJYet0xjVtaMBJuJI7\n"
	"Yfps5mliLmDyn7Z5A/4QCLi8maQa6elWKLxk8vGyDC1+n1F3o8KU1EYimQ==\n"
	"-----END PUBLIC KEY-----\n";

static struct ec_public key_of(const char *x, const char *y)
{
	struct ec_public key;

	assert_ok(hex_decode(bytes_str(x), key.x, P256_LEN));
	assert_ok(hex_decode(bytes_str(y), key.y, P256_LEN));
	return key;
}

static enum reason verify(const struct ec_public *key, const char *message, const char *sig)
{
	uint8_t digest[SHA256_LEN], wire[ES256_LEN];

	assert_ok(sha256(bytes_str(message), digest));
	assert_ok(hex_decode(bytes_str(sig), wire, ES256_LEN));
	return es256_verify(key, digest, wire);
}

static void test_good(void **state)
{
	struct ec_public key = key_of(KEY_X, KEY_Y);

	(void)state;
	assert_ok(verify(&key, "sample", SAMPLE_R SAMPLE_S));
	assert_ok(verify(&key, "test", TEST_R TEST_S));
	/* numbers with leading zeros */
	assert_ok(verify(&key, "sample", ZERO_R));
	assert_ok(verify(&key, "sample", ZERO_S));
}

static void test_wrong_message_and_key(void **state)
{
	struct ec_public key = key_of(KEY_X, KEY_Y);

	(void)state;
	assert_reason(R_COSE_SIGNATURE, verify(&key, "test", SAMPLE_R SAMPLE_S));
	assert_reason(R_COSE_SIGNATURE, verify(&key, "samplf", SAMPLE_R SAMPLE_S));
	/* the mirrored point is on the curve, too */
	key = key_of(KEY_X, "86fc01eef74743675be51616a9d7439b0d0e4df4d28160ae885c3d6b2bb9dd66");
	assert_reason(R_COSE_SIGNATURE, verify(&key, "sample", SAMPLE_R SAMPLE_S));
}

static void test_every_bit_counts(void **state)
{
	struct ec_public key = key_of(KEY_X, KEY_Y);
	uint8_t digest[SHA256_LEN], sig[ES256_LEN];

	(void)state;
	assert_ok(sha256(bytes_str("sample"), digest));
	assert_ok(hex_decode(bytes_str(SAMPLE_R SAMPLE_S), sig, ES256_LEN));
	for (size_t i = 0; i < ES256_LEN; i++) {
		sig[i] ^= (uint8_t)(1u << (i % 8));
		assert_reason(R_COSE_SIGNATURE, es256_verify(&key, digest, sig));
		sig[i] ^= (uint8_t)(1u << (i % 8));
	}
	for (size_t i = 0; i < SHA256_LEN; i++) {
		digest[i] ^= (uint8_t)(1u << (i % 8));
		assert_reason(R_COSE_SIGNATURE, es256_verify(&key, digest, sig));
		digest[i] ^= (uint8_t)(1u << (i % 8));
	}
	assert_ok(es256_verify(&key, digest, sig));
}

static void test_out_of_range(void **state)
{
	static const char *const bad[] = {
		ZERO ZERO, ZERO SAMPLE_S, SAMPLE_R ZERO, ONE ONE, ONE ZERO, ZERO ONE,
		ORDER SAMPLE_S, SAMPLE_R ORDER, ORDER ORDER, FULL FULL, SAMPLE_R FULL,
		FULL SAMPLE_S, PRIME SAMPLE_S, SAMPLE_R PRIME,
		SAMPLE_S SAMPLE_R,
	};
	struct ec_public key = key_of(KEY_X, KEY_Y);

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		assert_reason(R_COSE_SIGNATURE, verify(&key, "sample", bad[i]));
}

/* r + order fits into 256 bits only for a small r: the same number twice. */
static void test_r_plus_order(void **state)
{
	static const uint8_t order[P256_LEN] = {
		0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
		0xbc, 0xe6, 0xfa, 0xad, 0xa7, 0x17, 0x9e, 0x84, 0xf3, 0xb9, 0xca, 0xc2, 0xfc, 0x63,
		0x25, 0x51,
	};
	struct ec_public key = key_of(KEY_X, KEY_Y);
	uint8_t digest[SHA256_LEN], sig[ES256_LEN];
	unsigned int carry = 0;

	(void)state;
	assert_ok(sha256(bytes_str("sample"), digest));
	assert_ok(hex_decode(bytes_str(ZERO_R), sig, ES256_LEN));
	for (size_t i = P256_LEN; i-- > 0;) {
		carry += (unsigned int)sig[i] + order[i];
		sig[i] = (uint8_t)carry;
		carry >>= 8;
	}
	assert_reason(R_COSE_SIGNATURE, es256_verify(&key, digest, sig));
}

static void test_not_a_point(void **state)
{
	static const struct {
		const char *x, *y;
	} bad[] = {
		{ KEY_X, "7903fe1008b8bc99a41ae9e95628bc64f2f1b20c2d7e9f5177a3c294d446229a" },
		{ KEY_Y, KEY_X },
		{ ZERO, ZERO },
		{ ONE, ONE },
		{ PRIME, KEY_Y },
		{ KEY_X, PRIME },
		{ FULL, FULL },
		/* y of x = 5, written as x + p: not canonical */
		{ "ffffffff00000001000000000000000000000001000000000000000000000004",
		  "459243b9aa581806fe913bce99817ade11ca503c64d9a3c533415c083248fbcc" },
	};
	struct ec_public key;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		key = key_of(bad[i].x, bad[i].y);
		assert_reason(R_COSE_SIGNATURE, verify(&key, "sample", SAMPLE_R SAMPLE_S));
		assert_reason(R_SITE_KEYS, ec_public_check(&key));
	}
	/* the point itself is fine */
	key = key_of("0000000000000000000000000000000000000000000000000000000000000005",
		     "459243b9aa581806fe913bce99817ade11ca503c64d9a3c533415c083248fbcc");
	assert_ok(ec_public_check(&key));
}

static void test_pem(void **state)
{
	struct ec_public want = key_of(KEY_X, KEY_Y);
	struct ec_public key;
	uint8_t id[KEY_ID_LEN];
	char text[2 * KEY_ID_LEN + 1];

	(void)state;
	assert_ok(ec_public_from_pem(bytes_str(pem), &key));
	assert_memory_equal(&key, &want, sizeof(key));
	assert_ok(ec_public_id(&key, id));
	hex_encode(BYTES(id), text);
	/* openssl pkey -pubin -outform DER | sha256sum */
	assert_string_equal(text, "5a7a78cca4a0f420");
	/* no line end at the end, and lines of Windows */
	assert_ok(ec_public_from_pem(bytes_of(pem, sizeof(pem) - 2), &key));
	assert_ok(ec_public_from_pem(bytes_str(
		"-----BEGIN PUBLIC KEY-----\r\n"
		"MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEYP7UuiVanTHJYet0xjVtaMBJuJI7\r\n"
		"Yfps5mliLmDyn7Z5A/4QCLi8maQa6elWKLxk8vGyDC1+n1F3o8KU1EYimQ==\r\n"
		"-----END PUBLIC KEY-----\r\n"), &key));
	assert_memory_equal(&key, &want, sizeof(key));
}

#define BEGIN "-----BEGIN PUBLIC KEY-----\n"
#define END "-----END PUBLIC KEY-----\n"
#define LINE1 "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEYP7UuiVanTHJYet0xjVtaMBJuJI7\n"
#define LINE2 "Yfps5mliLmDyn7Z5A/4QCLi8maQa6elWKLxk8vGyDC1+n1F3o8KU1EYimQ==\n"

static void test_pem_refused(void **state)
{
	static const char *const bad[] = {
		"",
		BEGIN,
		BEGIN LINE1,
		BEGIN LINE1 LINE2,
		BEGIN LINE1 END,
		BEGIN END,
		BEGIN LINE1 LINE2 END BEGIN LINE1 LINE2 END,
		BEGIN LINE1 LINE2 END "# mine\n",
		"# mine\n" BEGIN LINE1 LINE2 END,
		"-----BEGIN EC PUBLIC KEY-----\n" LINE1 LINE2 END,
		"-----BEGIN CERTIFICATE-----\n" LINE1 LINE2 END,
		BEGIN LINE1 LINE2 "-----END CERTIFICATE-----\n",
		BEGIN LINE1 " " LINE2 END,
		/* padding: missing, too much, bits that are not zero */
		BEGIN LINE1 "Yfps5mliLmDyn7Z5A/4QCLi8maQa6elWKLxk8vGyDC1+n1F3o8KU1EYimQ=\n" END,
		BEGIN LINE1 "Yfps5mliLmDyn7Z5A/4QCLi8maQa6elWKLxk8vGyDC1+n1F3o8KU1EYimQ\n" END,
		BEGIN LINE1 "Yfps5mliLmDyn7Z5A/4QCLi8maQa6elWKLxk8vGyDC1+n1F3o8KU1EYimQ===\n" END,
		BEGIN LINE1 "Yfps5mliLmDyn7Z5A/4QCLi8maQa6elWKLxk8vGyDC1+n1F3o8KU1EYimR==\n" END,
		BEGIN LINE1 "Yfps5mliLmDyn7Z5A/4QCLi8maQa6elWKLxk8vGyDC1+n1F3o8KU1EYimQAA\n" END,
		BEGIN LINE1 "Yfps5mliLmDyn7Z5A_4QCLi8maQa6elWKLxk8vGyDC1+n1F3o8KU1EYimQ==\n" END,
		/* off the curve */
		BEGIN LINE1 "Yfps5mliLmDyn7Z5A/4QCLi8maQa6elWKLxk8vGyDC1+n1F3o8KU1EYimg==\n" END,
		/* another curve's name, and a compressed point's length */
		BEGIN "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQgDQgAEYP7UuiVanTHJYet0xjVtaMBJuJI7\n"
		LINE2 END,
		BEGIN "MDkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDIgADYP7UuiVanTHJYet0xjVtaMBJuJI7\n"
		"Yfps5mliLmDyn7Y=\n" END,
		/* P-384 */
		BEGIN "MHYwEAYHKoZIzj0CAQYFK4EEACIDYgAEbOd2AhSbL6PcfBgm/FPmWEBem63d16IV\n"
		"rza2xWf+oCGOZgzj7Pnr3pXfjf4vFzmLWiHMdHe/fQVhFtSZv8f13o1jxVRE9Lnj\n"
		"rWkO1TrZ0/E1jkfQzwiFn1yHlsIPqGRU\n" END,
	};
	struct ec_public key;
	uint8_t der[64] = { 0x30, 0x59 };
	char nul[sizeof(pem)];

	(void)state;
	memset(&key, 7, sizeof(key));
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		assert_reason(R_SITE_KEYS, ec_public_from_pem(bytes_str(bad[i]), &key));
	assert_reason(R_SITE_KEYS, ec_public_from_pem(BYTES(der), &key));
	assert_reason(R_SITE_KEYS, ec_public_from_pem(BYTES_NONE, &key));
	/* a NUL, at the end and in between */
	assert_reason(R_SITE_KEYS, ec_public_from_pem(bytes_of(pem, sizeof(pem)), &key));
	memcpy(nul, pem, sizeof(pem));
	nul[40] = '\0';
	assert_reason(R_SITE_KEYS, ec_public_from_pem(bytes_of(nul, sizeof(nul) - 1), &key));
	assert_int_equal(key.x[0], 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_wrong_message_and_key),
		cmocka_unit_test(test_every_bit_counts),
		cmocka_unit_test(test_out_of_range),
		cmocka_unit_test(test_r_plus_order),
		cmocka_unit_test(test_not_a_point),
		cmocka_unit_test(test_pem),
		cmocka_unit_test(test_pem_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
