/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of the OpenSSL body: certificates and sets of them. */
#ifndef BOOTGATE_CRYPTO_OPENSSL_CERT_PRIV_H
#define BOOTGATE_CRYPTO_OPENSSL_CERT_PRIV_H

#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include "crypto/cert.h"
#include "crypto/openssl/ossl.h"

OSSL_CLEANUP(X509, x509, X509_free)
OSSL_CLEANUP(X509_CRL, crl, X509_CRL_free)
OSSL_CLEANUP(X509_STORE_CTX, store_ctx, X509_STORE_CTX_free)
OSSL_CLEANUP(EXTENDED_KEY_USAGE, usages, EXTENDED_KEY_USAGE_free)
OSSL_CLEANUP(GENERAL_NAMES, general_names, GENERAL_NAMES_free)

struct cert_store {
	X509_STORE *roots;		/* and revocation lists */
	STACK_OF(X509) *others;		/* may lead to a root, are not trusted alone */
	size_t lists;
};

struct cert {
	X509 *x509;
};

/* tcg-kp-EKCertificate */
#define EK_USAGE "2.23.133.8.1"

/* One certificate, a padded serial number tolerated: R_EK_FORMAT. */
enum reason cert_x509(struct bytes der, X509 **ret) must_check;
/* By the key of `issuer`, over the bytes as they were received. */
bool cert_signed_by(X509 *x, EVP_PKEY *issuer);
/* Whether reading it needed the tolerance. */
bool cert_repaired(const X509 *x);
/* Has the extended key usage `oid`; a NULL list has none. */
bool cert_usage_has(const EXTENDED_KEY_USAGE *usages, const char *oid);
/*
 * What a leaf says it may be used for and whose it is (EK Credential Profile
 * 2.5, section 3.2). NULL: it fits an EK.
 */
const char *cert_profile_fault(X509 *x);
/* Printable texts, cut to n. */
void cert_name_text(const X509_NAME *name, char *ret, size_t n);
void cert_serial_text(const ASN1_INTEGER *serial, char *ret, size_t n);
void cert_time_text(const ASN1_TIME *t, char *ret, size_t n);

#endif
