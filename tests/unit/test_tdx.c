/* SPDX-License-Identifier: Apache-2.0 */
/* TDX and SGX quotes: layout, signatures, who may quote. */
#include "appraise/tdx.h"
#include "tdx_kit.h"

static void test_good(void **state)
{
	(void)state;
	add_all();
	assert_ok(verify());
	assert_true(v->nonce_checked);
	assert_int_equal(v->signer.path.count, 3);
	assert_int_equal(v->pck.pce_svn, 11);
	assert_int_equal(v->pck.component[15], 3);
	assert_true(kit_noted(&v->notes, R_TDX_TCB_UNKNOWN) && kit_noted(&v->notes, R_TDX_QE_UNKNOWN) && kit_noted(&v->notes, R_CHAIN_REVOCATION_UNKNOWN));
	assert_int_equal(v->status, TDX_STATUS_UNKNOWN);
	/* with collateral and lists nothing is left to say */
	add_good();
	kit_add_list(pool, &(struct kit_crl){ .issuer = "Root", .signer = root_key });
	kit_add_list(pool, &(struct kit_crl){ .issuer = "PCK CA", .signer = ca_key });
	assert_ok(verify());
	assert_int_equal(v->notes.n, 0);
	assert_int_equal(v->status, TDX_UP_TO_DATE);
	assert_int_equal(v->tcb.tcb.head.evaluation, 5);
	assert_string_equal(tdx_status_name(v->qe.status), "UpToDate");
}

static void test_versions(void **state)
{
	(void)state;
	add_all();
	add_good();
	version = 5;
	make_quote();
	assert_ok(verify());
	body_n = 648;
	body_type = 3;
	make_quote();
	assert_ok(verify());
	assert_int_equal(v->quote.body, TDX_BODY_TD_1_5);
	assert_int_equal(v->quote.td.mr_service_td.n, 48);
	/* SGX; the collateral is TDX's and is not looked at */
	version = 3;
	tee_type = 0;
	body_n = 384;
	memcpy(body + 320, nonce, 64);
	set_qe(TDX_QE_SGX);
	make_quote();
	assert_ok(verify());
	assert_true(kit_noted(&v->notes, R_TDX_TCB_UNKNOWN) && kit_noted(&v->notes, R_TDX_QE_UNKNOWN));
	version = 5;
	body_type = 1;
	make_quote();
	assert_ok(verify());
	assert_int_equal(v->quote.body, TDX_BODY_SGX);
}

static void test_layout(void **state)
{
	static const struct {
		size_t at;
		uint8_t value;
		enum reason want;
	} wrong[] = {
		{ 0, 2, R_TDX_VERSION },   { 0, 6, R_TDX_VERSION },   { 0, 3, R_TDX_VERSION },
		{ 2, 3, R_TDX_ALGORITHM }, { 4, 0x82, R_CVM_EVIDENCE }, { 632, 1, R_FORMAT_TRUNCATED },
		/* type and length of the certification data, authentication data */
		{ 636 + 128, 5, R_TDX_FORMAT }, { 636 + 130, 1, R_TDX_FORMAT }, { 636 + 134 + 448, 33, R_TDX_FORMAT },
	};
	struct tdx_quote q;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		uint8_t before = quote[wrong[i].at];

		quote[wrong[i].at] = wrong[i].value;
		if (wrong[i].at == 632)
			quote[634] = 1;
		assert_reason(wrong[i].want, tdx_quote_read(bytes_of(quote, quote_n), &q));
		quote[wrong[i].at] = before;
		quote[634] = 0;
	}
	assert_reason(R_FORMAT_TRUNCATED, tdx_quote_read(bytes_of(quote, 600), &q));
	assert_reason(R_FORMAT_TRUNCATED, tdx_quote_read(bytes_of(quote, quote_n - 1), &q));
	version = 5;
	for (uint16_t type = 0; type <= 4; type++) {
		body_type = type;
		make_quote();
		assert_reason(type == 2 ? R_OK : R_TDX_FORMAT, tdx_quote_read(e.bytes, &q));
	}
}

/* What stands behind is not signed: zeros are passed over, else it is noted. */
static void test_rest(void **state)
{
	(void)state;
	add_all();
	e.bytes.n += 10;
	assert_ok(verify());
	assert_false(kit_noted(&v->notes, R_FORMAT_TRAILING));
	quote[quote_n + 9] = 1;
	assert_ok(verify());
	assert_true(kit_noted(&v->notes, R_FORMAT_TRAILING));
}

static void test_signature(void **state)
{
	(void)state;
	add_all();
	quote_signer = other_key;
	make_quote();
	assert_reason(R_TDX_SIGNATURE, verify());
}

static void test_binding(void **state)
{
	(void)state;
	add_all();
	/* a quoting enclave's report over another key; its own signature holds */
	qe[320] ^= 1;
	memcpy(quote + 636 + 134, qe, 384);
	kit_sign_raw(pck_key, EVP_sha256(), BYTES(qe), 32, quote + 636 + 134 + 384);
	assert_reason(R_TDX_BINDING, verify());
	make_quote();
	assert_ok(verify());
	/* zeros behind the hash */
	qe[383] = 1;
	make_quote();
	assert_reason(R_TDX_BINDING, verify());
}

static void test_pck(void **state)
{
	(void)state;
	kit_add_cert(pool, &ca);
	assert_reason(R_TDX_NO_PCK, verify());
	add_all();
	qe_signer = other_key;
	make_quote();
	assert_reason(R_TDX_QE_SIGNATURE, verify());
}

