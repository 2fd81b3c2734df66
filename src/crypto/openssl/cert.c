/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of certificates, and one certificate: reading, and the key of it. */
#include <openssl/err.h>
#include <openssl/objects.h>
#include <openssl/pem.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "crypto/cert_der.h"
#include "crypto/openssl/cert_priv.h"

enum {
	FILE_MAX = 4 << 20,
	FILES_MAX = 4096,
	BLOCKS_MAX = 4096,
	CERT_MAX = 64 << 10,
	TPM_RSA = 0x0001,
	TPM_ECC = 0x0023,
	/* OpenSSL's level 2: RSA from 2048 bits, SHA-256 (SHA-1 and MD5 are out) */
	AUTH_LEVEL = 2,
	DEPTH_MAX = CERT_PATH_MAX - 2,	/* CAs below the root */
};

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

/* ---- one certificate ------------------------------------------------------- */

static void free_original(void *parent, void *original, CRYPTO_EX_DATA *data, int index, long argl,
			  void *argp)
{
	(void)parent, (void)data, (void)index, (void)argl, (void)argp;
	ASN1_OCTET_STRING_free(original);
}

/* Where a repaired certificate keeps the bytes that it was made from. */
static int original_index(void)
{
	static int index = -1;

	if (index < 0)
		index = X509_get_ex_new_index(0, NULL, NULL, NULL, free_original);
	return index;
}

static const ASN1_OCTET_STRING *original_of(const X509 *x)
{
	return X509_get_ex_data(x, original_index());
}

bool cert_repaired(const X509 *x)
{
	return original_of(x) != NULL;
}

static X509 *decode(struct bytes der)
{
	const uint8_t *p = der.p;
	_cleanup_(cleanup_x509) X509 *x = d2i_X509(NULL, &p, (long)der.n);

	if (x == NULL || p != der.p + der.n)
		return NULL;
	return take_ptr(x);
}

static enum reason keep_original(X509 *x, struct bytes der)
{
	ASN1_OCTET_STRING *o = ASN1_OCTET_STRING_new();

	if (o == NULL || ASN1_OCTET_STRING_set(o, der.p, (int)der.n) != 1 ||
	    original_index() < 0 || X509_set_ex_data(x, original_index(), o) != 1) {
		ASN1_OCTET_STRING_free(o);
		return R_INTERNAL_MEMORY;
	}
	return R_OK;
}

enum reason cert_x509(struct bytes der, X509 **ret)
{
	_cleanup_(blob_free) struct blob repaired = BLOB(CERT_MAX);
	_cleanup_(cleanup_x509) X509 *x = NULL;

	if (der.n == 0 || der.n > CERT_MAX)
		return R_EK_FORMAT;
	x = decode(der);
	if (x == NULL && der_shorten_serial(der, &repaired) == R_OK) {
		x = decode(blob_bytes(&repaired));
		if (x != NULL)
			TRY(keep_original(x, der));
	}
	ERR_clear_error();
	if (x == NULL)
		return R_EK_FORMAT;
	*ret = take_ptr(x);
	return R_OK;
}

/* What OpenSSL holds is another encoding: the signature is one over the original. */
static bool original_signed_by(const X509 *x, const ASN1_OCTET_STRING *original, EVP_PKEY *issuer)
{
	_cleanup_(cleanup_md_ctx) EVP_MD_CTX *m = EVP_MD_CTX_new();
	const ASN1_BIT_STRING *signature;
	const X509_ALGOR *algorithm;
	struct bytes part;
	int md, pkey;

	X509_get0_signature(&signature, &algorithm, x);
	if (m == NULL || X509_ALGOR_cmp(X509_get0_tbs_sigalg(x), algorithm) != 0 ||
	    OBJ_find_sigid_algs(X509_get_signature_nid(x), &md, &pkey) != 1 ||
	    EVP_PKEY_get_base_id(issuer) != pkey || EVP_get_digestbynid(md) == NULL ||
	    der_signed_part(bytes_of(ASN1_STRING_get0_data(original),
				     (size_t)ASN1_STRING_length(original)), &part) != R_OK)
		return false;
	return EVP_DigestVerifyInit(m, NULL, EVP_get_digestbynid(md), NULL, issuer) == 1 &&
	       EVP_DigestVerify(m, ASN1_STRING_get0_data(signature),
				(size_t)ASN1_STRING_length(signature), part.p, part.n) == 1;
}

