/* SPDX-License-Identifier: Apache-2.0 */
/* Chains of endorsement certificates, good ones and each kind of bad one (T30). */
#include <time.h>

#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "crypto/cert.h"
#include "crypto/cert_der.h"
#include "cert_kit.h"

static struct cert_path path;
static int64_t now;		/* 0: the machine's */

static enum reason judge(const struct cert_store *s, struct bytes sent, struct bytes der)
{
	_cleanup_(cert_free) struct cert *c = NULL;

	assert_ok(cert_read(der, &c));
	return cert_judge(s, sent, c, now != 0 ? now : (int64_t)time(NULL), &path);
}

/* Part of what one of the links says. */
static void assert_says(const char *says)
{
	for (size_t i = 0; i < CERT_PATH_MAX; i++)
		if (strstr(path.link[i].fault, says) != NULL ||
		    strstr(path.link[i].note, says) != NULL)
			return;
	fail_msg("says '%s' / '%s' / '%s', not '%s'", path.link[0].fault, path.link[1].fault,
		 path.link[2].fault, says);
}

/* What a set of these CAs says about the leaf; `says` is part of its words. */
static void assert_judged(enum reason want, const char *says, const struct made *root,
			  const struct made *issuer, const struct made *leaf)
{
	_cleanup_(cert_store_free) struct cert_store *s = NULL;
	_cleanup_(blob_free) struct blob der = der_of(leaf);

	assert_ok(cert_store_make(&s));
	if (root != NULL)
		trust(s, root);
	if (issuer != NULL)
		trust(s, issuer);
	assert_reason(want, judge(s, BYTES_NONE, blob_bytes(&der)));
	assert_says(says);
}

static struct made root, issuer;

static int make_ca(void **state)
{
	(void)state;
	root = make(&root_spec, NULL);
	issuer = make(&issuer_spec, &root);
	return 0;
}

static int free_ca(void **state)
{
	(void)state;
	unmake(&root);
	unmake(&issuer);
	return 0;
}

static void assert_leaf(enum reason want, const char *says, const struct spec *s)
{
	_cleanup_made_ struct made leaf = make(s, &issuer);

	assert_judged(want, says, &root, &issuer, &leaf);
}

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

static void test_no_path(void **state)
{
	_cleanup_made_ struct made leaf = make(&leaf_spec, &issuer);
	_cleanup_made_ struct made alone = make(&leaf_spec, NULL);

	(void)state;
	assert_judged(R_EK_UNTRUSTED, "no certificate of its issuer", &root, NULL, &leaf);
	assert_judged(R_EK_UNTRUSTED, "no certificate of its issuer", NULL, NULL, &leaf);
	/* an issuer alone is not trusted, whoever put it there */
	assert_judged(R_EK_UNTRUSTED, "no certificate of its issuer", NULL, &issuer, &leaf);
	assert_judged(R_EK_UNTRUSTED, "", &root, &issuer, &alone);
}

/* An issuer of the right name with another key. */
static void test_forged_signature(void **state)
{
	_cleanup_made_ struct made false_issuer = make(&issuer_spec, &root);
	_cleanup_made_ struct made leaf = make(&leaf_spec, &false_issuer);

	(void)state;
	assert_judged(R_EK_UNTRUSTED, "signature", &root, &issuer, &leaf);
}

static void test_dates(void **state)
{
	struct spec s = leaf_spec;

	(void)state;
	s.to = -3600;
	assert_leaf(R_EK_EXPIRED, "certificate has expired", &s);
	s.to = DAY;
	s.from = 3600;
	assert_leaf(R_EK_EXPIRED, "not valid yet", &s);
}

