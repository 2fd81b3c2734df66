/* SPDX-License-Identifier: Apache-2.0 */
/* Files that come with a quote, in the forms that tools write them. */
#ifndef BOOTGATE_CTL_QUOTE_FILES_H
#define BOOTGATE_CTL_QUOTE_FILES_H

#include "crypto/cert.h"
#include "format/tpm.h"

/* A key: TPMT_PUBLIC, TPM2B_PUBLIC, or PEM (then its attributes are not known). */
struct quote_key {
	struct tpm_public pub;		/* views into `cert` or into the file */
	bool from_pem;
	struct cert_key cert;
};
enum reason quote_key_read(struct bytes in, struct quote_key *ret) must_check;

/* Bytes out of hexadecimal digits of either case: R_FORMAT_TEXT, R_FORMAT_TOO_LARGE. */
enum reason quote_hex_read(const char *text, uint8_t *ret, size_t max, size_t *ret_n) must_check;

/*
 * Register values: the binary file of tpm2_quote --pcr (either of its
 * formats), or text: `sha256 7 HEX` lines of ours, the listing of
 * tpm2_pcrread. `selection` is what the quote covers: raw values have no other
 * order. R_FORMAT_TEXT, R_FORMAT_RANGE.
 */
enum reason quote_pcrs_read(struct bytes in, const struct pcr_selection *selection,
			    struct pcr_values *ret) must_check;

#endif
