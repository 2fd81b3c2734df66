/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bootgatectl report decode: what the files of it share. Each decoder makes
 * one JSON object; the text is made of the same object (decode.c).
 */
#ifndef BOOTGATE_CTL_DECODE_H
#define BOOTGATE_CTL_DECODE_H

#include "ctl/client.h"
#include "format/fields.h"

/*
 * The object has a list of things, "notes" (what was tolerated) and, when a
 * thing was refused, "refused"; what was read before it is there all the same.
 * The result is the first refusal.
 */
enum reason decode_smbios(struct bytes in, json_t *ret) must_check;
enum reason decode_pci(struct bytes in, json_t *ret) must_check;
enum reason decode_rom(struct bytes in, json_t *ret) must_check;

/* Adds the fields to an object. */
void decode_fields(json_t *to, const struct fields *f);
/* Adds a sentence to the object's "notes". */
void decode_note(json_t *to, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* "refused": the reason, where in the file, and in the how manieth thing. Returns the reason. */
enum reason decode_refused(json_t *to, enum reason r, size_t offset, const char *thing, size_t number)
	must_check;
/* A number as `0x...` with at least so many digits. */
json_t *decode_hex(uint64_t number, int digits);

#endif
