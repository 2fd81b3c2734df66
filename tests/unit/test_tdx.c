/* SPDX-License-Identifier: Apache-2.0 */
/* TDX and SGX quotes, collateral, judgement. */
#include "cvm_kit.h"

#include <stdio.h>

#include "appraise/tdx.h"

#define SGX_EXTENSION "1.2.840.113741.1.13.1"

static EVP_PKEY *root_key, *ca_key, *pck_key, *attest_key, *tcb_key, *other_key;
static uint8_t pin[1][SHA256_LEN];
static struct chain_pool *pool;
static struct tdx_result *v;
static struct cvm_evidence e;
static struct kit_cert root, ca, pck, tcb;
static struct blob pck_der, object[8];
static size_t objects;
static struct kit_extension extension;

/* The quote: what varies is set before make_quote(). */
static uint8_t quote[8192], body[648], qe[384], auth[32], nonce[64];
static size_t quote_n, signed_n, body_n;
static uint16_t version, body_type;
static uint32_t tee_type;
static EVP_PKEY *qe_signer, *quote_signer;

static void put(uint8_t *p, uint64_t value, size_t n)
{
	for (size_t i = 0; i < n; i++)
		p[i] = (uint8_t)(value >> 8 * i);
}

static void public_raw(EVP_PKEY *key, uint8_t ret[64])
{
	uint8_t point[65];
	size_t n;

	assert_int_equal(EVP_PKEY_get_octet_string_param(key, "pub", point, sizeof(point), &n), 1);
	assert_int_equal(n, 65);
	memcpy(ret, point + 1, 64);
}

/* MRSIGNER and ISVPRODID */
static void set_qe(size_t which)
{
	memcpy(qe + 128, tdx_intel_qe[which].mr_signer, 32);
	put(qe + 256, tdx_intel_qe[which].isv_prod_id, 2);
}

/* Everything signed anew. */
static void make_quote(void)
{
	uint8_t *p = quote;
	uint8_t key[64 + sizeof(auth)];
	size_t inner = 384 + 64 + 2 + sizeof(auth) + 2 + 4;

	memset(quote, 0, sizeof(quote));
	put(p, version, 2);
	put(p + 2, 2, 2);
	put(p + 4, tee_type, 4);
	memset(p + 12, 0x93, 16);
	p += 48;
	if (version == 5) {
		put(p, body_type, 2);
		put(p + 2, body_n, 4);
		p += 6;
	}
	memcpy(p, body, body_n);
	p += body_n;
	signed_n = (size_t)(p - quote);
	put(p, version == 3 ? 128 + inner : 128 + 6 + inner, 4);
	p += 4;
	kit_sign_raw(quote_signer, EVP_sha256(), bytes_of(quote, signed_n), 32, p);
	public_raw(attest_key, p + 64);
	memcpy(key, p + 64, 64);
	memcpy(key + 64, auth, sizeof(auth));
	p += 128;
	if (version != 3) {
		put(p, 6, 2);
		put(p + 2, inner, 4);
		p += 6;
	}
	assert_ok(sha256(BYTES(key), qe + 320));
	memcpy(p, qe, 384);
	kit_sign_raw(qe_signer, EVP_sha256(), BYTES(qe), 32, p + 384);
	p += 448;
	put(p, sizeof(auth), 2);
	memcpy(p + 2, auth, sizeof(auth));
	p += 2 + sizeof(auth);
	put(p, TDX_CERT_PCK_CHAIN, 2);
	quote_n = (size_t)(p + 6 - quote);
	e.bytes = bytes_of(quote, quote_n);
}

/* ---- DER of the SGX extension ---- */

static void der(struct blob *to, uint8_t tag, struct bytes value)
{
	assert_ok(blob_u8(to, tag));
	if (value.n > 0x7f) {
		assert_ok(blob_u8(to, 0x82));
		assert_ok(blob_be16(to, (uint16_t)value.n));
	} else {
		assert_ok(blob_u8(to, (uint8_t)value.n));
	}
	assert_ok(blob_append(to, value.p, value.n));
}

