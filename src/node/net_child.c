/* SPDX-License-Identifier: Apache-2.0 */
#include "node/net_child.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/ipc.h"
#include "base/jail.h"
#include "base/log.h"
#include "base/text.h"
#include "crypto/init.h"
#include "format/challenge.h"
#include "format/evidence.h"
#include "format/problem.h"
#include "node/http.h"
#include "node/net_message.h"
#include "node/net_root.h"

/* Nobody else on the machine has this user. */
#define NET_UID 64510u

#define PATH_MAX_LEN 100u

struct child {
	struct ipc ipc;
	struct http *http;
	struct net_setup setup;
	bool ready;
	/* the request at hand */
	uint64_t id;
	struct net_failed failed;
};

static const struct ipc_rule rules[] = {
	{ NET_SETUP, sizeof(struct net_setup) + 1, sizeof(struct net_setup) + LIMIT_CONF, false },
	{ NET_CHALLENGE, sizeof(struct net_request) + 1, LIMIT_CHALLENGE + 64, false },
	{ NET_ENROL, sizeof(struct net_request) + 1, LIMIT_ENROL + 64, false },
	{ NET_ATTEST, sizeof(struct net_request) + 1, LIMIT_EVIDENCE + 64, false },
	{ NET_RECEIPT, sizeof(struct net_request) + 1, LIMIT_RECEIPT + 64, false },
	{ NET_FAILURE, sizeof(struct net_request) + 1, LIMIT_FAILURE + 64, false },
	{ NET_MANIFEST, sizeof(struct net_request) + SHA256_LEN,
	  sizeof(struct net_request) + SHA256_LEN, false },
	{ NET_FETCH, sizeof(struct net_request) + sizeof(struct net_fetch),
	  sizeof(struct net_request) + sizeof(struct net_fetch), true },
};

static enum reason answer(struct child *c, uint32_t type, struct bytes body)
{
	return ipc_send_wait(&c->ipc, type, c->id, &body, 1, -1, -1);
}

static enum reason answer_failed(struct child *c, enum reason r)
{
	c->failed.reason = r;
	return answer(c, NET_FAILED, bytes_of(&c->failed, sizeof(c->failed)));
}

static void note(struct child *c, const struct http_result *result)
{
	c->failed.status = (uint32_t)result->status;
	c->failed.retry_after = result->retry_after;
	c->failed.code = (uint32_t)result->code;
}

/* What an answer with an HTTP error says; its words may be a problem or not. */
static enum reason http_error(struct child *c, const struct http_result *result,
			      struct bytes body)
{
	enum reason r = result->status == 503 || result->status == 429 ? R_NET_BUSY :
									  R_NET_STATUS;
	struct problem p;

	if (problem_read(body, &p) == R_OK) {
		enum reason named;

		text_escape(bytes_str(p.title), c->failed.text, sizeof(c->failed.text));
		if (p.retry_after)
			c->failed.retry_after = p.retry_after;
		if (reason_find(p.reason, &named) && named != R_OK)
			r = named;
	}
	return r;
}

/* One message up, one answer of status 200 down. */
static enum reason call(struct child *c, const char *path, struct bytes body,
			const struct net_request *request, struct blob *ret)
{
	char url[LIMIT_URL + PATH_MAX_LEN];
	struct http_result result;
	enum reason r;

	snprintf(url, sizeof(url), "%s%s", c->setup.server_url, path);
	r = http_call(c->http, url, body, request->timeout_ms, ret, &result);
	note(c, &result);
	if (r != R_OK)
		return r;
	if (result.status != 200)
		return http_error(c, &result, blob_bytes(ret));
	return R_OK;
}

static enum reason flatten_challenge(const struct challenge *m, struct net_challenge *ret)
{
	memcpy(ret->nonce, m->nonce, NONCE_LEN);
	ret->lifetime = m->lifetime;
	ret->enrol = m->enrol;
	ret->offer = m->offer;
	if (m->selection.count > LIMIT_BANKS || m->token.n > sizeof(ret->token))
		return R_NET_ANSWER;
	ret->bank_count = (uint32_t)m->selection.count;
	for (size_t i = 0; i < m->selection.count; i++) {
		ret->alg[i] = m->selection.bank[i].alg;
		ret->mask[i] = m->selection.bank[i].mask;
	}
	ret->token_len = (uint32_t)m->token.n;
	memcpy(ret->token, m->token.p, m->token.n);
	return R_OK;
}

static enum reason copy_part(struct bytes from, uint8_t *to, size_t max, uint32_t *ret_len)
{
	if (from.n > max)
		return R_NET_ANSWER;
	if (from.n > 0)
		memcpy(to, from.p, from.n);
	*ret_len = (uint32_t)from.n;
	return R_OK;
}

static enum reason do_challenge(struct child *c, const struct net_request *request,
				struct bytes body)
{
	_cleanup_(blob_free) struct blob b = BLOB(LIMIT_CHALLENGE);
	struct net_challenge out = { 0 };
	struct challenge m;

