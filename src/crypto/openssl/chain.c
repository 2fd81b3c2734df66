/* SPDX-License-Identifier: Apache-2.0 */
/* Certificates and lists: decoded once, kept in a pool. */
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "crypto/openssl/chain_priv.h"
#include "crypto/openssl/ossl.h"

enum {
	DER_MAX = 4 << 20,
};

OSSL_CLEANUP(X509, x509, X509_free)
OSSL_CLEANUP(X509_CRL, crl, X509_CRL_free)
OSSL_CLEANUP(ASN1_OBJECT, object, ASN1_OBJECT_free)

enum reason chain_pool_make(struct chain_pool **ret)
{
	struct chain_pool *pool = calloc(1, sizeof(*pool));

	if (pool == NULL)
		return R_INTERNAL_MEMORY;
	*ret = pool;
	return R_OK;
}

static void cert_release(struct chain_cert *c)
{
	X509_free(c->object);
	free((void *)c->der.p);
	free(c);
}

static void cleanup_cert(struct chain_cert **c)
{
	if (*c != NULL)
		cert_release(*c);
}

void chain_pool_free(struct chain_pool **pool)
{
	if (*pool == NULL)
		return;
	for (size_t i = 0; i < (*pool)->certs; i++)
		cert_release((*pool)->cert[i]);
	for (size_t i = 0; i < (*pool)->crls; i++) {
		X509_CRL_free((*pool)->crl[i].object);
		free((void *)(*pool)->crl[i].der.p);
	}
	free(*pool);
	*pool = NULL;
}

size_t chain_pool_certs(const struct chain_pool *pool)
{
	return pool->certs;
}

size_t chain_pool_crls(const struct chain_pool *pool)
{
	return pool->crls;
}

const struct chain_cert *chain_pool_cert(const struct chain_pool *pool, size_t i)
{
	return pool->cert[i];
}

static enum reason copy(struct bytes in, struct bytes *ret)
{
	uint8_t *p = malloc(in.n);

	if (p == NULL)
		return R_INTERNAL_MEMORY;
	memcpy(p, in.p, in.n);
	*ret = bytes_of(p, in.n);
	return R_OK;
}

static bool seconds(const ASN1_TIME *t, int64_t *ret)
{
	struct tm tm;

	if (t == NULL || ASN1_TIME_to_tm(t, &tm) != 1)
		return false;
	*ret = (int64_t)timegm(&tm);
	return true;
}

static void name_text(const X509_NAME *name, char *ret, size_t n)
{
	_cleanup_(cleanup_bio) BIO *out = BIO_new(BIO_s_mem());
	char *text;
	long len;

	ret[0] = '\0';
	if (out == NULL || X509_NAME_print_ex(out, name, 0, XN_FLAG_RFC2253) < 0)
		return;
	len = BIO_get_mem_data(out, &text);
	(void)text_escape(bytes_of(text, (size_t)len), ret, n);
}

static void common_name(const X509_NAME *name, char *ret, size_t n)
{
	const ASN1_STRING *value;
	int at = -1, last = -1;

	ret[0] = '\0';
	while ((at = X509_NAME_get_index_by_NID((X509_NAME *)name, NID_commonName, at)) >= 0)
		last = at;
	if (last < 0)
		return;
	value = X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, last));
	(void)text_escape(bytes_of(ASN1_STRING_get0_data(value), (size_t)ASN1_STRING_length(value)),
			  ret, n);
}

static void serial_text(const X509 *x, char *ret, size_t n)
{
	_cleanup_(cleanup_bn) BIGNUM *bn = ASN1_INTEGER_to_BN(X509_get0_serialNumber(x), NULL);
	char *text = bn ? BN_bn2hex(bn) : NULL;

	(void)text_escape(bytes_str(text ? text : ""), ret, n);
	OPENSSL_free(text);
}

static enum reason key_of(X509 *x, struct chain_cert *c)
{
	const EVP_PKEY *key = X509_get0_pubkey(x);
	uint8_t *spki = NULL;
	char group[32];
	const char *name;
	enum reason r;
	size_t n;
	int len = i2d_X509_PUBKEY(X509_get_X509_PUBKEY(x), &spki);

	if (len <= 0)
		return R_FORMAT_TYPE;
	r = sha256(bytes_of(spki, (size_t)len), c->spki);
	OPENSSL_free(spki);
	TRY(r);
	if (key == NULL || EVP_PKEY_is_a(key, "EC") != 1 ||
	    EVP_PKEY_get_group_name(key, group, sizeof(group), &n) != 1)
		return R_OK;
	c->curve = ossl_curve_find(group);
	if (!ossl_curve(c->curve, &name, &c->coord_len))
		return R_OK;
	return ossl_ec_point(key, c->x, c->y, c->coord_len);
}