/* SEQUENCE of OID base.part[.sub] and a value with its tag */
static void pair(struct blob *to, int part, int sub, uint8_t tag, struct bytes value)
{
	static const uint8_t base[] = { 0x2a, 0x86, 0x48, 0x86, 0xf8, 0x4d, 0x01, 0x0d, 0x01 };
	_cleanup_(blob_free) struct blob oid = BLOB(64), in = BLOB(4096);

	assert_ok(blob_append(&oid, base, sizeof(base)));
	assert_ok(blob_u8(&oid, (uint8_t)part));
	if (sub)
		assert_ok(blob_u8(&oid, (uint8_t)sub));
	der(&in, 0x06, blob_bytes(&oid));
	der(&in, tag, value);
	der(to, 0x30, blob_bytes(&in));
}

/* Component i is 3, pcesvn 11; `omit` leaves a part of the TCB out. */
static void make_pck(int omit, uint8_t tag_fmspc)
{
	static const uint8_t fmspc[] = { 0x90, 0xc0, 0x6f, 0, 0, 0 }, pce[] = { 0, 0 }, ppid[16], cpu[16];
	_cleanup_(blob_free) struct blob list = BLOB(8192), parts = BLOB(8192);
	const uint8_t three = 3, eleven = 11, zero = 0;

	blob_reset(&pck_der);
	for (int i = 1; i <= 16; i++)
		if (i != omit)
			pair(&parts, 2, i, 0x02, bytes_of(&three, 1));
	pair(&parts, 2, 17, 0x02, bytes_of(&eleven, 1));
	if (omit != 18)
		pair(&parts, 2, 18, 0x04, BYTES(cpu));
	pair(&list, 1, 0, 0x04, BYTES(ppid));
	pair(&list, 2, 0, 0x30, blob_bytes(&parts));
	pair(&list, 3, 0, 0x04, BYTES(pce));
	pair(&list, 4, 0, tag_fmspc, BYTES(fmspc));
	pair(&list, 5, 0, 0x0a, bytes_of(&zero, 1));
	der(&pck_der, 0x30, blob_bytes(&list));
	extension = (struct kit_extension){ SGX_EXTENSION, pck_der.p, pck_der.n, false };
}

/* ---- collateral ---- */

static void add_object(const char *member, const char *text, EVP_PKEY *signer)
{
	uint8_t signature[64];
	char hex[129], line[8192];

	kit_sign_raw(signer, EVP_sha256(), bytes_str(text), 32, signature);
	hex_encode(BYTES(signature), hex);
	assert_in_range(snprintf(line, sizeof(line), "{\"%s\":%s,\"signature\":\"%s\"}", member, text, hex), 1,
			sizeof(line) - 1);
	object[objects] = BLOB(16384);
	assert_ok(blob_append(&object[objects++], line, strlen(line)));
}

#define HEAD(id, number, next)                                                          \
	"\"id\":\"" id "\",\"version\":3,\"issueDate\":\"2027-01-01T00:00:00Z\","       \
	"\"nextUpdate\":\"" next "\",\"tcbEvaluationDataNumber\":" number ","
#define SIGNER48 "000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
#define MODULE "\"mrsigner\":\"" SIGNER48 "\",\"attributes\":\"0000000000000000\",\"attributesMask\":\"FFFFFFFFFFFFFFFF\""
#define C(n) "{\"svn\":" n "}"
#define C14(n) C(n) "," C(n) "," C(n) "," C(n) "," C(n) "," C(n) "," C(n) "," C(n) "," C(n) "," C(n) "," C(n) "," \
	       C(n) "," C(n) "," C(n)
