/* SPDX-License-Identifier: Apache-2.0 */
/* The operations of admin_ops.def, one small function each. */
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/text.h"
#include "format/eventlog.h"
#include "server/ledger_json.h"

struct call {
	struct ledger *l;
	const struct msg_admin *m;
	struct bytes body;
	struct out out;
	/* where a job answers later */
	struct ipc *from;
	uint64_t id;
	bool deferred;
	const char *filter;
	uint64_t filter_state;
};

/* Begins the transaction of a change; false for a dry run. */
static enum reason change(struct call *c, bool *ret_do)
{
	*ret_do = !c->m->dry_run;
	return c->m->dry_run ? R_OK : ledger_write(c->l);
}

static enum reason note(struct call *c, struct bytes target, const char *detail)
{
	char text[512];

	snprintf(text, sizeof(text), "%.200s%s%.200s", detail, detail[0] && c->m->reason[0] ? ": " : "",
		 c->m->reason);
	return audit(c->l, c->m->actor, admin_op_name((enum admin_op)c->m->op), target, R_OK, text);
}

static enum reason number_arg(const char *text, uint64_t fallback, uint64_t *ret)
{
	if (text[0] == '\0') {
		*ret = fallback;
		return R_OK;
	}
	return text_u64(bytes_str(text), INT64_MAX, ret);
}

/* ---- nodes ------------------------------------------------------------------- */

static void node_out(struct out *o, const struct node *n)
{
	out_hex(o, "id", BYTES(n->id));
	out_text(o, "label", n->label);
	out_text(o, "state", node_state_name(n->state));
	out_bool(o, "held", n->verdicts > 0 && n->last_directive == DIRECTIVE_HOLD);
	out_text(o, "basis", n->basis);
	out_hex(o, "ak_name", BYTES(n->ak_name));
	out_text(o, "address", n->peer);
	out_time(o, "created", n->created);
	out_time(o, "approved", n->approved);
	out_time(o, "seen", n->seen);
	out_number(o, "verdicts", n->verdicts);
	if (n->verdicts > 0) {
		out_text(o, "last_directive", directive_name(n->last_directive));
		out_text(o, "last_reason", n->last_reason);
	}
}

static enum reason node_row(void *ctx, const struct node *n)
{
	struct call *c = ctx;
	bool held = n->verdicts > 0 && n->last_directive == DIRECTIVE_HOLD;

	if (c->filter[0] && strcmp(c->filter, node_state_name(n->state)) != 0 &&
	    !(held && strcmp(c->filter, "held") == 0))
		return R_OK;
	out_object(&c->out, NULL);
	node_out(&c->out, n);
	out_end(&c->out);
	return R_OK;
}

static enum reason op_node_list(struct call *c)
{
	c->filter = c->m->arg[0];
	out_array(&c->out, "nodes");
	TRY(store_node_each(c->l->store, node_row, c));
	out_end(&c->out);
	return R_OK;
}

static enum reason ek_row(void *ctx, const struct node_ek *ek)
{
	struct call *c = ctx;

	out_object(&c->out, NULL);
	out_hex(&c->out, "name", bytes_of(ek->name, ek->name_len));
	if (ek->has_certificate)
		out_hex(&c->out, "certificate_sha256", BYTES(ek->certificate_digest));
	out_hex(&c->out, "spki_sha256", BYTES(ek->spki_digest));
	out_end(&c->out);
	return R_OK;
}

static enum reason op_node_show(struct call *c)
{
	_cleanup_free_ struct attestation *a = calloc(1, sizeof(*a));
	struct node n;

	if (!a)
		return R_INTERNAL_MEMORY;
	TRY(store_node_find(c->l->store, c->m->arg[0], &n));
	node_out(&c->out, &n);
	out_number(&c->out, "reset_count", n.clock.reset_count);
	out_number(&c->out, "restart_count", n.clock.restart_count);
	out_number(&c->out, "tpm_firmware", n.clock.firmware_version);
	out_array(&c->out, "banks");
	for (size_t i = 0; i < n.implemented.count; i++) {
		const char *name = digest_name(n.implemented.bank[i].alg);
		out_text(&c->out, NULL, name ? name : "unknown");
	}
	out_end(&c->out);
	out_array(&c->out, "endorsement_keys");
	TRY(store_node_ek_each(c->l->store, n.id, ek_row, c));
	out_end(&c->out);
	out_array(&c->out, "boots");
	for (unsigned i = 0; i < 10; i++) {
		enum reason r = store_attestation_of_node(c->l->store, n.id, i, a);
		if (r == R_STORE_NOT_FOUND)
			break;
		if (r != R_OK)
			return r;
		out_object(&c->out, NULL);
		out_number(&c->out, "boot", i);
		out_time(&c->out, "time", a->time);
		out_text(&c->out, "stage", stage_name(a->stage));
		out_text(&c->out, "directive", directive_name(a->directive));
		out_text(&c->out, "reason", a->reason);
		out_hex(&c->out, "verdict_sha256", BYTES(a->verdict_digest));
		out_bool(&c->out, "receipt", a->receipt);
		out_end(&c->out);
	}
	out_end(&c->out);
	return R_OK;
}