bool cert_signed_by(X509 *x, EVP_PKEY *issuer)
{
	const ASN1_OCTET_STRING *original = original_of(x);

	if (issuer == NULL)
		return false;
	if (original != NULL)
		return original_signed_by(x, original, issuer);
	return X509_verify(x, issuer) == 1;
}

enum reason cert_read(struct bytes der, struct cert **ret)
{
	_cleanup_(cleanup_x509) X509 *x = NULL;
	struct cert *c;

	TRY(cert_x509(der, &x));
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

enum reason cert_der(const struct cert *c, struct blob *ret)
{
	const ASN1_OCTET_STRING *original = original_of(c->x509);
	uint8_t *der = NULL;
	enum reason r;
	int n;

	if (original != NULL)
		return blob_append(ret, ASN1_STRING_get0_data(original),
				   (size_t)ASN1_STRING_length(original));
	n = i2d_X509(c->x509, &der);
	if (n <= 0)
		return R_INTERNAL_CRYPTO;
	r = blob_append(ret, der, (size_t)n);
	OPENSSL_free(der);
	return r;
}

/* ---- files ----------------------------------------------------------------- */

/* What one file holds, until it is known that all of it can be read. */
struct found {
	STACK_OF(X509) *certificates;
	STACK_OF(X509_CRL) *lists;
};

static void found_free(const struct found *f)
{
	sk_X509_pop_free(f->certificates, X509_free);
	sk_X509_CRL_pop_free(f->lists, X509_CRL_free);
}

static enum reason find_certificate(struct bytes der, struct found *f)
{
	_cleanup_(cleanup_x509) X509 *x = NULL;

	TRY(cert_x509(der, &x));
	if (sk_X509_push(f->certificates, x) <= 0)
		return R_INTERNAL_MEMORY;
	x = NULL;
	return R_OK;
}

static enum reason find_list(struct bytes der, struct found *f)
{
	const uint8_t *p = der.p;
	_cleanup_(cleanup_crl) X509_CRL *crl = d2i_X509_CRL(NULL, &p, (long)der.n);

	ERR_clear_error();
	if (crl == NULL || p != der.p + der.n)
		return R_EK_FORMAT;
	if (sk_X509_CRL_push(f->lists, crl) <= 0)
		return R_INTERNAL_MEMORY;
	crl = NULL;
	return R_OK;
}

static enum reason find_block(const char *name, struct bytes der, struct found *f)
{
	if (strcmp(name, PEM_STRING_X509) == 0 || strcmp(name, PEM_STRING_X509_OLD) == 0)
		return find_certificate(der, f);
	if (strcmp(name, PEM_STRING_X509_CRL) == 0)
		return find_list(der, f);
	return R_EK_FORMAT;
}

static enum reason find_pem(struct bytes file, size_t max, struct found *f)
{
	_cleanup_(cleanup_bio) BIO *in = BIO_new_mem_buf(file.p, (int)file.n);
	size_t count = 0;

	if (in == NULL)
		return R_INTERNAL_MEMORY;
	ERR_clear_error();
	while (count < max) {
		char *name = NULL, *header = NULL;
		uint8_t *der = NULL;
		enum reason r;
		long n;

		if (PEM_read_bio(in, &name, &header, &der, &n) != 1)
			break;
		r = find_block(name, bytes_of(der, (size_t)n), f);
		OPENSSL_free(name);
		OPENSSL_free(header);
		OPENSSL_free(der);
		TRY(r);
		count++;
	}
	/* the end, or a block that is no PEM? */
	if (count == 0 ||
	    (count < max && ERR_GET_REASON(ERR_peek_last_error()) != PEM_R_NO_START_LINE))
		return R_EK_FORMAT;
	ERR_clear_error();
	return R_OK;
}

/* DER begins with a SEQUENCE, text never does. */
static bool is_der(struct bytes file)
{
	return file.p[0] == 0x30;
}

static enum reason find_all(struct bytes file, struct found *f)
{
	if (file.n == 0 || file.n > FILE_MAX)
		return R_EK_FORMAT;
	f->certificates = sk_X509_new_null();
	f->lists = sk_X509_CRL_new_null();
	if (f->certificates == NULL || f->lists == NULL)
		return R_INTERNAL_MEMORY;
	if (!is_der(file))
		return find_pem(file, BLOCKS_MAX, f);
	return find_certificate(file, f) == R_OK ? R_OK : find_list(file, f);
}

static enum reason add_certificate(struct cert_store *s, X509 *x)
{
	if (X509_self_signed(x, /* verify_signature= */ 0) == 1)
		return X509_STORE_add_cert(s->roots, x) == 1 ? R_OK : R_INTERNAL_MEMORY;
	if (X509_up_ref(x) != 1)
		return R_INTERNAL_MEMORY;
	if (sk_X509_push(s->others, x) <= 0) {
		X509_free(x);
		return R_INTERNAL_MEMORY;
	}
	return R_OK;
}

enum reason cert_store_add(struct cert_store *s, struct bytes file, size_t *ret_count)
{
	_cleanup_(found_free) struct found f = { NULL, NULL };
	int certificates, lists;

