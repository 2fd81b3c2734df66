/* SPDX-License-Identifier: Apache-2.0 */
/* Revocation lists beside the CAs. */
#include "cert_judge_kit.h"

static X509_CRL *list_of(const struct made *by, const struct made *revoked, long from, long to)
{
	X509_CRL *crl = X509_CRL_new();
	ASN1_TIME *t = ASN1_TIME_new();

	assert_int_equal(X509_CRL_set_version(crl, 1), 1);
	assert_int_equal(X509_CRL_set_issuer_name(crl, X509_get_subject_name(by->x509)), 1);
	assert_non_null(X509_gmtime_adj(t, from));
	assert_int_equal(X509_CRL_set1_lastUpdate(crl, t), 1);
	assert_non_null(X509_gmtime_adj(t, to));
	assert_int_equal(X509_CRL_set1_nextUpdate(crl, t), 1);
	if (revoked != NULL) {
		X509_REVOKED *r = X509_REVOKED_new();

		assert_int_equal(X509_REVOKED_set_serialNumber(
			r, X509_get_serialNumber(revoked->x509)), 1);
		assert_non_null(X509_gmtime_adj(t, from));
		assert_int_equal(X509_REVOKED_set_revocationDate(r, t), 1);
		assert_int_equal(X509_CRL_add0_revoked(crl, r), 1);
	}
	ASN1_TIME_free(t);
	return crl;
}

/* Takes over the list. */
static void add_list(struct cert_store *s, X509_CRL *crl, EVP_PKEY *key, bool pem)
{
	BIO *out = BIO_new(BIO_s_mem());
	size_t count = 0;
	char *bytes;

	assert_true(X509_CRL_sign(crl, key, EVP_sha256()) > 0);
	assert_int_equal(pem ? PEM_write_bio_X509_CRL(out, crl) : i2d_X509_CRL_bio(out, crl), 1);
	long n = BIO_get_mem_data(out, &bytes);
	assert_ok(cert_store_add(s, bytes_of(bytes, (size_t)n), &count));
	assert_int_equal(count, 1);
	BIO_free(out);
	X509_CRL_free(crl);
}

static void test_revocation(void **state)
{
	struct spec issuer_that_lists = issuer_spec;

	(void)state;
	issuer_that_lists.subject = "Lists";
	issuer_that_lists.usage = "critical,keyCertSign,cRLSign";
	_cleanup_made_ struct made lists = make(&issuer_that_lists, &root);
	_cleanup_made_ struct made leaf = make(&leaf_spec, &lists);
	_cleanup_made_ struct made forger = make(&issuer_that_lists, &root);
	_cleanup_(blob_free) struct blob der = der_of(&leaf);
	static const struct {
		bool revoked;
		long from, to;
		enum reason want;
		const char *says;
	} cases[] = {
		{ false, -DAY, DAY, R_OK, "no list of its issuer" },	/* the CA's: the root has none */
		{ true, -DAY, DAY, R_EK_REVOKED, "has revoked it" },
		{ false, -3 * DAY, -DAY, R_OK, "out of date" },
		{ true, -3 * DAY, -DAY, R_EK_REVOKED, "has revoked it" },
		{ true, DAY, 3 * DAY, R_EK_REVOKED, "out of date" },
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		_cleanup_(cert_store_free) struct cert_store *s = usual_store();

		trust(s, &lists);
		add_list(s, list_of(&lists, cases[i].revoked ? &leaf : NULL, cases[i].from,
				    cases[i].to), lists.key, /* pem= */ i % 2 == 0);
		assert_reason(cases[i].want, judge(s, BYTES_NONE, blob_bytes(&der)));
		assert_says(cases[i].says);
		assert_int_equal(path.link[0].reason, cases[i].want);
	}
	/* without any list that is told */
	_cleanup_(cert_store_free) struct cert_store *none = usual_store();
	trust(none, &lists);
	assert_ok(judge(none, BYTES_NONE, blob_bytes(&der)));
	assert_non_null(strstr(path.link[0].note, "no list of its issuer"));
	assert_string_equal(path.link[2].note, "");
	/* somebody else's list in its name says nothing good */
	_cleanup_(cert_store_free) struct cert_store *forged = usual_store();
	trust(forged, &lists);
	add_list(forged, list_of(&lists, NULL, -DAY, DAY), forger.key, false);
	assert_reason(R_EK_UNTRUSTED, judge(forged, BYTES_NONE, blob_bytes(&der)));
	assert_says("CRL signature");
}

static void test_revoked_ca(void **state)
{
	struct spec root_that_lists = root_spec;

	(void)state;
	root_that_lists.usage = "critical,keyCertSign,cRLSign";
	_cleanup_made_ struct made top = make(&root_that_lists, NULL);
	_cleanup_made_ struct made ca = make(&issuer_spec, &top);
	_cleanup_made_ struct made leaf = make(&leaf_spec, &ca);
	_cleanup_(blob_free) struct blob der = der_of(&leaf);
	_cleanup_(cert_store_free) struct cert_store *s = NULL;

	assert_ok(cert_store_make(&s));
	trust(s, &top);
	trust(s, &ca);
	assert_ok(judge(s, BYTES_NONE, blob_bytes(&der)));
	add_list(s, list_of(&top, &ca, -DAY, DAY), top.key, false);
	assert_reason(R_EK_REVOKED, judge(s, BYTES_NONE, blob_bytes(&der)));
	assert_int_equal(path.link[1].reason, R_EK_REVOKED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_revocation),
		cmocka_unit_test(test_revoked_ca),
	};

	return cmocka_run_group_tests(tests, make_ca, free_ca);
}
