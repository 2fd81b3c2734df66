/* SPDX-License-Identifier: Apache-2.0 */
#include "node/net_message.h"

#include <string.h>

#include "base/cleanup.h"
#include "format/pcr.h"

enum reason net_challenge_check(const struct net_challenge *m)
{
	if (m->enrol > 1 || m->offer > 1 || m->lifetime == 0 || m->lifetime > 3600)
		return R_INTERNAL_CHILD;
	if (m->bank_count == 0 || m->bank_count > LIMIT_BANKS)
		return R_INTERNAL_CHILD;
	for (uint32_t i = 0; i < m->bank_count; i++)
		if (m->mask[i] & ~PCR_ALL)
			return R_INTERNAL_CHILD;
	if (m->token_len == 0 || m->token_len > sizeof(m->token))
		return R_INTERNAL_CHILD;
	return R_OK;
}

enum reason net_enrolled_check(const struct net_enrolled *m)
{
	TRY(net_challenge_check(&m->challenge));
	if (m->token_len == 0 || m->token_len > sizeof(m->token))
		return R_INTERNAL_CHILD;
	if (m->credential_count > LIMIT_EKS)
		return R_INTERNAL_CHILD;
	for (uint32_t i = 0; i < m->credential_count; i++) {
		const struct net_credential *c = &m->credential[i];

		if (c->ek_name_len > sizeof(c->ek_name) ||
		    c->id_object_len > sizeof(c->id_object) ||
		    c->secret_len > sizeof(c->secret))
			return R_INTERNAL_CHILD;
	}
	return R_OK;
}

enum reason net_failed_check(const struct net_failed *m)
{
	if (m->reason == R_OK || m->reason >= R_MAX || m->restart > 1)
		return R_INTERNAL_CHILD;
	if (memchr(m->text, 0, sizeof(m->text)) == NULL)
		return R_INTERNAL_CHILD;
	return R_OK;
}
