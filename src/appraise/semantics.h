/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What must hold of the logs whatever the references say. Each function adds
 * findings; another reason than R_OK means that judging itself failed.
 */
#ifndef BOOTGATE_APPRAISE_SEMANTICS_H
#define BOOTGATE_APPRAISE_SEMANTICS_H

#include "appraise/logs.h"

#define PCR_FIRMWARE_COUNT 8u		/* registers 0 to 7 */

/* replay.c */

/*
 * Every active bank of the quote must follow from the logs, register by
 * register. *ret is whether all did: only then do the logs tell the truth.
 */
enum reason semantics_replay(const struct logs *l, struct explanation *e, bool *ret) must_check;
/* Which banks prove something; R_QUOTE_NO_USABLE_BANK where none does. */
void semantics_banks(struct logs *l, struct explanation *e);

/* semantics.c */

/* Registers 8, 14 and 15 in the one state that an attest quote allows. */
void semantics_gate_state(const struct logs *l, struct explanation *e);
/* The firmware log has no event in a register of the gate. */
void semantics_gate_registers(const struct logs *l, struct explanation *e);
/* One separator in each of registers 0 to 7, of an allowed value. */
enum reason semantics_separators(const struct logs *l, struct explanation *e) must_check;
/* Digest = H(data), for the types that say so. */
enum reason semantics_digests(const struct logs *l, struct explanation *e) must_check;

/*
 * EV_EFI_VARIABLE_BOOT: older firmware hashes the content of the variable and
 * leaves its name out. True when that is so; then the name is not proved.
 */
enum reason semantics_content_proved(const struct logs *l, const struct logged *one,
				     bool *ret) must_check;

#endif