static enum reason node_change(struct call *c, enum node_state to)
{
	struct node n;
	bool really;

	TRY(change(c, &really));
	TRY(store_node_find(c->l->store, c->m->arg[0], &n));
	if (n.state == NODE_RETIRED)
		return R_NODE_CONFLICT;
	enum node_state was = n.state;
	n.state = to;
	if (to == NODE_ENROLLED) {
		n.approved = ledger_now();
		snprintf(n.basis, sizeof(n.basis), "operator %s", c->m->actor);
		if (c->m->arg[1][0]) {
			if (!text_printable(bytes_str(c->m->arg[1])) || strlen(c->m->arg[1]) >= sizeof(n.label))
				return R_FORMAT_TEXT;
			snprintf(n.label, sizeof(n.label), "%.63s", c->m->arg[1]);
		}
	}
	if (really) {
		TRY(store_node_update(c->l->store, &n));
		TRY(note(c, BYTES(n.id), node_state_name(was)));
	}
	node_out(&c->out, &n);
	return R_OK;
}

static enum reason op_node_approve(struct call *c)
{
	return node_change(c, NODE_ENROLLED);
}

static enum reason op_node_revoke(struct call *c)
{
	return node_change(c, NODE_REVOKED);
}

/* ---- one boot of a node --------------------------------------------------------- */

static enum reason boot_of(struct call *c, struct node *ret_node, struct attestation *ret)
{
	uint64_t boot;

	TRY(number_arg(c->m->arg[1], 0, &boot));
	TRY(store_node_find(c->l->store, c->m->arg[0], ret_node));
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

static enum reason op_explain(struct call *c)
{
	_cleanup_free_ struct attestation *a = calloc(1, sizeof(*a));
	_cleanup_free_ struct explanation *e = calloc(1, sizeof(*e));
	struct node n;

	if (!a || !e)
		return R_INTERNAL_MEMORY;
	TRY(boot_of(c, &n, a));
	TRY(explanation_read(a->explanation, e));
	out_object(&c->out, "node");
	node_out(&c->out, &n);
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

static enum reason op_evidence(struct call *c)
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

static enum reason op_verdict(struct call *c)
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

/* ---- references ------------------------------------------------------------------- */

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
		char text[FINDING_TEXT_MAX];

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
		text_escape(e->text, text, sizeof(text));
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

static enum reason op_ref_list(struct call *c)
{
	out_array(&c->out, "variants");
	TRY(store_variant_each(c->l->store, false, variant_row, c));
	out_end(&c->out);
	return R_OK;
}

static enum reason op_ref_show(struct call *c)
{
	_cleanup_(blob_free) struct blob body = BLOB(LIMIT_REFERENCE);
	_cleanup_(reference_variant_free) struct reference_variant v = { 0 };
	uint64_t id;

	TRY(text_u64(bytes_str(c->m->arg[0]), INT64_MAX, &id));
	TRY(store_variant_get(c->l->store, id, &body));
	TRY(reference_variant_read(blob_bytes(&body), &v));
	variant_out(&c->out, &v, true);
	return R_OK;
}

/* The logs of the node's newest boot, judged authentic then, go to a worker. */
static enum reason op_ref_learn(struct call *c)
{
	_cleanup_free_ struct attestation *a = calloc(1, sizeof(*a));
	_cleanup_(blob_free) struct blob body = BLOB(LIMIT_EVIDENCE);
	struct node n;
	struct job *j;

