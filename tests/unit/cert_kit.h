/* SPDX-License-Identifier: Apache-2.0 */
/* Certificates made for a test: root, issuer, endorsement key. */
#ifndef BOOTGATE_TESTS_CERT_KIT_H
#define BOOTGATE_TESTS_CERT_KIT_H

#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/x509v3.h>

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
	"3.2.23.133.2.3=id:20191023\n"
	"[infineon]\n1.2.23.133.2.1=id:49465800\n2.2.23.133.2.2=SLB 9665\n3.2.23.133.2.3=id:053D\n"
	"[one_set]\n"
	"1.2.23.133.2.1=id:4e544300\n"
	"+2.2.23.133.2.2=NPCT75x\n"
	"+3.2.23.133.2.3=id:00070002\n"
	"[no_version]\n1.2.23.133.2.1=id:49424D00\n2.2.23.133.2.2=SW\n"
	"[no_model]\n1.2.23.133.2.1=id:49424D00\n3.2.23.133.2.3=id:1\n"
	"[no_vendor]\n2.2.23.133.2.2=SW\n3.2.23.133.2.3=id:1\n"
	"[bad_vendor]\n1.2.23.133.2.1=id:49424G00\n2.2.23.133.2.2=SW\n3.2.23.133.2.3=id:1\n"
	"[short_vendor]\n1.2.23.133.2.1=id:49424D\n2.2.23.133.2.2=SW\n3.2.23.133.2.3=id:1\n";

static inline void add_extension(X509 *x, X509 *issuer, int nid, const char *value)
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

static inline void add_critical_unknown(X509 *x, const char *oid)
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
static inline struct made make_with(const struct spec *s, const struct made *issuer, EVP_PKEY *key)
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

static inline struct made make(const struct spec *s, const struct made *issuer)
{
	return make_with(s, issuer, EVP_EC_gen("P-256"));
}

static inline void unmake(struct made *m)
{
	X509_free(m->x509);
	EVP_PKEY_free(m->key);
}
#define _cleanup_made_ _cleanup_(unmake)

static inline struct blob der_of(const struct made *m)
{
	struct blob b = BLOB(65536);
	uint8_t *der = NULL;
	int n = i2d_X509(m->x509, &der);

	assert_true(n > 0);
	assert_ok(blob_append(&b, der, (size_t)n));
	OPENSSL_free(der);
	return b;
}

static inline struct blob pem_of(const struct made *m)
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

static inline void trust(struct cert_store *s, const struct made *m)
{
	_cleanup_(blob_free) struct blob der = der_of(m);
	size_t count = 0;

	assert_ok(cert_store_add(s, blob_bytes(&der), &count));
	assert_int_equal(count, 1);
}

#endif
