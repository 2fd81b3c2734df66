/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the judgements of CVM and GPU evidence (snp, tdx, gpu) have in common.
 * Each takes the bytes and what came with them, and the keys to trust; none
 * looks at a clock, a file or the network.
 */
#ifndef BOOTGATE_APPRAISE_CVM_H
#define BOOTGATE_APPRAISE_CVM_H

#include "crypto/chain.h"

#define CVM_NOTES_MAX 16u
#define CVM_DETAIL 256u

struct cvm_evidence {
	struct bytes bytes;
	struct bytes nonce;		/* p is NULL: not asked for */
	const struct chain_pool *pool;
	int64_t now;			/* seconds since 1970 */
};

/*
 * What does not refuse by itself: unknown, or known and not good. In the order
 * of the checks; --strict refuses for the first.
 */
struct cvm_notes {
	enum reason v[CVM_NOTES_MAX];
	size_t n;
};

/* Once each. */
static inline void cvm_note(struct cvm_notes *notes, enum reason r)
{
	for (size_t i = 0; i < notes->n; i++)
		if (notes->v[i] == r)
			return;
	if (notes->n < CVM_NOTES_MAX)
		notes->v[notes->n++] = r;
}

/* What is noted where certificate `i` of the path has no current list. */
static inline void cvm_note_revocation(struct cvm_notes *notes, const struct chain_path *path,
				       size_t i)
{
	if (path->revocation[i] == CHAIN_REVOCATION_UNKNOWN)
		cvm_note(notes, R_CHAIN_REVOCATION_UNKNOWN);
	else if (path->revocation[i] == CHAIN_REVOCATION_STALE)
		cvm_note(notes, R_CHAIN_REVOCATION_STALE);
}

/* What is signed, and what kind of certificate may have signed it. */
struct cvm_signed {
	struct bytes digest, signature;
	uint16_t curve;
	bool (*kind)(const struct chain_cert *c, const void *context);
	const void *context;
};

struct cvm_signer {
	const struct chain_cert *cert;	/* whose key signed; NULL: none did */
	struct chain_path path;
	size_t candidates;		/* certificates of the kind that were tried */
};

/*
 * A key may stand in several certificates, reissued or made by anybody: the first
 * that also has a path to one of `pins`. R_COSE_SIGNATURE when none of the keys
 * signed; else what is wrong with the path in *ret.
 */
enum reason cvm_find_signer(const struct cvm_evidence *e, const struct cvm_signed *s,
			    const uint8_t (*pins)[SHA256_LEN], size_t pin_count,
			    struct cvm_signer *ret) must_check;

/* The nonce, and zeros behind it up to the end of the field. */
static inline bool cvm_nonce_equal(struct bytes nonce, struct bytes field)
{
	uint8_t rest = 0;

	if (nonce.n == 0 || nonce.n > field.n)
		return false;
	for (size_t i = nonce.n; i < field.n; i++)
		rest |= field.p[i];
	return rest == 0 && bytes_equal_secret(nonce, bytes_of(field.p, nonce.n));
}

#endif
