/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small PKI in memory, made anew in each run: certificates with any
 * extension, revocation lists, raw ECDSA signatures.
 */
#ifndef BOOTGATE_TESTS_CVM_KIT_H
#define BOOTGATE_TESTS_CVM_KIT_H

#include "unit.h"

#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <time.h>

#include "appraise/cvm.h"
#include "crypto/chain.h"

#define KIT_NOW ((int64_t)1800000000)

struct kit_extension {
	const char *oid;
	const void *value;		/* what the extension's OCTET STRING holds */
	size_t n;
	bool critical;
};

struct kit_cert {
	const char *name, *issuer;	/* common names */
	EVP_PKEY *key, *signer;
	bool ca, no_pathlen_zero;
	long serial;
	int64_t not_before, not_after;	/* 0: a year around KIT_NOW */
	const EVP_MD *md;		/* NULL: SHA-384 */
	const struct kit_extension *extension;
	size_t extensions;
};

static inline EVP_PKEY *kit_key(const char *group)
{
	EVP_PKEY *key = EVP_EC_gen(group);

	assert_non_null(key);
	return key;
}

static inline void kit_name(X509_NAME *name, const char *cn)
{
	assert_int_equal(X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const uint8_t *)cn,
						    -1, -1, 0), 1);
}

static inline void kit_extend(X509 *x, const char *oid, const void *value, size_t n, bool critical)
{
	ASN1_OBJECT *object = OBJ_txt2obj(oid, 1);
	ASN1_OCTET_STRING *octets = ASN1_OCTET_STRING_new();
	X509_EXTENSION *e;

	assert_int_equal(ASN1_OCTET_STRING_set(octets, value, (int)n), 1);
	e = X509_EXTENSION_create_by_OBJ(NULL, object, critical, octets);
	assert_non_null(e);
	assert_int_equal(X509_add_ext(x, e, -1), 1);
	X509_EXTENSION_free(e);
	ASN1_OCTET_STRING_free(octets);
	ASN1_OBJECT_free(object);
}

/* DER of a certificate, appended. */
static inline void kit_issue(const struct kit_cert *c, struct blob *ret)
{
	static const uint8_t is_ca[] = { 0x30, 0x03, 0x01, 0x01, 0xff };
	static const uint8_t last_ca[] = { 0x30, 0x06, 0x01, 0x01, 0xff, 0x02, 0x01, 0x00 };
	X509 *x = X509_new();
	uint8_t *der = NULL;
	int n;

	assert_int_equal(X509_set_version(x, X509_VERSION_3), 1);
	ASN1_INTEGER_set(X509_get_serialNumber(x), c->serial ? c->serial : 7);
	ASN1_TIME_set(X509_getm_notBefore(x), c->not_before ? c->not_before : KIT_NOW - 15000000);
	ASN1_TIME_set(X509_getm_notAfter(x), c->not_after ? c->not_after : KIT_NOW + 15000000);
	kit_name(X509_get_subject_name(x), c->name);
	kit_name(X509_get_issuer_name(x), c->issuer);
	assert_int_equal(X509_set_pubkey(x, c->key), 1);
	if (c->ca && c->no_pathlen_zero)
		kit_extend(x, "2.5.29.19", is_ca, sizeof(is_ca), true);
	else if (c->ca)
		kit_extend(x, "2.5.29.19", last_ca, sizeof(last_ca), true);
	for (size_t i = 0; i < c->extensions; i++)
		kit_extend(x, c->extension[i].oid, c->extension[i].value, c->extension[i].n,
			   c->extension[i].critical);
	assert_true(X509_sign(x, c->signer, c->md ? c->md : EVP_sha384()) > 0);
	n = i2d_X509(x, &der);
	assert_true(n > 0);
	assert_ok(blob_append(ret, der, (size_t)n));
	OPENSSL_free(der);
	X509_free(x);
}

struct kit_crl {
	const char *issuer;
	EVP_PKEY *signer;
	long revoked;			/* serial; 0: none */
	int64_t this_update, next_update;	/* 0: around KIT_NOW */
	bool partial;			/* has a critical extension */
	const EVP_MD *md;		/* NULL: SHA-256 */
	bool pss;
};

