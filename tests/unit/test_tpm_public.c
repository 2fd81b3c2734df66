/* SPDX-License-Identifier: Apache-2.0 */
/* TPMT_PUBLIC, against what swtpm answered (tests/tools/tpm-record). */
#include "unit.h"

#include "tpm_kit.h"

static void test_public(void **state)
{
	_cleanup_(blob_free) struct blob raw = unhex(ak_public);
	_cleanup_(blob_free) struct blob want_name = unhex(ak_name);
	_cleanup_(blob_free) struct blob want_qualified = unhex(ak_qualified);
	_cleanup_(blob_free) struct blob again = BLOB(LIMIT_TPM_PUBLIC);
	struct tpm_public p = read_public(&raw);
	struct tpm_name name, qualified;

	(void)state;
	assert_int_equal(p.type, TPM_ALG_ECC);
	assert_int_equal(p.name_alg, ALG_SHA256);
	assert_int_equal(p.attributes, 0x00050472);
	assert_int_equal(p.policy.n, 0);
	assert_int_equal(p.symmetric.alg, TPM_ALG_NULL);
	assert_int_equal(p.scheme.alg, TPM_ALG_ECDSA);
	assert_int_equal(p.scheme.hash, ALG_SHA256);
	assert_int_equal(p.curve, TPM_ECC_P256);
	assert_int_equal(p.kdf.alg, TPM_ALG_NULL);
	assert_ok(tpm_name_of(&p, &name));
	assert_bytes(tpm_name_bytes(&name), want_name.p, want_name.n);
	assert_ok(tpm_qualified_name(TPM_RH_ENDORSEMENT, &name, &qualified));
	assert_bytes(tpm_name_bytes(&qualified), want_qualified.p, want_qualified.n);
	assert_ok(tpm_public_write(&p, &again));
	assert_bytes(blob_bytes(&again), raw.p, raw.n);

	p.name_alg = 0x7fff;
	assert_reason(R_FORMAT_TYPE, tpm_name_of(&p, &name));
	qualified = name;
	qualified.n--;
	assert_reason(R_FORMAT_RANGE, tpm_qualified_name(TPM_RH_ENDORSEMENT, &qualified, &name));
	qualified.b[0] = 0x7f;
	assert_reason(R_FORMAT_TYPE, tpm_qualified_name(TPM_RH_ENDORSEMENT, &qualified, &name));
	qualified.n = 1;
	assert_reason(R_FORMAT_TRUNCATED, tpm_qualified_name(1, &qualified, &name));
	p.type = 8;
	assert_reason(R_FORMAT_TYPE, tpm_public_write(&p, &again));
}

static void test_public_refused(void **state)
{
	const char *const publics[] = { ak_public, ek_l1_public, ek_h3_public };
	struct tpm_public p = { .type = 7 };
	uint8_t big[LIMIT_TPM_PUBLIC + 1] = { 0 };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(publics); i++) {
		_cleanup_(blob_free) struct blob raw = unhex(publics[i]);

		for (size_t n = 0; n < raw.n; n++)
			assert_reason(R_FORMAT_TRUNCATED, tpm_public_read(bytes_of(raw.p, n), &p));
		assert_ok(blob_u8(&raw, 0));
		assert_reason(R_FORMAT_TRAILING, tpm_public_read(blob_bytes(&raw), &p));
		raw.n--;
		raw.p[1] = 0x08;	/* a keyed hash */
		assert_reason(R_FORMAT_TYPE, tpm_public_read(blob_bytes(&raw), &p));
	}
	assert_reason(R_FORMAT_TOO_LARGE, tpm_public_read(BYTES(big), &p));
	assert_int_equal(p.type, 7);
}

