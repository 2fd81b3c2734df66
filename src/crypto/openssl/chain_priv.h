/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of chain.c and chain_path.c: what a pool is made of. */
#ifndef BOOTGATE_CRYPTO_OPENSSL_CHAIN_PRIV_H
#define BOOTGATE_CRYPTO_OPENSSL_CHAIN_PRIV_H

#include <openssl/x509.h>

#include "crypto/chain.h"

struct crl {
	struct bytes der;
	X509_CRL *object;
	int64_t this_update, next_update;
	bool complete;			/* covers all certificates of its issuer */
};

struct chain_pool {
	/* pointers, so that views into one outlive the growing of the list */
	struct chain_cert *cert[CHAIN_POOL_MAX];
	size_t certs;
	struct crl crl[CHAIN_POOL_MAX];
	size_t crls;
};

#endif
