/* SPDX-License-Identifier: Apache-2.0 */
/* What `bootgate pcrs` and `bootgate quote`, run by hand, have in common. */
#ifndef BOOTGATE_GATE_BY_HAND_H
#define BOOTGATE_GATE_BY_HAND_H

#include <stdio.h>

#include "base/bytes.h"
#include "format/pcr.h"
#include "format/tpm.h"
#include "node/tpm.h"

struct by_hand_option {
	const char *name;		/* long: --pcrs; NULL ends the list */
	char letter;			/* short: -l; 0 for none */
	bool is_flag;			/* takes no value; *value becomes its name */
	const char **value;
};

/*
 * Reads `--name VALUE`, `--name=VALUE`, `-l VALUE`; at most one argument
 * without a name, into `*rest` (NULL: none is allowed). R_USAGE, and says on
 * stderr what it did not understand.
 */
enum reason by_hand_options(int argc, char **argv, const struct by_hand_option *options,
			    const char **rest) must_check;
/* R_USAGE with a message unless `text` is a selection with at least one register. */
enum reason by_hand_selection(const char *text, struct pcr_selection *ret) must_check;
/* R_TPM_BANK_INACTIVE unless a value is there for every register selected. */
enum reason by_hand_complete(struct tpm *t, const struct pcr_selection *sel,
			     const struct pcr_values *v) must_check;

/*
 * Opens the TPM, uses it, leaves it. Signals wait until then: a command that
 * is interrupted leaves no key of ours behind in a TPM without a resource
 * manager. SIGQUIT alone ends it at once, whatever the TPM does.
 */
enum reason by_hand_tpm(const char *where, enum reason (*use)(struct tpm *t, void *ctx),
			void *ctx) must_check;

/* As tpm2_pcrread prints them. */
void by_hand_print(FILE *to, const struct pcr_selection *sel, const struct pcr_values *v);
/* The values one after the other, as a quote hashes them. */
enum reason by_hand_raw(const struct pcr_selection *sel, const struct pcr_values *v,
			struct blob *ret) must_check;

/* Says what is wrong and what to do; the exit code. */
int by_hand_end(enum reason r);

#define BY_HAND_PEM_MAX 2048u
/* SubjectPublicKeyInfo in PEM: RSA, P-256, P-384, P-521. */
enum reason public_pem(const struct tpm_public *p, struct blob *ret) must_check;

#endif
