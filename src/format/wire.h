/* SPDX-License-Identifier: Apache-2.0 */
/* Pieces that several messages have in common. */
#ifndef BOOTGATE_FORMAT_WIRE_H
#define BOOTGATE_FORMAT_WIRE_H

#include "format/cbor.h"
#include "format/pcr.h"

/* [+ [algorithm, bitmap]], each bank once. */
enum reason wire_selection_read(struct cursor *c, struct pcr_selection *ret) must_check;
void wire_selection_write(struct cbor_writer *w, const struct pcr_selection *s);

/*
 * [* [algorithm, bitmap, [* digest]]], each bank once, the digests in
 * ascending order of registers. A bank of an algorithm that is not known has
 * no digests.
 */
enum reason wire_values_read(struct cursor *c, struct pcr_values *ret) must_check;
void wire_values_write(struct cbor_writer *w, const struct pcr_values *v);

#endif
