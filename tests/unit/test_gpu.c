/* SPDX-License-Identifier: Apache-2.0 */
/* Evidence of GPUs and switches: layout, certificates, judgement. */
#include "cvm_kit.h"

#include "appraise/gpu.h"

static EVP_PKEY *root_key, *ca_key, *leaf_key, *other_key;
static uint8_t pin[1][SHA256_LEN], fwid[GPU_FWID_LEN], nonce[32];
static struct gpu_result *v;
static struct cvm_evidence e;
static struct kit_cert root, ca, leaf;
static struct kit_extension extension;
static struct blob fwid_der, report;
static const char *vbios = "\x00\xa5\x00\x96\x01\x00\x00\x00";
static bool has_fwid;

static void field(uint16_t type, const void *p, size_t n)
{
	assert_ok(blob_le16(&report, type));
	assert_ok(blob_le16(&report, (uint16_t)n));
	assert_ok(blob_append(&report, p, n));
}

/* Two measurements; signed. */
static void make_report(EVP_PKEY *signer)
{
	uint8_t value[48], rs[96];
	size_t at;

	blob_reset(&report);
	assert_ok(blob_append(&report, "\x11\xe0\x01\xff", 4));
	assert_ok(blob_append(&report, nonce, 32));
	assert_ok(blob_u8(&report, 0));
	assert_ok(blob_append(&report, "\x11\x60\x00\x00\x02\x6e\x00\x00", 8));
	for (uint8_t i = 1; i <= 2; i++) {
		memset(value, i, sizeof(value));
		assert_ok(blob_u8(&report, i));
		assert_ok(blob_u8(&report, 1));
		assert_ok(blob_le16(&report, 51));
		assert_ok(blob_u8(&report, 1));
		assert_ok(blob_le16(&report, 48));
		assert_ok(blob_append(&report, value, 48));
	}
	assert_ok(blob_append(&report, value, 32));
	at = report.n;
	assert_ok(blob_le16(&report, 0));
	field(GPU_OPAQUE_VBIOS, vbios, 8);
	field(GPU_OPAQUE_DRIVER, "590.12", 7);
	if (has_fwid)
		field(GPU_OPAQUE_FWID, fwid, sizeof(fwid));
	report.p[at] = (uint8_t)(report.n - at - 2);
	kit_sign_raw(signer, EVP_sha384(), blob_bytes(&report), 48, rs);
	assert_ok(blob_append(&report, rs, sizeof(rs)));
	e.bytes = blob_bytes(&report);
}

/* Value of the extension: composite id (Hopper), or DiceTcbInfo (Blackwell). */
static void make_extension(bool tcb_info)
{
	static const uint8_t composite[] = { 0x30, 0x44, 0x02, 0x01, 0x01, 0x30, 0x00 };
	static const uint8_t info[] = { 0x30, 0x44, 0x80, 0x01, 0x4e, 0xa6, 0x3f };
	static const uint8_t pair[] = { 0x30, 0x3d, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65,
					0x03, 0x04, 0x02, 0x02, 0x04, 0x30 };

	blob_reset(&fwid_der);
	assert_ok(blob_append(&fwid_der, tcb_info ? info : composite, 7));
	assert_ok(blob_append(&fwid_der, pair, sizeof(pair)));
	assert_ok(blob_append(&fwid_der, fwid, sizeof(fwid)));
	extension = (struct kit_extension){ tcb_info ? "2.23.133.5.4.1.1" : "2.23.133.5.4.1", fwid_der.p,
					    fwid_der.n, false };
}

static int setup(void **state)
{
	(void)state;
	assert_ok(chain_pool_make(&pool));
	root = (struct kit_cert){ .name = "Device Identity CA", .issuer = "Device Identity CA", .key = root_key,
				  .signer = root_key, .ca = true, .no_pathlen_zero = true };
	ca = (struct kit_cert){ .name = "GH100 GSP BROM", .issuer = "Device Identity CA", .key = ca_key,
				.signer = root_key, .ca = true };
	leaf = (struct kit_cert){ .name = "GH100 GSP FMC LF", .issuer = "GH100 GSP BROM", .key = leaf_key,
				  .signer = ca_key, .extension = &extension, .extensions = 1, .serial = 0x77 };
	memset(fwid, 0xf1, sizeof(fwid));
	for (size_t i = 0; i < sizeof(nonce); i++)
		nonce[i] = (uint8_t)(i + 1);
	has_fwid = true;
	make_extension(false);
	e = (struct cvm_evidence){ .nonce = BYTES(nonce), .pool = pool, .now = KIT_NOW };
	make_report(leaf_key);
	return 0;
}

