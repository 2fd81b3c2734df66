/* SPDX-License-Identifier: Apache-2.0 */
/* From an endorsement certificate to a root: good paths and each kind of bad one (T30). */
#include "cert_judge_kit.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_path),
		cmocka_unit_test(test_forged_signature),
		cmocka_unit_test(test_dates),
		cmocka_unit_test(test_expired_ca),
		cmocka_unit_test(test_issuer_is_no_ca),
		cmocka_unit_test(test_issuer_without_constraints),
		cmocka_unit_test(test_path_length),
		cmocka_unit_test(test_issuer_usage),
		cmocka_unit_test(test_sent_chain),
		cmocka_unit_test(test_sent_root),
		cmocka_unit_test(test_same_name),
		cmocka_unit_test(test_judge_ca),
	};

	return cmocka_run_group_tests(tests, make_ca, free_ca);
}