#define LEVEL(sgx, pcesvn, first, tdx, status)                                          \
	"{\"tcb\":{\"sgxtcbcomponents\":[" C(sgx) "," C(sgx) "," C14(sgx) "],\"pcesvn\":" pcesvn \
	",\"tdxtcbcomponents\":[" C(first) "," C("0") "," C14(tdx) "]},\"tcbDate\":\"2026-01-01T00:00:00Z\"," \
	"\"tcbStatus\":\"" status "\",\"advisoryIDs\":[\"INTEL-SA-1\"]}"
#define INFO(fmspc, number, next, modules, levels)                                      \
	"{" HEAD("TDX", number, next) "\"fmspc\":\"" fmspc "\",\"pceId\":\"0000\",\"tcbType\":0," \
	"\"tdxModule\":{" MODULE "}," modules "\"tcbLevels\":[" levels "]}"
#define SVN_LEVEL(svn, status)                                                          \
	"{\"tcb\":{\"isvsvn\":" svn "},\"tcbDate\":\"2026-01-01T00:00:00Z\",\"tcbStatus\":\"" status "\"}"
#define MODULES(levels) "\"tdxModuleIdentities\":[{\"id\":\"TDX_03\"," MODULE ",\"tcbLevels\":[]}," \
			"{\"id\":\"TDX_01\"," MODULE ",\"tcbLevels\":[" levels "]}],"
#define NEXT "2027-02-01T00:00:00Z"
#define TD_QE_SIGNER_REST "9E2A7C6F948F17474E34A7FC43ED030F7C1563F1BABDDF6340C82E0E54A8C5"
#define TD_QE_SIGNER "DC" TD_QE_SIGNER_REST
#define IDENTITY(prod, levels) IDENTITY_OF(TD_QE_SIGNER, prod, levels)
#define IDENTITY_OF(signer, prod, levels)                                                        \
	"{" HEAD("TD_QE", "5", NEXT) "\"miscselect\":\"00000000\",\"miscselectMask\":\"FFFFFFFF\"," \
	"\"attributes\":\"11000000000000000000000000000000\",\"attributesMask\":\"FBFFFFFFFFFFFFFF0000000000000000\"," \
	"\"mrsigner\":\"" signer "\",\"isvprodid\":" prod "," \
	"\"tcbLevels\":[" levels "]}"
#define FMSPC "90C06F000000"
#define GOOD_INFO INFO(FMSPC, "5", NEXT, "", LEVEL("3", "11", "5", "2", "UpToDate"))
#define GOOD_IDENTITY IDENTITY("2", SVN_LEVEL("4", "UpToDate"))

static void add_good(void)
{
	add_object("tcbInfo", GOOD_INFO, tcb_key);
	add_object("enclaveIdentity", GOOD_IDENTITY, tcb_key);
}

static int setup(void **state)
{
	(void)state;
	assert_ok(chain_pool_make(&pool));
	root = (struct kit_cert){ .name = "Root", .issuer = "Root", .key = root_key, .signer = root_key,
				  .ca = true, .no_pathlen_zero = true };
	ca = (struct kit_cert){ .name = "PCK CA", .issuer = "Root", .key = ca_key, .signer = root_key, .ca = true };
	pck = (struct kit_cert){ .name = "PCK", .issuer = "PCK CA", .key = pck_key, .signer = ca_key,
				 .extension = &extension, .extensions = 1, .serial = 0x55 };
	tcb = (struct kit_cert){ .name = "Intel SGX TCB Signing", .issuer = "Root", .key = tcb_key,
				 .signer = root_key };
	make_pck(0, 0x04);
	version = 4;
	tee_type = 0x81;
	body_n = 584;
	body_type = 2;
	qe_signer = pck_key;
	quote_signer = attest_key;
	memset(body, 0, sizeof(body));
	body[0] = 5;			/* TEE_TCB_SVN: module 5, others 2 */
	memset(body + 2, 2, 14);
	memset(qe, 0, sizeof(qe));
	qe[48] = 0x15;			/* ATTRIBUTES; the 4 is masked */
	set_qe(TDX_QE_TD);
	qe[258] = 4;			/* ISVSVN */
	memset(auth, 0xaa, sizeof(auth));
	for (size_t i = 0; i < 64; i++)
		nonce[i] = body[520 + i] = (uint8_t)(i + 1);
	e = (struct cvm_evidence){ .nonce = BYTES(nonce), .pool = pool, .now = KIT_NOW };
	make_quote();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	chain_pool_free(&pool);
	tdx_result_free(v);
	*v = (struct tdx_result){ 0 };
	for (size_t i = 0; i < objects; i++)
		blob_free(&object[i]);
	objects = 0;
	return 0;
}

