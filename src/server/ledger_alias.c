/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The endorsement keys of a node: which of them are aliases of its record, and
 * when it is asked for those that came later.
 */
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "server/ledger.h"

/*
 * A busy server or a slow TPM may cost one; a certificate that nobody trusts is
 * not asked for at every boot for ever.
 */
#define OFFERS 3u

void alias_offer(struct node *n, const struct job *j)
{
	bool same = memcmp(n->ek_set, j->facts.ek_set, SHA256_LEN) == 0;

	memcpy(n->ek_set, j->facts.ek_set, SHA256_LEN);
	if (j->s.banks_proved)
		n->ek_offers = 0;
	else if (!same)
		n->ek_offers = OFFERS;
	else if (n->ek_offers > 0)
		n->ek_offers--;
}

enum reason alias_record(struct ledger *l, const struct job *j)
{
	const uint8_t *id = j->node.id;
	char name[2 * (2 + DIGEST_MAX) + 1];
	struct node owner;

	for (size_t i = 0; i < j->ek_count; i++) {
		struct bytes ek = bytes_of(j->ek[i].name, j->ek[i].name_len);
		enum reason r = store_node_by_ek(l->store, ek, &owner);

		if (r == R_OK && memcmp(owner.id, id, SHA256_LEN) != 0)
			return R_NODE_CONFLICT;
		if (r != R_STORE_NOT_FOUND) {
			TRY(r);
			continue;
		}
		TRY(store_node_ek_add(l->store, id, &j->ek[i]));
		/* Those that a new node begins with are told by its own row. */
		if (j->node_new)
			continue;
		hex_encode(ek, name);
		TRY(audit(l, "gate", "node.ek", bytes_of(id, SHA256_LEN), R_OK, name));
	}
	return R_OK;
}