/* Made by anybody for the same key, with an extension that is none. */
static void test_pck_reissued(void **state)
{
	static const struct kit_extension none = { SGX_EXTENSION, "\x05\x00", 2, false };
	struct kit_cert other = pck;

	(void)state;
	other.issuer = "Nobody";
	other.signer = other_key;
	other.extension = &none;
	kit_add_cert(pool, &other);
	add_all();
	assert_ok(verify());
	assert_int_equal(v->signer.candidates, 2);
	assert_int_equal(v->pck.pce_svn, 11);
}

static void test_pck_extension(void **state)
{
	(void)state;
	make_pck(7, 0x04);
	add_all();
	assert_reason(R_TDX_PCK, verify());
}

static void test_pck_parts(void **state)
{
	struct tdx_pck p;

	(void)state;
	assert_ok(tdx_pck_read(blob_bytes(&pck_der), &p));
	assert_bytes(p.fmspc, "\x90\xc0\x6f\0\0\0", 6);
	make_pck(18, 0x04);
	assert_reason(R_TDX_PCK, tdx_pck_read(blob_bytes(&pck_der), &p));
	make_pck(0, 0x02);
	assert_reason(R_TDX_PCK, tdx_pck_read(blob_bytes(&pck_der), &p));
	assert_reason(R_TDX_PCK, tdx_pck_read(BYTES_NONE, &p));
	make_pck(0, 0x04);
	pck_der.p[10] ^= 1;
	assert_reason(R_TDX_PCK, tdx_pck_read(blob_bytes(&pck_der), &p));
}

static void test_roots(void **state)
{
	(void)state;
	add_all();
	assert_reason(R_CHAIN_ROOT, tdx_verify(&e, tdx_intel_root, NULL, 0, v));
}

static void test_nonce(void **state)
{
	(void)state;
	add_all();
	nonce[63] ^= 1;
	assert_reason(R_TDX_NONCE, verify());
	e.nonce = BYTES_NONE;
	assert_ok(verify());
	assert_false(v->nonce_checked);
}

static void test_debug(void **state)
{
	(void)state;
	add_all();
	/* all of the first byte of TDATTRIBUTES, not of the second */
	for (uint8_t bit = 0; bit < 8; bit++) {
		body[120] = (uint8_t)(1u << bit);
		make_quote();
		assert_reason(R_TDX_DEBUG, verify());
	}
	body[120] = 0;
	body[121] = 0xff;
	make_quote();
	assert_ok(verify());
	body[121] = 0;
	version = 3;
	tee_type = 0;
	body_n = 384;
	memcpy(body + 320, nonce, 64);
	memset(body + 48, 0xfd, 16);	/* ATTRIBUTES without DEBUG */
	set_qe(TDX_QE_SGX);
	make_quote();
	assert_ok(verify());
	body[48] = 2;
	make_quote();
	assert_reason(R_TDX_DEBUG, verify());
}

/* Without any collateral: a PCK signs for whoever's enclave. */
static void test_quoting_enclave(void **state)
{
	static const struct {
		size_t at;
		uint8_t change;
		enum reason want;
	} cases[] = {
		{ 128, 1, R_TDX_QE_IDENTITY }, { 159, 0x80, R_TDX_QE_IDENTITY }, { 256, 3, R_TDX_QE_IDENTITY },
		{ 257, 1, R_TDX_QE_IDENTITY }, { 48, 2, R_TDX_QE_DEBUG },	 { 48, 4, R_OK },
	};

	(void)state;
	add_all();
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		qe[cases[i].at] ^= cases[i].change;
		make_quote();
		assert_reason(cases[i].want, verify());
		qe[cases[i].at] ^= cases[i].change;
	}
	/* each kind of quote has its own */
	set_qe(TDX_QE_SGX);
	make_quote();
	assert_reason(R_TDX_QE_IDENTITY, verify());
	version = 3;
	tee_type = 0;
	body_n = 384;
	memcpy(body + 320, nonce, 64);
	make_quote();
	assert_ok(verify());
	set_qe(TDX_QE_TD);
	make_quote();
	assert_reason(R_TDX_QE_IDENTITY, verify());
}

static void test_revoked(void **state)
{
	(void)state;
	add_all();
	kit_add_list(pool, &(struct kit_crl){ .issuer = "PCK CA", .signer = ca_key, .revoked = 0x55 });
	assert_reason(R_CHAIN_REVOKED, verify());
}

/* No byte of the quote that is there can be changed. */
static void test_bits(void **state)
{
	(void)state;
	add_all();
	e.nonce = BYTES_NONE;
	assert_ok(verify());
	for (size_t at = 0; at < quote_n; at++) {
		/* the reserved words behind the type of the certification data are none */
		if (at >= quote_n - 6)
			continue;
		quote[at] ^= (uint8_t)(1u << at % 8);
		if (verify() == R_OK)
			fail_msg("byte %zu may be changed", at);
		quote[at] ^= (uint8_t)(1u << at % 8);
	}
	assert_ok(verify());
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_good), TEST(test_versions), TEST(test_layout), TEST(test_rest),
		TEST(test_signature), TEST(test_binding), TEST(test_pck),
		TEST(test_pck_reissued), TEST(test_pck_extension), TEST(test_pck_parts), TEST(test_roots),
		TEST(test_nonce), TEST(test_debug), TEST(test_quoting_enclave),
		TEST(test_revoked), TEST(test_bits),
	};

	return cmocka_run_group_tests(tests, make_keys, free_keys);
}