/* What a CA signed while it was valid stays good; nothing else does. */
static void test_expired_ca(void **state)
{
	struct spec leaf_then = leaf_spec, leaf_later = leaf_spec;
	struct spec old = issuer_spec, old_root = root_spec, young = issuer_spec;

	(void)state;
	old.from = old_root.from = leaf_then.from = -9 * DAY;
	old.to = old_root.to = -3 * DAY;
	leaf_later.from = -2 * DAY;
	{
		_cleanup_made_ struct made expired = make(&old, &root);
		_cleanup_made_ struct made then = make(&leaf_then, &expired);
		_cleanup_made_ struct made later = make(&leaf_later, &expired);
		assert_judged(R_OK, "counts for what it signed before", &root, &expired, &then);
		assert_int_equal(path.count, 3);
		assert_non_null(strstr(path.link[1].note, "expired 20"));
		assert_judged(R_EK_EXPIRED, "had expired when", &root, &expired, &later);
	}
	{
		_cleanup_made_ struct made expired = make(&old_root, NULL);
		_cleanup_made_ struct made middle = make(&old, &expired);
		_cleanup_made_ struct made late = make(&young, &expired);
		_cleanup_made_ struct made then = make(&leaf_then, &middle);
		_cleanup_made_ struct made below_late = make(&leaf_spec, &late);
		assert_judged(R_OK, "counts for what it signed before", &expired, &middle, &then);
		assert_judged(R_EK_EXPIRED, "had expired when", &expired, &late, &below_late);
	}
	young.from = 3600;
	_cleanup_made_ struct made not_yet = make(&young, &root);
	_cleanup_made_ struct made leaf = make(&leaf_spec, &not_yet);
	assert_judged(R_EK_EXPIRED, "not valid yet", &root, &not_yet, &leaf);
}

static void test_issuer_is_no_ca(void **state)
{
	struct spec s = issuer_spec;

	(void)state;
	s.constraints = "critical,CA:FALSE";
	{
		_cleanup_made_ struct made not_ca = make(&s, &root);
		_cleanup_made_ struct made leaf = make(&leaf_spec, &not_ca);
		assert_judged(R_EK_UNTRUSTED, "", &root, &not_ca, &leaf);
		assert_int_equal(path.link[1].reason, R_EK_UNTRUSTED);
	}
	s.constraints = "critical,CA:TRUE";
	s.usage = "critical,cRLSign";
	{
		_cleanup_made_ struct made cannot_sign = make(&s, &root);
		_cleanup_made_ struct made leaf = make(&leaf_spec, &cannot_sign);
		assert_judged(R_EK_UNTRUSTED, "key usage does not include", &root, &cannot_sign,
			      &leaf);
	}
}

/* Key usage alone made a CA before there were basic constraints. */
static void test_issuer_without_constraints(void **state)
{
	struct spec middle = issuer_spec;
	struct spec last = issuer_spec;

	(void)state;
	middle.subject = "Middle";
	middle.constraints = NULL;
	last.subject = "Last";
	_cleanup_made_ struct made m = make(&middle, &root);
	_cleanup_made_ struct made l = make(&last, &m);
	_cleanup_made_ struct made leaf = make(&leaf_spec, &l);
	_cleanup_(cert_store_free) struct cert_store *s = NULL;
	_cleanup_(blob_free) struct blob der = der_of(&leaf);

	assert_ok(cert_store_make(&s));
	trust(s, &root);
	trust(s, &m);
	trust(s, &l);
	assert_reason(R_EK_UNTRUSTED, judge(s, BYTES_NONE, blob_bytes(&der)));
	assert_int_equal(path.link[2].reason, R_EK_UNTRUSTED);
	/* right below the root, too */
	_cleanup_made_ struct made short_leaf = make(&leaf_spec, &m);
	assert_judged(R_EK_UNTRUSTED, "invalid CA certificate", &root, &m, &short_leaf);
}

