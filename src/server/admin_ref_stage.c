/* SPDX-License-Identifier: Apache-2.0 */
/* References that an operator brings: nothing is allowed by them yet. */
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "server/admin.h"

static enum reason stage_all(struct call *c, const char *source)
{
	_cleanup_(reference_set_free) struct reference_set set = { 0 };
	char detail[160];

	TRY(reference_set_read(c->body, &set));
	out_array(&c->out, "variants");
	for (size_t i = 0; i < set.count; i++) {
		snprintf(set.variant[i].source, sizeof(set.variant[i].source), "%.127s", source);
		TRY(variant_stage(c->l, &set.variant[i], !c->m->dry_run, &c->out));
	}
	out_end(&c->out);
	snprintf(detail, sizeof(detail), "%zu variants %.120s", set.count, source);
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
	return stage_all(c, source);
}