	TRY(call(c, "/v1/challenge", body, request, &b));
	if (challenge_read(blob_bytes(&b), &m) || flatten_challenge(&m, &out))
		return R_NET_ANSWER;
	return answer(c, NET_CHALLENGED, bytes_of(&out, sizeof(out)));
}

static enum reason flatten_enrolled(const struct enrol_answer *m, struct net_enrolled *ret)
{
	TRY(flatten_challenge(&m->challenge, &ret->challenge));
	TRY(copy_part(m->token, ret->token, sizeof(ret->token), &ret->token_len));
	ret->credential_count = (uint32_t)m->credential_count;
	for (size_t i = 0; i < m->credential_count; i++) {
		struct net_credential *to = &ret->credential[i];
		const struct enrol_credential *from = &m->credential[i];

		TRY(copy_part(from->ek_name, to->ek_name, sizeof(to->ek_name),
			      &to->ek_name_len));
		TRY(copy_part(from->id_object, to->id_object, sizeof(to->id_object),
			      &to->id_object_len));
		TRY(copy_part(from->secret, to->secret, sizeof(to->secret), &to->secret_len));
	}
	return R_OK;
}

static enum reason do_enrol(struct child *c, const struct net_request *request,
			    struct bytes body)
{
	_cleanup_(blob_free) struct blob b = BLOB(LIMIT_ENROL);
	_cleanup_free_ struct net_enrolled *out = calloc(1, sizeof(*out));
	_cleanup_free_ struct enrol_answer *m = calloc(1, sizeof(*m));

	if (!out || !m)
		return R_INTERNAL_MEMORY;
	TRY(call(c, "/v1/enrol", body, request, &b));
	if (enrol_answer_read(blob_bytes(&b), m) || flatten_enrolled(m, out))
		return R_NET_ANSWER;
	return answer(c, NET_ENROLLED, bytes_of(out, sizeof(*out)));
}

/* The verdict is signed: the root process reads it. */
static enum reason do_attest(struct child *c, const struct net_request *request,
			     struct bytes body)
{
	_cleanup_(blob_free) struct blob b = BLOB(LIMIT_VERDICT);

	TRY(call(c, "/v1/attest", body, request, &b));
	if (b.n == 0)
		return R_NET_ANSWER;
	return answer(c, NET_JUDGED, blob_bytes(&b));
}

static enum reason do_manifest(struct child *c, const struct net_request *request,
			       struct bytes body)
{
	_cleanup_(blob_free) struct blob b = BLOB(LIMIT_MANIFEST);
	char path[PATH_MAX_LEN] = "/v1/manifest/";

	hex_encode(body, path + strlen(path));
	TRY(call(c, path, BYTES_NONE, request, &b));
	if (b.n == 0)
		return R_NET_ANSWER;
	return answer(c, NET_MANIFESTED, blob_bytes(&b));
}

static enum reason do_receipt(struct child *c, const struct net_request *request,
			      struct bytes body)
{
	_cleanup_(blob_free) struct blob b = BLOB(LIMIT_PROBLEM);
	uint8_t digest[SHA256_LEN];

	TRY(call(c, "/v1/receipt", body, request, &b));
	if (receipt_ack_read(blob_bytes(&b), digest))
		return R_NET_ANSWER;
	return answer(c, NET_RECEIVED, BYTES(digest));
}

static enum reason answer_done(struct child *c, uint64_t bytes)
{
	struct net_done done = { bytes };

	return answer(c, NET_DONE, bytes_of(&done, sizeof(done)));
}

static enum reason do_failure(struct child *c, const struct net_request *request,
			      struct bytes body)
{
	_cleanup_(blob_free) struct blob b = BLOB(LIMIT_PROBLEM);
	char url[LIMIT_URL + PATH_MAX_LEN];
	struct http_result result;

	snprintf(url, sizeof(url), "%s/v1/failure", c->setup.server_url);
	TRY(http_call(c->http, url, body, request->timeout_ms, &b, &result));
	note(c, &result);
	if (result.status != 200 && result.status != 204)
		return http_error(c, &result, blob_bytes(&b));
	return answer_done(c, 0);
}

static enum reason do_fetch(struct child *c, struct bytes body, int pipe_fd)
{
	char url[LIMIT_URL + PATH_MAX_LEN], hex[2 * SHA256_LEN + 1];
	struct http_result result;
	struct net_fetch fetch;
	uint64_t bytes;
	enum reason r;

	memcpy(&fetch, body.p, sizeof(fetch));
	hex_encode(BYTES(fetch.sha256), hex);
	snprintf(url, sizeof(url), "%s/sha256/%s", c->setup.mirror_url, hex);
	r = http_stream(c->http, url, fetch.offset, pipe_fd, &bytes, &result);
	note(c, &result);
	c->failed.restart = result.no_resume;
	TRY(r);
	if (result.status == 404 || result.status == 410)
		return R_NET_NOT_FOUND;
	if (result.status == 503 || result.status == 429)
		return R_NET_BUSY;
	if (result.status != (fetch.offset > 0 ? 206 : 200))
		return R_NET_STATUS;
	return answer_done(c, bytes);
}

