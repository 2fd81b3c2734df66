/* SPDX-License-Identifier: Apache-2.0 */
/* Rollouts, as operators make, drive and watch them. */
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "server/admin.h"

/* One machine at a time may go wrong until an operator says how many. */
#define FAILURES 1u
#define TRIES 2u
#define AT_ONCE 10u

static const char *const state_names[ROLLOUT_STATE_MAX] = {
	[ROLLOUT_CREATED] = "created", [ROLLOUT_RUNNING] = "running", [ROLLOUT_PAUSED] = "paused",
	[ROLLOUT_STOPPED] = "stopped", [ROLLOUT_DONE] = "done",
};

static const char *const progress_names[PROGRESS_MAX] = {
	[PROGRESS_WAITING] = "waiting", [PROGRESS_UPDATING] = "updating",
	[PROGRESS_UPDATED] = "updated", [PROGRESS_FAILED] = "failed",
};

static enum reason find(struct call *c, struct rollout *ret)
{
	admin_about(c, "rollout", c->m->arg[0]);
	return store_rollout_find(c->l->store, c->m->arg[0], ret);
}

static enum reason variant_get(struct call *c, uint64_t id, struct blob *keep, struct reference_variant *ret)
{
	char name[24];

	snprintf(name, sizeof(name), "%llu", (unsigned long long)id);
	admin_about(c, "variant", name);
	TRY(store_variant_get(c->l->store, id, keep));
	return reference_variant_read(blob_bytes(keep), ret);
}

static enum reason rollout_out(struct call *c, const struct rollout *r)
{
	uint64_t count[PROGRESS_MAX];

	TRY(store_progress_count(c->l->store, r, count));
	out_text(&c->out, "rollout", r->name);
	out_text(&c->out, "group", r->group);
	out_text(&c->out, "state", state_names[r->state]);
	out_hex(&c->out, "image", BYTES(r->manifest));
	out_number(&c->out, "failures", r->failures);
	out_number(&c->out, "tries", r->tries);
	out_number(&c->out, "at_once", r->at_once);
	out_time(&c->out, "created", r->created);
	out_time(&c->out, "changed", r->changed);
	out_object(&c->out, "nodes");
	for (int s = 0; s < PROGRESS_MAX; s++)
		out_number(&c->out, progress_names[s], count[s]);
	out_end(&c->out);
	return R_OK;
}

static enum reason rollout_row(void *ctx, const struct rollout *r)
{
	struct call *c = ctx;

	out_object(&c->out, NULL);
	TRY(rollout_out(c, r));
	out_end(&c->out);
	return R_OK;
}

enum reason op_rollout_list(struct call *c)
{
	out_array(&c->out, "rollouts");
	TRY(store_rollout_each(c->l->store, rollout_row, c));
	out_end(&c->out);
	return R_OK;
}

static enum reason node_row(void *ctx, const struct node_progress *n)
{
	struct call *c = ctx;

	out_object(&c->out, NULL);
	out_hex(&c->out, "id", BYTES(n->id));
	out_text(&c->out, "label", n->label);
	out_text(&c->out, "progress", progress_names[n->p.state]);
	out_number(&c->out, "tries", n->p.tries);
	out_time(&c->out, "since", n->p.time);
	out_text(&c->out, "reason", n->p.reason);
	out_time(&c->out, "seen", n->seen);
	out_text(&c->out, "last_directive", n->seen ? directive_name(n->last_directive) : "");
	out_end(&c->out);
	return R_OK;
}

enum reason op_rollout_show(struct call *c)
{
	struct rollout r;