static void test_path_length(void **state)
{
	struct spec s = issuer_spec;

	(void)state;
	s.subject = "Below";
	/* issuer has pathlen:0 */
	_cleanup_made_ struct made below = make(&s, &issuer);
	_cleanup_made_ struct made leaf = make(&leaf_spec, &below);
	_cleanup_(cert_store_free) struct cert_store *store = NULL;
	_cleanup_(blob_free) struct blob der = der_of(&leaf);

	assert_ok(cert_store_make(&store));
	trust(store, &root);
	trust(store, &issuer);
	trust(store, &below);
	assert_reason(R_EK_UNTRUSTED, judge(store, BYTES_NONE, blob_bytes(&der)));
	assert_says("path length");
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

/* A CA for something else; any purpose and none are as good as the right one. */
static void test_issuer_usage(void **state)
{
	static const struct {
		const char *extended;
		enum reason want;
	} cases[] = {
		{ "serverAuth", R_EK_UNTRUSTED }, { "serverAuth,2.23.133.8.1", R_OK },
		{ "anyExtendedKeyUsage", R_OK },
	};
	struct spec s = issuer_spec;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		s.extended = cases[i].extended;
		_cleanup_made_ struct made ca = make(&s, &root);
		_cleanup_made_ struct made leaf = make(&leaf_spec, &ca);
		assert_judged(cases[i].want,
			      cases[i].want == R_OK ? "" : "extended key usage does not allow",
			      &root, &ca, &leaf);
	}
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

static void test_read_refusals(void **state)
{
	_cleanup_made_ struct made leaf = make(&leaf_spec, &issuer);
	_cleanup_(blob_free) struct blob der = der_of(&leaf);
	struct cert *c = NULL;

	(void)state;
	for (size_t n = 0; n < der.n; n++)
		assert_reason(R_EK_FORMAT, cert_read(bytes_of(der.p, n), &c));
	/* NV padding is the caller's to cut */
	assert_ok(blob_u8(&der, 0));
	assert_reason(R_EK_FORMAT, cert_read(blob_bytes(&der), &c));
	assert_reason(R_EK_FORMAT, cert_read(BYTES_NONE, &c));
	assert_reason(R_EK_FORMAT, cert_read(bytes_str("-----BEGIN CERTIFICATE-----"), &c));
	assert_null(c);
	cert_free(&c);
}

static void test_store_files(void **state)
{
	_cleanup_(cert_store_free) struct cert_store *s = NULL;
	_cleanup_(blob_free) struct blob both = BLOB(65536);
	_cleanup_(blob_free) struct blob a = pem_of(&root);
	_cleanup_(blob_free) struct blob b = pem_of(&issuer);
	size_t count = 99;

	(void)state;
	assert_ok(cert_store_make(&s));
	assert_ok(blob_append(&both, "comment\n", 8));
	assert_ok(blob_append(&both, a.p, a.n));
	assert_ok(blob_append(&both, b.p, b.n));
	assert_ok(cert_store_add(s, blob_bytes(&both), &count));
	assert_int_equal(count, 2);
	/* the same again is no mistake */
	assert_ok(cert_store_add(s, blob_bytes(&both), &count));

	count = 99;
	assert_reason(R_EK_FORMAT, cert_store_add(s, BYTES_NONE, &count));
	assert_reason(R_EK_FORMAT, cert_store_add(s, bytes_str("nothing here"), &count));
	assert_reason(R_EK_FORMAT, cert_store_add(s, bytes_str("\x30\x03\x02\x01\x05"), &count));
	assert_reason(R_EK_FORMAT, cert_store_add(s, bytes_str(
		"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"), &count));
	/* one good, one broken: not silently the good one alone */
	assert_ok(blob_append(&a, "-----BEGIN CERTIFICATE-----\nAAAA\n"
				  "-----END CERTIFICATE-----\n", 59));
	assert_reason(R_EK_FORMAT, cert_store_add(s, blob_bytes(&a), &count));
	assert_ok(blob_append(&b, "-----BEGIN CERTIFICATE-----\n!!!!\n"
				  "-----END CERTIFICATE-----\n", 59));
	assert_reason(R_EK_FORMAT, cert_store_add(s, blob_bytes(&b), &count));
	assert_int_equal(count, 99);
}

/* ---- what comes with the leaf --------------------------------------------------- */

static void send(struct blob *sent, const struct made *m)
{
	_cleanup_(blob_free) struct blob der = der_of(m);

	assert_ok(blob_append(sent, der.p, der.n));
}

/* On-die CAs: two in between, in NV, in any order, beside a stranger. */
static void test_sent_chain(void **state)
{
	struct spec upper_spec = issuer_spec, lower_spec = issuer_spec;
	_cleanup_(cert_store_free) struct cert_store *s = NULL;
	_cleanup_(blob_free) struct blob sent = BLOB(65536);
	_cleanup_(blob_free) struct blob one = BLOB(65536);

	(void)state;
	upper_spec.subject = "Upper";
	upper_spec.constraints = "critical,CA:TRUE,pathlen:1";
	lower_spec.subject = "Lower";
	_cleanup_made_ struct made upper = make(&upper_spec, &root);
	_cleanup_made_ struct made lower = make(&lower_spec, &upper);
	_cleanup_made_ struct made leaf = make(&leaf_spec, &lower);
	_cleanup_made_ struct made stranger = make(&root_spec, NULL);
	_cleanup_(blob_free) struct blob der = der_of(&leaf);

	assert_ok(cert_store_make(&s));
	trust(s, &root);
	send(&sent, &upper);
	send(&sent, &stranger);
	/* one NV index ends, filled up */
	assert_ok(blob_append(&sent, "\xff\xff\0\0", 4));
	send(&sent, &lower);
	assert_ok(judge(s, blob_bytes(&sent), blob_bytes(&der)));
	assert_int_equal(path.count, 4);
	assert_int_equal(path.sent, 3);
	assert_int_equal(path.sent_unusable, 0);
	assert_int_equal(path.link[0].origin, CERT_GIVEN);
	assert_int_equal(path.link[1].origin, CERT_SENT);
	assert_int_equal(path.link[2].origin, CERT_SENT);
	assert_int_equal(path.link[3].origin, CERT_FOLDER);
	/* the one in the middle is missing */
	send(&one, &lower);
	assert_reason(R_EK_UNTRUSTED, judge(s, blob_bytes(&one), blob_bytes(&der)));
	assert_int_equal(path.count, 2);
	assert_string_equal(path.link[1].fault, "no certificate of its issuer is there");
	/* junk ends the list and does no more harm than that */
	assert_ok(blob_append(&sent, "\x30\x05junk", 6));
	assert_ok(judge(s, blob_bytes(&sent), blob_bytes(&der)));
	assert_int_equal(path.sent_unusable, 1);
	assert_ok(judge(s, blob_bytes(&sent), blob_bytes(&der)));
	blob_reset(&one);
	assert_ok(blob_append(&one, "\x30\x03\x02\x01\x05", 5));
	assert_ok(blob_append(&one, sent.p, sent.n - 6));
	assert_ok(judge(s, blob_bytes(&one), blob_bytes(&der)));
	assert_int_equal(path.sent_unusable, 1);
}

/* A root is what the folder has, not what a TPM sends. */
static void test_sent_root(void **state)
{
	_cleanup_(cert_store_free) struct cert_store *s = NULL;
	_cleanup_(blob_free) struct blob sent = BLOB(65536);
	_cleanup_made_ struct made leaf = make(&leaf_spec, &issuer);
	_cleanup_(blob_free) struct blob der = der_of(&leaf);

	(void)state;
	assert_ok(cert_store_make(&s));
	send(&sent, &issuer);
	send(&sent, &root);
	assert_reason(R_EK_UNTRUSTED, judge(s, blob_bytes(&sent), blob_bytes(&der)));
	assert_says("is not a root in the folder");
	trust(s, &root);
	assert_ok(judge(s, blob_bytes(&sent), blob_bytes(&der)));
}

/* Two CAs of one name: the one that signed it is found, in whatever order. */
static void test_same_name(void **state)
{
	_cleanup_made_ struct made twin = make(&issuer_spec, &root);
	_cleanup_made_ struct made leaf = make(&leaf_spec, &issuer);
	_cleanup_(blob_free) struct blob der = der_of(&leaf);
	_cleanup_(blob_free) struct blob sent = BLOB(65536);

	(void)state;
	for (int order = 0; order < 2; order++) {
		_cleanup_(cert_store_free) struct cert_store *s = NULL;

		assert_ok(cert_store_make(&s));
		trust(s, &root);
		trust(s, order == 0 ? &twin : &issuer);
		trust(s, order == 0 ? &issuer : &twin);
		assert_ok(judge(s, BYTES_NONE, blob_bytes(&der)));
	}
	/* nor can one that was sent stand in the way */
	_cleanup_(cert_store_free) struct cert_store *s = NULL;
	assert_ok(cert_store_make(&s));
	trust(s, &root);
	send(&sent, &twin);
	send(&sent, &issuer);
	assert_ok(judge(s, blob_bytes(&sent), blob_bytes(&der)));
}

/* ---- revocation ----------------------------------------------------------------- */

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

static struct cert_store *usual_store(void)
{
	struct cert_store *s = NULL;

	assert_ok(cert_store_make(&s));
	trust(s, &root);
	trust(s, &issuer);
	return s;
}

/* A CA of a folder: its own end is no fault, its own signature counts. */
static void test_judge_ca(void **state)
{
	struct spec old = issuer_spec, other_spec = root_spec;
	_cleanup_(cert_store_free) struct cert_store *s = usual_store();

	(void)state;
	other_spec.subject = "Other root";
	old.subject = "Old";
	old.to = -3600;
	_cleanup_made_ struct made expired = make(&old, &root);
	_cleanup_made_ struct made leaf = make(&leaf_spec, &issuer);
	_cleanup_made_ struct made stranger = make(&issuer_spec, &leaf);
	_cleanup_made_ struct made broken_root = make(&other_spec, NULL);
	const ASN1_BIT_STRING *signature;
	const struct {
		const struct made *m;
		enum reason want;
	} cases[] = {
		{ &root, R_OK }, { &issuer, R_OK }, { &expired, R_OK }, { &leaf, R_EK_PROFILE },
		{ &stranger, R_EK_UNTRUSTED }, { &broken_root, R_EK_UNTRUSTED },
	};
	X509_get0_signature(&signature, NULL, broken_root.x509);
	((uint8_t *)(uintptr_t)ASN1_STRING_get0_data(signature))[20] ^= 1;
	trust(s, &broken_root);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		_cleanup_(blob_free) struct blob der = der_of(cases[i].m);
		_cleanup_(cert_free) struct cert *c = NULL;

		assert_ok(cert_read(blob_bytes(&der), &c));
		assert_reason(cases[i].want, cert_judge_ca(s, c, (int64_t)time(NULL), &path));
	}
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

/* ---- what vendors encode wrongly ------------------------------------------------ */

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

static void test_files(void **state)
{
	_cleanup_made_ struct made leaf = make(&leaf_spec, &issuer);
	_cleanup_(blob_free) struct blob der = der_of(&leaf);
	_cleanup_(blob_free) struct blob pem = pem_of(&leaf);
	struct cert_list l = { NULL, 0, 0 };
	struct cert *c = NULL;

	(void)state;
	assert_ok(cert_read_all(blob_bytes(&pem), &l));
	assert_int_equal(l.n, 1);
	assert_int_equal(l.revocation_lists, 0);
	cert_list_free(&l);
	assert_reason(R_EK_FORMAT, cert_read_all(bytes_str("text"), &l));
	assert_ok(cert_read_file(blob_bytes(&pem), &c));
	cert_free(&c);
	assert_ok(blob_append(&der, "\xff\xff", 2));
	assert_ok(cert_read_file(blob_bytes(&der), &c));
	cert_free(&c);
	assert_ok(blob_append(&der, "x", 1));
	assert_reason(R_EK_PADDING, cert_read_file(blob_bytes(&der), &c));
	assert_reason(R_EK_FORMAT, cert_read_file(BYTES_NONE, &c));
	assert_reason(R_EK_FORMAT, cert_read_file(bytes_str("text"), &c));
	assert_reason(R_EK_FORMAT, cert_read_file(bytes_str(
		"-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n"), &c));
	assert_null(c);
}

/* Any name, any depth, DER or PEM; what is neither is counted. */
static void test_folder(void **state)
{
	_cleanup_(cert_store_free) struct cert_store *s = NULL;
	_cleanup_made_ struct made leaf = make(&leaf_spec, &issuer);
	_cleanup_(blob_free) struct blob der = der_of(&leaf);
	_cleanup_(blob_free) struct blob root_der = der_of(&root);
	_cleanup_(blob_free) struct blob issuer_pem = pem_of(&issuer);
	char folder[] = "/tmp/bootgate-cert-XXXXXX";
	char name[128];
	struct cert_folder found;

	(void)state;
	assert_non_null(mkdtemp(folder));
	assert_ok(cert_store_make(&s));
	assert_reason(R_FILE, cert_store_add_folder(s, "/nowhere", NULL, NULL, &found));
	(void)snprintf(name, sizeof(name), "%s/a", folder);
	assert_int_equal(mkdir(name, 0700), 0);
	(void)snprintf(name, sizeof(name), "%s/a/circle", folder);
	assert_int_equal(symlink("..", name), 0);
	(void)snprintf(name, sizeof(name), "%s/a/b", folder);
	assert_int_equal(mkdir(name, 0700), 0);
	(void)snprintf(name, sizeof(name), "%s/a/b/root.txt", folder);
	assert_ok(fd_write_file(name, blob_bytes(&root_der), 0600));
	(void)snprintf(name, sizeof(name), "%s/a/issuer", folder);
	assert_ok(fd_write_file(name, blob_bytes(&issuer_pem), 0600));
	(void)snprintf(name, sizeof(name), "%s/README", folder);
	assert_ok(fd_write_file(name, bytes_str("no certificate"), 0600));
	assert_ok(cert_store_add_folder(s, folder, NULL, NULL, &found));
	assert_int_equal(found.files, 3);
	assert_int_equal(found.certificates, 2);
	assert_int_equal(found.unusable, 1);
	assert_ok(judge(s, BYTES_NONE, blob_bytes(&der)));
	static const char *const rm[] = { "a/b/root.txt", "a/issuer", "a/circle", "README", "a/b", "a", "" };
	for (size_t i = 0; i < ARRAY_LEN(rm); i++) {
		(void)snprintf(name, sizeof(name), "%s/%s", folder, rm[i]);
		assert_int_equal(remove(name), 0);
	}
}

static void test_keys(void **state)
{
	static const struct {
		const char *group;
		uint16_t curve;
		size_t len;
	} curves[] = { { "P-256", 3, 32 }, { "P-384", 4, 48 }, { "P-521", 5, 66 } };
	struct cert_key key;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(curves); i++) {
		_cleanup_made_ struct made m = make_with(&leaf_spec, &issuer,
							 EVP_EC_gen(curves[i].group));
		_cleanup_(blob_free) struct blob der = der_of(&m);
		_cleanup_(cert_free) struct cert *c = NULL;
		uint8_t point[1 + 2 * 66];
		size_t n, len = curves[i].len;

		assert_ok(cert_read(blob_bytes(&der), &c));
		assert_ok(cert_key(c, &key));
		assert_int_equal(key.type, 0x0023);
		assert_int_equal(key.curve, curves[i].curve);
		assert_int_equal(key.coord_len, len);
		assert_int_equal(EVP_PKEY_get_octet_string_param(m.key, "pub", point,
								 sizeof(point), &n), 1);
		assert_int_equal(n, 1 + 2 * len);
		assert_memory_equal(key.x, point + 1, len);
		assert_memory_equal(key.y, point + 1 + len, len);
	}
	_cleanup_made_ struct made m = make_with(&leaf_spec, &issuer, EVP_RSA_gen(2048));
	_cleanup_(blob_free) struct blob der = der_of(&m);
	_cleanup_(cert_free) struct cert *c = NULL;
	assert_ok(cert_read(blob_bytes(&der), &c));
	assert_ok(cert_key(c, &key));
	assert_int_equal(key.type, 0x0001);
	assert_int_equal(key.modulus_len, 256);
	assert_int_equal(key.exponent, 65537);
	assert_true(key.modulus[0] & 0x80);
}