static enum reason do_setup(struct child *c, struct bytes body)
{
	struct bytes ca;

	memcpy(&c->setup, body.p, sizeof(c->setup));
	c->setup.server_url[LIMIT_URL - 1] = 0;
	c->setup.mirror_url[LIMIT_URL - 1] = 0;
	ca = bytes_of(body.p + sizeof(c->setup), body.n - sizeof(c->setup));
	http_close(&c->http);
	TRY(http_open(ca, &c->http));
	c->ready = true;
	return answer_done(c, 0);
}

static enum reason dispatch(struct child *c, const struct ipc_message *m)
{
	struct net_request request;
	struct bytes body;

	if (m->type == NET_SETUP)
		return do_setup(c, m->body);
	if (!c->ready)
		return R_INTERNAL;
	memcpy(&request, m->body.p, sizeof(request));
	body = bytes_of(m->body.p + sizeof(request), m->body.n - sizeof(request));
	switch (m->type) {
	case NET_CHALLENGE:
		return do_challenge(c, &request, body);
	case NET_ENROL:
		return do_enrol(c, &request, body);
	case NET_ATTEST:
		return do_attest(c, &request, body);
	case NET_RECEIPT:
		return do_receipt(c, &request, body);
	case NET_FAILURE:
		return do_failure(c, &request, body);
	case NET_MANIFEST:
		return do_manifest(c, &request, body);
	case NET_FETCH:
		return do_fetch(c, body, m->fd);
	default:
		return R_INTERNAL;
	}
}

static enum reason confine(void)
{
	struct jail jail = {
		.profile = JAIL_NET,
		.uid = NET_UID,
		.gid = NET_UID,
		.root = NET_ROOT,
		.memory = 256u << 20,
		.files = 32,
	};

#ifdef BOOTGATE_TEST
	/* tests may run as nobody: then only the filter is left */
	if (geteuid() != 0) {
		jail.uid = getuid();
		jail.gid = getgid();
		jail.root = NULL;
	}
#endif
	return jail_enter(&jail);
}

#ifdef BOOTGATE_TEST
/* A child that was taken over, for tests: it sends something else. */
static bool hostile(struct child *c, const struct ipc_message *m)
{
	static const struct net_challenge good = { .lifetime = 1, .bank_count = 1,
						   .token_len = 1 };
	static uint8_t junk[65536];
	const char *what = getenv("BOOTGATE_TEST_NET");
	struct bytes body = { junk, 0 };
	uint32_t type = NET_CHALLENGED;

	if (!what || m->type != NET_CHALLENGE)
		return false;
	if (!strcmp(what, "short"))
		body.n = sizeof(struct net_challenge) - 1;
	else if (!strcmp(what, "long"))
		body.n = sizeof(struct net_challenge) + 1;
	else if (!strcmp(what, "empty"))
		body.n = 0;
	else if (!strcmp(what, "zero"))
		body.n = sizeof(struct net_challenge);
	else if (!strcmp(what, "other-type"))
		type = NET_RECEIVED, body.n = SHA256_LEN;
	else if (!strcmp(what, "unknown-type"))
		type = 4711, body.n = 8;
	else if (!strcmp(what, "reason"))
		type = NET_FAILED, memset(junk, 0xff, sizeof(junk)),
		body.n = sizeof(struct net_failed);
	else if (!strcmp(what, "other-id"))
		c->id++, body = bytes_of(&good, sizeof(good));
	else if (!strcmp(what, "exit"))
		_exit(0);
	else if (!strcmp(what, "raw"))
		return write(c->ipc.fd, "hello hello hello hello hello", 29) == 29;
	else if (!strcmp(what, "silent"))
		for (;;)
			pause();
	else if (!strcmp(what, "token"))
		memset(junk, 0xff, sizeof(junk)), body.n = sizeof(struct net_challenge);
	else
		return false;
	if (answer(c, type, body))
		_exit(1);
	return true;
}
#endif

int net_child_main(void)
{
	struct child c = { .ipc = IPC_NONE };
	enum reason r;

	signal(SIGPIPE, SIG_IGN);
	log_set_sinks(NULL, 0);
	r = ipc_open(&c.ipc, NET_CHILD_FD, rules, ARRAY_LEN(rules));
	if (r == R_OK)
		r = crypto_init();
	if (r == R_OK)
		r = confine();
	if (r != R_OK)
		return reason_exit(r);
	for (;;) {
		struct ipc_message m;

		r = ipc_wait(&c.ipc, -1, &m);
		if (r != R_OK)
			return 1;	/* the root process is gone, or is not ours */
		c.id = m.id;
		c.failed = (struct net_failed){ 0 };
#ifdef BOOTGATE_TEST
		if (hostile(&c, &m))
			continue;
#endif
		r = dispatch(&c, &m);
		if (m.fd >= 0)
			close(m.fd);
		if (r != R_OK && answer_failed(&c, r))
			return 1;
	}
}
