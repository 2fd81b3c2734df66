/* SPDX-License-Identifier: Apache-2.0 */
#include <arpa/inet.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "crypto/issue.h"
#include "crypto/openssl/ossl.h"

OSSL_CLEANUP(X509, x509, X509_free)

/* OpenSSL takes keys as PEM everywhere, and this is not a hot path. */
static enum reason pkey_of(const struct private_key *key, EVP_PKEY **ret)
{
	_cleanup_(blob_free) struct blob pem = BLOB(8192);
	_cleanup_(cleanup_bio) BIO *in = NULL;

	TRY(private_key_to_pem(key, &pem));
	in = BIO_new_mem_buf(pem.p, (int)pem.n);
	*ret = in ? PEM_read_bio_PrivateKey(in, NULL, NULL, NULL) : NULL;
	return *ret ? R_OK : R_INTERNAL_CRYPTO;
}

static bool extension(X509 *cert, X509 *issuer, int nid, const char *value)
{
	X509V3_CTX ctx;

	X509V3_set_ctx_nodb(&ctx);
	X509V3_set_ctx(&ctx, issuer, cert, NULL, NULL, 0);
	X509_EXTENSION *e = X509V3_EXT_conf_nid(NULL, &ctx, nid, value);
	if (!e)
		return false;
	int ok = X509_add_ext(cert, e, -1);
	X509_EXTENSION_free(e);
	return ok == 1;
}

/* Version, random serial, times, names and key: what both kinds have. */
static bool begin(X509 *cert, EVP_PKEY *key, const char *common_name, const X509_NAME *issuer, unsigned days)
{
	uint8_t serial[16];
	X509_NAME *name = X509_get_subject_name(cert);

	if (RAND_bytes(serial, sizeof(serial)) != 1)
		return false;
	serial[0] &= 0x7f;
	BIGNUM *n = BN_bin2bn(serial, sizeof(serial), NULL);
	bool ok = n && BN_to_ASN1_INTEGER(n, X509_get_serialNumber(cert));
	BN_free(n);
	/* An hour back: the clocks of other machines are not this one's. */
	return ok && X509_set_version(cert, X509_VERSION_3) == 1 &&
	       X509_gmtime_adj(X509_getm_notBefore(cert), -3600) &&
	       X509_time_adj_ex(X509_getm_notAfter(cert), (int)days, 0, NULL) &&
	       X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const unsigned char *)common_name, -1, -1,
					  0) == 1 &&
	       X509_set_issuer_name(cert, issuer ? issuer : name) == 1 && X509_set_pubkey(cert, key) == 1;
}

static enum reason write_pem(X509 *cert, struct blob *ret)
{
	_cleanup_(cleanup_bio) BIO *out = BIO_new(BIO_s_mem());
	char *text;

	if (!out || PEM_write_bio_X509(out, cert) != 1)
		return R_INTERNAL_CRYPTO;
	long n = BIO_get_mem_data(out, &text);
	return blob_append(ret, text, (size_t)n);
}

enum reason issue_ca(const struct private_key *key, const char *common_name, unsigned days, struct blob *ret)
{
	_cleanup_(cleanup_pkey) EVP_PKEY *pkey = NULL;
	_cleanup_(cleanup_x509) X509 *cert = X509_new();

	TRY(pkey_of(key, &pkey));
	if (!cert || !begin(cert, pkey, common_name, NULL, days) ||
	    !extension(cert, cert, NID_basic_constraints, "critical,CA:TRUE,pathlen:0") ||
	    !extension(cert, cert, NID_key_usage, "critical,keyCertSign,cRLSign") ||
	    !extension(cert, cert, NID_subject_key_identifier, "hash") ||
	    X509_sign(cert, pkey, EVP_sha256()) == 0)
		return R_INTERNAL_CRYPTO;
	return write_pem(cert, ret);
}

static bool is_address(const char *name)
{
	uint8_t a[16];

	return inet_pton(AF_INET, name, a) == 1 || inet_pton(AF_INET6, name, a) == 1;
}

static enum reason alternative_names(const char *const *names, size_t count, char *ret, size_t n)
{
	size_t used = 0;

	for (size_t i = 0; i < count; i++) {
		/* A comma would begin another name in OpenSSL's syntax. */
		if (strpbrk(names[i], ", \t\n"))
			return R_CONF_VALUE;
		int w = snprintf(ret + used, n - used, "%s%s:%s", i ? "," : "", is_address(names[i]) ? "IP" : "DNS",
				 names[i]);
		if (w < 0 || (size_t)w >= n - used)
			return R_CONF_VALUE;
		used += (size_t)w;
	}
	return used > 0 ? R_OK : R_CONF_VALUE;
}

enum reason issue_server(const struct private_key *ca_key, struct bytes ca_pem, const struct private_key *key,
			 const char *const *names, size_t count, unsigned days, struct blob *ret)
{
	_cleanup_(cleanup_pkey) EVP_PKEY *ca_pkey = NULL, *pkey = NULL;
	_cleanup_(cleanup_x509) X509 *ca = NULL, *cert = X509_new();
	_cleanup_(cleanup_bio) BIO *in = BIO_new_mem_buf(ca_pem.p, (int)ca_pem.n);
	char alternatives[1024];

	if (!in || !cert)
		return R_INTERNAL_MEMORY;
	ca = PEM_read_bio_X509(in, NULL, NULL, NULL);
	if (!ca)
		return R_SITE_KEYS;
	TRY(alternative_names(names, count, alternatives, sizeof(alternatives)));
	TRY(pkey_of(ca_key, &ca_pkey));
	TRY(pkey_of(key, &pkey));
	if (!begin(cert, pkey, names[0], X509_get_subject_name(ca), days) ||
	    !extension(cert, ca, NID_basic_constraints, "critical,CA:FALSE") ||
	    !extension(cert, ca, NID_key_usage, "critical,digitalSignature") ||
	    !extension(cert, ca, NID_ext_key_usage, "serverAuth") ||
	    !extension(cert, ca, NID_subject_alt_name, alternatives) ||
	    !extension(cert, ca, NID_subject_key_identifier, "hash") ||
	    !extension(cert, ca, NID_authority_key_identifier, "keyid") ||
	    X509_sign(cert, ca_pkey, EVP_sha256()) == 0)
		return R_INTERNAL_CRYPTO;
	return write_pem(cert, ret);
}