static void add_all(void)
{
	kit_add_cert(pool, &leaf);
	kit_add_cert(pool, &ca);
	kit_add_cert(pool, &root);
}

static enum reason verify(void)
{
	return gpu_verify(&e, pin, v);
}

static void test_good(void **state)
{
	char text[GPU_VBIOS_TEXT];

	(void)state;
	add_all();
	assert_ok(verify());
	assert_true(v->nonce_checked);
	assert_int_equal(v->signer.path.count, 3);
	assert_int_equal(v->report.blocks, 2);
	assert_int_equal(v->report.block[1].index, 2);
	assert_int_equal(v->report.block[1].value.p[47], 2);
	assert_bytes(v->fwid, fwid, sizeof(fwid));
	assert_bytes(gpu_field(&v->report, GPU_OPAQUE_DRIVER), "590.12", 7);
	gpu_vbios_text(gpu_field(&v->report, GPU_OPAQUE_VBIOS), text);
	assert_string_equal(text, "96.00.A5.00.01");
	assert_true(kit_noted(&v->notes, R_GPU_REFERENCE_UNKNOWN) && kit_noted(&v->notes, R_CHAIN_REVOCATION_UNKNOWN));
	assert_int_equal(v->notes.n, 2);
}

static void test_blackwell(void **state)
{
	(void)state;
	make_extension(true);
	add_all();
	assert_ok(verify());
	assert_bytes(v->fwid, fwid, sizeof(fwid));
}

static void test_fwid(void **state)
{
	(void)state;
	add_all();
	fwid[47] ^= 1;
	make_report(leaf_key);
	assert_reason(R_GPU_FWID, verify());
	has_fwid = false;
	make_report(leaf_key);
	assert_ok(verify());
	assert_true(kit_noted(&v->notes, R_GPU_FWID_UNKNOWN));
}

static void test_keys(void **state)
{
	(void)state;
	kit_add_cert(pool, &ca);
	assert_reason(R_GPU_NO_KEY, verify());
	/* without the extension it is no attestation key */
	leaf.extensions = 0;
	kit_add_cert(pool, &leaf);
	assert_reason(R_GPU_NO_KEY, verify());
	leaf.extensions = 1;
	add_all();
	make_report(other_key);
	assert_reason(R_GPU_SIGNATURE, verify());
	assert_int_equal(v->signer.candidates, 1);
}

static void test_reissued(void **state)
{
	struct kit_cert other = leaf;

	(void)state;
	other.issuer = "Nobody";
	other.signer = other_key;
	kit_add_cert(pool, &other);
	assert_reason(R_CHAIN_INCOMPLETE, verify());
	add_all();
	assert_ok(verify());
	assert_bytes(v->fwid, fwid, sizeof(fwid));
}

static void test_root(void **state)
{
	(void)state;
	add_all();
	assert_reason(R_CHAIN_ROOT, gpu_verify(&e, gpu_nvidia_root, v));
}

static void test_revoked(void **state)
{
	(void)state;
	add_all();
	kit_add_list(pool, &(struct kit_crl){ .issuer = "GH100 GSP BROM", .signer = ca_key, .revoked = 0x77 });
	assert_reason(R_CHAIN_REVOKED, verify());
}

static void test_nonce(void **state)
{
	(void)state;
	add_all();
	nonce[31] ^= 1;
	assert_reason(R_GPU_NONCE, verify());
	e.nonce = bytes_of(nonce, 31);
	assert_reason(R_GPU_NONCE, verify());
	e.nonce = BYTES_NONE;
	assert_ok(verify());
	assert_false(v->nonce_checked);
}

