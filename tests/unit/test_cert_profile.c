/* SPDX-License-Identifier: Apache-2.0 */
/* What an endorsement certificate itself must be. */
#include "cert_judge_kit.h"

static void test_good(void **state)
{
	struct spec s = leaf_spec;

	(void)state;
	assert_leaf(R_OK, "", &s);
	s.usage = "critical,keyAgreement";
	assert_leaf(R_OK, "", &s);
	s.usage = NULL;
	s.extended = "critical,2.23.133.8.1,serverAuth";
	s.subject = "EK";
	s.names = "dirName:tpm";
	assert_leaf(R_OK, "", &s);
	/* to the year 9999, as some vendors do */
	s.to = 7900L * 365 * DAY;
	assert_leaf(R_OK, "", &s);
}

static void test_leaf_usage(void **state)
{
	struct spec s = leaf_spec;

	(void)state;
	s.usage = "critical,digitalSignature";
	assert_leaf(R_EK_PROFILE, "the key usage", &s);
	s = leaf_spec;
	s.extended = "serverAuth,2.23.133.8.3";
	assert_leaf(R_EK_PROFILE, "the extended key usage", &s);
	s.extended = NULL;
	assert_leaf(R_EK_PROFILE, "the extended key usage", &s);
	s = leaf_spec;
	s.constraints = "critical,CA:TRUE";
	s.usage = NULL;
	s.subject = "EK";
	assert_leaf(R_EK_PROFILE, "CA's", &s);
}

/* Manufacturer, model and version: all of them, in a directory name. */
static void test_leaf_names(void **state)
{
	static const char *const wrong[] = {
		NULL, "critical,DNS:tpm", "critical,dirName:no_version", "critical,dirName:no_model",
		"critical,dirName:no_vendor", "critical,dirName:bad_vendor",
		"critical,dirName:short_vendor",
	};
	struct spec s = leaf_spec;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		s.names = wrong[i];
		s.subject = "EK";
		assert_leaf(R_EK_PROFILE, "manufacturer, model and version", &s);
	}
	/* all in one set, beside other names */
	s.names = "critical,DNS:tpm,dirName:one_set";
	assert_leaf(R_OK, "", &s);
	assert_true(path.link[0].info.has_tpm);
	assert_int_equal(path.link[0].info.manufacturer, 0x4e544300);
	assert_string_equal(path.link[0].info.model, "NPCT75x");
	assert_string_equal(path.link[0].info.version, "id:00070002");
	s.subject = "";
	s.names = "dirName:tpm";
	assert_leaf(R_EK_PROFILE, "not critical", &s);
}

static void test_critical_extension(void **state)
{
	struct spec s = leaf_spec;
	struct spec odd = issuer_spec;

	(void)state;
	s.other_oid = "1.3.6.1.4.1.99999.1";
	assert_leaf(R_EK_PROFILE, "critical extension", &s);
	odd.other_oid = s.other_oid;
	_cleanup_made_ struct made ca = make(&odd, &root);
	_cleanup_made_ struct made leaf = make(&leaf_spec, &ca);
	assert_judged(R_EK_UNTRUSTED, "critical extension", &root, &ca, &leaf);
}

static void test_weak(void **state)
{
	struct spec s = leaf_spec;

	(void)state;
	s.md = EVP_sha1();
	assert_leaf(R_EK_UNTRUSTED, "too weak", &s);
	s = leaf_spec;
	_cleanup_made_ struct made leaf = make_with(&s, &issuer, EVP_RSA_gen(1024));
	assert_judged(R_EK_UNTRUSTED, "too weak", &root, &issuer, &leaf);
}

/* A key that no library knows, as TPM 1.2 has: a refusal, and no failure of ours. */
static void test_unknown_key(void **state)
{
	static const uint8_t ec[] = { 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01 };
	_cleanup_(cert_store_free) struct cert_store *s = usual_store();
	_cleanup_made_ struct made leaf = make(&leaf_spec, &issuer);
	_cleanup_(blob_free) struct blob der = der_of(&leaf);
	uint8_t *at = memmem(der.p, der.n, ec, sizeof(ec));

	(void)state;
	assert_non_null(at);
	at[6] = 0x63;
	assert_reason(R_EK_PROFILE, judge(s, BYTES_NONE, blob_bytes(&der)));
	assert_string_equal(path.link[0].fault, "its key is of a kind that cannot be read");
	assert_string_equal(path.link[0].info.key, "of an unknown kind");
	for (size_t i = 1; i < path.count; i++)
		assert_reason(R_EK_UNTRUSTED, path.link[i].reason);
}

/* Names do not get a control character onto a screen. */
static void test_names_are_printable(void **state)
{
	struct spec s = leaf_spec;

	(void)state;
	s.subject = "\x1b[2J\nEK";
	assert_leaf(R_OK, "", &s);
	assert_non_null(strstr(path.link[0].info.subject, "EK"));
	for (const char *p = path.link[0].info.subject; *p != '\0'; p++)
		assert_true(*p >= ' ' && *p <= '~');
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_leaf_usage),
		cmocka_unit_test(test_leaf_names),
		cmocka_unit_test(test_critical_extension),
		cmocka_unit_test(test_weak),
		cmocka_unit_test(test_unknown_key),
		cmocka_unit_test(test_names_are_printable),
	};

	return cmocka_run_group_tests(tests, make_ca, free_ca);
}
