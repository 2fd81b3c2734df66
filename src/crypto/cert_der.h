/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The little of DER that stands outside of a library's reader: where a
 * certificate ends in NV, and the one vendor mistake that OpenSSL does not
 * read. Pure bytes.
 *
 * Lengths that are longer than they need be are taken here and refused by
 * format/der.h: there what counts is that one value has one encoding; here
 * vendors' certificates are cut out, which the library then judges itself.
 */
#ifndef BOOTGATE_CRYPTO_CERT_DER_H
#define BOOTGATE_CRYPTO_CERT_DER_H

#include "base/bytes.h"

/*
 * The SEQUENCE at the front of `in` by its own length, and what follows it.
 * R_EK_FORMAT.
 */
enum reason der_sequence(struct bytes in, struct bytes *ret, struct bytes *ret_rest) must_check;
/*
 * A certificate out of NV: behind it stands nothing, or one byte, 0x00 or
 * 0xFF, over and over. R_EK_FORMAT, R_EK_PADDING.
 */
enum reason der_cut(struct bytes nv, struct bytes *ret) must_check;
/* Nothing, or one byte, 0x00 or 0xFF, over and over. */
bool der_is_padding(struct bytes in);
/* The part of a certificate that is signed, header included: R_EK_FORMAT. */
enum reason der_signed_part(struct bytes certificate, struct bytes *ret) must_check;
/*
 * Some vendors fill serial numbers up with zero bytes, which is no DER. Appends
 * the certificate with a serial number of shortest form; for reading it only,
 * as its signature is one over other bytes. R_EK_FORMAT when the serial number
 * is in shortest form already, or it is no certificate at all.
 */
enum reason der_shorten_serial(struct bytes certificate, struct blob *ret) must_check;

#endif