static void test_keys_refused(void **state)
{
	struct cert_key key;

	(void)state;
	{
		_cleanup_made_ struct made m = make_with(
			&leaf_spec, &issuer, EVP_PKEY_Q_keygen(NULL, NULL, "ED25519"));
		_cleanup_(blob_free) struct blob der = der_of(&m);
		_cleanup_(cert_free) struct cert *c = NULL;
		assert_ok(cert_read(blob_bytes(&der), &c));
		assert_reason(R_EK_FORMAT, cert_key(c, &key));
	}
	{
		/* not a curve of ours */
		_cleanup_made_ struct made m = make_with(&leaf_spec, &issuer,
							 EVP_EC_gen("secp256k1"));
		_cleanup_(blob_free) struct blob der = der_of(&m);
		_cleanup_(cert_free) struct cert *c = NULL;
		assert_ok(cert_read(blob_bytes(&der), &c));
		assert_reason(R_EK_FORMAT, cert_key(c, &key));
	}
}

static void test_key_from_pem(void **state)
{
	struct cert_key key;
	BIO *out = BIO_new(BIO_s_mem());
	char *text;

	(void)state;
	assert_int_equal(PEM_write_bio_PUBKEY(out, issuer.key), 1);
	long n = BIO_get_mem_data(out, &text);
	assert_ok(cert_key_from_pem(bytes_of(text, (size_t)n), &key));
	assert_int_equal(key.curve, 3);
	assert_reason(R_FORMAT_TYPE, cert_key_from_pem(bytes_of(text, (size_t)n / 2), &key));
	assert_reason(R_FORMAT_TYPE, cert_key_from_pem(BYTES_NONE, &key));
	assert_reason(R_FORMAT_TYPE, cert_key_from_pem(bytes_str("x"), &key));
	BIO_free(out);
}

