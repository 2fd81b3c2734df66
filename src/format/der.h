/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DER (X.690) as far as extensions of certificates need it: tag, length, value.
 * One encoding for one value; crypto/cert_der.h says why it takes others.
 */
#ifndef BOOTGATE_FORMAT_DER_H
#define BOOTGATE_FORMAT_DER_H

#include "base/bytes.h"

#define DER_INTEGER 0x02u
#define DER_BITS 0x03u
#define DER_OCTETS 0x04u
#define DER_OID 0x06u
#define DER_ENUMERATED 0x0au
#define DER_IA5 0x16u
#define DER_SEQUENCE 0x30u

/*
 * The next element: its tag (one byte) and its value. R_FORMAT_TRUNCATED,
 * R_FORMAT_CANONICAL for a length that is not in its shortest form,
 * R_FORMAT_TYPE for a tag of more bytes.
 */
enum reason der_next(struct cursor *c, uint8_t *ret_tag, struct bytes *ret) must_check;
/* Same with the tag that must stand there: R_FORMAT_TYPE. */
enum reason der_take(struct cursor *c, uint8_t tag, struct bytes *ret) must_check;
/* An INTEGER (or what has its form) from 0 to max: R_FORMAT_RANGE. */
enum reason der_u32(struct cursor *c, uint8_t tag, uint32_t max, uint32_t *ret) must_check;

#endif