static enum reason cert_decode(X509 *x, struct bytes der, struct chain_cert *c)
{
	TRY(copy(der, &c->der));
	TRY(sha256(c->der, c->digest));
	if (!seconds(X509_get0_notBefore(x), &c->not_before) ||
	    !seconds(X509_get0_notAfter(x), &c->not_after))
		return R_FORMAT_TYPE;
	name_text(X509_get_subject_name(x), c->subject, sizeof(c->subject));
	name_text(X509_get_issuer_name(x), c->issuer, sizeof(c->issuer));
	common_name(X509_get_subject_name(x), c->name, sizeof(c->name));
	serial_text(x, c->serial, sizeof(c->serial));
	/* 1: version 3 with CA:TRUE; a key usage without keyCertSign makes it 0 */
	c->ca = X509_check_ca(x) == 1;
	return key_of(x, c);
}

static enum reason add_cert(struct chain_pool *pool, X509 **x, struct bytes der)
{
	_cleanup_(cleanup_cert) struct chain_cert *c = NULL;

	for (size_t i = 0; i < pool->certs; i++)
		if (bytes_equal(pool->cert[i]->der, der))
			return R_OK;
	if (pool->certs == CHAIN_POOL_MAX)
		return R_FORMAT_TOO_LARGE;
	c = calloc(1, sizeof(*c));
	if (c == NULL)
		return R_INTERNAL_MEMORY;
	TRY(cert_decode(*x, der, c));
	c->object = take_ptr(*x);
	pool->cert[pool->certs++] = take_ptr(c);
	return R_OK;
}

/* A list with a critical extension covers only a part, or changes another list. */
static bool crl_complete(const X509_CRL *object)
{
	for (int i = 0; i < X509_CRL_get_ext_count(object); i++)
		if (X509_EXTENSION_get_critical(X509_CRL_get_ext(object, i)))
			return false;
	return true;
}

static enum reason add_crl(struct chain_pool *pool, X509_CRL **object, struct bytes der)
{
	struct crl c = { .complete = crl_complete(*object) };

	for (size_t i = 0; i < pool->crls; i++)
		if (bytes_equal(pool->crl[i].der, der))
			return R_OK;
	if (pool->crls == CHAIN_POOL_MAX)
		return R_FORMAT_TOO_LARGE;
	if (!seconds(X509_CRL_get0_lastUpdate(*object), &c.this_update))
		return R_FORMAT_TYPE;
	/* a list that does not say how long it holds is never current */
	if (!seconds(X509_CRL_get0_nextUpdate(*object), &c.next_update))
		c.next_update = INT64_MIN;
	TRY(copy(der, &c.der));
	c.object = take_ptr(*object);
	pool->crl[pool->crls++] = c;
	return R_OK;
}

enum reason chain_pool_add(struct chain_pool *pool, struct bytes in, size_t *ret_n)
{
	_cleanup_(cleanup_x509) X509 *x = NULL;
	_cleanup_(cleanup_crl) X509_CRL *crl = NULL;
	const uint8_t *p = in.p;
	size_t n = in.n < DER_MAX ? in.n : DER_MAX;

	if (n == 0 || in.p[0] != 0x30)
		return R_FORMAT_TYPE;
	x = d2i_X509(NULL, &p, (long)n);
	if (x != NULL) {
		TRY(add_cert(pool, &x, bytes_of(in.p, (size_t)(p - in.p))));
	} else {
		p = in.p;
		crl = d2i_X509_CRL(NULL, &p, (long)n);
		ERR_clear_error();
		if (crl == NULL)
			return R_FORMAT_TYPE;
		TRY(add_crl(pool, &crl, bytes_of(in.p, (size_t)(p - in.p))));
	}
	*ret_n = (size_t)(p - in.p);
	return R_OK;
}

enum reason chain_extension(const struct chain_cert *c, const char *oid, struct bytes *ret)
{
	_cleanup_(cleanup_object) ASN1_OBJECT *object = OBJ_txt2obj(oid, /* no_name= */ 1);
	const ASN1_OCTET_STRING *value;
	int at;

	if (object == NULL)
		return R_INTERNAL_CRYPTO;
	at = X509_get_ext_by_OBJ(c->object, object, -1);
	*ret = BYTES_NONE;
	if (at < 0)
		return R_OK;
	value = X509_EXTENSION_get_data(X509_get_ext(c->object, at));
	*ret = bytes_of(ASN1_STRING_get0_data(value), (size_t)ASN1_STRING_length(value));
	return R_OK;
}

enum reason chain_ecdsa_verify(const struct chain_cert *c, struct bytes digest, struct bytes rs)
{
	if (c->curve == 0 || rs.n != 2 * c->coord_len)
		return R_COSE_SIGNATURE;
	return ecdsa_verify(c->curve, bytes_of(c->x, c->coord_len), bytes_of(c->y, c->coord_len),
			    digest, bytes_of(rs.p, c->coord_len),
			    bytes_of(rs.p + c->coord_len, c->coord_len));
}
