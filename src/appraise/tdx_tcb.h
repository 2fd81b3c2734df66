/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOOTGATE_APPRAISE_TDX_TCB_H
#define BOOTGATE_APPRAISE_TDX_TCB_H

#include "appraise/tdx.h"

/*
 * What collateral says of a quote whose chain holds: identity of the quoting
 * enclave, module and TCB status. What is not there is noted.
 */
enum reason tdx_tcb_judge(const struct cvm_evidence *e, const uint8_t (*root)[SHA256_LEN],
			  const struct blob *object, size_t objects, struct tdx_result *v) must_check;

#endif
