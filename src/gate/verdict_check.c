/* SPDX-License-Identifier: Apache-2.0 */
#include "gate/verdict_check.h"

#include <string.h>

#include "base/cleanup.h"

enum reason verdict_check(struct bytes in, const struct verdict_expected *e,
			  struct verdict *ret)
{
	struct bytes payload;
	struct verdict v;
	size_t key;

	TRY(cose_sign1_verify(in, COSE_AAD_VERDICT, e->keys, &payload, &key));
	TRY(verdict_read(payload, &v));
	if (memcmp(v.nonce, e->nonce, NONCE_LEN) != 0)
		return R_VERDICT_NONCE;
	if (memcmp(v.ak_name, e->ak_name, AK_NAME_LEN) != 0)
		return R_VERDICT_AK;
	if (memcmp(v.evidence_digest, e->evidence_digest, SHA256_LEN) != 0)
		return R_VERDICT_EVIDENCE;
	if (v.stage != STAGE_GATE)
		return R_VERDICT_STAGE;
	*ret = v;
	return R_OK;
}
