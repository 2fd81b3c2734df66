/* SPDX-License-Identifier: Apache-2.0 */
/* Chains of endorsement certificates, good ones and each kind of bad one (T30). */
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/x509v3.h>

#include "base/fd.h"
#include "crypto/cert.h"
#include "unit.h"

enum { DAY = 24 * 3600 };

struct spec {
	const char *subject;		/* "" for an empty name */
	const char *constraints;
	const char *usage;
	const char *extended;
	const char *names;		/* subject alternative name */
	const char *other_oid;		/* critical, of nobody's */
	long from, to;			/* seconds from now */
	const EVP_MD *md;
};

struct made {
	X509 *x509;
	EVP_PKEY *key;
};

static const struct spec root_spec = {
	.subject = "Root", .constraints = "critical,CA:TRUE", .usage = "critical,keyCertSign",
	.from = -DAY, .to = DAY,
};
static const struct spec issuer_spec = {
	.subject = "Issuer", .constraints = "critical,CA:TRUE,pathlen:0",
	.usage = "critical,keyCertSign", .from = -DAY, .to = DAY,
};
static const struct spec leaf_spec = {
	.subject = "", .constraints = "critical,CA:FALSE", .usage = "critical,keyEncipherment",
	.extended = "2.23.133.8.1", .names = "critical,dirName:tpm", .from = -DAY, .to = DAY,
};

/* OpenSSL wants the directory name in a section, and drops up to the first dot. */
static const char san_section[] =
	"[tpm]\n"
	"1.2.23.133.2.1=id:49424D00\n"
	"2.2.23.133.2.2=SW  TPM\n"
	"3.2.23.133.2.3=id:20191023\n";

static void add_extension(X509 *x, X509 *issuer, int nid, const char *value)
{
	BIO *text = BIO_new_mem_buf(san_section, -1);
	CONF *conf = NCONF_new(NULL);
	X509V3_CTX context;
	X509_EXTENSION *e;

	assert_true(NCONF_load_bio(conf, text, NULL) > 0);
	X509V3_set_ctx(&context, issuer, x, NULL, NULL, 0);
	X509V3_set_nconf(&context, conf);
	e = X509V3_EXT_nconf_nid(conf, &context, nid, value);
	assert_non_null(e);
	assert_int_equal(X509_add_ext(x, e, -1), 1);
	X509_EXTENSION_free(e);
	NCONF_free(conf);
	BIO_free(text);
}

static void add_critical_unknown(X509 *x, const char *oid)
{
	ASN1_OBJECT *object = OBJ_txt2obj(oid, 1);
	ASN1_OCTET_STRING *value = ASN1_OCTET_STRING_new();
	X509_EXTENSION *e;

	assert_int_equal(ASN1_OCTET_STRING_set(value, (const uint8_t *)"\x05\x00", 2), 1);
	e = X509_EXTENSION_create_by_OBJ(NULL, object, /* crit= */ 1, value);
	assert_int_equal(X509_add_ext(x, e, -1), 1);
	X509_EXTENSION_free(e);
	ASN1_OCTET_STRING_free(value);
	ASN1_OBJECT_free(object);
}

/* Takes over the key. */
static struct made make_with(const struct spec *s, const struct made *issuer, EVP_PKEY *key)
{
	struct made m = { X509_new(), key };
	const struct made *by = issuer == NULL ? &m : issuer;

	assert_non_null(key);
	assert_int_equal(X509_set_version(m.x509, X509_VERSION_3), 1);
	assert_int_equal(ASN1_INTEGER_set(X509_get_serialNumber(m.x509), 77), 1);
	if (s->subject[0] != '\0')
		assert_int_equal(X509_NAME_add_entry_by_txt(
			X509_get_subject_name(m.x509), "CN", MBSTRING_ASC,
			(const uint8_t *)s->subject, -1, -1, 0), 1);
	assert_int_equal(X509_set_issuer_name(m.x509, X509_get_subject_name(by->x509)), 1);
	assert_non_null(X509_gmtime_adj(X509_getm_notBefore(m.x509), s->from));
	assert_non_null(X509_gmtime_adj(X509_getm_notAfter(m.x509), s->to));
	assert_int_equal(X509_set_pubkey(m.x509, key), 1);
	if (s->constraints != NULL)
		add_extension(m.x509, by->x509, NID_basic_constraints, s->constraints);
	if (s->usage != NULL)
		add_extension(m.x509, by->x509, NID_key_usage, s->usage);
	if (s->extended != NULL)
		add_extension(m.x509, by->x509, NID_ext_key_usage, s->extended);
	if (s->names != NULL)
		add_extension(m.x509, by->x509, NID_subject_alt_name, s->names);
	if (s->other_oid != NULL)
		add_critical_unknown(m.x509, s->other_oid);
	assert_true(X509_sign(m.x509, by->key, s->md == NULL ? EVP_sha256() : s->md) > 0);
	return m;
}

