/* SPDX-License-Identifier: Apache-2.0 */
/* Endorsement keys of the delivery papers. */
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "server/admin.h"
#include "server/channel.h"

/* What became of a line; "bad" ones are all but those that bootgatectl found. */
enum line_result { LINE_NEW, LINE_KNOWN, LINE_CONFLICT, LINE_BAD, LINE_MAX };
static const char *const result_name[LINE_MAX] = { "new", "known", "conflict", "bad" };

/* The admin front made it, and is not believed. */
static enum reason entry_check(struct listed_ek *e)
{
	e->label[sizeof(e->label) - 1] = e->group[sizeof(e->group) - 1] = '\0';
	channel_bool(&e->has_certificate);
	channel_bool(&e->has_spki);
	if (!text_printable(bytes_str(e->label)))
		return R_FORMAT_TEXT;
	if (e->name_len > sizeof(e->name) || (!e->has_certificate && !e->has_spki && e->name_len == 0))
		return R_FORMAT_RANGE;
	return R_OK;
}

static bool same(const struct listed_ek *a, const struct listed_ek *b)
{
	return a->has_certificate == b->has_certificate && a->has_spki == b->has_spki &&
	       memcmp(a->certificate_digest, b->certificate_digest, SHA256_LEN) == 0 &&
	       memcmp(a->spki_digest, b->spki_digest, SHA256_LEN) == 0 &&
	       bytes_equal(bytes_of(a->name, a->name_len), bytes_of(b->name, b->name_len)) &&
	       strcmp(a->label, b->label) == 0 && strcmp(a->group, b->group) == 0;
}

static enum reason line_load(struct call *c, struct listed_ek *e, enum line_result *ret)
{
	enum reason why = R_OK;
	struct listed_ek have;
	char detail[160] = "";

	enum reason r = store_group_known(c->l->store, e->group);
	if (r == R_OK)
		r = store_listed_add(c->l->store, e);
	*ret = LINE_NEW;
	if (r == R_STORE_EXISTS) {
		TRY(store_listed_like(c->l->store, e, &have));
		*ret = same(e, &have) ? LINE_KNOWN : LINE_CONFLICT;
		why = *ret == LINE_KNOWN ? R_OK : R_EK_LISTED;
		snprintf(detail, sizeof(detail), "line %u of %s", have.line, have.list);
	} else if (r == R_GROUP_UNKNOWN) {
		*ret = LINE_BAD;
		why = r;
		snprintf(detail, sizeof(detail), "%s", e->group);
	} else if (r != R_OK) {
		return r;
	}
	out_object(&c->out, NULL);
	out_number(&c->out, "line", e->line);
	out_text(&c->out, "result", result_name[*ret]);
	if (why != R_OK)
		out_text(&c->out, "reason", reason_name(why));
	if (detail[0])
		out_text(&c->out, "detail", detail);
	out_end(&c->out);
	return R_OK;
}

static enum reason lines_load(struct call *c, size_t lines, uint64_t count[LINE_MAX])
{
	out_array(&c->out, "results");
	for (size_t i = 0; i < lines; i++) {
		enum line_result result;
		struct listed_ek e;

		memcpy(&e, c->body.p + i * sizeof(e), sizeof(e));
		snprintf(e.list, sizeof(e.list), "%.63s", c->m->arg[0]);
		TRY(entry_check(&e));
		TRY(line_load(c, &e, &result));
		count[result]++;
	}
	out_end(&c->out);
	return R_OK;
}

/*
 * All lines or none: a list that was half loaded would have to be taken
 * apart by hand. A line that is known is no mistake, so that a list can be
 * loaded again when it grew. A dry run is the same, taken back.
 */
enum reason op_ek_load(struct call *c)
{
	size_t lines = c->body.n / sizeof(struct listed_ek);
	uint64_t count[LINE_MAX] = { 0 };

	admin_about(c, "list", c->m->arg[0]);
	if (strlen(c->m->arg[0]) >= LIST_NAME_MAX)
		return R_FORMAT_TOO_LARGE;
	if (lines == 0 || c->body.n != lines * sizeof(struct listed_ek))
		return R_FORMAT_TRUNCATED;
	TRY(ledger_savepoint(c->l));
	enum reason r = lines_load(c, lines, count);
	bool good = r == R_OK && count[LINE_CONFLICT] == 0 && count[LINE_BAD] == 0;
	bool keep = good && !c->m->dry_run;
	TRY(keep || r != R_OK ? ledger_release(c->l, r) : ledger_undo(c->l));
	if (keep) {
		char detail[96];

		snprintf(detail, sizeof(detail), "%.63s: %llu new", c->m->arg[0],
			 (unsigned long long)count[LINE_NEW]);
		TRY(admin_note(c, BYTES_NONE, detail));
	}
	out_bool(&c->out, "good", good);
	out_bool(&c->out, "loaded", keep);
	for (int i = 0; i < LINE_MAX; i++)
		out_number(&c->out, result_name[i], count[i]);
	return R_OK;
}

/* Nodes that are in stay in: who should not is revoked. */
enum reason op_ek_remove(struct call *c)
{
	uint8_t key[2 + DIGEST_MAX];
	uint64_t removed;
	char detail[128];
	bool really = !c->m->dry_run;
	size_t n = 0;

	if (c->m->arg[1][0])
		TRY(hex_decode_upto(bytes_str(c->m->arg[1]), key, sizeof(key), &n));
	TRY(store_listed_remove(c->l->store, c->m->arg[0], bytes_of(key, n), really, &removed));
	if (really) {
		snprintf(detail, sizeof(detail), "%.63s: %llu removed", c->m->arg[0], (unsigned long long)removed);
		TRY(admin_note(c, bytes_of(key, n), detail));
	}
	out_number(&c->out, "removed", removed);
	return R_OK;
}
