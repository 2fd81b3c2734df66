/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "format/eventlog.h"
#include "server/admin.h"

static void variant_out(struct out *o, const struct reference_variant *v, bool events)
{
	out_number(o, "id", v->id);
	out_text(o, "component", v->component);
	out_text(o, "name", v->name);
	out_text(o, "version", v->version);
	out_number(o, "security_version", v->security_version);
	out_text(o, "source", v->source);
	out_text(o, "state", variant_state_name(v->state));
	if (!events) {
		out_number(o, "events", v->event_count);
		return;
	}
	out_array(o, "events");
	for (size_t i = 0; i < v->event_count; i++) {
		const struct reference_event *e = &v->event[i];
		const char *type = eventlog_type_name(e->type);
		char text[REFERENCE_EVENT_TEXT_MAX + 1];

		out_object(o, NULL);
		out_number(o, "pcr", e->pcr);
		out_text(o, "type", type ? type : "unknown");
		out_number(o, "type_number", e->type);
		out_object(o, "digests");
		for (size_t d = 0; d < e->digest_count; d++) {
			const char *bank = digest_name(e->digest[d].alg);
			out_hex(o, bank ? bank : "unknown", e->digest[d].digest);
		}
		out_end(o);
		/* Printable since it was read: as it is, for it is exported and read again. */
		snprintf(text, sizeof(text), "%.*s", (int)e->text.n, e->text.n ? (const char *)e->text.p : "");
		out_text(o, "text", text);
		out_end(o);
	}
	out_end(o);
}

static enum reason variant_row(void *ctx, struct bytes encoded)
{
	struct call *c = ctx;
	_cleanup_(reference_variant_free) struct reference_variant v = { 0 };

	TRY(reference_variant_read(encoded, &v));
	if ((c->m->arg[0][0] && strcmp(c->m->arg[0], v.component) != 0) ||
	    (c->m->arg[1][0] && strcmp(c->m->arg[1], variant_state_name(v.state)) != 0))
		return R_OK;
	out_object(&c->out, NULL);
	variant_out(&c->out, &v, false);
	out_end(&c->out);
	return R_OK;
}

static bool state_known(const char *name)
{
	for (int s = 0; s < VARIANT_STATE_MAX; s++)
		if (strcmp(name, variant_state_name((enum variant_state)s)) == 0)
			return true;
	return name[0] == '\0';
}

enum reason op_ref_list(struct call *c)
{
	admin_about(c, "state", c->m->arg[1]);
	if (!state_known(c->m->arg[1]))
		return R_FORMAT_RANGE;
	out_array(&c->out, "variants");
	TRY(store_variant_each(c->l->store, false, variant_row, c));
	out_end(&c->out);
	return R_OK;
}

enum reason op_ref_show(struct call *c)
{
	_cleanup_(blob_free) struct blob body = BLOB(LIMIT_REFERENCE);
	_cleanup_(reference_variant_free) struct reference_variant v = { 0 };
	uint64_t id;

	admin_about(c, "variant", c->m->arg[0]);
	TRY(text_u64(bytes_str(c->m->arg[0]), INT64_MAX, &id));
	TRY(store_variant_get(c->l->store, id, &body));
	TRY(reference_variant_read(blob_bytes(&body), &v));
	variant_out(&c->out, &v, true);
	return R_OK;
}

/* The logs of the node's newest boot, judged authentic then, go to a worker. */
enum reason op_ref_learn(struct call *c)
{
	_cleanup_free_ struct attestation *a = calloc(1, sizeof(*a));
	_cleanup_(blob_free) struct blob body = BLOB(LIMIT_EVIDENCE);
	struct node n;
	struct job *j;

	if (!a)
		return R_INTERNAL_MEMORY;
	TRY(admin_node(c, c->m->arg[0], &n));
	TRY(store_attestation_of_boot(c->l->store, n.id, a));
	TRY(store_evidence(c->l->store, a->evidence_digest, &body));
	TRY(job_add(c->l, JOB_LEARN, c->from, c->id, blob_bytes(&body), &j));
	j->admin = *c->m;
	j->node = n;
	j->s.session.stage = a->stage;
	memcpy(j->s.session.nonce, a->nonce, NONCE_LEN);
	memcpy(j->s.session.ak_name, a->ak_name, AK_NAME_LEN);
	j->s.session.selection = a->selection;
	memcpy(j->s.node_id, n.id, SHA256_LEN);
	hex_encode(bytes_of(n.id, 4), j->s.node);
	c->deferred = true;
	return R_OK;
}

/* A number that the operator knows: no log and no name says how safe a version is. */
static enum reason security_version_set(struct call *c, const char *text, struct reference_variant *v)
{
	uint64_t n;

	if (!text[0])
		return R_OK;
	admin_about(c, "security version", text);
	TRY(text_u64(bytes_str(text), UINT32_MAX, &n));
	v->security_version = (uint32_t)n;
	return R_OK;
}

static enum reason variant_change(struct call *c, enum variant_state to, const char *security_version)
{
	_cleanup_(blob_free) struct blob body = BLOB(LIMIT_REFERENCE);
	_cleanup_(reference_variant_free) struct reference_variant v = { 0 };
	bool really = !c->m->dry_run;
	uint64_t id;

	admin_about(c, "variant", c->m->arg[0]);
	TRY(text_u64(bytes_str(c->m->arg[0]), INT64_MAX, &id));
	TRY(store_variant_get(c->l->store, id, &body));
	TRY(reference_variant_read(blob_bytes(&body), &v));
	/* What was learned needs a second voice; until there is one, a reason. */
	if (to == VARIANT_ACTIVE && c->m->reason[0] == '\0')
		return R_POLICY_REASON_MISSING;
	if (v.state == VARIANT_REVOKED && to == VARIANT_ACTIVE)
		return R_STORE_REVOKED;
	enum variant_state before = v.state;
	v.state = to;
	TRY(security_version_set(c, security_version, &v));
	TRY(store_variant_change(c->l->store, &v));
	TRY(refs_changed(c->l, really));
	if (really) {
		char detail[160];

		snprintf(detail, sizeof(detail), "variant %llu of %s, %s to %s", (unsigned long long)id,
			 v.component, variant_state_name(before), variant_state_name(to));
		TRY(admin_note(c, BYTES_NONE, detail));
	}
	variant_out(&c->out, &v, false);
	return R_OK;
}

enum reason op_ref_activate(struct call *c)
{
	return variant_change(c, VARIANT_ACTIVE, c->m->arg[1]);
}

enum reason op_ref_revoke(struct call *c)
{
	return variant_change(c, VARIANT_REVOKED, "");
}