static struct made make(const struct spec *s, const struct made *issuer)
{
	return make_with(s, issuer, EVP_EC_gen("P-256"));
}

static void unmake(struct made *m)
{
	X509_free(m->x509);
	EVP_PKEY_free(m->key);
}
#define _cleanup_made_ _cleanup_(unmake)

static struct blob der_of(const struct made *m)
{
	struct blob b = BLOB(65536);
	uint8_t *der = NULL;
	int n = i2d_X509(m->x509, &der);

	assert_true(n > 0);
	assert_ok(blob_append(&b, der, (size_t)n));
	OPENSSL_free(der);
	return b;
}

static void trust(struct cert_store *s, const struct made *m)
{
	_cleanup_(blob_free) struct blob der = der_of(m);
	size_t count = 0;

	assert_ok(cert_store_add(s, blob_bytes(&der), &count));
	assert_int_equal(count, 1);
}

/* What a set of these CAs says about the leaf; `says` is part of its words. */
static void assert_judged(enum reason want, const char *says, const struct made *root,
			  const struct made *issuer, const struct made *leaf)
{
	_cleanup_(cert_store_free) struct cert_store *s = NULL;
	_cleanup_(cert_free) struct cert *c = NULL;
	_cleanup_(blob_free) struct blob der = der_of(leaf);
	char detail[100] = "";

	assert_ok(cert_store_make(&s));
	if (root != NULL)
		trust(s, root);
	if (issuer != NULL)
		trust(s, issuer);
	assert_ok(cert_read(blob_bytes(&der), &c));
	assert_reason(want, cert_trusted(s, c, detail, sizeof(detail)));
	if (strstr(detail, says) == NULL)
		fail_msg("says '%s', not '%s'", detail, says);
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
	assert_judged(R_EK_UNTRUSTED, "unable to get local issuer", &root, NULL, &leaf);
	assert_judged(R_EK_UNTRUSTED, "unable to get local issuer", NULL, NULL, &leaf);
	/* an issuer alone is not trusted, whoever put it there */
	assert_judged(R_EK_UNTRUSTED, "unable to get local issuer", NULL, &issuer, &leaf);
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
	struct spec old = issuer_spec;

	(void)state;
	s.to = -3600;
	assert_leaf(R_EK_UNTRUSTED, "expired", &s);
	s.to = DAY;
	s.from = 3600;
	assert_leaf(R_EK_UNTRUSTED, "not yet valid", &s);
	old.to = -3600;
	_cleanup_made_ struct made expired = make(&old, &root);
	_cleanup_made_ struct made leaf = make(&leaf_spec, &expired);
	assert_judged(R_EK_UNTRUSTED, "expired", &root, &expired, &leaf);
}

