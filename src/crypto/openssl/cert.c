/* SPDX-License-Identifier: Apache-2.0 */
#include "crypto/cert.h"

#include <openssl/err.h>
#include <openssl/objects.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "crypto/openssl/ossl.h"

enum {
	FILE_MAX = 4 << 20,
	TPM_RSA = 0x0001,
	TPM_ECC = 0x0023,
	/* OpenSSL's level 2: RSA from 2048 bits, SHA-256 (SHA-1 and MD5 are out) */
	AUTH_LEVEL = 2,
	DEPTH_MAX = 6,
};

/* tcg-kp-EKCertificate */
static const char ek_usage[] = "2.23.133.8.1";

struct cert_store {
	X509_STORE *roots;
	STACK_OF(X509) *others;		/* may lead to a root, are not trusted alone */
};

struct cert {
	X509 *x509;
};

OSSL_CLEANUP(X509, x509, X509_free)
OSSL_CLEANUP(X509_STORE_CTX, store_ctx, X509_STORE_CTX_free)
OSSL_CLEANUP(EXTENDED_KEY_USAGE, usages, EXTENDED_KEY_USAGE_free)

enum reason cert_store_make(struct cert_store **ret)
{
	_cleanup_(cert_store_free) struct cert_store *s = calloc(1, sizeof(*s));
	X509_VERIFY_PARAM *param;

	if (s == NULL)
		return R_INTERNAL_MEMORY;
	s->roots = X509_STORE_new();
	s->others = sk_X509_new_null();
	if (s->roots == NULL || s->others == NULL)
		return R_INTERNAL_MEMORY;
	param = X509_STORE_get0_param(s->roots);
	X509_VERIFY_PARAM_set_auth_level(param, AUTH_LEVEL);
	X509_VERIFY_PARAM_set_depth(param, DEPTH_MAX);
	*ret = take_ptr(s);
	return R_OK;
}

void cert_store_free(struct cert_store **s)
{
	if (*s == NULL)
		return;
	X509_STORE_free((*s)->roots);
	sk_X509_pop_free((*s)->others, X509_free);
	free(*s);
	*s = NULL;
}

/* Takes over x. */
static enum reason add(struct cert_store *s, X509 **x)
{
	if (X509_self_signed(*x, /* verify_signature= */ 0) == 1)
		return X509_STORE_add_cert(s->roots, *x) == 1 ? R_OK : R_EK_FORMAT;
	if (sk_X509_push(s->others, *x) <= 0)
		return R_INTERNAL_MEMORY;
	*x = NULL;
	return R_OK;
}

static enum reason read_der(struct bytes der, X509 **ret)
{
	const uint8_t *p = der.p;
	_cleanup_(cleanup_x509) X509 *x = NULL;

	if (der.n == 0 || der.n > FILE_MAX)
		return R_EK_FORMAT;
	x = d2i_X509(NULL, &p, (long)der.n);
	if (x == NULL || p != der.p + der.n)
		return R_EK_FORMAT;
	*ret = take_ptr(x);
	return R_OK;
}

static enum reason add_pem(struct cert_store *s, struct bytes file, size_t *ret_count)
{
	_cleanup_(cleanup_bio) BIO *in = BIO_new_mem_buf(file.p, (int)file.n);
	size_t count = 0;

	if (in == NULL)
		return R_INTERNAL_MEMORY;
	ERR_clear_error();
	for (;;) {
		_cleanup_(cleanup_x509) X509 *x = PEM_read_bio_X509(in, NULL, NULL, NULL);

		if (x == NULL)
			break;
		TRY(add(s, &x));
		count++;
	}
	/* the end, or a block that is no certificate? */
	if (ERR_GET_REASON(ERR_peek_last_error()) != PEM_R_NO_START_LINE || count == 0)
		return R_EK_FORMAT;
	ERR_clear_error();
	*ret_count = count;
	return R_OK;
}

enum reason cert_store_add(struct cert_store *s, struct bytes file, size_t *ret_count)
{
	_cleanup_(cleanup_x509) X509 *x = NULL;

	if (file.n == 0 || file.n > FILE_MAX)
		return R_EK_FORMAT;
	/* DER begins with a SEQUENCE, text never does */
	if (file.p[0] != 0x30)
		return add_pem(s, file, ret_count);
	TRY(read_der(file, &x));
	TRY(add(s, &x));
	*ret_count = 1;
	return R_OK;
}

enum reason cert_read(struct bytes der, struct cert **ret)
{
	_cleanup_(cleanup_x509) X509 *x = NULL;
	struct cert *c;

	TRY(read_der(der, &x));
	c = calloc(1, sizeof(*c));
	if (c == NULL)
		return R_INTERNAL_MEMORY;
	c->x509 = take_ptr(x);
	*ret = c;
	return R_OK;
}

void cert_free(struct cert **c)
{
	if (*c == NULL)
		return;
	X509_free((*c)->x509);
	free(*c);
	*c = NULL;
}

