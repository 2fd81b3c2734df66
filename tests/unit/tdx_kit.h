/* SPDX-License-Identifier: Apache-2.0 */
/* A TDX or SGX quote with its chain, and collateral to judge it by. */
#ifndef BOOTGATE_TESTS_TDX_KIT_H
#define BOOTGATE_TESTS_TDX_KIT_H

#include <stdio.h>

#include "appraise/tdx.h"
#include "cvm_kit.h"

#define SGX_EXTENSION "1.2.840.113741.1.13.1"

static EVP_PKEY *root_key, *ca_key, *pck_key, *attest_key, *tcb_key, *other_key;
static uint8_t pin[1][SHA256_LEN];
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

static inline void put(uint8_t *p, uint64_t value, size_t n)
{
	for (size_t i = 0; i < n; i++)
		p[i] = (uint8_t)(value >> 8 * i);
}

static inline void public_raw(EVP_PKEY *key, uint8_t ret[64])
{
	uint8_t point[65];
	size_t n;

	assert_int_equal(EVP_PKEY_get_octet_string_param(key, "pub", point, sizeof(point), &n), 1);
	assert_int_equal(n, 65);
	memcpy(ret, point + 1, 64);
}

/* MRSIGNER and ISVPRODID */
static inline void set_qe(size_t which)
{
	memcpy(qe + 128, tdx_intel_qe[which].mr_signer, 32);
	put(qe + 256, tdx_intel_qe[which].isv_prod_id, 2);
}

/* Everything signed anew. */
static inline void make_quote(void)
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

static inline void der(struct blob *to, uint8_t tag, struct bytes value)
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
static inline void pair(struct blob *to, int part, int sub, uint8_t tag, struct bytes value)
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
static inline void make_pck(int omit, uint8_t tag_fmspc)
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

static inline void add_object(const char *member, const char *text, EVP_PKEY *signer)
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

static inline void add_good(void)
{
	add_object("tcbInfo", GOOD_INFO, tcb_key);
	add_object("enclaveIdentity", GOOD_IDENTITY, tcb_key);
}

static inline int setup(void **state)
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

static inline int teardown(void **state)
{
	tdx_result_free(v);
	*v = (struct tdx_result){ 0 };
	for (size_t i = 0; i < objects; i++)
		blob_free(&object[i]);
	objects = 0;
	return free_pool(state);
}

static inline void add_all(void)
{
	kit_add_cert(pool, &pck);
	kit_add_cert(pool, &ca);
	kit_add_cert(pool, &root);
	kit_add_cert(pool, &tcb);
}

static inline enum reason verify(void)
{
	tdx_result_free(v);
	return tdx_verify(&e, pin, object, objects, v);
}

static EVP_PKEY **const keys[] = { &root_key, &ca_key, &pck_key, &attest_key, &tcb_key, &other_key };

static inline int make_keys(void **state)
{
	(void)state;
	v = calloc(1, sizeof(*v));
	pck_der = BLOB(16384);
	kit_keys(keys, ARRAY_LEN(keys), "P-256");
	kit_pin(root_key, pin[0]);
	return v ? 0 : -1;
}

static inline int free_keys(void **state)
{
	(void)state;
	kit_free_keys(keys, ARRAY_LEN(keys));
	blob_free(&pck_der);
	free(v);
	return 0;
}

#endif