static void test_issuer_is_no_ca(void **state)
{
	struct spec s = issuer_spec;

	(void)state;
	s.constraints = "critical,CA:FALSE";
	{
		_cleanup_made_ struct made not_ca = make(&s, &root);
		_cleanup_made_ struct made leaf = make(&leaf_spec, &not_ca);
		assert_judged(R_EK_UNTRUSTED, "invalid CA certificate", &root, &not_ca, &leaf);
	}
	s.constraints = "critical,CA:TRUE";
	s.usage = "critical,cRLSign";
	{
		_cleanup_made_ struct made cannot_sign = make(&s, &root);
		_cleanup_made_ struct made leaf = make(&leaf_spec, &cannot_sign);
		assert_judged(R_EK_UNTRUSTED, "", &root, &cannot_sign, &leaf);
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
	_cleanup_(cert_free) struct cert *c = NULL;
	_cleanup_(blob_free) struct blob der = der_of(&leaf);
	char detail[100];

	assert_ok(cert_store_make(&s));
	trust(s, &root);
	trust(s, &m);
	trust(s, &l);
	assert_ok(cert_read(blob_bytes(&der), &c));
	assert_reason(R_EK_UNTRUSTED, cert_trusted(s, c, detail, sizeof(detail)));
	assert_string_equal(detail, "invalid CA certificate");
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
	_cleanup_(cert_free) struct cert *c = NULL;
	_cleanup_(blob_free) struct blob der = der_of(&leaf);
	char detail[100];

	assert_ok(cert_store_make(&store));
	trust(store, &root);
	trust(store, &issuer);
	trust(store, &below);
	assert_ok(cert_read(blob_bytes(&der), &c));
	assert_reason(R_EK_UNTRUSTED, cert_trusted(store, c, detail, sizeof(detail)));
	assert_non_null(strstr(detail, "path length"));
}

static void test_leaf_usage(void **state)
{
	struct spec s = leaf_spec;

	(void)state;
	s.usage = "critical,digitalSignature";
	assert_leaf(R_EK_UNTRUSTED, "the key usage", &s);
	s = leaf_spec;
	s.extended = "serverAuth,2.23.133.8.3";
	assert_leaf(R_EK_UNTRUSTED, "the extended key usage", &s);
	s.extended = NULL;
	assert_leaf(R_EK_UNTRUSTED, "the extended key usage", &s);
	s = leaf_spec;
	s.constraints = "critical,CA:TRUE";
	s.usage = NULL;
	s.subject = "EK";
	assert_leaf(R_EK_UNTRUSTED, "CA's", &s);
}

static void test_critical_extension(void **state)
{
	struct spec s = leaf_spec;
	struct spec odd = issuer_spec;

	(void)state;
	s.other_oid = "1.3.6.1.4.1.99999.1";
	assert_leaf(R_EK_UNTRUSTED, "critical extension", &s);
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

/* Library and names do not get a control character onto a screen. */
static void test_detail_is_cut(void **state)
{
	_cleanup_(cert_store_free) struct cert_store *s = NULL;
	_cleanup_(cert_free) struct cert *c = NULL;
	_cleanup_made_ struct made leaf = make(&leaf_spec, &issuer);
	_cleanup_(blob_free) struct blob der = der_of(&leaf);
	char detail[11];

	(void)state;
	assert_ok(cert_store_make(&s));
	assert_ok(cert_read(blob_bytes(&der), &c));
	assert_reason(R_EK_UNTRUSTED, cert_trusted(s, c, detail, sizeof(detail)));
	assert_string_equal(detail, "unable to ");
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

static struct blob pem_of(const struct made *m)
{
	struct blob b = BLOB(65536);
	BIO *out = BIO_new(BIO_s_mem());
	char *text;

	assert_int_equal(PEM_write_bio_X509(out, m->x509), 1);
	long n = BIO_get_mem_data(out, &text);
	assert_ok(blob_append(&b, text, (size_t)n));
	BIO_free(out);
	return b;
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
	assert_int_equal(count, 99);
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
	_cleanup_(cert_store_free) struct cert_store *s = NULL;

	(void)state;
	assert_ok(cert_store_make(&s));
	trust(s, &root);
	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		_cleanup_(blob_free) struct blob der = BLOB(65536);
		_cleanup_(cert_free) struct cert *c = NULL;
		struct cert_key key;
		char path[512], detail[100];

		(void)snprintf(path, sizeof(path), "%s/cert-ek/%s", CORPUS, files[i]);
		if (fd_read_file(path, &der) != R_OK)
			skip();
		assert_ok(cert_read(blob_bytes(&der), &c));
		assert_ok(cert_key(c, &key));
		assert_reason(R_EK_UNTRUSTED, cert_trusted(s, c, detail, sizeof(detail)));
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
		cmocka_unit_test(test_detail_is_cut),
		cmocka_unit_test(test_read_refusals),
		cmocka_unit_test(test_store_files),
		cmocka_unit_test(test_keys),
		cmocka_unit_test(test_keys_refused),
		cmocka_unit_test(test_key_from_pem),
		cmocka_unit_test(test_corpus),
	};

	return cmocka_run_group_tests(tests, make_ca, free_ca);
}