	if (!a)
		return R_INTERNAL_MEMORY;
	TRY(store_node_find(c->l->store, c->m->arg[0], &n));
	TRY(store_attestation_of_node(c->l->store, n.id, 0, a));
	TRY(store_evidence(c->l->store, a->evidence_digest, &body));
	TRY(job_add(c->l, JOB_LEARN, c->from, c->id, blob_bytes(&body), &j));
	j->admin = *c->m;
	j->s.session.stage = a->stage;
	memcpy(j->s.session.nonce, a->nonce, NONCE_LEN);
	memcpy(j->s.session.ak_name, a->ak_name, AK_NAME_LEN);
	j->s.session.selection = a->selection;
	memcpy(j->s.node_id, n.id, SHA256_LEN);
	hex_encode(bytes_of(n.id, 4), j->s.node);
	c->deferred = true;
	return R_OK;
}

static enum reason variant_change(struct call *c, enum variant_state to)
{
	_cleanup_(blob_free) struct blob body = BLOB(LIMIT_REFERENCE);
	_cleanup_(reference_variant_free) struct reference_variant v = { 0 };
	bool really;
	uint64_t id;

	TRY(change(c, &really));
	TRY(text_u64(bytes_str(c->m->arg[0]), INT64_MAX, &id));
	TRY(store_variant_get(c->l->store, id, &body));
	TRY(reference_variant_read(blob_bytes(&body), &v));
	/* What was learned needs a second voice; until there is one, a reason. */
	if (to == VARIANT_ACTIVE && c->m->reason[0] == '\0')
		return R_POLICY_REASON_MISSING;
	if (v.state == VARIANT_REVOKED && to == VARIANT_ACTIVE)
		return R_STORE_NOT_FOUND;
	if (really) {
		char detail[160];

		snprintf(detail, sizeof(detail), "variant %llu of %s, %s to %s", (unsigned long long)id,
			 v.component, variant_state_name(v.state), variant_state_name(to));
		TRY(store_variant_state(c->l->store, id, to));
		TRY(note(c, BYTES_NONE, detail));
		c->l->refs_stale = true;
	}
	v.state = to;
	variant_out(&c->out, &v, false);
	return R_OK;
}

static enum reason op_ref_activate(struct call *c)
{
	return variant_change(c, VARIANT_ACTIVE);
}

static enum reason op_ref_revoke(struct call *c)
{
	return variant_change(c, VARIANT_REVOKED);
}

/* ---- images --------------------------------------------------------------------------- */

static void manifest_out(struct out *o, const struct stored_manifest *m)
{
	out_hex(o, "digest", BYTES(m->digest));
	out_text(o, "line", m->line);
	out_text(o, "version", m->version);
	out_text(o, "purpose", purpose_name(m->purpose));
	out_number(o, "security_version", m->security_version);
	out_hex(o, "kernel_sha256", BYTES(m->kernel));
	out_hex(o, "initrd_sha256", BYTES(m->initrd));
	out_time(o, "added", m->added);
}

static enum reason manifest_row(void *ctx, const struct stored_manifest *m)
{
	struct call *c = ctx;

	out_object(&c->out, NULL);
	manifest_out(&c->out, m);
	out_end(&c->out);
	return R_OK;
}

static enum reason op_image_list(struct call *c)
{
	out_array(&c->out, "images");
	TRY(store_manifest_each(c->l->store, manifest_row, c));
	out_end(&c->out);
	return R_OK;
}

static enum reason op_image_add(struct call *c)
{
	struct stored_manifest m, old;
	uint8_t digest[SHA256_LEN];
	bool really;

	TRY(change(c, &really));
	if (c->body.n <= sizeof(m) || c->body.n - sizeof(m) > LIMIT_MANIFEST)
		return R_FORMAT_TRUNCATED;
	memcpy(&m, c->body.p, sizeof(m));
	m.line[sizeof(m.line) - 1] = m.version[sizeof(m.version) - 1] = '\0';
	struct bytes cose = bytes_of(c->body.p + sizeof(m), c->body.n - sizeof(m));
	if (m.purpose >= PURPOSE_MAX || !text_printable(bytes_str(m.line)) ||
	    !text_printable(bytes_str(m.version)))
		return R_FORMAT_TEXT;
	TRY(sha256(cose, digest));
	memcpy(m.digest, digest, SHA256_LEN);
	m.added = ledger_now();
	enum reason r = store_manifest_get(c->l->store, m.digest, &old);
	if (r == R_OK) {
		manifest_out(&c->out, &old);
		return R_OK;
	}
	if (r != R_STORE_NOT_FOUND)
		return r;
	if (really) {
		TRY(store_manifest_add(c->l->store, &m, cose));
		TRY(note(c, BYTES(m.digest), m.version));
	}
	manifest_out(&c->out, &m);
	return R_OK;
}

static enum reason op_image_select(struct call *c)
{
	char target[2 * SHA256_LEN + 1] = "*";
	struct stored_manifest m;
	bool really;

