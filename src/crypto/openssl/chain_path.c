/* SPDX-License-Identifier: Apache-2.0 */
/* From a certificate to a pinned key. */
#include <openssl/err.h>
#include <openssl/rsa.h>
#include <openssl/x509v3.h>
#include <string.h>

#include "base/cleanup.h"
#include "crypto/openssl/chain_priv.h"

enum {
	/* bits of security: RSA from 2048, SHA-256; SHA-1 and MD5 are out */
	SECURITY_BITS = 112,
};

static bool issued_by(const struct chain_cert *c, const struct chain_cert *issuer)
{
	return X509_NAME_cmp(X509_get_issuer_name(c->object),
			     X509_get_subject_name(issuer->object)) == 0;
}

/* The key, when it is strong enough to sign anything. */
static EVP_PKEY *strong_key(const struct chain_cert *c)
{
	EVP_PKEY *key = X509_get0_pubkey(c->object);

	return key != NULL && EVP_PKEY_get_security_bits(key) >= SECURITY_BITS ? key : NULL;
}

static bool signed_by(const struct chain_cert *c, const struct chain_cert *issuer)
{
	EVP_PKEY *key = strong_key(issuer);
	int bits = 0;
	bool good;

	if (key == NULL || X509_get_signature_info(c->object, NULL, NULL, &bits, NULL) != 1 ||
	    bits < SECURITY_BITS)
		return false;
	good = X509_verify(c->object, key) == 1;
	ERR_clear_error();
	return good;
}

/* Collisions of a hash take half its bits. Of PSS the parameters name it. */
static bool strong_hash(const X509_ALGOR *algorithm)
{
	const EVP_MD *md;
	int signature = OBJ_obj2nid(algorithm->algorithm), hash = NID_undef;

	if (signature == NID_rsassaPss) {
		RSA_PSS_PARAMS *p = algorithm->parameter == NULL ? NULL :
			ASN1_TYPE_unpack_sequence(ASN1_ITEM_rptr(RSA_PSS_PARAMS),
						  algorithm->parameter);

		/* without a name it is SHA-1 */
		if (p != NULL && p->hashAlgorithm != NULL)
			hash = OBJ_obj2nid(p->hashAlgorithm->algorithm);
		RSA_PSS_PARAMS_free(p);
	} else if (OBJ_find_sigid_algs(signature, &hash, NULL) != 1) {
		return false;
	}
	md = EVP_get_digestbynid(hash);
	return md != NULL && EVP_MD_get_size(md) * 8 / 2 >= SECURITY_BITS;
}

/* For lists OpenSSL has no X509_get_signature_info. */
static bool list_signed_by(const struct crl *crl, const struct chain_cert *issuer)
{
	EVP_PKEY *key = strong_key(issuer);
	const X509_ALGOR *algorithm;
	bool good;

	X509_CRL_get0_signature(crl->object, NULL, &algorithm);
	good = key != NULL && strong_hash(algorithm) && X509_CRL_verify(crl->object, key) == 1;
	ERR_clear_error();
	return good;
}

/* Extensions that must be understood are, and no more CAs follow than it allows. */
static enum reason fits(const struct chain_cert *c, size_t below)
{
	long most = X509_get_pathlen(c->object);

	uint32_t flags = X509_get_extension_flags(c->object);

	if (flags & EXFLAG_CRITICAL)
		return R_CHAIN_EXTENSION;
	/* one that cannot be read, or stands there twice */
	if (flags & EXFLAG_INVALID)
		return R_CHAIN_EXTENSION;
	return most >= 0 && (size_t)most < below ? R_CHAIN_ISSUER : R_OK;
}

static bool valid_at(const struct chain_cert *c, int64_t now)
{
	return c->not_before <= now && now <= c->not_after;
}

/* What the lists of its issuer say of a certificate. */
static enum reason revocation_of(const struct chain_pool *pool, const struct chain_cert *c,
				 const struct chain_cert *issuer, int64_t now,
				 enum chain_revocation *ret)
{
	*ret = CHAIN_REVOCATION_UNKNOWN;
	for (size_t i = 0; i < pool->crls; i++) {
		const struct crl *crl = &pool->crl[i];
		X509_REVOKED *entry;

		if (X509_NAME_cmp(X509_CRL_get_issuer(crl->object),
				  X509_get_subject_name(issuer->object)) != 0)
			continue;
		if (!list_signed_by(crl, issuer))
			continue;
		if (X509_CRL_get0_by_cert(crl->object, &entry, c->object) == 1)
			return R_CHAIN_REVOKED;
		if (crl->complete && crl->this_update <= now && now <= crl->next_update)
			*ret = CHAIN_REVOCATION_GOOD;
		else if (*ret == CHAIN_REVOCATION_UNKNOWN)
			*ret = CHAIN_REVOCATION_STALE;
	}
	return R_OK;
}

