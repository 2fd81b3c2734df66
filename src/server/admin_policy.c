/* SPDX-License-Identifier: Apache-2.0 */
/* Policy, and endorsement keys of the delivery papers. */
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "server/admin.h"
#include "server/channel.h"

enum reason op_policy_show(struct call *c)
{
	const struct policy *p = &c->l->policy_values;

	out_text(&c->out, "id", p->id);
	out_number(&c->out, "version", p->version);
	out_number(&c->out, "lifetime", p->lifetime);
	out_array(&c->out, "required");
	for (size_t i = 0; i < p->required_count; i++)
		out_text(&c->out, NULL, p->required[i]);
	out_end(&c->out);
	out_array(&c->out, "parameters");
	for (size_t i = 0; i < p->parameter_count; i++)
		out_text(&c->out, NULL, p->parameter[i]);
	out_end(&c->out);
	out_array(&c->out, "facts");
	for (size_t i = 0; i < p->fact_count; i++) {
		out_object(&c->out, NULL);
		out_text(&c->out, "fact", p->fact[i].fact);
		out_text(&c->out, "kind", p->fact[i].kind == FACT_ALLOWED ? "allowed" : "minimum");
		out_array(&c->out, "values");
		for (size_t v = 0; v < p->fact[i].value_count; v++)
			out_text(&c->out, NULL, p->fact[i].value[v]);
		out_end(&c->out);
		out_end(&c->out);
	}
	out_end(&c->out);
	return R_OK;
}

enum reason op_policy_set(struct call *c)
{
	struct policy p;
	bool really;

	TRY(admin_change(c, &really));
	TRY(policy_read(c->body, &p));
	if (really) {
		_cleanup_(blob_free) struct blob body = BLOB(LIMIT_REFERENCE);

		p.version = c->l->policy_values.version + 1;
		TRY(policy_write(&p, &body));
		uint32_t row;
		TRY(store_policy_add(c->l->store, blob_bytes(&body), &row));
		TRY(admin_note(c, BYTES_NONE, p.id));
		c->l->refs_stale = true;
	}
	out_text(&c->out, "id", p.id);
	out_number(&c->out, "version", p.version);
	return R_OK;
}

enum reason op_ek_load(struct call *c)
{
	size_t count = c->body.n / sizeof(struct listed_ek);
	uint64_t added = 0, known = 0;
	bool really;

	TRY(admin_change(c, &really));
	if (count == 0 || c->body.n != count * sizeof(struct listed_ek))
		return R_FORMAT_TRUNCATED;
	for (size_t i = 0; i < count; i++) {
		struct listed_ek e;

		memcpy(&e, c->body.p + i * sizeof(e), sizeof(e));
		e.label[sizeof(e.label) - 1] = '\0';
		snprintf(e.list, sizeof(e.list), "%.63s", c->m->arg[0]);
		channel_bool(&e.has_certificate);
		channel_bool(&e.has_spki);
		if (!text_printable(bytes_str(e.label)))
			return R_FORMAT_TEXT;
		if (e.name_len > sizeof(e.name) || (!e.has_certificate && !e.has_spki && e.name_len == 0))
			return R_FORMAT_RANGE;
		if (!really)
			continue;
		enum reason r = store_listed_add(c->l->store, &e);
		if (r == R_STORE_EXISTS)
			known++;
		else if (r != R_OK)
			return r;
		else
			added++;
	}
	if (really)
		TRY(admin_note(c, BYTES_NONE, c->m->arg[0]));
	out_number(&c->out, "lines", count);
	out_number(&c->out, "added", added);
	out_number(&c->out, "known", known);
	return R_OK;
}