static void add_all(void)
{
	kit_add_cert(pool, &pck);
	kit_add_cert(pool, &ca);
	kit_add_cert(pool, &root);
	kit_add_cert(pool, &tcb);
}

static enum reason verify(void)
{
	tdx_result_free(v);
	return tdx_verify(&e, pin, object, objects, v);
}

static bool noted(enum reason r)
{
	for (size_t i = 0; i < v->notes.n; i++)
		if (v->notes.v[i] == r)
			return true;
	return false;
}

static void test_good(void **state)
{
	(void)state;
	add_all();
	assert_ok(verify());
	assert_true(v->nonce_checked);
	assert_int_equal(v->path.count, 3);
	assert_int_equal(v->pck.pce_svn, 11);
	assert_int_equal(v->pck.component[15], 3);
	assert_true(noted(R_TDX_TCB_UNKNOWN) && noted(R_TDX_QE_UNKNOWN) && noted(R_CHAIN_REVOCATION_UNKNOWN));
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
	assert_true(noted(R_TDX_TCB_UNKNOWN) && noted(R_TDX_QE_UNKNOWN));
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
	assert_false(noted(R_FORMAT_TRAILING));
	quote[quote_n + 9] = 1;
	assert_ok(verify());
	assert_true(noted(R_FORMAT_TRAILING));
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

/* One TCB info beside the good identity. */
static enum reason with_info(const char *info)
{
	if (chain_pool_certs(pool) == 0)
		add_all();
	for (size_t i = 0; i < objects; i++)
		blob_free(&object[i]);
	objects = 0;
	add_object("enclaveIdentity", GOOD_IDENTITY, tcb_key);
	add_object("tcbInfo", info, tcb_key);
	return verify();
}

static void test_levels(void **state)
{
	(void)state;
	assert_ok(with_info(GOOD_INFO));
	assert_int_equal(v->platform.status, TDX_UP_TO_DATE);
	/* each kind of number counts */
	assert_reason(R_TDX_TCB_UNSUPPORTED, with_info(INFO(FMSPC, "5", NEXT, "", LEVEL("4", "11", "5", "2", "UpToDate"))));
	assert_reason(R_TDX_TCB_UNSUPPORTED, with_info(INFO(FMSPC, "5", NEXT, "", LEVEL("3", "12", "5", "2", "UpToDate"))));
	assert_reason(R_TDX_TCB_UNSUPPORTED, with_info(INFO(FMSPC, "5", NEXT, "", LEVEL("3", "11", "6", "2", "UpToDate"))));
	assert_reason(R_TDX_TCB_UNSUPPORTED, with_info(INFO(FMSPC, "5", NEXT, "", LEVEL("3", "11", "5", "3", "UpToDate"))));
	/* the first that fits */
	assert_reason(R_TDX_TCB_OUT_OF_DATE,
		      with_info(INFO(FMSPC, "5", NEXT, "", LEVEL("4", "11", "5", "2", "UpToDate") ","
				     LEVEL("3", "11", "5", "2", "OutOfDate"))));
	assert_bytes(v->platform.advisories, "[\"INTEL-SA-1\"]", 14);
	assert_reason(R_TDX_TCB_OUT_OF_DATE, with_info(INFO(FMSPC, "5", NEXT, "",
							     LEVEL("1", "1", "1", "1", "OutOfDateConfigurationNeeded"))));
	assert_reason(R_TDX_TCB_REVOKED, with_info(INFO(FMSPC, "5", NEXT, "", LEVEL("1", "1", "1", "1", "Revoked"))));
	assert_ok(with_info(INFO(FMSPC, "5", NEXT, "", LEVEL("1", "1", "1", "1", "SWHardeningNeeded"))));
	assert_true(noted(R_TDX_TCB_CONFIGURATION));
	assert_ok(with_info(INFO(FMSPC, "5", NEXT, "", LEVEL("1", "1", "1", "1", "ConfigurationNeeded"))));
	assert_true(noted(R_TDX_TCB_CONFIGURATION));
	assert_ok(with_info(INFO(FMSPC, "5", NEXT, "", LEVEL("1", "1", "1", "1", "ConfigurationAndSWHardeningNeeded"))));
	assert_true(noted(R_TDX_TCB_CONFIGURATION));
	assert_reason(R_TDX_COLLATERAL, with_info(INFO(FMSPC, "5", NEXT, "", LEVEL("1", "1", "1", "1", "Fine"))));
	/* of another platform: as if it were not there */
	assert_ok(with_info(INFO("90C06F000001", "5", NEXT, "", LEVEL("1", "1", "1", "1", "Revoked"))));
	assert_true(noted(R_TDX_TCB_UNKNOWN));
}

static void test_module(void **state)
{
	(void)state;
	body[1] = 1;			/* TDX module 1.5 */
	make_quote();
	assert_reason(R_TDX_MODULE, with_info(GOOD_INFO));
	/* its own levels; those of the platform do not count its numbers */
	assert_ok(with_info(INFO(FMSPC, "5", NEXT, MODULES(SVN_LEVEL("5", "UpToDate")), LEVEL("3", "11", "9", "2", "UpToDate"))));
	assert_int_equal(v->module.status, TDX_UP_TO_DATE);
	assert_reason(R_TDX_TCB_OUT_OF_DATE, with_info(INFO(FMSPC, "5", NEXT,
		      MODULES(SVN_LEVEL("6", "UpToDate") "," SVN_LEVEL("4", "OutOfDate")),
		      LEVEL("3", "11", "9", "2", "UpToDate"))));
	assert_reason(R_TDX_TCB_UNSUPPORTED, with_info(INFO(FMSPC, "5", NEXT, MODULES(SVN_LEVEL("6", "UpToDate")),
							     LEVEL("3", "11", "9", "2", "UpToDate"))));
	/* old collateral cannot know a newer module */
	assert_ok(with_info(INFO(FMSPC, "5", "2027-01-02T00:00:00Z", "", LEVEL("3", "11", "9", "2", "UpToDate"))));
	assert_true(noted(R_TDX_TCB_UNKNOWN) && noted(R_TDX_COLLATERAL_STALE));
	/* who signed it */
	body[1] = 0;
	body[16 + 48] = 1;
	make_quote();
	assert_reason(R_TDX_MODULE, with_info(GOOD_INFO));
	body[16 + 48] = 0;
	body[16 + 96] = 1;
	make_quote();
	assert_reason(R_TDX_MODULE, with_info(GOOD_INFO));
}

static void test_enclave(void **state)
{
	static const struct {
		size_t at;
		uint8_t change;
		enum reason want;
	} cases[] = {
		{ 128, 1, R_TDX_QE_IDENTITY }, { 48, 1, R_TDX_QE_IDENTITY }, { 48, 4, R_OK },
		{ 256, 1, R_TDX_QE_IDENTITY }, { 16, 1, R_TDX_QE_IDENTITY }, { 258, 7, R_TDX_TCB_UNSUPPORTED },
		{ 258, 1, R_OK },
	};

	(void)state;
	add_all();
	add_good();
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		qe[cases[i].at] ^= cases[i].change;
		make_quote();
		assert_reason(cases[i].want, verify());
		qe[cases[i].at] ^= cases[i].change;
	}
	make_quote();
	/* the identity has the last word, should Intel sign with another key one day */
	blob_free(&object[--objects]);
	add_object("enclaveIdentity", IDENTITY_OF("00" TD_QE_SIGNER_REST, "2", SVN_LEVEL("4", "UpToDate")), tcb_key);
	assert_reason(R_TDX_QE_IDENTITY, verify());
	blob_free(&object[--objects]);
	add_object("enclaveIdentity", IDENTITY("3", SVN_LEVEL("4", "UpToDate")), tcb_key);
	assert_reason(R_TDX_QE_IDENTITY, verify());
	/* an old quoting enclave makes the whole old */
	blob_free(&object[--objects]);
	add_object("enclaveIdentity", IDENTITY("2", SVN_LEVEL("5", "UpToDate") "," SVN_LEVEL("3", "OutOfDate")), tcb_key);
	assert_reason(R_TDX_TCB_OUT_OF_DATE, verify());
	blob_free(&object[--objects]);
	add_object("enclaveIdentity", IDENTITY("2", SVN_LEVEL("3", "Revoked")), tcb_key);
	assert_reason(R_TDX_TCB_REVOKED, verify());
}

