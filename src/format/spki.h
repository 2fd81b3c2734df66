/* SPDX-License-Identifier: Apache-2.0 */
/* SubjectPublicKeyInfo (RFC 5280) of a TPM key: what delivery papers digest. */
#ifndef BOOTGATE_FORMAT_SPKI_H
#define BOOTGATE_FORMAT_SPKI_H

#include "format/tpm.h"

#define SPKI_MAX 640u
/* DER, appended. R_FORMAT_TYPE for a key or curve that has none here. */
enum reason spki_write(const struct tpm_public *key, struct blob *ret) must_check;

#endif
