/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A verdict out of a finding. What goes to the node names what differed; how
 * to accept it is for operators and stays at the server.
 */
#include "appraise/appraise.h"

#include <stdio.h>
#include <string.h>

#include "appraise/findings.h"
#include "base/cleanup.h"
#include "base/text.h"

_Static_assert(VERDICT_TEXT_MAX == FINDING_TEXT_MAX, "one size of texts for people");

static void copy(char *to, size_t n, const char *from)
{
	snprintf(to, n, "%s", from ? from : "");
	for (; *to; to++)
		if (*to < 0x20 || *to > 0x7e)
			*to = '?';
}

static void describe(const struct finding *f, char ret[VERDICT_TEXT_MAX])
{
	char place[48] = "";
	char what[FINDING_TEXT_MAX];

	if (f->has_event)
		snprintf(place, sizeof place, "%s event %u register %u: ",
			 f->gate_log ? "gate log" : "log", (unsigned)f->event, f->pcr);
	/* Both halves must fit; the observed one is the longer. */
	if (f->expected[0])
		finding_text(what, "%.80s; expected %.60s", f->observed, f->expected);
	else
		finding_text(what, "%.140s", f->observed);
	finding_text(ret, "%s%s%s%s", f->component, f->component[0] ? ": " : "", place, what);
}

static void add_reason(struct verdict *v, enum reason r, const char *detail)
{
	struct verdict_reason *to;

	if (v->reason_count == VERDICT_REASONS_MAX)
		return;
	to = &v->reason[v->reason_count++];
	copy(to->name, sizeof to->name, reason_name(r));
	copy(to->detail, sizeof to->detail, detail);
}

/* The worst come first; what changes nothing is not for the node. */
static void add_findings(struct verdict *v, const struct explanation *e)
{
	for (int s = SEVERITY_REFUSE; s >= SEVERITY_WARN; s--) {
		for (size_t i = 0; i < e->count; i++) {
			char detail[VERDICT_TEXT_MAX];

			if ((int)e->finding[i].severity != s)
				continue;
			describe(&e->finding[i], detail);
			add_reason(v, e->finding[i].reason, detail);
		}
	}
}

static enum directive worse(enum directive a, enum directive b)
{
	return a > b ? a : b;
}

/* Every verdict names the policy it was made by: name, version and content. */
static enum reason name_policy(const struct policy *p, char ret[VERDICT_TEXT_MAX])
{
	_cleanup_(blob_free) struct blob encoded = BLOB(LIMIT_REFERENCE);
	uint8_t digest[SHA256_LEN];
	char hex[2 * SHA256_LEN + 1];

	TRY(policy_write(p, &encoded));
	TRY(sha256(blob_bytes(&encoded), digest));
	hex_encode(BYTES(digest), hex);
	snprintf(ret, VERDICT_TEXT_MAX, "%s v%u sha256:%s", p->id, p->version, hex);
	return R_OK;
}

enum reason verdict_build(const struct verdict_context *x, struct verdict *ret)
{
	const struct appraisal *a = x->appraisal;

	memset(ret, 0, sizeof *ret);
	ret->issued_at = x->now;
	memcpy(ret->nonce, x->quote->claims.nonce, NONCE_LEN);
	ret->stage = x->session->stage;
	memcpy(ret->ak_name, x->session->ak_name, AK_NAME_LEN);
	memcpy(ret->evidence_digest, x->evidence_digest, SHA256_LEN);
	ret->directive = worse(a->directive, x->allowed);
	/* Nothing is released to a node that does not boot now. */
	if (ret->directive == DIRECTIVE_ADMIT) {
		ret->has_manifest = x->has_manifest;
		memcpy(ret->manifest_digest, x->manifest_digest, SHA256_LEN);
	} else if (ret->directive == DIRECTIVE_UPDATE) {
		ret->has_manifest = x->has_update;
		memcpy(ret->manifest_digest, x->update_digest, SHA256_LEN);
	}
	ret->lifetime = x->lifetime ? x->lifetime : x->policy->lifetime;
	ret->retry_after = ret->directive == DIRECTIVE_REFUSE ? x->refused_after : x->retry_after;
	ret->status = a->status;
	ret->submod_count = a->submod_count;
	memcpy(ret->submod, a->submod, sizeof ret->submod);
	/* The first reason is the one that decided. */
	bool found_worse = a->directive > x->allowed;
	if (found_worse)
		add_findings(ret, &a->explanation);
	if (x->allowed_reason != R_OK)
		add_reason(ret, x->allowed_reason, x->allowed_detail);
	if (!found_worse)
		add_findings(ret, &a->explanation);
	copy(ret->node, sizeof ret->node, x->node);
	copy(ret->basis, sizeof ret->basis, x->basis);
	return name_policy(x->policy, ret->policy);
}