static void test_together(void **state)
{
	(void)state;
	/* an old module under a platform that wants a setting */
	body[1] = 1;
	make_quote();
	assert_reason(R_TDX_TCB_OUT_OF_DATE, with_info(INFO(FMSPC, "5", NEXT, MODULES(SVN_LEVEL("5", "OutOfDate")),
							     LEVEL("3", "11", "5", "2", "ConfigurationNeeded"))));
	assert_int_equal(v->status, TDX_OUT_OF_DATE_CONFIGURATION);
}

static void test_collateral_signature(void **state)
{
	(void)state;
	add_all();
	/* by a key that Intel did not certify: there, but nobody's */
	add_object("tcbInfo", GOOD_INFO, other_key);
	assert_reason(R_TDX_COLLATERAL, verify());
	/* beside a good one it does not matter */
	add_object("tcbInfo", GOOD_INFO, tcb_key);
	assert_ok(verify());
	/* and an older one neither */
	add_object("tcbInfo", INFO(FMSPC, "4", NEXT, "", LEVEL("1", "1", "1", "1", "Revoked")), tcb_key);
	assert_ok(verify());
	add_object("tcbInfo", INFO(FMSPC, "6", NEXT, "", LEVEL("1", "1", "1", "1", "Revoked")), tcb_key);
	assert_reason(R_TDX_TCB_REVOKED, verify());
}