static bool pinned(const struct chain_cert *c, const uint8_t (*pins)[SHA256_LEN], size_t count,
		   size_t *ret)
{
	for (size_t i = 0; i < count; i++) {
		if (memcmp(c->spki, pins[i], SHA256_LEN) == 0) {
			*ret = i;
			return true;
		}
	}
	return false;
}

/*
 * Several certificates of one issuer may be there, reissued with the same key or
 * put there by somebody else: all are tried, those of short paths first. What
 * one is worth depends on the path below it, so it may be a node twice; their
 * number has an end.
 */
struct node {
	const struct chain_cert *cert;
	size_t child, below;		/* its node; certificates under this one */
	enum chain_revocation revocation;	/* what this issuer's lists say of the child */
	bool dates;			/* all are valid down to the leaf */
};

struct search {
	const struct chain_pool *pool;
	const uint8_t (*pins)[SHA256_LEN];
	size_t pin_count;
	int64_t now;
	struct node node[CHAIN_TRIES_MAX];
	size_t nodes;
};

/* Appends the issuers of node `at`. */
static enum reason add_issuers(struct search *s, size_t at)
{
	const struct node *child = &s->node[at];
	enum reason r = R_CHAIN_INCOMPLETE;

	for (size_t i = 0; i < s->pool->certs; i++) {
		const struct chain_cert *issuer = s->pool->cert[i];
		struct node n = { issuer, at, child->below + 1, CHAIN_REVOCATION_UNKNOWN,
				  child->dates && valid_at(issuer, s->now) };

		if (!issued_by(child->cert, issuer))
			continue;
		if (!signed_by(child->cert, issuer)) {
			r = r == R_CHAIN_INCOMPLETE ? R_CHAIN_SIGNATURE : r;
			continue;
		}
		if (!issuer->ca) {
			r = r == R_OK ? r : R_CHAIN_ISSUER;
			continue;
		}
		TRY(revocation_of(s->pool, child->cert, issuer, s->now, &n.revocation));
		if (s->nodes == CHAIN_TRIES_MAX)
			return R_CHAIN_INCOMPLETE;
		s->node[s->nodes++] = n;
		r = R_OK;
	}
	return r;
}

/* R_OK and *ret_end: the path ends here, well. R_OK alone: it goes on above. */
static enum reason try_node(struct search *s, size_t at, bool *ret_end, size_t *ret_pin)
{
	const struct node *n = &s->node[at];

	/* the leaf does not count as one that follows */
	TRY(fits(n->cert, n->below > 0 ? n->below - 1 : 0));
	if (!issued_by(n->cert, n->cert))
		return n->below + 1 == CHAIN_DEPTH_MAX ? R_CHAIN_INCOMPLETE : add_issuers(s, at);
	if (!signed_by(n->cert, n->cert))
		return R_CHAIN_SIGNATURE;
	if (!pinned(n->cert, s->pins, s->pin_count, ret_pin))
		return R_CHAIN_ROOT;
	*ret_end = true;
	return n->dates ? R_OK : R_CHAIN_DATES;
}

static void path_to(const struct search *s, size_t at, struct chain_path *ret)
{
	const struct node *n = &s->node[at];

	*ret = (struct chain_path){ .count = n->below + 1 };
	for (; n->below > 0; n = &s->node[n->child]) {
		ret->cert[n->below] = n->cert;
		ret->revocation[n->below - 1] = n->revocation;
	}
	ret->cert[0] = n->cert;
}

/* Of several that do not hold: one that is only late or revoked, else one that came far. */
static bool tells_more(enum reason r, size_t count, enum reason than, size_t than_count)
{
	if (chain_is_late(r) != chain_is_late(than))
		return chain_is_late(r);
	return count > than_count;
}

enum reason chain_find(const struct chain_pool *pool, const struct chain_cert *leaf,
		       const uint8_t (*pins)[SHA256_LEN], size_t pin_count, int64_t now,
		       struct chain_path *ret)
{
	struct search s = { pool, pins, pin_count, now,
			    { { leaf, 0, 0, CHAIN_REVOCATION_UNKNOWN, valid_at(leaf, now) } }, 1 };
	enum reason best = R_CHAIN_INCOMPLETE;

	*ret = (struct chain_path){ 0 };
	for (size_t i = 0; i < s.nodes; i++) {
		bool end = false;
		size_t pin = 0;
		enum reason r = try_node(&s, i, &end, &pin);

		if (r == R_OK && !end)
			continue;
		if (r != R_OK && ret->count > 0 &&
		    !tells_more(r, s.node[i].below + 1, best, ret->count))
			continue;
		path_to(&s, i, ret);
		ret->pin = pin;
		best = r;
		if (r == R_OK)
			break;
	}
	return best;
}