	TRY(find_all(file, &f));
	certificates = sk_X509_num(f.certificates);
	lists = sk_X509_CRL_num(f.lists);
	for (int i = 0; i < certificates; i++)
		TRY(add_certificate(s, sk_X509_value(f.certificates, i)));
	for (int i = 0; i < lists; i++)
		if (X509_STORE_add_crl(s->roots, sk_X509_CRL_value(f.lists, i)) != 1)
			return R_INTERNAL_MEMORY;
	s->lists += (size_t)lists;
	*ret_count = (size_t)certificates + (size_t)lists;
	return R_OK;
}

enum reason cert_store_add_folder(struct cert_store *s, const char *folder, cert_folder_fn *each,
				  void *context, struct cert_folder *ret)
{
	_cleanup_(fd_names_free) struct fd_names names = { NULL, 0 };
	struct cert_folder sum = { 0, 0, 0 };

	TRY(fd_list_tree(folder, FILES_MAX, &names));
	for (size_t i = 0; i < names.n; i++) {
		_cleanup_(blob_free) struct blob file = BLOB(FILE_MAX);
		const char *below = names.v[i] + strlen(folder);
		size_t count = 0;
		enum reason r = fd_read_named(names.v[i], &file);

		if (r == R_OK)
			r = cert_store_add(s, blob_bytes(&file), &count);
		if (reason_class(r) == REASON_BROKEN)
			return r;
		sum.files++;
		sum.certificates += count;
		sum.unusable += r != R_OK;
		if (each != NULL)
			each(context, below + strspn(below, "/"), r, count);
	}
	*ret = sum;
	return R_OK;
}

enum reason cert_read_file(struct bytes file, struct cert **ret)
{
	_cleanup_(found_free) struct found f = { NULL, NULL };
	struct cert *c;

	if (file.n == 0 || file.n > FILE_MAX)
		return R_EK_FORMAT;
	if (is_der(file)) {
		struct bytes der;

		TRY(der_cut(file, &der));
		return cert_read(der, ret);
	}
	f.certificates = sk_X509_new_null();
	f.lists = sk_X509_CRL_new_null();
	c = calloc(1, sizeof(*c));
	if (f.certificates == NULL || f.lists == NULL || c == NULL ||
	    find_pem(file, 1, &f) != R_OK || sk_X509_num(f.certificates) != 1) {
		free(c);
		return R_EK_FORMAT;
	}
	c->x509 = sk_X509_pop(f.certificates);
	*ret = c;
	return R_OK;
}

void cert_list_free(struct cert_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		cert_free(&l->v[i]);
	free(l->v);
	*l = (struct cert_list){ NULL, 0, 0 };
}

static enum reason take_all(struct found *f, struct cert_list *l)
{
	size_t n = (size_t)sk_X509_num(f->certificates);

	l->v = calloc(n + 1, sizeof(struct cert *));
	if (l->v == NULL)
		return R_INTERNAL_MEMORY;
	for (; l->n < n; l->n++) {
		l->v[l->n] = calloc(1, sizeof(struct cert));
		if (l->v[l->n] == NULL)
			return R_INTERNAL_MEMORY;
		l->v[l->n]->x509 = sk_X509_shift(f->certificates);
	}
	l->revocation_lists = (size_t)sk_X509_CRL_num(f->lists);
	return R_OK;
}

enum reason cert_read_all(struct bytes file, struct cert_list *ret)
{
	_cleanup_(found_free) struct found f = { NULL, NULL };
	struct cert_list l = { NULL, 0, 0 };
	enum reason r;

	TRY(find_all(file, &f));
	r = take_all(&f, &l);
	if (r == R_OK)
		*ret = l;
	else
		cert_list_free(&l);
	return r;
}

/* ---- the key --------------------------------------------------------------- */

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