static void test_collateral_root(void **state)
{
	(void)state;
	tcb.issuer = "PCK CA";
	tcb.signer = other_key;
	add_all();
	add_good();
	assert_reason(R_TDX_COLLATERAL, verify());
}

/* Its signer is Intel's, but no longer, or revoked: that is said. */
static void test_collateral_signer(void **state)
{
	(void)state;
	tcb.not_after = KIT_NOW - 1;
	tcb.serial = 0x66;
	add_all();
	add_good();
	assert_reason(R_CHAIN_DATES, verify());
	kit_add_list(pool, &(struct kit_crl){ .issuer = "Root", .signer = root_key, .revoked = 0x66 });
	assert_reason(R_CHAIN_REVOKED, verify());
}

static void test_collateral_bytes(void **state)
{
	(void)state;
	add_all();
	add_good();
	/* one blank more in the text is another text */
	for (size_t i = 0; i < object[0].n; i++)
		if (object[0].p[i] == '5' && object[0].p[i + 1] == ',')
			object[0].p[i] = '6';
	assert_reason(R_TDX_COLLATERAL, verify());
}

/* The form in which it is saved with a quote: the text is a string. */
static void test_saved_form(void **state)
{
	static const char text[] = "{\\\"id\\\":\\\"x\\\"}";
	_cleanup_(blob_free) struct blob found = BLOB(4096);
	uint8_t signature[64], want[64];
	char line[1024];

	(void)state;
	memset(want, 0x5a, sizeof(want));
	snprintf(line, sizeof(line), "{\"tcb_info\":\"%s\",\"tcb_info_signature\":\"", text);
	for (size_t i = 0; i < 64; i++)
		strcat(line, "5A");
	strcat(line, "\"}");
	assert_ok(tdx_collateral_find(bytes_str(line), TDX_TCB_INFO, &found, signature));
	assert_bytes(blob_bytes(&found), "{\"id\":\"x\"}", 10);
	assert_memory_equal(signature, want, 64);
	assert_reason(R_FORMAT_MISSING_KEY, tdx_collateral_find(bytes_str(line), TDX_IDENTITY, &found, signature));
	assert_reason(R_TDX_COLLATERAL, tdx_collateral_find(bytes_str("{\"tcbInfo\":{}}"), TDX_TCB_INFO, &found, signature));
}

