/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "server/admin.h"

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

static enum reason target_row(void *ctx, const char *target)
{
	struct call *c = ctx;

	out_text(&c->out, NULL, target);
	return R_OK;
}

static enum reason manifest_row(void *ctx, const struct stored_manifest *m)
{
	struct call *c = ctx;

	out_object(&c->out, NULL);
	manifest_out(&c->out, m);
	out_array(&c->out, "selected_for");
	TRY(store_selected_each(c->l->store, m->digest, target_row, c));
	out_end(&c->out);
	out_end(&c->out);
	return R_OK;
}

enum reason op_image_list(struct call *c)
{
	out_array(&c->out, "images");
	TRY(store_manifest_each(c->l->store, manifest_row, c));
	out_end(&c->out);
	return R_OK;
}

enum reason op_image_add(struct call *c)
{
	struct stored_manifest m, old;
	uint8_t digest[SHA256_LEN];
	bool really = !c->m->dry_run;

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
		TRY(admin_note(c, BYTES(m.digest), m.version));
	}
	manifest_out(&c->out, &m);
	return R_OK;
}

/* All, one node, or one group. */
static enum reason target_of(struct call *c, const char *node, const char *group, char ret[TARGET_MAX])
{
	struct node n;

	snprintf(ret, TARGET_MAX, "%s", TARGET_ALL);
	if (group[0]) {
		if (node[0]) {
			admin_about(c, "group and target", node);
			return R_USAGE;
		}
		TRY(admin_group(c, group));
		snprintf(ret, TARGET_MAX, TARGET_GROUP "%.63s", group);
	} else if (node[0] && strcmp(node, TARGET_ALL) != 0) {
		TRY(admin_node(c, node, &n));
		hex_encode(BYTES(n.id), ret);
	}
	return R_OK;
}

enum reason op_image_select(struct call *c)
{
	char target[TARGET_MAX];
	struct stored_manifest m;
	bool really = !c->m->dry_run;

	admin_about(c, "image", c->m->arg[0]);
	TRY(store_manifest_find(c->l->store, c->m->arg[0], &m));
	TRY(target_of(c, c->m->arg[1], c->m->arg[2], target));
	if (really) {
		TRY(store_select(c->l->store, target, m.purpose, m.digest));
		TRY(admin_note(c, BYTES(m.digest), target));
	}
	manifest_out(&c->out, &m);
	out_text(&c->out, "target", target);
	return R_OK;
}

enum reason op_image_unselect(struct call *c)
{
	char target[TARGET_MAX];
	struct stored_manifest m;

	admin_about(c, "image", c->m->arg[0]);
	TRY(store_manifest_find(c->l->store, c->m->arg[0], &m));
	TRY(target_of(c, c->m->arg[1], c->m->arg[2], target));
	admin_about(c, "selection of this image for", target);
	TRY(store_unselect(c->l->store, target, m.purpose, m.digest));
	TRY(admin_note(c, BYTES(m.digest), target));
	manifest_out(&c->out, &m);
	out_text(&c->out, "target", target);
	return R_OK;
}
