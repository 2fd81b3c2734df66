/* SPDX-License-Identifier: Apache-2.0 */
/* One boot of a node: why, and by what. */
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "format/eventlog.h"
#include "server/admin.h"

static enum reason boot_of(struct call *c, struct node *ret_node, struct attestation *ret)
{
	uint64_t boot;

	TRY(admin_node(c, c->m->arg[0], ret_node));
	admin_about(c, "boot", c->m->arg[1][0] ? c->m->arg[1] : "0");
	TRY(admin_number(c->m->arg[1], 0, &boot));
	return store_attestation_of_node(c->l->store, ret_node->id, (unsigned)boot, ret);
}

static const char *severity_name(enum severity s)
{
	static const char *const name[SEVERITY_MAX] = { "info", "warn", "hold", "refuse" };

	return s < SEVERITY_MAX ? name[s] : "?";
}

static void finding_out(struct out *o, const struct finding *f)
{
	const char *type = eventlog_type_name(f->type), *bank = digest_name(f->bank);

	out_object(o, NULL);
	out_text(o, "reason", reason_name(f->reason));
	out_text(o, "sentence", reason_sentence(f->reason));
	out_text(o, "remedy", reason_remedy(f->reason));
	out_text(o, "severity", severity_name(f->severity));
	if (f->component[0])
		out_text(o, "component", f->component);
	if (f->has_event) {
		out_object(o, "event");
		out_text(o, "log", f->gate_log ? "gate" : "firmware");
		out_number(o, "number", f->event);
		out_number(o, "offset", f->offset);
		out_number(o, "pcr", f->pcr);
		out_text(o, "type", type ? type : "unknown");
		out_number(o, "type_number", f->type);
		if (bank && f->digest_len <= sizeof(f->digest)) {
			out_text(o, "bank", bank);
			out_hex(o, "digest", bytes_of(f->digest, f->digest_len));
		}
		out_end(o);
	}
	if (f->observed[0])
		out_text(o, "observed", f->observed);
	if (f->expected[0])
		out_text(o, "expected", f->expected);
	if (f->nearest[0])
		out_text(o, "nearest", f->nearest);
	out_end(o);
}

enum reason op_explain(struct call *c)
{
	_cleanup_free_ struct attestation *a = calloc(1, sizeof(*a));
	_cleanup_free_ struct explanation *e = calloc(1, sizeof(*e));
	struct node n;

	if (!a || !e)
		return R_INTERNAL_MEMORY;
	TRY(boot_of(c, &n, a));
	/* Of old boots only the result is kept. */
	if (a->explanation.n == 0)
		return R_STORE_NOT_FOUND;
	TRY(explanation_read(a->explanation, e));
	out_object(&c->out, "node");
	admin_node_out(&c->out, &n);
	out_end(&c->out);
	out_time(&c->out, "time", a->time);
	out_text(&c->out, "directive", directive_name(a->directive));
	out_text(&c->out, "reason", a->reason);
	out_bool(&c->out, "receipt", a->receipt);
	out_array(&c->out, "findings");
	for (size_t i = 0; i < e->count; i++)
		finding_out(&c->out, &e->finding[i]);
	out_end(&c->out);
	out_number(&c->out, "dropped", e->dropped);
	out_array(&c->out, "matches");
	for (size_t i = 0; i < e->match_count; i++) {
		out_object(&c->out, NULL);
		out_text(&c->out, "component", e->match[i].component);
		out_text(&c->out, "variant", e->match[i].variant);
		out_number(&c->out, "id", e->match[i].id);
		out_end(&c->out);
	}
	out_end(&c->out);
	return R_OK;
}

enum reason op_evidence(struct call *c)
{
	_cleanup_free_ struct attestation *a = calloc(1, sizeof(*a));
	_cleanup_(blob_free) struct blob body = BLOB(LIMIT_EVIDENCE);
	struct node n;

	if (!a)
		return R_INTERNAL_MEMORY;
	TRY(boot_of(c, &n, a));
	TRY(store_evidence(c->l->store, a->evidence_digest, &body));
	out_hex(&c->out, "sha256", BYTES(a->evidence_digest));
	out_base64(&c->out, "evidence", blob_bytes(&body));
	return R_OK;
}

enum reason op_verdict(struct call *c)
{
	_cleanup_free_ struct attestation *a = calloc(1, sizeof(*a));
	struct node n;

	if (!a)
		return R_INTERNAL_MEMORY;
	TRY(boot_of(c, &n, a));
	out_hex(&c->out, "sha256", BYTES(a->verdict_digest));
	out_base64(&c->out, "verdict", a->verdict);
	return R_OK;
}
