/* SPDX-License-Identifier: Apache-2.0 */
/* The checks of one signed statement, for quote.c, receipt.c and tools. */
#ifndef BOOTGATE_APPRAISE_QUOTE_H
#define BOOTGATE_APPRAISE_QUOTE_H

#include "format/evidence.h"
#include "format/tpm.h"

/* What one statement of an enrolled AK must say. */
struct quote_expected {
	enum quote_domain domain;
	struct bytes ak_public;		/* TPMT_PUBLIC */
	const uint8_t *ak_name;		/* AK_NAME_LEN, of the session */
	const uint8_t *bound;		/* NONCE_LEN: nonce or verdict digest */
	const struct pcr_selection *selection;
};

/*
 * Key, format, signature, magic and type, binding, selection, digest, signer:
 * in this order, each with its own reason. `values` become authentic by it.
 */
enum reason quote_statement_check(const struct evidence *ev, const struct pcr_values *values,
				  const struct quote_expected *x,
				  struct tpm_attest *ret) must_check;

/* R_NODE_AK, R_QUOTE_SIGNER: the fleet's template, and this name. */
enum reason quote_ak_check(struct bytes ak_public, const uint8_t ak_name[AK_NAME_LEN],
			   struct tpm_public *ret) must_check;

/* Restricted signing key that cannot leave its TPM: R_QUOTE_KEY. */
enum reason quote_key_check(const struct tpm_public *key) must_check;

/*
 * The signature alone: key type and scheme fit, hash of SHA-256 or stronger,
 * R_QUOTE_SCHEME; length and value, R_QUOTE_SIGNATURE. A key without scheme
 * (from PEM) takes the one of the signature.
 */
enum reason quote_signature_verify(const struct tpm_public *key,
				   const struct tpm_signature *sig,
				   struct bytes attest) must_check;

/* The selection that came back fits the one that was asked for. */
enum reason quote_selection_check(const struct pcr_selection *asked,
				  const struct pcr_selection *quoted) must_check;

/* `values` are exactly the quoted ones and lead to the digest: R_QUOTE_DIGEST. */
enum reason quote_values_check(const struct tpm_attest *a, const struct pcr_values *values,
			       uint16_t hash_alg) must_check;

#endif