	TRY(find(c, &r));
	TRY(rollout_out(c, &r));
	out_array(&c->out, "variants");
	for (size_t i = 0; i < r.new_count; i++) {
		_cleanup_(blob_free) struct blob body = BLOB(LIMIT_REFERENCE);
		_cleanup_(reference_variant_free) struct reference_variant v = { 0 };

		TRY(variant_get(c, r.new_id[i], &body, &v));
		out_object(&c->out, NULL);
		out_number(&c->out, "id", v.id);
		out_text(&c->out, "component", v.component);
		out_text(&c->out, "name", v.name);
		out_text(&c->out, "state", variant_state_name(v.state));
		out_end(&c->out);
	}
	out_end(&c->out);
	out_array(&c->out, "progress");
	TRY(store_progress_each(c->l->store, &r, node_row, c));
	out_end(&c->out);
	return R_OK;
}

/* ---- making one ---------------------------------------------------------------- */

/* Numbers with a comma between two. */
static enum reason variants_read(struct call *c, const char *text, struct rollout *r)
{
	admin_about(c, "variants", text);
	while (*text) {
		size_t n = strcspn(text, ",");
		uint64_t id;

		TRY(text_u64(bytes_of(text, n), INT64_MAX, &id));
		if (r->new_count == ROLLOUT_NEW_MAX)
			return R_FORMAT_TOO_LARGE;
		for (size_t i = 0; i < r->new_count; i++)
			if (r->new_id[i] == id)
				return R_FORMAT_RANGE;
		r->new_id[r->new_count++] = id;
		text += n;
		if (*text == ',' && *++text == '\0')
			return R_FORMAT_TEXT;
	}
	return r->new_count > 0 ? R_OK : R_ROLLOUT_VARIANT;
}

static enum reason limit_read(struct call *c, const char *kind, const char *value, uint32_t fallback, uint32_t *ret)
{
	uint64_t n;

	admin_about(c, kind, value);
	TRY(admin_number(value, fallback, &n));
	if (n == 0 || n > UINT32_MAX)
		return R_FORMAT_RANGE;
	*ret = (uint32_t)n;
	return R_OK;
}

static enum reason image_of(struct call *c, const char *name, uint8_t ret[SHA256_LEN])
{
	struct stored_manifest m;

	admin_about(c, "image", name);
	TRY(store_manifest_find(c->l->store, name, &m));
	if (m.purpose != PURPOSE_MAINTENANCE)
		return R_ROLLOUT_IMAGE;
	memcpy(ret, m.digest, SHA256_LEN);
	return R_OK;
}

enum reason op_rollout_create(struct call *c)
{
	const struct msg_admin *m = c->m;
	struct rollout r = { .created = ledger_now(), .changed = ledger_now() }, old;

	admin_about(c, "rollout", m->arg[0]);
	if (!admin_name_good(m->arg[0], sizeof(r.name)))
		return R_FORMAT_TEXT;
	if (store_rollout_find(c->l->store, m->arg[0], &old) == R_OK)
		return R_STORE_EXISTS;
	snprintf(r.name, sizeof(r.name), "%.63s", m->arg[0]);
	if (m->arg[1][0] == '\0')
		return R_GROUP_UNKNOWN;
	TRY(admin_group(c, m->arg[1]));
	snprintf(r.group, sizeof(r.group), "%.63s", m->arg[1]);
	TRY(image_of(c, m->arg[2], r.manifest));
	TRY(variants_read(c, m->arg[3], &r));
	for (size_t i = 0; i < r.new_count; i++) {
		_cleanup_(blob_free) struct blob body = BLOB(LIMIT_REFERENCE);
		_cleanup_(reference_variant_free) struct reference_variant v = { 0 };

		TRY(variant_get(c, r.new_id[i], &body, &v));
		if (v.state == VARIANT_REVOKED)
			return R_ROLLOUT_VARIANT;
	}
	TRY(limit_read(c, "failures", m->arg[4], FAILURES, &r.failures));
	TRY(limit_read(c, "tries", m->arg[5], TRIES, &r.tries));
	TRY(limit_read(c, "at-once", m->arg[6], AT_ONCE, &r.at_once));
	TRY(store_rollout_add(c->l->store, &r));
	TRY(store_rollout_find(c->l->store, r.name, &r));
	TRY(admin_note(c, BYTES_NONE, r.name));
	return rollout_out(c, &r);
}

