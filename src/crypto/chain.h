/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Certificates of any kind, revocation lists, and the path from one to a
 * pinned key. What the time is, the caller says. OpenSSL body only.
 */
#ifndef BOOTGATE_CRYPTO_CHAIN_H
#define BOOTGATE_CRYPTO_CHAIN_H

#include "crypto/sign.h"

#define CHAIN_DEPTH_MAX 8u
#define CHAIN_TRIES_MAX 64u		/* certificates looked at for one path */
#define CHAIN_POOL_MAX 4096u		/* certificates, and lists, in one pool */
#define CHAIN_COORD_MAX 66u
#define CHAIN_CURVE_P256 0x0003u
#define CHAIN_CURVE_P384 0x0004u

/* One certificate of a pool. Views stay as long as the pool. */
struct chain_cert {
	struct bytes der;
	uint8_t digest[SHA256_LEN];	/* of the DER */
	uint8_t spki[SHA256_LEN];	/* of the SubjectPublicKeyInfo */
	char subject[256], issuer[256];	/* RFC 2253, printable, cut to size */
	char name[80];			/* last common name, printable; "" without */
	char serial[64];		/* hexadecimal, as numbers are written */
	int64_t not_before, not_after;	/* seconds since 1970 */
	bool ca;			/* says that it may sign certificates */
	/* TPM_ECC_CURVE and coordinates; 0 for a key that is not on a NIST curve. */
	uint16_t curve;
	size_t coord_len;
	uint8_t x[CHAIN_COORD_MAX], y[CHAIN_COORD_MAX];
	void *object;			/* the library's own */
};

/* Certificates and lists that came with evidence. None of them is trusted. */
struct chain_pool;
enum reason chain_pool_make(struct chain_pool **ret) must_check;
void chain_pool_free(struct chain_pool **pool);
/*
 * Adds the certificate or the list that stands in DER at the front of `in`,
 * unless the pool has it; *ret_n is its length. R_FORMAT_TYPE where neither
 * stands, R_FORMAT_TOO_LARGE when the pool is full.
 */
enum reason chain_pool_add(struct chain_pool *pool, struct bytes in, size_t *ret_n) must_check;
size_t chain_pool_certs(const struct chain_pool *pool);
size_t chain_pool_crls(const struct chain_pool *pool);
const struct chain_cert *chain_pool_cert(const struct chain_pool *pool, size_t i);

/* Value of the extension with this OID ("1.3.6.1"); no bytes where there is none. */
enum reason chain_extension(const struct chain_cert *c, const char *oid, struct bytes *ret) must_check;
/* r || s over `digest` by the certificate's key: R_COSE_SIGNATURE. */
enum reason chain_ecdsa_verify(const struct chain_cert *c, struct bytes digest, struct bytes rs) must_check;

enum chain_revocation {
	CHAIN_REVOCATION_UNKNOWN,	/* no list by the issuer */
	CHAIN_REVOCATION_STALE,		/* only lists of another time */
	CHAIN_REVOCATION_GOOD,
};

struct chain_path {
	size_t count;
	const struct chain_cert *cert[CHAIN_DEPTH_MAX];	/* leaf first */
	enum chain_revocation revocation[CHAIN_DEPTH_MAX];
	size_t pin;			/* which one the last certificate has */
};

/*
 * Path from `leaf` to a self-signed certificate whose key is one of `pins`
 * (SHA-256 of SubjectPublicKeyInfo), at the time `now`. Where several
 * certificates of an issuer are there, one path that holds is enough. *ret
 * always says how far it came: its last certificate is the one in question.
 *	R_CHAIN_INCOMPLETE	no certificate of the issuer
 *	R_CHAIN_SIGNATURE	the issuer's key did not sign it
 *	R_CHAIN_ISSUER		the issuer is no CA, or not of so many below it
 *	R_CHAIN_EXTENSION	a critical extension that is not known
 *	R_CHAIN_ROOT		it ends at a key that is not pinned
 *	R_CHAIN_DATES		a certificate is not valid at `now`
 *	R_CHAIN_REVOKED		a list of its issuer names one, however old the list
 */
enum reason chain_find(const struct chain_pool *pool, const struct chain_cert *leaf,
		       const uint8_t (*pins)[SHA256_LEN], size_t pin_count, int64_t now,
		       struct chain_path *ret) must_check;
/* It leads to where it should, and is only not good now, or no more. */
static inline bool chain_is_late(enum reason r)
{
	return r == R_CHAIN_DATES || r == R_CHAIN_REVOKED;
}

#endif
