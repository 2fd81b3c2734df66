/* SPDX-License-Identifier: Apache-2.0 */
#include "appraise/cvm.h"

#include "base/cleanup.h"

enum reason cvm_find_signer(const struct cvm_evidence *e, const struct cvm_signed *s,
			    const uint8_t (*pins)[SHA256_LEN], size_t pin_count,
			    struct cvm_signer *ret)
{
	enum reason best = R_COSE_SIGNATURE;

	*ret = (struct cvm_signer){ 0 };
	for (size_t i = 0; i < chain_pool_certs(e->pool); i++) {
		const struct chain_cert *c = chain_pool_cert(e->pool, i);
		struct chain_path path;
		enum reason r;

		if (c->curve != s->curve || !s->kind(c, s->context))
			continue;
		ret->candidates++;
		if (chain_ecdsa_verify(c, s->digest, s->signature) != R_OK)
			continue;
		r = chain_find(e->pool, c, pins, pin_count, e->now, &path);
		/* of those that do not hold the first, or one that only is late */
		if (r != R_OK && ret->cert && (chain_is_late(best) || !chain_is_late(r)))
			continue;
		best = r;
		ret->cert = c;
		ret->path = path;
		if (r == R_OK)
			break;
	}
	return best;
}