	TRY(change(c, &really));
	TRY(store_manifest_find(c->l->store, c->m->arg[0], &m));
	if (c->m->arg[1][0] && strcmp(c->m->arg[1], "*") != 0) {
		struct node n;

		TRY(store_node_find(c->l->store, c->m->arg[1], &n));
		hex_encode(BYTES(n.id), target);
	}
	if (really) {
		TRY(store_select(c->l->store, target, m.purpose, m.digest));
		TRY(note(c, BYTES(m.digest), target));
	}
	manifest_out(&c->out, &m);
	out_text(&c->out, "target", target);
	return R_OK;
}

/* ---- policy, keys of the delivery papers ------------------------------------------------ */

static enum reason op_policy_show(struct call *c)
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

static enum reason op_policy_set(struct call *c)
{
	struct policy p;
	bool really;

	TRY(change(c, &really));
	TRY(policy_read(c->body, &p));
	if (really) {
		_cleanup_(blob_free) struct blob body = BLOB(LIMIT_REFERENCE);

		p.version = c->l->policy_values.version + 1;
		TRY(policy_write(&p, &body));
		uint32_t row;
		TRY(store_policy_add(c->l->store, blob_bytes(&body), &row));
		TRY(note(c, BYTES_NONE, p.id));
		c->l->refs_stale = true;
	}
	out_text(&c->out, "id", p.id);
	out_number(&c->out, "version", p.version);
	return R_OK;
}

static enum reason op_ek_load(struct call *c)
{
	size_t count = c->body.n / sizeof(struct listed_ek);
	uint64_t added = 0, known = 0;
	bool really;

	TRY(change(c, &really));
	if (count == 0 || c->body.n != count * sizeof(struct listed_ek))
		return R_FORMAT_TRUNCATED;
	for (size_t i = 0; i < count; i++) {
		struct listed_ek e;

		memcpy(&e, c->body.p + i * sizeof(e), sizeof(e));
		e.label[sizeof(e.label) - 1] = '\0';
		snprintf(e.list, sizeof(e.list), "%.63s", c->m->arg[0]);
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
		TRY(note(c, BYTES_NONE, c->m->arg[0]));
	out_number(&c->out, "lines", count);
	out_number(&c->out, "added", added);
	out_number(&c->out, "known", known);
	return R_OK;
}

/* ---- seeing ------------------------------------------------------------------------------- */

static enum reason failure_row(void *ctx, const struct stored_failure *f)
{
	struct call *c = ctx;
	struct node n;

	out_object(&c->out, NULL);
	out_time(&c->out, "time", f->time);
	out_text(&c->out, "address", f->peer);
	out_text(&c->out, "reason", f->reason);
	out_text(&c->out, "step", f->step);
	if (f->has_ak_name && store_node_by_ak(c->l->store, f->ak_name, &n) == R_OK)
		out_hex(&c->out, "claimed_node", BYTES(n.id));
	_cleanup_free_ char *log = malloc(4 * f->log.n + 1);
	if (!log)
		return R_INTERNAL_MEMORY;
	text_escape(f->log, log, 4 * f->log.n + 1);
	out_text(&c->out, "log", log);
	out_end(&c->out);
	return R_OK;
}

static enum reason op_failure_list(struct call *c)
{
	out_array(&c->out, "failures");
	TRY(store_failure_each(c->l->store, 100, failure_row, c));
	out_end(&c->out);
	return R_OK;
}

static enum reason audit_out(void *ctx, const struct audit_row *row)
{
	struct call *c = ctx;

	out_object(&c->out, NULL);
	out_number(&c->out, "number", row->number);
	out_time(&c->out, "time", row->time);
	out_text(&c->out, "actor", row->actor);
	out_text(&c->out, "action", row->action);
	out_text(&c->out, "target", row->target);
	out_text(&c->out, "reason", row->reason);
	out_text(&c->out, "detail", row->detail);
	out_hex(&c->out, "hash", BYTES(row->hash));
	out_end(&c->out);
	return R_OK;
}

static enum reason op_audit_list(struct call *c)
{
	uint64_t from, limit;

	TRY(number_arg(c->m->arg[0], 1, &from));
	TRY(number_arg(c->m->arg[1], 1000, &limit));
	if (limit > 10000)
		limit = 10000;
	out_array(&c->out, "rows");
	TRY(store_audit_each(c->l->store, from, (unsigned)limit, audit_out, c));
	out_end(&c->out);
	return R_OK;
}

static enum reason op_audit_verify(struct call *c)
{
	uint64_t rows;