static void test_layout(void **state)
{
	static const struct {
		size_t at;
		uint8_t value;
		enum reason want;
	} wrong[] = {
		{ 0, 0x10, R_CVM_EVIDENCE }, { 1, 0xe1, R_CVM_EVIDENCE },
		/* not signed, not all */
		{ 2, 0, R_GPU_FORMAT }, { 3, 1, R_GPU_FORMAT },
		/* the answer: version, code, number of blocks, length of the record */
		{ 37, 0x12, R_GPU_FORMAT }, { 38, 0x7f, R_GPU_FORMAT }, { 41, 0, R_GPU_FORMAT },
		{ 41, 3, R_GPU_FORMAT }, { 41, 1, R_GPU_FORMAT }, { 41, 255, R_GPU_FORMAT },
		{ 44, 1, R_FORMAT_TRUNCATED },
		/* a block: index 0, 255, twice; specification; sizes */
		{ 45, 0, R_GPU_FORMAT }, { 45, 255, R_GPU_FORMAT }, { 45, 2, R_GPU_FORMAT },
		{ 46, 2, R_GPU_FORMAT }, { 47, 50, R_GPU_FORMAT }, { 50, 49, R_GPU_FORMAT },
		/* opaque: a type twice, a length too long */
		{ 189, GPU_OPAQUE_DRIVER, R_GPU_FORMAT }, { 191, 200, R_GPU_FORMAT },
	};
	static struct gpu_report r;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		uint8_t before = report.p[wrong[i].at];

		report.p[wrong[i].at] = wrong[i].value;
		assert_reason(wrong[i].want, gpu_report_read(blob_bytes(&report), &r));
		report.p[wrong[i].at] = before;
	}
	assert_ok(gpu_report_read(blob_bytes(&report), &r));
	assert_reason(R_FORMAT_TRUNCATED, gpu_report_read(bytes_of(report.p, report.n - 1), &r));
	assert_ok(blob_u8(&report, 0));
	assert_reason(R_GPU_FORMAT, gpu_report_read(blob_bytes(&report), &r));
}

static void test_names(void **state)
{
	char text[GPU_VBIOS_TEXT];

	(void)state;
	assert_string_equal(gpu_field_name(3), "driver_version");
	assert_null(gpu_field_name(0));
	assert_null(gpu_field_name(33));
	assert_null(gpu_field_name(999));
	gpu_vbios_text(bytes_str("96.10.55.00.01"), text);
	assert_string_equal(text, "96.10.55.00.01");
	gpu_vbios_text(bytes_of("\x01\x02", 2), text);
	assert_string_equal(text, "");
	gpu_vbios_text(BYTES_NONE, text);
	assert_string_equal(text, "");
}

static void test_extensions(void **state)
{
	struct bytes got;

	(void)state;
	for (int tcb_info = 0; tcb_info <= 1; tcb_info++) {
		make_extension(tcb_info);
		assert_ok(gpu_fwid_read(blob_bytes(&fwid_der), tcb_info, &got));
		assert_bytes(got, fwid, sizeof(fwid));
		assert_reason(R_GPU_FWID, gpu_fwid_read(blob_bytes(&fwid_der), !tcb_info, &got));
		assert_reason(R_GPU_FWID, gpu_fwid_read(bytes_of(fwid_der.p, fwid_der.n - 1), tcb_info, &got));
		/* another hash algorithm */
		fwid_der.p[19] = 0x01;
		assert_reason(R_GPU_FWID, gpu_fwid_read(blob_bytes(&fwid_der), tcb_info, &got));
	}
}

/* No byte of request or answer can be changed. */
static void test_bits(void **state)
{
	(void)state;
	add_all();
	e.nonce = BYTES_NONE;
	assert_ok(verify());
	for (size_t bit = 0; bit < report.n * 8; bit++) {
		report.p[bit / 8] ^= (uint8_t)(1u << bit % 8);
		if (verify() == R_OK)
			fail_msg("bit %zu may be changed", bit);
		report.p[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
	assert_ok(verify());
}

static EVP_PKEY **const keys[] = { &root_key, &ca_key, &leaf_key, &other_key };

static int make_keys(void **state)
{
	(void)state;
	v = calloc(1, sizeof(*v));
	report = BLOB(8192);
	fwid_der = BLOB(256);
	kit_keys(keys, ARRAY_LEN(keys), "P-384");
	kit_pin(root_key, pin[0]);
	return v ? 0 : -1;
}

static int free_keys(void **state)
{
	(void)state;
	kit_free_keys(keys, ARRAY_LEN(keys));
	blob_free(&report);
	blob_free(&fwid_der);
	free(v);
	return 0;
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, free_pool)
	const struct CMUnitTest tests[] = {
		TEST(test_good), TEST(test_blackwell), TEST(test_fwid), TEST(test_keys),
		TEST(test_reissued), TEST(test_root), TEST(test_revoked), TEST(test_nonce), TEST(test_layout),
		TEST(test_names), TEST(test_extensions), TEST(test_bits),
	};

	return cmocka_run_group_tests(tests, make_keys, free_keys);
}
