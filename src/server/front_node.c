/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Routes for gates and hosts. Here, in a process without keys and database,
 * the messages are decoded as far as the ledger needs them: token, names,
 * proofs. The body goes on as it came.
 */
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "server/front.h"

static enum reason token_copy(struct bytes from, struct msg_token *to)
{
	if (from.n == 0 || from.n > sizeof(to->bytes))
		return R_SESSION_TOKEN;
	memcpy(to->bytes, from.p, from.n);
	to->len = (uint16_t)from.n;
	return R_OK;
}

static void peer_copy(const struct front_request *q, char ret[PEER_TEXT])
{
	snprintf(ret, PEER_TEXT, "%s", q->peer);
}

static enum reason finish(const void *head, size_t n, struct bytes tail, struct blob *ret)
{
	TRY(blob_append(ret, head, n));
	return blob_append(ret, tail.p, tail.n);
}

static enum reason challenge(const struct front_request *q, struct blob *ret)
{
	struct msg_challenge m;

	memset(&m, 0, sizeof(m));
	TRY(challenge_request_read(q->body, &m.request));
	peer_copy(q, m.peer);
	return finish(&m, sizeof(m), BYTES_NONE, ret);
}

static enum reason enrol(const struct front_request *q, struct blob *ret)
{
	_cleanup_free_ struct enrol_request *r = calloc(1, sizeof(*r));
	struct msg_enrol m;

	if (!r)
		return R_INTERNAL_MEMORY;
	memset(&m, 0, sizeof(m));
	TRY(enrol_request_read(q->body, r));
	TRY(token_copy(r->token, &m.token));
	peer_copy(q, m.peer);
	m.tail = (uint32_t)q->body.n;
	return finish(&m, sizeof(m), q->body, ret);
}

static enum reason ak_name_of(struct bytes ak_public, uint8_t ret[AK_NAME_LEN])
{
	struct tpm_public ak;
	struct tpm_name name;

	TRY(tpm_public_read(ak_public, &ak));
	TRY(tpm_name_of(&ak, &name));
	if (name.n != AK_NAME_LEN)
		return R_NODE_AK;
	memcpy(ret, name.b, AK_NAME_LEN);
	return R_OK;
}

static enum reason attest(const struct front_request *q, struct blob *ret)
{
	_cleanup_free_ struct claims *c = calloc(1, sizeof(*c));
	_cleanup_free_ struct msg_attest *m = calloc(1, sizeof(*m));
	struct evidence e;

	if (!c || !m)
		return R_INTERNAL_MEMORY;
	TRY(evidence_read(q->body, &e));
	TRY(claims_read(e.claims, c));
	m->stage = c->stage;
	TRY(token_copy(c->token, &m->token));
	TRY(ak_name_of(c->ak_public, m->ak_name));
	if (c->enrol_token.n > 0)
		TRY(token_copy(c->enrol_token, &m->enrol_token));
	m->proof_count = (uint32_t)c->proof_count;
	for (size_t i = 0; i < c->proof_count; i++) {
		if (c->proof[i].ek_name.n > sizeof(m->proof[i].ek_name))
			return R_FORMAT_RANGE;
		memcpy(m->proof[i].ek_name, c->proof[i].ek_name.p, c->proof[i].ek_name.n);
		m->proof[i].ek_name_len = (uint8_t)c->proof[i].ek_name.n;
		memcpy(m->proof[i].proof, c->proof[i].proof, SHA256_LEN);
	}
	peer_copy(q, m->peer);
	m->tail = (uint32_t)q->body.n;
	return finish(m, sizeof(*m), q->body, ret);
}

static enum reason receipt(const struct front_request *q, struct blob *ret)
{
	_cleanup_free_ struct receipt *r = calloc(1, sizeof(*r));
	struct msg_receipt m;
	struct evidence e;

	if (!r)
		return R_INTERNAL_MEMORY;
	memset(&m, 0, sizeof(m));
	TRY(evidence_read(q->body, &e));
	TRY(receipt_read(e.claims, r));
	memcpy(m.ak_name, r->ak_name, AK_NAME_LEN);
	memcpy(m.verdict_digest, r->verdict_digest, SHA256_LEN);
	peer_copy(q, m.peer);
	m.tail = (uint32_t)q->body.n;
	return finish(&m, sizeof(m), q->body, ret);
}

static enum reason failure(const struct front_request *q, struct blob *ret)
{
	struct msg_failure m;
	struct failure f;

	memset(&m, 0, sizeof(m));
	TRY(failure_read(q->body, &f));
	snprintf(m.reason, sizeof(m.reason), "%s", f.reason);
	snprintf(m.step, sizeof(m.step), "%s", f.step);
	m.has_ak_name = f.has_ak_name;
	if (f.has_ak_name)
		memcpy(m.ak_name, f.ak_name, AK_NAME_LEN);
	peer_copy(q, m.peer);
	m.tail = (uint32_t)f.log.n;
	return finish(&m, sizeof(m), f.log, ret);
}

#define MANIFEST_PREFIX "/v1/manifest/"

static enum reason manifest(const struct front_request *q, struct blob *ret)
{
	struct msg_manifest m;

	TRY(hex_decode(bytes_str(q->path + strlen(MANIFEST_PREFIX)), m.digest, sizeof(m.digest)));
	return finish(&m, sizeof(m), BYTES_NONE, ret);
}

static const struct route {
	const char *method, *path;
	bool prefix;
	size_t limit;
	uint32_t type;
	enum reason (*message)(const struct front_request *q, struct blob *ret);
} routes[] = {
	{ "POST", "/v1/challenge", false, LIMIT_CHALLENGE, MSG_CHALLENGE, challenge },
	{ "POST", "/v1/enrol", false, LIMIT_ENROL, MSG_ENROL, enrol },
	{ "POST", "/v1/attest", false, LIMIT_EVIDENCE, MSG_ATTEST, attest },
	{ "POST", "/v1/receipt", false, LIMIT_RECEIPT, MSG_RECEIPT, receipt },
	{ "POST", "/v1/failure", false, LIMIT_FAILURE, MSG_FAILURE, failure },
	{ "GET", MANIFEST_PREFIX, true, 0, MSG_MANIFEST, manifest },
};

static const struct route *route_find(const char *method, const char *path)
{
	for (size_t i = 0; i < ARRAY_LEN(routes); i++) {
		const struct route *r = &routes[i];
		bool fits = r->prefix ? strncmp(path, r->path, strlen(r->path)) == 0 :
					strcmp(path, r->path) == 0;
		if (fits && strcmp(method, r->method) == 0)
			return r;
	}
	return NULL;
}

static enum reason limit_of(const char *method, const char *path, size_t *ret)
{
	const struct route *r = route_find(method, path);

	if (!r)
		return R_SERVER_ROUTE;
	*ret = r->limit;
	return R_OK;
}

static enum reason message_of(const struct front_request *q, uint32_t *ret_type, struct blob *ret)
{
	const struct route *r = route_find(q->method, q->path);

	if (!r)
		return R_SERVER_ROUTE;
	*ret_type = r->type;
	return r->message(q, ret);
}

/* That the process lives; readiness is the ledger's to say, on the admin side. */
static bool local(const char *method, const char *path, const char **ret_text)
{
	*ret_text = "ok\n";
	return strcmp(method, "GET") == 0 && strcmp(path, "/healthz") == 0;
}

const struct front_app front_node_app = {
	.name = "node",
	.limit = limit_of,
	.message = message_of,
	.local = local,
	.message_max = LIMIT_EVIDENCE + sizeof(struct msg_attest),
};
