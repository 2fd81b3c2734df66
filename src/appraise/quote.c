/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What makes a quote one. The order is the order of trust: until the
 * signature holds nothing is believed, until the binding holds nothing is
 * fresh, until the digest holds no register value means anything.
 */
#include "appraise/quote.h"

#include <string.h>

#include "appraise/appraise.h"
#include "base/cleanup.h"
#include "crypto/sign.h"

enum reason quote_key_check(const struct tpm_public *key)
{
	const uint32_t must = TPMA_FIXED_TPM | TPMA_FIXED_PARENT | TPMA_RESTRICTED | TPMA_SIGN;

	/*
	 * A key that is not restricted signs whatever the host hands it, also
	 * a structure that looks like a quote.
	 */
	if ((key->attributes & must) != must || (key->attributes & TPMA_DECRYPT))
		return R_QUOTE_KEY;
	return R_OK;
}

enum reason quote_ak_check(struct bytes ak_public, const uint8_t ak_name[AK_NAME_LEN],
			   struct tpm_public *ret)
{
	struct tpm_public key;
	struct tpm_name name;

	if (tpm_public_read(ak_public, &key) != R_OK)
		return R_NODE_AK;
	if (!tpm_ak_public_matches_template(&key))
		return R_NODE_AK;
	TRY(tpm_name_of(&key, &name));
	if (!bytes_equal(tpm_name_bytes(&name), bytes_of(ak_name, AK_NAME_LEN)))
		return R_QUOTE_SIGNER;
	*ret = key;
	return R_OK;
}

static bool is_strong(uint16_t hash)
{
	return digest_len(hash) >= SHA256_LEN;
}

static enum reason ecdsa_check(const struct tpm_public *key, const struct tpm_signature *sig,
			       struct bytes digest)
{
	uint8_t pair[2 * TPM_COORD_MAX];
	size_t len;

	switch (key->curve) {
	case TPM_ECC_P256:
		len = 32;
		break;
	case TPM_ECC_P384:
		len = 48;
		break;
	case TPM_ECC_P521:
		len = 66;
		break;
	default:
		return R_QUOTE_SCHEME;
	}
	/* TPMs leave leading zeros out, or add some: the numbers count. */
	TRY(tpm_signature_ecdsa(sig, len, pair));
	return ecdsa_verify(key->curve, key->x, key->y, digest, bytes_of(pair, len),
			    bytes_of(pair + len, len));
}

static enum reason rsa_check(const struct tpm_public *key, const struct tpm_signature *sig,
			     struct bytes digest)
{
	if (sig->rsa.n != key->modulus.n)
		return R_QUOTE_SIGNATURE;
	return rsa_verify(key->modulus, key->exponent, sig->scheme == TPM_ALG_RSAPSS,
			  sig->hash, digest, sig->rsa);
}

static bool scheme_fits(const struct tpm_public *key, const struct tpm_signature *sig)
{
	bool ecc = sig->scheme == TPM_ALG_ECDSA;

	if (ecc != (key->type == TPM_ALG_ECC))
		return false;
	if (!is_strong(sig->hash))
		return false;
	if (key->scheme.alg == TPM_ALG_NULL)
		return true;
	return sig->scheme == key->scheme.alg && sig->hash == key->scheme.hash;
}

enum reason quote_signature_verify(const struct tpm_public *key,
				   const struct tpm_signature *sig, struct bytes attest)
{
	uint8_t hash[DIGEST_MAX];
	struct bytes digest = { hash, digest_len(sig->hash) };
	enum reason r;

	if (!scheme_fits(key, sig))
		return R_QUOTE_SCHEME;
	TRY(digest_of(sig->hash, &attest, 1, hash));
	if (key->type == TPM_ALG_ECC)
		r = ecdsa_check(key, sig, digest);
	else
		r = rsa_check(key, sig, digest);
	return r == R_COSE_SIGNATURE ? R_QUOTE_SIGNATURE : r;
}

enum reason quote_signature_check(struct bytes ak_public, struct bytes attest,
				  struct bytes signature)
{
	struct tpm_public key;
	struct tpm_signature sig;

	if (attest.n > LIMIT_TPM_ATTEST || signature.n > LIMIT_TPM_SIGNATURE)
		return R_QUOTE_FORMAT;
	TRY(tpm_public_read(ak_public, &key));
	TRY(quote_key_check(&key));
	/* A restricted key always has a scheme; see scheme_fits. */
	if (key.scheme.alg == TPM_ALG_NULL)
		return R_QUOTE_SCHEME;
	TRY(tpm_signature_read(signature, &sig));
	return quote_signature_verify(&key, &sig, attest);
}