	TRY(store_audit_verify(c->l->store, &rows));
	out_number(&c->out, "rows", rows);
	return R_OK;
}

static enum reason op_status(struct call *c)
{
	const struct counters *n = &c->l->count;
	unsigned idle = 0;

	for (size_t i = 0; i < c->l->conf.workers; i++)
		idle += c->l->worker[i].ipc.fd >= 0 && !c->l->worker[i].job;
	out_text(&c->out, "version", BOOTGATE_VERSION);
	out_number(&c->out, "challenges", n->challenges);
	out_number(&c->out, "enrolments", n->enrolments);
	out_object(&c->out, "verdicts");
	for (int d = 0; d < DIRECTIVE_MAX; d++)
		out_number(&c->out, directive_name((enum directive)d), n->verdicts[d]);
	out_end(&c->out);
	out_object(&c->out, "nodes");
	for (int s = 0; s < NODE_STATE_MAX; s++) {
		uint64_t count;

		TRY(store_node_count(c->l->store, (enum node_state)s, &count));
		out_number(&c->out, node_state_name((enum node_state)s), count);
	}
	out_end(&c->out);
	out_number(&c->out, "receipts", n->receipts);
	out_number(&c->out, "failures", n->failures);
	out_number(&c->out, "refused", n->refused);
	out_number(&c->out, "busy", n->busy);
	out_number(&c->out, "worker_crashes", n->worker_crashes);
	out_number(&c->out, "commits", n->commits);
	out_number(&c->out, "jobs", c->l->job_count);
	out_number(&c->out, "workers", c->l->conf.workers);
	out_number(&c->out, "idle_workers", idle);
	return R_OK;
}

/* ---- dispatch --------------------------------------------------------------------------------- */

typedef enum reason (*operation)(struct call *c);

static const operation operations[ADMIN_OP_MAX] = {
	[ADMIN_NODE_LIST] = op_node_list,
	[ADMIN_NODE_SHOW] = op_node_show,
	[ADMIN_NODE_APPROVE] = op_node_approve,
	[ADMIN_NODE_REVOKE] = op_node_revoke,
	[ADMIN_EXPLAIN] = op_explain,
	[ADMIN_EVIDENCE] = op_evidence,
	[ADMIN_VERDICT] = op_verdict,
	[ADMIN_REF_LIST] = op_ref_list,
	[ADMIN_REF_SHOW] = op_ref_show,
	[ADMIN_REF_LEARN] = op_ref_learn,
	[ADMIN_REF_ACTIVATE] = op_ref_activate,
	[ADMIN_REF_REVOKE] = op_ref_revoke,
	[ADMIN_IMAGE_LIST] = op_image_list,
	[ADMIN_IMAGE_ADD] = op_image_add,
	[ADMIN_IMAGE_SELECT] = op_image_select,
	[ADMIN_POLICY_SHOW] = op_policy_show,
	[ADMIN_POLICY_SET] = op_policy_set,
	[ADMIN_EK_LOAD] = op_ek_load,
	[ADMIN_FAILURE_LIST] = op_failure_list,
	[ADMIN_AUDIT_LIST] = op_audit_list,
	[ADMIN_AUDIT_VERIFY] = op_audit_verify,
	[ADMIN_STATUS] = op_status,
};

/*
 * A change is a savepoint of its own: what fails half-way leaves nothing,
 * and the requests beside it in this turn are not touched.
 */
static enum reason perform(struct call *c)
{
	bool changes = strcmp(admin_route[c->m->op].method, "GET") != 0 && !c->m->dry_run;

	if (!changes)
		return operations[c->m->op](c);
	TRY(ledger_write(c->l));
	TRY(store_savepoint(c->l->store));
	enum reason r = operations[c->m->op](c);
	enum reason undo = store_release(c->l->store, r == R_OK);
	return r != R_OK ? r : undo;
}

void on_admin(struct ledger *l, struct ipc *from, uint64_t id, const struct msg_admin *m, struct bytes body)
{
	struct call c = { .l = l, .m = m, .body = body, .from = from, .id = id };

	out_begin(&c.out);
	enum reason r = m->op < ADMIN_OP_MAX ? perform(&c) : R_SERVER_ROUTE;
	if (r != R_OK || !c.deferred)
		out_answer(l, from, id, r, &c.out);
	out_free(&c.out);
}
