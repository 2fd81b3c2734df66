/* SPDX-License-Identifier: Apache-2.0 */
/* TDX collateral, and what it says of a quote. */
#include "appraise/tdx.h"
#include "tdx_kit.h"

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
	assert_true(kit_noted(&v->notes, R_TDX_TCB_CONFIGURATION));
	assert_ok(with_info(INFO(FMSPC, "5", NEXT, "", LEVEL("1", "1", "1", "1", "ConfigurationNeeded"))));
	assert_true(kit_noted(&v->notes, R_TDX_TCB_CONFIGURATION));
	assert_ok(with_info(INFO(FMSPC, "5", NEXT, "", LEVEL("1", "1", "1", "1", "ConfigurationAndSWHardeningNeeded"))));
	assert_true(kit_noted(&v->notes, R_TDX_TCB_CONFIGURATION));
	assert_reason(R_TDX_COLLATERAL, with_info(INFO(FMSPC, "5", NEXT, "", LEVEL("1", "1", "1", "1", "Fine"))));
	/* of another platform: as if it were not there */
	assert_ok(with_info(INFO("90C06F000001", "5", NEXT, "", LEVEL("1", "1", "1", "1", "Revoked"))));
	assert_true(kit_noted(&v->notes, R_TDX_TCB_UNKNOWN));
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
	assert_true(kit_noted(&v->notes, R_TDX_TCB_UNKNOWN) && kit_noted(&v->notes, R_TDX_COLLATERAL_STALE));
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

/* What of a folder is kept: a text together with its signature, of any form. */
static void test_is_collateral(void **state)
{
	static const struct {
		const char *text;
		bool is;
	} cases[] = {
		{ "{\"tcbInfo\":{},\"signature\":\"\"}", true },
		{ "{\"enclaveIdentity\":{},\"signature\":\"\"}", true },
		{ "{\"tcb_info\":\"\",\"tcb_info_signature\":\"\"}", true },
		{ "{\"qe_identity\":\"\",\"qe_identity_signature\":\"\"}", true },
		{ "{\"qe_identity\":\"\",\"signature\":\"\"}", false },
		{ "{\"tcbInfo\":{}}", false },
		{ "{\"signature\":\"\"}", false },
		{ "{}", false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		assert_int_equal(tdx_is_collateral(bytes_str(cases[i].text)), cases[i].is);
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

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_levels), TEST(test_module), TEST(test_enclave), TEST(test_together),
		TEST(test_collateral_signature), TEST(test_collateral_root),
		TEST(test_collateral_signer), TEST(test_collateral_bytes),
		TEST(test_saved_form), TEST(test_is_collateral), TEST(test_malformed_collateral),
	};

	return cmocka_run_group_tests(tests, make_keys, free_keys);
}
