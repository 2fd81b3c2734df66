/* SPDX-License-Identifier: Apache-2.0 */
/* Challenges: all their state travels in the sealed token. */
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "crypto/random.h"
#include "format/challenge.h"
#include "server/ledger.h"

/* PCR 0-9 and 11-15: all but IMA's (design section 3). */
#define SELECTED_REGISTERS 0x0000fbffu

static const struct bytes aad_session = { (const uint8_t *)TOKEN_AAD_SESSION,
					  sizeof(TOKEN_AAD_SESSION) - 1 };

/* SHA-256 first, then every other bank that the TPM implements. */
static enum reason select_banks(const struct pcr_selection *implemented, struct pcr_selection *ret)
{
	ret->count = 0;
	TRY(pcr_selection_add(ret, ALG_SHA256, SELECTED_REGISTERS));
	for (size_t i = 0; i < implemented->count; i++)
		if (implemented->bank[i].alg != ALG_SHA256)
			TRY(pcr_selection_add(ret, implemented->bank[i].alg, SELECTED_REGISTERS));
	return R_OK;
}

enum reason session_make(struct ledger *l, enum stage stage, const uint8_t ak_name[AK_NAME_LEN],
			 const uint8_t nonce[NONCE_LEN], const struct pcr_selection *implemented,
			 struct pcr_selection *ret_selection, struct blob *ret_token)
{
	_cleanup_(blob_free) struct blob plain = BLOB(LIMIT_TOKEN);
	struct session_token t = { .issued = (uint64_t)ledger_now(), .stage = stage };

	memcpy(t.nonce, nonce, NONCE_LEN);
	memcpy(t.ak_name, ak_name, AK_NAME_LEN);
	TRY(select_banks(implemented, &t.selection));
	TRY(session_token_write(&t, &plain));
	TRY(aead_seal(l->conf.token_key, aad_session, blob_bytes(&plain), ret_token));
	*ret_selection = t.selection;
	return R_OK;
}

enum reason token_open(const struct ledger *l, struct bytes aad, const struct msg_token *token,
		       struct blob *ret_plain)
{
	const struct bytes sealed = bytes_of(token->bytes, token->len);

	if (token->len > sizeof(token->bytes))
		return R_SESSION_TOKEN;
	enum reason r = aead_open(l->conf.token_key, aad, sealed, ret_plain);
	if (r == R_SESSION_TOKEN && clock_boot_ms() < l->conf.token_key_old_until)
		r = aead_open(l->conf.token_key_old, aad, sealed, ret_plain);
	return r;
}

enum reason session_open(struct ledger *l, const struct msg_token *token, struct session_token *ret)
{
	_cleanup_(blob_free) struct blob plain = BLOB(LIMIT_TOKEN);
	uint64_t now = (uint64_t)ledger_now();

	TRY(token_open(l, aad_session, token, &plain));
	if (session_token_read(blob_bytes(&plain), ret) != R_OK)
		return R_SESSION_TOKEN;
	if (ret->issued > now + CLOCK_SKEW || now > ret->issued + l->conf.challenge_lifetime + CLOCK_SKEW)
		return R_SESSION_EXPIRED;
	return R_OK;
}

static enum reason challenge_of(struct ledger *l, const struct msg_challenge *m, struct blob *ret)
{
	_cleanup_(blob_free) struct blob token = BLOB(LIMIT_TOKEN);
	const struct pcr_selection none = { 0 };
	struct challenge c = { .lifetime = l->conf.challenge_lifetime };
	struct node node;

	if (m->request.stage >= STAGE_MAX)
		return R_SESSION_STAGE;
	enum reason r = store_node_by_ak(l->store, m->request.ak_name, &node);
	if (r != R_OK && r != R_STORE_NOT_FOUND)
		return r;
	bool known = r == R_OK;
	/* Only the gate enrols; later stages of an unknown node have no business here. */
	if (!known && m->request.stage != STAGE_GATE)
		return R_NODE_UNKNOWN;

	c.enrol = !known || node.ask_enrol;
	c.offer = !c.enrol && m->request.stage == STAGE_GATE && node.ek_offers > 0;
	TRY(random_bytes(c.nonce, sizeof(c.nonce)));
	TRY(session_make(l, m->request.stage, m->request.ak_name, c.nonce,
			 known ? &node.implemented : &none, &c.selection, &token));
	c.token = blob_bytes(&token);
	return challenge_write(&c, ret);
}

void on_challenge(struct ledger *l, struct ipc *from, uint64_t id, const struct msg_challenge *m)
{
	_cleanup_(blob_free) struct blob body = BLOB(LIMIT_CHALLENGE);
	enum reason r = challenge_of(l, m, &body);

	if (r != R_OK) {
		answer_refusal(l, from, id, r);
		return;
	}
	l->count.challenges++;
	answer_body(l, from, id, MEDIA_CBOR, blob_bytes(&body));
}