/* ---- driving one ------------------------------------------------------------------ */

/* Activation is an act of its own, with its own rules. */
static enum reason all_active(struct call *c, const struct rollout *r)
{
	for (size_t i = 0; i < r->new_count; i++) {
		_cleanup_(blob_free) struct blob body = BLOB(LIMIT_REFERENCE);
		_cleanup_(reference_variant_free) struct reference_variant v = { 0 };

		TRY(variant_get(c, r->new_id[i], &body, &v));
		if (v.state != VARIANT_ACTIVE)
			return R_ROLLOUT_VARIANT;
	}
	return R_OK;
}

static enum reason only_one(struct call *c, const struct rollout *r)
{
	struct rollout last;
	enum reason found = store_rollout_of(c->l->store, r->group, &last);

	if (found != R_OK)
		return found == R_STORE_NOT_FOUND ? R_OK : found;
	admin_about(c, "rollout", last.name);
	return rollout_is_open(&last) ? R_ROLLOUT_OPEN : R_OK;
}

/* What a dry run has done is taken back. */
static enum reason changed(struct call *c, struct rollout *r, enum rollout_state to)
{
	char detail[2 * ROLLOUT_NAME_MAX];

	snprintf(detail, sizeof(detail), "%s, %s to %s", r->name, state_names[r->state], state_names[to]);
	if (to == ROLLOUT_RUNNING && r->state != ROLLOUT_PAUSED)
		TRY(store_rollout_start(c->l->store, r->id, ledger_now()));
	else
		TRY(store_rollout_state(c->l->store, r->id, to, ledger_now()));
	TRY(admin_note(c, BYTES_NONE, detail));
	TRY(store_rollout_find(c->l->store, r->name, r));
	return rollout_out(c, r);
}

/* It is what makes machines boot something else, and what leads back to old variants. */
enum reason op_rollout_start(struct call *c)
{
	struct rollout r;

	TRY(find(c, &r));
	if (c->m->reason[0] == '\0')
		return R_POLICY_REASON_MISSING;
	if (rollout_is_open(&r))
		return R_ROLLOUT_STATE;
	if (r.group[0] == '\0')
		return R_GROUP_UNKNOWN;
	TRY(only_one(c, &r));
	TRY(all_active(c, &r));
	return changed(c, &r, ROLLOUT_RUNNING);
}

static enum reason move(struct call *c, enum rollout_state from, enum rollout_state to)
{
	struct rollout r;

	TRY(find(c, &r));
	return r.state == from ? changed(c, &r, to) : R_ROLLOUT_STATE;
}

enum reason op_rollout_pause(struct call *c)
{
	return move(c, ROLLOUT_RUNNING, ROLLOUT_PAUSED);
}

enum reason op_rollout_resume(struct call *c)
{
	return move(c, ROLLOUT_PAUSED, ROLLOUT_RUNNING);
}

enum reason op_rollout_stop(struct call *c)
{
	struct rollout r;

	TRY(find(c, &r));
	return rollout_is_open(&r) ? changed(c, &r, ROLLOUT_STOPPED) : R_ROLLOUT_STATE;
}

enum reason op_rollout_retry(struct call *c)
{
	struct rollout r;
	struct node n;

	TRY(find(c, &r));
	if (c->m->reason[0] == '\0')
		return R_POLICY_REASON_MISSING;
	TRY(admin_node(c, c->m->arg[1], &n));
	TRY(store_progress_forget(c->l->store, r.id, n.id));
	TRY(admin_note(c, BYTES(n.id), r.name));
	out_text(&c->out, "rollout", r.name);
	out_hex(&c->out, "id", BYTES(n.id));
	out_text(&c->out, "label", n.label);
	return R_OK;
}
