/* SPDX-License-Identifier: Apache-2.0 */
/* What vendors encode wrongly. */
#include "crypto/cert_der.h"
#include "cert_judge_kit.h"

static void put_sequence(struct blob *b, size_t n)
{
	assert_ok(blob_u8(b, 0x30));
	assert_ok(blob_u8(b, n > 0xff ? 0x82 : 0x81));
	if (n > 0xff)
		assert_ok(blob_u8(b, (uint8_t)(n >> 8)));
	assert_ok(blob_u8(b, (uint8_t)n));
}

/* DER of `m` with its serial number filled up with zeros, signed again by hand. */
static struct blob padded(const struct made *m, EVP_PKEY *by)
{
	_cleanup_(blob_free) struct blob der = der_of(m);
	struct blob out = BLOB(65536), part = BLOB(65536);
	struct bytes tbs;
	uint8_t signature[600];
	size_t n = sizeof(signature);
	EVP_MD_CTX *c = EVP_MD_CTX_new();
	const X509_ALGOR *algorithm;
	uint8_t *a = NULL;

	assert_ok(der_signed_part(blob_bytes(&der), &tbs));
	/* SEQUENCE, its length, [0] version, then 02 01 4d */
	size_t head = tbs.p[1] == 0x82 ? 4 : 3;
	assert_memory_equal(tbs.p + head, "\xa0\x03\x02\x01\x02\x02\x01\x4d", 8);
	put_sequence(&part, tbs.n - head + 3);
	assert_ok(blob_append(&part, "\xa0\x03\x02\x01\x02\x02\x04\0\0\0\x4d", 11));
	assert_ok(blob_append(&part, tbs.p + head + 8, tbs.n - head - 8));
	assert_int_equal(EVP_DigestSignInit(c, NULL, EVP_sha256(), NULL, by), 1);
	assert_int_equal(EVP_DigestSign(c, signature, &n, part.p, part.n), 1);
	EVP_MD_CTX_free(c);
	X509_get0_signature(NULL, &algorithm, m->x509);
	int an = i2d_X509_ALGOR(algorithm, &a);
	assert_true(an > 0 && n < 0x7f);
	put_sequence(&out, part.n + (size_t)an + 3 + n);
	assert_ok(blob_append(&out, part.p, part.n));
	assert_ok(blob_append(&out, a, (size_t)an));
	assert_ok(blob_u8(&out, 0x03));
	assert_ok(blob_u8(&out, (uint8_t)(n + 1)));
	assert_ok(blob_u8(&out, 0));
	assert_ok(blob_append(&out, signature, n));
	OPENSSL_free(a);
	blob_free(&part);
	return out;
}

/* Every bit of what is signed counts, in a leaf and in a CA. */
static void assert_bits_count(const struct cert_store *s, struct blob *der)
{
	struct bytes part;

	assert_ok(der_signed_part(blob_bytes(der), &part));
	for (size_t i = 0; i < part.n; i += 3) {
		_cleanup_(cert_free) struct cert *c = NULL;
		uint8_t *at = der->p + (part.p - der->p) + i;

		*at ^= (uint8_t)(1u << i % 8);
		if (cert_read(blob_bytes(der), &c) == R_OK)
			assert_int_not_equal(R_OK, cert_judge(s, BYTES_NONE, c, time(NULL), &path));
		*at ^= (uint8_t)(1u << i % 8);
	}
	assert_ok(judge(s, BYTES_NONE, blob_bytes(der)));
}

static void test_padded_serial(void **state)
{
	_cleanup_made_ struct made leaf = make(&leaf_spec, &issuer);
	_cleanup_made_ struct made other = make(&issuer_spec, &root);
	_cleanup_(blob_free) struct blob der = padded(&leaf, issuer.key);
	_cleanup_(blob_free) struct blob false_der = padded(&leaf, other.key);
	_cleanup_(blob_free) struct blob plain = der_of(&leaf);
	_cleanup_(blob_free) struct blob out = BLOB(65536);
	_cleanup_(cert_free) struct cert *c = NULL;
	_cleanup_(cert_store_free) struct cert_store *s = usual_store();
	const uint8_t *p = der.p;

	(void)state;
	/* the library alone does not read it */
	assert_null(d2i_X509(NULL, &p, (long)der.n));
	assert_ok(judge(s, BYTES_NONE, blob_bytes(&der)));
	assert_says("serial number is not DER");
	assert_string_equal(path.link[0].info.serial, "4D");
	assert_bits_count(s, &der);
	assert_bits_count(s, &plain);
	assert_reason(R_EK_UNTRUSTED, judge(s, BYTES_NONE, blob_bytes(&false_der)));
	assert_says("signature is not one");
	/* never encoded again */
	assert_ok(cert_read(blob_bytes(&der), &c));
	assert_ok(cert_der(c, &out));
	assert_true(bytes_equal(blob_bytes(&out), blob_bytes(&der)));
}

