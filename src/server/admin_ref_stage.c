/* SPDX-License-Identifier: Apache-2.0 */
/* References that an operator brings: nothing is allowed by them yet. */
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "server/admin.h"

/* `from` is the server's word on each; with `keep` what the file says of itself stands behind it. */
static enum reason stage_all(struct call *c, const char *from, bool keep)
{
	_cleanup_(reference_set_free) struct reference_set set = { 0 };
	char detail[160];

	TRY(reference_set_read(c->body, &set));
	out_array(&c->out, "variants");
	for (size_t i = 0; i < set.count; i++) {
		char *source = set.variant[i].source, whole[2 * REFERENCE_TEXT_MAX + 2];

		snprintf(whole, sizeof(whole), "%s%s%s", from, keep && source[0] ? ": " : "", keep ? source : "");
		/* The end of a long one is left out. */
		snprintf(source, REFERENCE_TEXT_MAX, "%.127s", whole);
		TRY(variant_stage(c->l, &set.variant[i], !c->m->dry_run, &c->out));
	}
	out_end(&c->out);
	snprintf(detail, sizeof(detail), "%zu variants %.120s", set.count, from);
	return admin_note(c, BYTES_NONE, detail);
}

/* Computed of an artifact: of which one, the reference says for good. */
enum reason op_ref_stage(struct call *c)
{
	char source[REFERENCE_TEXT_MAX];
	uint8_t digest[SHA256_LEN];

	admin_about(c, "sha256", c->m->arg[0]);
	TRY(hex_decode(bytes_str(c->m->arg[0]), digest, sizeof(digest)));
	snprintf(source, sizeof(source), "computed from SHA-256 %.64s", c->m->arg[0]);
	return stage_all(c, source, false);
}

/* Nobody vouches for such a file but the operator, who says why. */
enum reason op_ref_import(struct call *c)
{
	if (c->m->reason[0] == '\0')
		return R_POLICY_REASON_MISSING;
	return stage_all(c, "imported unsigned", true);
}