enum reason quote_selection_check(const struct pcr_selection *asked,
				  const struct pcr_selection *quoted)
{
	if (quoted->count != asked->count || pcr_selection_empty(quoted))
		return R_QUOTE_SELECTION;
	for (size_t i = 0; i < asked->count; i++) {
		const struct pcr_select *a = &asked->bank[i];
		const struct pcr_select *q = &quoted->bank[i];

		if (q->alg != a->alg)
			return R_QUOTE_SELECTION;
		/*
		 * A TPM clears the whole bitmap of a bank that is not active,
		 * and that the bank is not active is thereby signed. Single
		 * registers are never cleared on a TPM with 24 of them.
		 */
		if (q->mask != a->mask && q->mask != 0)
			return R_QUOTE_SELECTION;
	}
	return R_OK;
}

static size_t active_count(const struct pcr_selection *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->count; i++)
		n += s->bank[i].mask != 0;
	return n;
}

enum reason quote_values_check(const struct tpm_attest *a, const struct pcr_values *values,
			       uint16_t hash_alg)
{
	uint8_t composite[DIGEST_MAX];
	size_t active = 0;

	/* Values that the quote does not cover are nobody's word. */
	for (size_t i = 0; i < values->count; i++) {
		const struct pcr_bank *bank = &values->bank[i];
		const struct pcr_select *s = pcr_selection_bank(&a->selection, bank->alg);

		if (bank->present != (s ? s->mask : 0))
			return R_QUOTE_DIGEST;
		active += bank->present != 0;
	}
	if (active != active_count(&a->selection))
		return R_QUOTE_DIGEST;
	TRY(pcr_composite(&a->selection, values, hash_alg, composite));
	if (!bytes_equal(a->pcr_digest, bytes_of(composite, digest_len(hash_alg))))
		return R_QUOTE_DIGEST;
	return R_OK;
}

/* A bank that cannot be judged is refused by name, never skipped. */
static enum reason banks_known(const struct pcr_selection *s)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->bank[i].mask && digest_len(s->bank[i].alg) == 0)
			return R_POLICY_UNSUPPORTED_BANK;
	return R_OK;
}

static enum reason binding_check(const struct tpm_attest *a, const struct quote_expected *x,
				 struct bytes claims)
{
	uint8_t want[SHA256_LEN];

	TRY(quote_qualifying(x->domain, x->bound, claims, want));
	return bytes_equal_secret(a->extra, BYTES(want)) ? R_OK : R_QUOTE_NONCE;
}

static enum reason signer_check(const struct tpm_attest *a, const struct tpm_public *key)
{
	struct tpm_name name;
	struct tpm_name qualified;

	TRY(tpm_name_of(key, &name));
	TRY(tpm_qualified_name(TPM_RH_ENDORSEMENT, &name, &qualified));
	return bytes_equal(a->signer, tpm_name_bytes(&qualified)) ? R_OK : R_QUOTE_SIGNER;
}

enum reason quote_statement_check(const struct evidence *ev, const struct pcr_values *values,
				  const struct quote_expected *x, struct tpm_attest *ret)
{
	struct tpm_public key;
	struct tpm_attest a;
	enum reason form;

	TRY(quote_ak_check(x->ak_public, x->ak_name, &key));
	/* Magic and type are told only once the signature holds. */
	form = tpm_quote_read(ev->quote, &a);
	if (form != R_OK && form != R_QUOTE_MAGIC && form != R_QUOTE_TYPE)
		return form;
	TRY(quote_signature_check(x->ak_public, ev->quote, ev->signature));
	if (form != R_OK)
		return form;
	TRY(binding_check(&a, x, ev->claims));
	TRY(quote_selection_check(x->selection, &a.selection));
	TRY(banks_known(&a.selection));
	TRY(quote_values_check(&a, values, key.scheme.hash));
	TRY(signer_check(&a, &key));
	*ret = a;
	return R_OK;
}

enum reason quote_check(struct bytes evidence, enum quote_domain domain,
			const struct session *session, struct quote_checked *ret)
{
	struct evidence ev;
	struct quote_expected x = {
		.domain = domain,
		.ak_name = session->ak_name,
		.bound = session->nonce,
		.selection = &session->selection,
	};

	TRY(evidence_read(evidence, &ev));
	TRY(claims_read(ev.claims, &ret->claims));
	x.ak_public = ret->claims.ak_public;
	TRY(quote_statement_check(&ev, &ret->claims.values, &x, &ret->attest));
	if (ret->claims.stage != session->stage)
		return R_SESSION_STAGE;
	return sha256(ev.claims, ret->claims_digest);
}