/* Offsets into the RSA template: behind type, nameAlg, attributes, policy. */
static void test_public_parameters(void **state)
{
	static const struct {
		size_t at;
		uint8_t value[2];
		enum reason reason;
	} cases[] = {
		{ 42, { 0x00, 0x0a }, R_FORMAT_RANGE },		/* XOR */
		{ 42, { 0x00, 0x13 }, R_OK },			/* SM4 */
		{ 42, { 0x00, 0x26 }, R_OK },			/* Camellia */
		{ 48, { 0x00, 0x15 }, R_OK },			/* RSAES: no hash */
		{ 48, { 0x00, 0x0b }, R_FORMAT_RANGE },		/* no scheme */
		{ 50, { 0x00, 0x00 }, R_FORMAT_RANGE },		/* no bits */
		{ 50, { 0x08, 0x01 }, R_FORMAT_RANGE },
		{ 50, { 0x10, 0x08 }, R_FORMAT_RANGE },		/* above 4096 */
		{ 50, { 0x04, 0x00 }, R_FORMAT_RANGE },		/* shorter than unique */
		{ 8, { 0x00, 0x41 }, R_FORMAT_RANGE },		/* policy above 64 */
	};
	uint8_t raw[LIMIT_TPM_PUBLIC];
	struct tpm_public p;
	struct bytes t = tpm_ek_template[0].pub;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		memcpy(raw, t.p, t.n);
		memcpy(raw + cases[i].at, cases[i].value, 2);
		assert_reason(cases[i].reason, tpm_public_read(bytes_of(raw, t.n), &p));
	}
	/* an exponent of its own survives */
	memcpy(raw, t.p, t.n);
	raw[55] = 3;
	assert_ok(tpm_public_read(bytes_of(raw, t.n), &p));
	assert_int_equal(p.exponent, 3);
	assert_null(tpm_ek_template_of(&p));
	{
		_cleanup_(blob_free) struct blob b = BLOB(LIMIT_TPM_PUBLIC);

		assert_ok(tpm_public_write(&p, &b));
		assert_bytes(blob_bytes(&b), raw, t.n);
	}
}

static void test_public_schemes(void **state)
{
	/* ECC with ECDAA, which has a count, and a KDF with a hash */
	static const uint8_t ecdaa[] = {
		0x00, 0x23, 0x00, 0x0b, 0, 0, 0, 0, 0, 0,
		0x00, 0x10, 0x00, 0x1a, 0x00, 0x0b, 0x00, 0x07,
		0x00, 0x03, 0x00, 0x22, 0x00, 0x0c, 0, 1, 0xaa, 0, 1, 0xbb,
	};
	_cleanup_(blob_free) struct blob b = BLOB(LIMIT_TPM_PUBLIC);
	struct tpm_public p;

	(void)state;
	assert_ok(tpm_public_read(BYTES(ecdaa), &p));
	assert_int_equal(p.scheme.count, 7);
	assert_int_equal(p.kdf.hash, ALG_SHA384);
	assert_int_equal(p.x.p[0], 0xaa);
	assert_int_equal(p.y.p[0], 0xbb);
	assert_ok(tpm_public_write(&p, &b));
	assert_bytes(blob_bytes(&b), ecdaa, sizeof(ecdaa));
}

static void test_public_file(void **state)
{
	_cleanup_(blob_free) struct blob raw = unhex(ak_public);
	_cleanup_(blob_free) struct blob wrapped = BLOB(LIMIT_TPM_PUBLIC);
	struct tpm_public p;

	(void)state;
	assert_ok(blob_be16(&wrapped, (uint16_t)raw.n));
	assert_ok(blob_append(&wrapped, raw.p, raw.n));
	assert_ok(tpm_public_read_file(blob_bytes(&raw), &p));
	assert_bytes(p.whole, raw.p, raw.n);
	assert_ok(tpm_public_read_file(blob_bytes(&wrapped), &p));
	assert_bytes(p.whole, raw.p, raw.n);
	/* on the wire the wrapper has no place */
	assert_reason(R_FORMAT_TYPE, tpm_public_read(blob_bytes(&wrapped), &p));
	wrapped.p[1]--;
	assert_reason(R_FORMAT_TYPE, tpm_public_read_file(blob_bytes(&wrapped), &p));
	wrapped.p[1] += 2;
	assert_reason(R_FORMAT_TYPE, tpm_public_read_file(blob_bytes(&wrapped), &p));
	assert_reason(R_FORMAT_TRUNCATED, tpm_public_read_file(BYTES_NONE, &p));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_public),
		cmocka_unit_test(test_public_refused),
		cmocka_unit_test(test_public_parameters),
		cmocka_unit_test(test_public_schemes),
		cmocka_unit_test(test_public_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