static inline void kit_list(const struct kit_crl *c, struct blob *ret)
{
	static const uint8_t idp[] = { 0x30, 0x03, 0x81, 0x01, 0xff };
	X509_CRL *crl = X509_CRL_new();
	ASN1_TIME *t = ASN1_TIME_new();
	X509_NAME *name = X509_NAME_new();
	EVP_MD_CTX *how = EVP_MD_CTX_new();
	EVP_PKEY_CTX *key = NULL;
	uint8_t *der = NULL;
	int n;

	assert_int_equal(X509_CRL_set_version(crl, X509_CRL_VERSION_2), 1);
	kit_name(name, c->issuer);
	X509_CRL_set_issuer_name(crl, name);
	ASN1_TIME_set(t, c->this_update ? c->this_update : KIT_NOW - 1000);
	X509_CRL_set1_lastUpdate(crl, t);
	ASN1_TIME_set(t, c->next_update ? c->next_update : KIT_NOW + 1000);
	X509_CRL_set1_nextUpdate(crl, t);
	if (c->revoked) {
		X509_REVOKED *r = X509_REVOKED_new();
		ASN1_INTEGER *serial = ASN1_INTEGER_new();

		ASN1_INTEGER_set(serial, c->revoked);
		X509_REVOKED_set_serialNumber(r, serial);
		ASN1_TIME_set(t, KIT_NOW - 2000);
		X509_REVOKED_set_revocationDate(r, t);
		X509_CRL_add0_revoked(crl, r);
		ASN1_INTEGER_free(serial);
	}
	if (c->partial) {
		ASN1_OCTET_STRING *octets = ASN1_OCTET_STRING_new();
		X509_EXTENSION *e;

		ASN1_OCTET_STRING_set(octets, idp, sizeof(idp));
		e = X509_EXTENSION_create_by_NID(NULL, NID_issuing_distribution_point, 1, octets);
		X509_CRL_add_ext(crl, e, -1);
		X509_EXTENSION_free(e);
		ASN1_OCTET_STRING_free(octets);
	}
	assert_int_equal(EVP_DigestSignInit(how, &key, c->md ? c->md : EVP_sha256(), NULL, c->signer), 1);
	if (c->pss)
		assert_true(EVP_PKEY_CTX_set_rsa_padding(key, RSA_PKCS1_PSS_PADDING) > 0);
	assert_true(X509_CRL_sign_ctx(crl, how) > 0);
	EVP_MD_CTX_free(how);
	n = i2d_X509_CRL(crl, &der);
	assert_true(n > 0);
	assert_ok(blob_append(ret, der, (size_t)n));
	OPENSSL_free(der);
	X509_NAME_free(name);
	ASN1_TIME_free(t);
	X509_CRL_free(crl);
}

/* SHA-256 of the key's SubjectPublicKeyInfo. */
static inline void kit_pin(EVP_PKEY *key, uint8_t ret[SHA256_LEN])
{
	uint8_t *der = NULL;
	int n = i2d_PUBKEY(key, &der);

	assert_true(n > 0);
	assert_ok(sha256(bytes_of(der, (size_t)n), ret));
	OPENSSL_free(der);
}

/* r || s over the hash of `in`, each `coord` bytes. */
static inline void kit_sign_raw(EVP_PKEY *key, const EVP_MD *md, struct bytes in, size_t coord,
				uint8_t *ret)
{
	EVP_MD_CTX *c = EVP_MD_CTX_new();
	uint8_t der[160];
	const uint8_t *p = der;
	size_t n = sizeof(der);
	ECDSA_SIG *sig;

	assert_int_equal(EVP_DigestSignInit(c, NULL, md, NULL, key), 1);
	assert_int_equal(EVP_DigestSign(c, der, &n, in.p, in.n), 1);
	sig = d2i_ECDSA_SIG(NULL, &p, (long)n);
	assert_non_null(sig);
	assert_true(BN_bn2binpad(ECDSA_SIG_get0_r(sig), ret, (int)coord) > 0);
	assert_true(BN_bn2binpad(ECDSA_SIG_get0_s(sig), ret + coord, (int)coord) > 0);
	ECDSA_SIG_free(sig);
	EVP_MD_CTX_free(c);
}

static inline void kit_add(struct chain_pool *pool, struct bytes der)
{
	size_t n;

	assert_ok(chain_pool_add(pool, der, &n));
	assert_int_equal(n, der.n);
}

static inline void kit_add_cert(struct chain_pool *pool, const struct kit_cert *c)
{
	_cleanup_(blob_free) struct blob der = BLOB(1u << 16);

	kit_issue(c, &der);
	kit_add(pool, blob_bytes(&der));
}

static inline void kit_add_list(struct chain_pool *pool, const struct kit_crl *c)
{
	_cleanup_(blob_free) struct blob der = BLOB(1u << 16);

	kit_list(c, &der);
	kit_add(pool, blob_bytes(&der));
}

/* What every case has: an empty pool, which it fills. */
static struct chain_pool *pool;

static inline int free_pool(void **state)
{
	(void)state;
	chain_pool_free(&pool);
	return 0;
}

static inline bool kit_noted(const struct cvm_notes *notes, enum reason r)
{
	for (size_t i = 0; i < notes->n; i++)
		if (notes->v[i] == r)
			return true;
	return false;
}

static inline void kit_keys(EVP_PKEY **const keys[], size_t n, const char *group)
{
	for (size_t i = 0; i < n; i++)
		*keys[i] = kit_key(group);
}

static inline void kit_free_keys(EVP_PKEY **const keys[], size_t n)
{
	for (size_t i = 0; i < n; i++)
		EVP_PKEY_free(*keys[i]);
}

#endif
