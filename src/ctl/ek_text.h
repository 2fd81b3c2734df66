/* SPDX-License-Identifier: Apache-2.0 */
/* Certificates of endorsement keys and their CAs, as text and JSON. */
#ifndef BOOTGATE_CTL_EK_TEXT_H
#define BOOTGATE_CTL_EK_TEXT_H

#include <jansson.h>

#include "crypto/cert.h"

/* "Infineon (IFX) SLB 9665, firmware 5.62 (id:053E)". */
void ek_tpm_text(const struct cert_info *i, char *ret, size_t n);
json_t *ek_info_json(const struct cert_info *i);

#endif
