/* SPDX-License-Identifier: Apache-2.0 */
/* What is learned, computed or imported, on its way into the database. */
#include <string.h>

#include "base/cleanup.h"
#include "server/ledger_json.h"

static bool digest_stands(const struct reference_event *in, uint16_t alg, struct bytes digest)
{
	for (size_t i = 0; i < in->digest_count; i++)
		if (in->digest[i].alg == alg)
			return bytes_equal(in->digest[i].digest, digest);
	return false;
}

/* Whether `other` says all that `v` says: the same events, with these digests at least. */
static bool covers(const struct reference_variant *other, const struct reference_variant *v)
{
	if (strcmp(other->component, v->component) != 0 || other->event_count != v->event_count)
		return false;
	for (size_t i = 0; i < v->event_count; i++) {
		const struct reference_event *a = &other->event[i], *b = &v->event[i];

		if (a->pcr != b->pcr || a->type != b->type)
			return false;
		for (size_t d = 0; d < b->digest_count; d++)
			if (!digest_stands(a, b->digest[d].alg, b->digest[d].digest))
				return false;
	}
	return true;
}

struct known {
	const struct reference_variant *v;
	uint64_t id;
	enum variant_state state;
};

static enum reason known_by(void *ctx, struct bytes encoded)
{
	struct known *k = ctx;
	_cleanup_(reference_variant_free) struct reference_variant other = { 0 };

	TRY(reference_variant_read(encoded, &other));
	if (other.state != VARIANT_REVOKED && covers(&other, k->v)) {
		k->id = other.id;
		k->state = other.state;
	}
	return R_OK;
}

enum reason variant_stage(struct ledger *l, struct reference_variant *v, bool really, struct out *out)
{
	struct known k = { .v = v, .state = VARIANT_STAGED };

	v->id = 0;
	v->state = VARIANT_STAGED;
	TRY(store_variant_each(l->store, false, known_by, &k));
	bool known = k.id != 0;
	if (!known && really)
		TRY(store_variant_add(l->store, v, &k.id));
	out_object(out, NULL);
	out_number(out, "id", k.id);
	out_text(out, "component", v->component);
	out_text(out, "name", v->name);
	out_text(out, "state", variant_state_name(k.state));
	out_bool(out, "known", known);
	out_number(out, "events", v->event_count);
	out_end(out);
	return R_OK;
}
