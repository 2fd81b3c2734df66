/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What must hold of the logs whatever the references say. Each function adds
 * findings; another reason than R_OK means that judging itself failed.
 */
#ifndef BOOTGATE_APPRAISE_SEMANTICS_H
#define BOOTGATE_APPRAISE_SEMANTICS_H

#include "appraise/logs.h"

#define PCR_FIRMWARE_COUNT 8u		/* registers 0 to 7 */

#define ACTION_CALLING "Calling EFI Application from Boot Option"
#define ACTION_RETURNING "Returning from EFI Application from Boot Option"
#define ACTION_EXIT "Exit Boot Services Invocation"
#define ACTION_EXIT_DONE "Exit Boot Services Returned with Success"
#define ACTION_EXIT_FAILED "Exit Boot Services Returned with Failure"

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
/* All the rules below, about the events of the firmware log. */
enum reason semantics_events(const struct logs *l, struct explanation *e) must_check;

/* A finding about one event, with its number, place and digest. */
void semantics_add(const struct logs *l, enum reason r, enum severity severity,
		   const struct event *event, const char *expected, struct explanation *e);
/* The same as a refusal. */
void semantics_refuse(const struct logs *l, enum reason r, const struct event *event,
		      const char *expected, struct explanation *e);
/* EV_EFI_ACTION or EV_ACTION with this text, which some firmware ends with a NUL. */
bool semantics_is_action(const struct event *event, const char *text);

/* semantics_separator.c: one in each of registers 0 to 7, of an allowed value. */
enum reason semantics_separators(const struct logs *l, struct explanation *e) must_check;
/* semantics_order.c: what may follow what, in registers 0 to 6. */
void semantics_order(const struct logs *l, struct explanation *e);
/* semantics_secure_boot.c: register 7 is a closed list in a fixed order. */
void semantics_secure_boot(const struct logs *l, struct explanation *e);

/*
 * EV_EFI_VARIABLE_BOOT: older firmware hashes the content of the variable and
 * leaves its name out. True when that is so; then the name is not proved.
 */
enum reason semantics_content_proved(const struct logs *l, const struct logged *one,
				     bool *ret) must_check;

#endif