static void test_padded_ca(void **state)
{
	_cleanup_made_ struct made leaf = make(&leaf_spec, &issuer);
	_cleanup_(blob_free) struct blob ca = padded(&issuer, root.key);
	_cleanup_(blob_free) struct blob false_ca = padded(&issuer, leaf.key);
	_cleanup_(blob_free) struct blob der = der_of(&leaf);
	size_t count;

	(void)state;
	for (int good = 0; good < 2; good++) {
		_cleanup_(cert_store_free) struct cert_store *s = NULL;

		assert_ok(cert_store_make(&s));
		trust(s, &root);
		assert_ok(cert_store_add(s, blob_bytes(good ? &ca : &false_ca), &count));
		assert_reason(good ? R_OK : R_EK_UNTRUSTED,
			      judge(s, BYTES_NONE, blob_bytes(&der)));
		assert_int_equal(path.link[1].info.repaired, true);
	}
}

/* Negative, or longer than 20 bytes: OpenSSL reads them, and so do we. */
static void test_odd_serials(void **state)
{
	static const char *const serials[] = { "-1", "0", "-123456789012345678901234567890" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(serials); i++) {
		_cleanup_made_ struct made leaf = make(&leaf_spec, &issuer);
		BIGNUM *n = NULL;

		assert_true(BN_dec2bn(&n, serials[i]) > 0);
		assert_non_null(BN_to_ASN1_INTEGER(n, X509_get_serialNumber(leaf.x509)));
		assert_true(X509_sign(leaf.x509, issuer.key, EVP_sha256()) > 0);
		assert_judged(R_OK, "", &root, &issuer, &leaf);
		BN_free(n);
	}
}

static void test_der(void **state)
{
	struct bytes got, rest;
	_cleanup_(blob_free) struct blob out = BLOB(100);
	static const char *const not_padded[] = {
		"300a3006a001000201000500", "300b3007a00100020200800500",
		"300b3007a001000202ff7f0500", "300a3006a001000301000500",
		"310a3006a001000201000500", "300a3106a001000201000500",
		"300a3006a101000201000500", "300b3006a001000201000500",
	};

	(void)state;
	assert_ok(der_cut(bytes_of("\x30\x01\x07", 3), &got));
	assert_int_equal(got.n, 3);
	assert_ok(der_cut(bytes_of("\x30\x01\x07\xff\xff", 5), &got));
	assert_int_equal(got.n, 3);
	assert_ok(der_cut(bytes_of("\x30\x01\x07\0\0\0", 6), &got));
	assert_int_equal(got.n, 3);
	assert_reason(R_EK_PADDING, der_cut(bytes_of("\x30\x01\x07\xff\0", 5), &got));
	assert_reason(R_EK_PADDING, der_cut(bytes_of("\x30\x01\x07x", 4), &got));
	assert_reason(R_EK_FORMAT, der_cut(bytes_of("\x30\x04\x07\xff\0", 5), &got));
	assert_reason(R_EK_FORMAT, der_cut(bytes_of("\xff\xff\xff", 3), &got));
	assert_reason(R_EK_FORMAT, der_cut(bytes_of("\x30\x80\0\0", 4), &got));
	assert_reason(R_EK_FORMAT, der_cut(bytes_of("\x30\x84\0\0\0\1\1", 7), &got));
	assert_reason(R_EK_FORMAT, der_cut(bytes_of("\x30\x82\1", 3), &got));
	assert_reason(R_EK_FORMAT, der_cut(BYTES_NONE, &got));
	assert_ok(der_sequence(bytes_of("\x30\x81\x01\x07x", 5), &got, &rest));
	assert_int_equal(rest.n, 1);
	for (size_t i = 0; i < ARRAY_LEN(not_padded); i++) {
		_cleanup_(blob_free) struct blob in = unhex(not_padded[i]);

		assert_reason(R_EK_FORMAT, der_shorten_serial(blob_bytes(&in), &out));
		assert_int_equal(out.n, 0);
	}
	_cleanup_(blob_free) struct blob minus = unhex("300c3008a001000203ffff800500");
	_cleanup_(blob_free) struct blob shorter = unhex("300a3006a001000201800500");
	assert_ok(der_shorten_serial(blob_bytes(&minus), &out));
	assert_true(bytes_equal(blob_bytes(&out), blob_bytes(&shorter)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_padded_serial),
		cmocka_unit_test(test_padded_ca),
		cmocka_unit_test(test_odd_serials),
		cmocka_unit_test(test_der),
	};

	return cmocka_run_group_tests(tests, make_ca, free_ca);
}
