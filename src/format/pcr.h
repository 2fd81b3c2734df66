/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Platform configuration registers: which ones (a selection), what they hold
 * (values), and the digest over them that a quote signs.
 */
#ifndef BOOTGATE_FORMAT_PCR_H
#define BOOTGATE_FORMAT_PCR_H

#include "base/bytes.h"
#include "base/limits.h"
#include "crypto/digest.h"

#define PCR_COUNT 24u
#define PCR_ALL 0x00ffffffu		/* mask with every register */
#define PCR_DRTM_FIRST 17u		/* reset by a dynamic launch */
#define PCR_DRTM_LAST 22u
#define PCR_FACTS 8u			/* the gate's registers, for ever */
#define PCR_DECISION 14u
#define PCR_MASK(n) (UINT32_C(1) << (n))

/* One bank of a selection: bit n of the mask is register n. */
struct pcr_select {
	uint16_t alg;
	uint32_t mask;
};

/* The order of the banks counts: a quote hashes them in this order. */
struct pcr_selection {
	size_t count;
	struct pcr_select bank[LIMIT_BANKS];
};

struct pcr_bank {
	uint16_t alg;
	uint32_t present;		/* bit n: value[n] is filled in */
	uint8_t value[PCR_COUNT][DIGEST_MAX];
};

struct pcr_values {
	size_t count;
	struct pcr_bank bank[LIMIT_BANKS];
};

/* One digest for each bank, as one TPM2_PCR_Extend takes them. */
struct pcr_digest {
	uint16_t alg;
	uint8_t value[DIGEST_MAX];
};
struct pcr_digests {
	size_t count;
	struct pcr_digest bank[LIMIT_BANKS];
};

/* Same banks in the same order with the same bits. */
bool pcr_selection_equal(const struct pcr_selection *a, const struct pcr_selection *b);
/* The entry of this bank; NULL where there is none. */
const struct pcr_select *pcr_selection_bank(const struct pcr_selection *s, uint16_t alg);
/* Appends a bank: R_FORMAT_DUPLICATE, R_FORMAT_TOO_LARGE, R_FORMAT_RANGE (mask). */
enum reason pcr_selection_add(struct pcr_selection *s, uint16_t alg, uint32_t mask) must_check;
/* True when no register of any bank is selected. */
bool pcr_selection_empty(const struct pcr_selection *s);

/*
 * TPML_PCR_SELECTION. The reader takes any algorithm number, sizeofSelect 3
 * or 4 with no bit above register 23 (R_FORMAT_RANGE), at most LIMIT_BANKS
 * banks (R_FORMAT_TOO_LARGE), each once (R_FORMAT_DUPLICATE). The writer
 * always uses sizeofSelect 3, as every TPM does.
 */
enum reason pcr_selection_read(struct cursor *c, struct pcr_selection *ret) must_check;
enum reason pcr_selection_write(const struct pcr_selection *s, struct blob *ret) must_check;

/*
 * The form people write, as tpm2-tools: `sha256:0,1,7+sha1:all`, `none` for
 * an empty bank. R_FORMAT_TEXT when it is not that. The writer needs known
 * algorithms.
 */
enum reason pcr_selection_parse(const char *text, struct pcr_selection *ret) must_check;
enum reason pcr_selection_text(const struct pcr_selection *s, struct blob *ret) must_check;

/* The values of this bank; NULL where there is none. */
const struct pcr_bank *pcr_values_bank(const struct pcr_values *v, uint16_t alg);
/*
 * Sets one value, adding its bank when it is new. R_FORMAT_RANGE for a
 * register above 23, R_FORMAT_TYPE for an unknown algorithm, R_FORMAT_TOO_LARGE
 * for one bank too many. `value` holds digest_len(alg) bytes.
 */
enum reason pcr_values_set(struct pcr_values *v, uint16_t alg, uint32_t pcr,
			   const uint8_t *value) must_check;
/* The value, digest_len bytes; none (n = 0) where it is not present. */
struct bytes pcr_value(const struct pcr_values *v, uint16_t alg, uint32_t pcr);
/* Same banks (in any order), same registers present, same values. */
bool pcr_values_equal(const struct pcr_values *a, const struct pcr_values *b);

/*
 * What a register holds after power-on: all ones for 17 to 22, else zero.
 * (PCR 0 differs when the TPM was started from locality 3 or 4.)
 */
void pcr_reset_value(uint32_t pcr, uint8_t ret[DIGEST_MAX]);
/* True when this register of this bank is present and at that value. */
bool pcr_is_reset(const struct pcr_values *v, uint16_t alg, uint32_t pcr);

/* value = H(value || digest), in place. */
enum reason pcr_extend(uint16_t alg, uint8_t value[DIGEST_MAX], struct bytes digest) must_check;
/* Extends one register of every bank of v. v and d must have the same banks. */
enum reason pcr_values_extend(struct pcr_values *v, uint32_t pcr,
			      const struct pcr_digests *d) must_check;
/* H(data) in each bank of `alg`. */
enum reason pcr_digests_of(const uint16_t *alg, size_t count, struct bytes data,
			   struct pcr_digests *ret) must_check;

/*
 * The digest that a quote over `selection` carries: hash_alg over the values
 * in the order of the banks, ascending within each. hash_alg is the hash of
 * the signing scheme. R_QUOTE_SELECTION when a selected value is not present.
 */
enum reason pcr_composite(const struct pcr_selection *selection,
			  const struct pcr_values *values, uint16_t hash_alg,
			  uint8_t ret[DIGEST_MAX]) must_check;

#endif