/* Real ones of several makers: all can be read, and none is trusted by us. */
static void test_corpus(void **state)
{
	static const char *const files[] = {
		"google+go-tpm-tools/internal/test/certificates/uca_tpm_rsa_enc_cert.pem.af614aee.der",
		"google+go-tpm-tools/internal/test/certificates/uca_tpm_ecc_enc_cert.pem.9fdd7997.der",
		"keylime+keylime/docs/rest_apis/2_1/registrar.rst.3a888ace.der",
		"immune-gmbh+guard-oss/apisrv/pkg/check/tpm_test.go.ce0e7316.der",
		"immune-gmbh+guard-oss/apisrv/pkg/check/inteltsc_test.go.e54a9d6e.der",
	};

	(void)state;
	if (access(CORPUS "/MANIFEST.tsv", F_OK) != 0)
		skip();
	_cleanup_(cert_store_free) struct cert_store *s = usual_store();
	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		_cleanup_(blob_free) struct blob der = BLOB(65536);
		_cleanup_(cert_free) struct cert *c = NULL;
		struct cert_key key;
		char file[512];

		(void)snprintf(file, sizeof(file), "%s/cert-ek/%s", CORPUS, files[i]);
		assert_ok(fd_read_file(file, &der));
		assert_ok(cert_read(blob_bytes(&der), &c));
		assert_ok(cert_key(c, &key));
		assert_reason(R_EK_UNTRUSTED, judge(s, BYTES_NONE, blob_bytes(&der)));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_no_path),
		cmocka_unit_test(test_forged_signature),
		cmocka_unit_test(test_dates),
		cmocka_unit_test(test_issuer_is_no_ca),
		cmocka_unit_test(test_issuer_without_constraints),
		cmocka_unit_test(test_path_length),
		cmocka_unit_test(test_leaf_usage),
		cmocka_unit_test(test_critical_extension),
		cmocka_unit_test(test_weak),
		cmocka_unit_test(test_names_are_printable),
		cmocka_unit_test(test_read_refusals),
		cmocka_unit_test(test_store_files),
		cmocka_unit_test(test_expired_ca),
		cmocka_unit_test(test_leaf_names),
		cmocka_unit_test(test_issuer_usage),
		cmocka_unit_test(test_sent_chain),
		cmocka_unit_test(test_sent_root),
		cmocka_unit_test(test_same_name),
		cmocka_unit_test(test_judge_ca),
		cmocka_unit_test(test_unknown_key),
		cmocka_unit_test(test_revocation),
		cmocka_unit_test(test_revoked_ca),
		cmocka_unit_test(test_padded_serial),
		cmocka_unit_test(test_padded_ca),
		cmocka_unit_test(test_odd_serials),
		cmocka_unit_test(test_der),
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_folder),
		cmocka_unit_test(test_keys),
		cmocka_unit_test(test_keys_refused),
		cmocka_unit_test(test_key_from_pem),
		cmocka_unit_test(test_corpus),
	};

	return cmocka_run_group_tests(tests, make_ca, free_ca);
}