static void test_malformed_collateral(void **state)
{
	static const char *const texts[] = {
		"{}", "[]", "{\"version\":3}",
		"{\"version\":3,\"id\":1,\"tcbEvaluationDataNumber\":1}",
		"{\"version\":3,\"tcbEvaluationDataNumber\":1,\"issueDate\":\"2027-13-01T00:00:00Z\"}",
		"{\"version\":3,\"tcbEvaluationDataNumber\":1,\"issueDate\":\"2027-01-01 00:00:00Z\"}",
		"{\"version\":3,\"tcbEvaluationDataNumber\":1,\"issueDate\":\"20x7-01-01T00:00:00Z\"}",
		"{\"version\":3,\"tcbEvaluationDataNumber\":1,\"issueDate\":\"2027\"}",
		"{\"version\":3,\"tcbEvaluationDataNumber\":1,\"issueDate\":\"1969-01-01T00:00:00Z\"}",
	};
	struct tdx_tcb_info info;
	struct tdx_identity identity;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		assert_reason(R_TDX_COLLATERAL, tdx_tcb_info_read(bytes_str(texts[i]), &info));
		assert_reason(R_TDX_COLLATERAL, tdx_identity_read(bytes_str(texts[i]), &identity));
	}
	assert_ok(tdx_tcb_info_read(bytes_str(GOOD_INFO), &info));
	assert_int_equal(info.head.issued, 1798761600);
	assert_int_equal(info.head.next_update, 1801440000);
	assert_true(info.has_module);
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
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
		T(test_good), T(test_versions), T(test_layout), T(test_rest), T(test_signature), T(test_binding),
		T(test_pck), T(test_pck_extension), T(test_pck_parts), T(test_roots), T(test_nonce), T(test_debug), T(test_quoting_enclave),
		T(test_revoked), T(test_levels), T(test_module), T(test_enclave), T(test_together),
		T(test_collateral_signature), T(test_collateral_root), T(test_collateral_signer), T(test_collateral_bytes), T(test_saved_form),
		T(test_malformed_collateral), T(test_bits),
	};
	EVP_PKEY **keys[] = { &root_key, &ca_key, &pck_key, &attest_key, &tcb_key, &other_key };
	int r;

	v = calloc(1, sizeof(*v));
	pck_der = BLOB(16384);
	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		*keys[i] = kit_key("P-256");
	kit_pin(root_key, pin[0]);
	r = cmocka_run_group_tests(tests, NULL, NULL);
	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		EVP_PKEY_free(*keys[i]);
	blob_free(&pck_der);
	free(v);
	return r;
}