/*
 * What the leaf says it may be used for. NULL: it fits an EK. Without the
 * extended key usage any certificate of the same CA would do.
 */
static const char *leaf_fault(X509 *x)
{
	_cleanup_(cleanup_usages) EXTENDED_KEY_USAGE *usages =
		X509_get_ext_d2i(x, NID_ext_key_usage, NULL, NULL);
	uint32_t usage = X509_get_key_usage(x);	/* all bits where it has none */
	bool found = false;

	if (X509_check_ca(x) != 0)
		return "the certificate is a CA's";
	if ((usage & (KU_KEY_ENCIPHERMENT | KU_KEY_AGREEMENT)) == 0)
		return "the key usage is not that of an endorsement key";
	for (int i = 0; i < sk_ASN1_OBJECT_num(usages); i++) {
		char oid[64];
		int n = OBJ_obj2txt(oid, sizeof(oid), sk_ASN1_OBJECT_value(usages, i),
				    /* no_name= */ 1);

		if (n > 0 && strcmp(oid, ek_usage) == 0)
			found = true;
	}
	return found ? NULL : "the extended key usage is not that of an endorsement key";
}

static enum reason untrusted(const char *why, char *detail, size_t n)
{
	(void)text_escape(bytes_str(why), detail, n);
	return R_EK_UNTRUSTED;
}

enum reason cert_trusted(const struct cert_store *s, const struct cert *c, char *detail, size_t n)
{
	_cleanup_(cleanup_store_ctx) X509_STORE_CTX *context = X509_STORE_CTX_new();
	const char *fault;

	if (context == NULL)
		return R_INTERNAL_MEMORY;
	if (X509_STORE_CTX_init(context, s->roots, c->x509, s->others) != 1)
		return R_INTERNAL_CRYPTO;
	if (X509_verify_cert(context) != 1) {
		int e = X509_STORE_CTX_get_error(context);

		return untrusted(X509_verify_cert_error_string(e), detail, n);
	}
	fault = leaf_fault(c->x509);
	return fault == NULL ? R_OK : untrusted(fault, detail, n);
}

static enum reason rsa_key(const EVP_PKEY *pkey, struct cert_key *key)
{
	_cleanup_(cleanup_bn) BIGNUM *modulus = NULL;
	_cleanup_(cleanup_bn) BIGNUM *exponent = NULL;
	int len;

	if (EVP_PKEY_get_bn_param(pkey, OSSL_PKEY_PARAM_RSA_N, &modulus) != 1 ||
	    EVP_PKEY_get_bn_param(pkey, OSSL_PKEY_PARAM_RSA_E, &exponent) != 1)
		return R_EK_FORMAT;
	len = BN_num_bytes(modulus);
	if (len <= 0 || (size_t)len > sizeof(key->modulus) || BN_num_bits(exponent) > 32)
		return R_EK_FORMAT;
	key->type = TPM_RSA;
	key->modulus_len = (size_t)len;
	key->exponent = (uint32_t)BN_get_word(exponent);
	return BN_bn2bin(modulus, key->modulus) == len ? R_OK : R_INTERNAL_CRYPTO;
}

static enum reason ec_key(const EVP_PKEY *pkey, struct cert_key *key)
{
	const char *group;
	char name[32];
	size_t n;

	if (EVP_PKEY_get_group_name(pkey, name, sizeof(name), &n) != 1)
		return R_EK_FORMAT;
	key->type = TPM_ECC;
	key->curve = ossl_curve_find(name);
	if (!ossl_curve(key->curve, &group, &key->coord_len))
		return R_EK_FORMAT;
	return ossl_ec_point(pkey, key->x, key->y, key->coord_len);
}

static enum reason key_numbers(const EVP_PKEY *pkey, struct cert_key *ret)
{
	struct cert_key key = { 0 };

	if (pkey == NULL)
		return R_EK_FORMAT;
	if (EVP_PKEY_is_a(pkey, "RSA") == 1)
		TRY(rsa_key(pkey, &key));
	else if (EVP_PKEY_is_a(pkey, "EC") == 1)
		TRY(ec_key(pkey, &key));
	else
		return R_EK_FORMAT;
	*ret = key;
	return R_OK;
}

enum reason cert_key(const struct cert *c, struct cert_key *ret)
{
	return key_numbers(X509_get0_pubkey(c->x509), ret);
}

enum reason cert_key_from_pem(struct bytes pem, struct cert_key *ret)
{
	_cleanup_(cleanup_bio) BIO *bio = NULL;
	_cleanup_(cleanup_pkey) EVP_PKEY *pkey = NULL;

	if (pem.n == 0 || pem.n > FILE_MAX)
		return R_FORMAT_TYPE;
	bio = BIO_new_mem_buf(pem.p, (int)pem.n);
	if (bio == NULL)
		return R_INTERNAL_MEMORY;
	pkey = PEM_read_bio_PUBKEY(bio, NULL, NULL, NULL);
	ERR_clear_error();
	return key_numbers(pkey, ret) == R_OK ? R_OK : R_FORMAT_TYPE;
}
