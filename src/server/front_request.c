/* SPDX-License-Identifier: Apache-2.0 */
/* One connection, one request: from its first byte to its answer. */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "server/channel.h"
#include "server/front_internal.h"
#include "server/refusal.h"

static const char *const media_name[] = {
	[MEDIA_NONE] = NULL,
	[MEDIA_CBOR] = "application/cbor",
	[MEDIA_COSE] = "application/cose",
	[MEDIA_PROBLEM] = "application/concise-problem-details+cbor",
	[MEDIA_JSON] = "application/json",
};

/* ---- answers ------------------------------------------------------------------ */

static enum MHD_Result respond(struct MHD_Connection *c, const struct msg_answer *a, struct bytes body)
{
	struct MHD_Response *r = MHD_create_response_from_buffer(body.n, (void *)(uintptr_t)body.p,
								 MHD_RESPMEM_MUST_COPY);
	char seconds[16];

	if (!r)
		return MHD_NO;
	if (media_name[a->media])
		MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, media_name[a->media]);
	if (a->retry_after > 0) {
		snprintf(seconds, sizeof(seconds), "%u", a->retry_after);
		MHD_add_response_header(r, MHD_HTTP_HEADER_RETRY_AFTER, seconds);
	}
	MHD_add_response_header(r, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
	enum MHD_Result done = MHD_queue_response(c, a->status, r);
	MHD_destroy_response(r);
	return done;
}

static enum MHD_Result refuse(const struct front *f, struct MHD_Connection *c, enum reason r, const char *about)
{
	_cleanup_(blob_free) struct blob body = BLOB(LIMIT_PROBLEM);
	uint32_t retry_after = reason_class(r) == REASON_TRANSIENT ? FRONT_RETRY_S : 0;
	struct msg_answer a;

	if (refusal_write(r, about, retry_after, f->app->json, &a, &body) != R_OK)
		return MHD_NO;
	return respond(c, &a, blob_bytes(&body));
}

/* ---- one connection ------------------------------------------------------------------ */

static struct peer *peer_get(struct MHD_Connection *c)
{
	return MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
}

static void peer_quiet(struct peer *p)
{
	p->asked = false;
	p->deadline = clock_boot_ms() + FRONT_IDLE_S * UINT64_C(1000);
}

void front_on_connection(void *cls, struct MHD_Connection *c, void **socket_context,
			 enum MHD_ConnectionNotificationCode what)
{
	struct front *f = ((struct listener *)cls)->front;
	struct peer *p = *socket_context;

	if (what == MHD_CONNECTION_NOTIFY_STARTED) {
		p = calloc(1, sizeof(*p));
		/* There is no way to say no here: without memory the server starts again. */
		if (!p)
			abort();
		p->fd = MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
		peer_quiet(p);
		p->next = f->peers;
		p->at = &f->peers;
		if (p->next)
			p->next->at = &p->next;
		f->peers = p;
		*socket_context = p;
		return;
	}
	*p->at = p->next;
	if (p->next)
		p->next->at = p->at;
	free(p);
}

/*
 * libmicrohttpd's own timeout starts again with every byte: a peer that
 * trickles the head of a request, or a handshake, would stay for ever.
 */
void front_cut_silent(struct front *f, uint64_t now)
{
	for (struct peer *p = f->peers; p; p = p->next)
		if (!p->asked && p->deadline < now)
			shutdown(p->fd, SHUT_RDWR);
}

/* ---- one request ------------------------------------------------------------------ */

static const char *query_value(const struct front_request *q, const char *name)
{
	return MHD_lookup_connection_value(q->connection, MHD_GET_ARGUMENT_KIND, name);
}

static void peer_of(struct MHD_Connection *c, struct front_request *q)
{
	const struct sockaddr *a = MHD_get_connection_info(c, MHD_CONNECTION_INFO_CLIENT_ADDRESS)->client_addr;

	snprintf(q->peer, sizeof(q->peer), "unknown");
	if (a->sa_family == AF_INET) {
		inet_ntop(AF_INET, &((const struct sockaddr_in *)a)->sin_addr, q->peer, sizeof(q->peer));
	} else if (a->sa_family == AF_INET6) {
		inet_ntop(AF_INET6, &((const struct sockaddr_in6 *)a)->sin6_addr, q->peer, sizeof(q->peer));
	} else if (a->sa_family == AF_UNIX) {
		struct ucred cred;
		socklen_t len = sizeof(cred);

		if (getsockopt(peer_get(c)->fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) != 0)
			return;
		q->has_uid = true;
		q->uid = cred.uid;
		q->gid = cred.gid;
		snprintf(q->peer, sizeof(q->peer), "uid %u", cred.uid);
	}
}

/* Bodies count against a common budget: thousands of peers may send at once. */
static enum reason body_add(struct front *f, struct request *q, const char *data, size_t n)
{
	if (clock_boot_ms() > q->deadline)
		return R_SERVER_BUSY;
	if (n > f->body_max - f->body_bytes)
		return R_SERVER_BUSY;
	TRY(blob_append(&q->body, data, n) == R_OK ? R_OK : R_FORMAT_TOO_LARGE);
	f->body_bytes += n;
	return R_OK;
}

static void body_drop(struct front *f, struct request *q)
{
	f->body_bytes -= q->body.n;
	blob_free(&q->body);
}

static enum reason hand_on(struct front *f, struct request *q, const char *method, const char *path,
			   char about[ABOUT_MAX])
{
	_cleanup_(blob_free) struct blob message = BLOB(f->app->message_max);
	struct front_request r = { .method = method, .path = path, .body = blob_bytes(&q->body),
				   .query = query_value, .connection = q->connection, .about = about };
	uint32_t type;

	if (f->waiting_count >= FRONT_PENDING_MAX)
		return R_SERVER_BUSY;
	peer_of(q->connection, &r);
	TRY(f->app->message(&r, &type, &message));
	body_drop(f, q);

	q->id = ++f->next_id;
	q->deadline = clock_boot_ms() + FRONT_ANSWER_MS;
	struct bytes piece = blob_bytes(&message);
	enum reason sent = ipc_send(&f->ledger, type, q->id, &piece, 1, -1);
	if (sent != R_OK)
		return sent == R_INTERNAL_TOO_LARGE ? R_SERVER_BUSY : sent;
	q->progress = WAITING;
	q->next = f->waiting;
	f->waiting = q;
	f->waiting_count++;
	MHD_suspend_connection(q->connection);
	return R_OK;
}

static enum MHD_Result begin(struct listener *from, struct MHD_Connection *c, const char *method,
			     const char *path, void **con_cls)
{
	struct front *f = from->front;
	const char *length = MHD_lookup_connection_value(c, MHD_HEADER_KIND, MHD_HTTP_HEADER_CONTENT_LENGTH);
	const char *text;
	size_t limit = 0;

	if (f->app->local && f->app->local(method, path, &text)) {
		struct msg_answer a = { .status = 200, .media = MEDIA_NONE };
		return respond(c, &a, bytes_str(text));
	}
	enum reason r = f->app->limit(method, path, &limit);
	if (r == R_OK && length && strtoull(length, NULL, 10) > limit)
		r = R_FORMAT_TOO_LARGE;
	if (r != R_OK)
		return refuse(f, c, r, "");

	struct request *q = calloc(1, sizeof(*q));
	if (!q)
		return MHD_NO;
	q->from = from;
	q->connection = c;
	q->deadline = clock_boot_ms() + FRONT_BODY_MS;
	q->body = BLOB(limit);
	q->answer = BLOB(32u << 20);
	peer_get(c)->asked = true;
	*con_cls = q;
	return MHD_YES;
}

enum MHD_Result front_on_request(void *cls, struct MHD_Connection *c, const char *path, const char *method,
				 const char *version, const char *data, size_t *data_n, void **con_cls)
{
	struct listener *from = cls;
	struct front *f = from->front;
	struct request *q = *con_cls;

	(void)version;
	f->progress = true;
	if (!q)
		return begin(from, c, method, path, con_cls);
	if (q->progress == READING && *data_n > 0) {
		/* What is too much is read and thrown away, so that the peer hears why. */
		if (q->refused == R_OK) {
			q->refused = body_add(f, q, data, *data_n);
			if (q->refused != R_OK)
				body_drop(f, q);
		} else if (clock_boot_ms() > q->deadline) {
			return MHD_NO;
		}
		*data_n = 0;
		return MHD_YES;
	}
	if (q->progress == READING) {
		char about[ABOUT_MAX] = "";
		enum reason r = q->refused != R_OK ? q->refused : hand_on(f, q, method, path, about);

		if (r == R_OK)
			return MHD_YES;
		q->progress = DONE;
		return refuse(f, c, r, about);
	}
	if (q->progress == ANSWERED) {
		q->progress = DONE;
		/* The response has its own copy, which a slow reader may keep for long. */
		enum MHD_Result done = respond(c, &q->head, blob_bytes(&q->answer));
		blob_free(&q->answer);
		return done;
	}
	return MHD_YES;
}

static void waiting_remove(struct front *f, struct request *q)
{
	for (struct request **at = &f->waiting; *at; at = &(*at)->next) {
		if (*at == q) {
			*at = q->next;
			f->waiting_count--;
			return;
		}
	}
}

void front_on_completed(void *cls, struct MHD_Connection *c, void **con_cls, enum MHD_RequestTerminationCode why)
{
	struct front *f = ((struct listener *)cls)->front;
	struct request *q = *con_cls;

	(void)why;
	peer_quiet(peer_get(c));
	if (!q)
		return;
	waiting_remove(f, q);
	body_drop(f, q);
	blob_free(&q->answer);
	free(q);
	*con_cls = NULL;
}

/* ---- answers of the ledger ----------------------------------------------------------- */

static void resume(struct front *f, struct request *q)
{
	waiting_remove(f, q);
	q->progress = ANSWERED;
	q->from->busy = true;
	MHD_resume_connection(q->connection);
}

enum reason front_answer(struct front *f, uint64_t id, const struct msg_answer *head, struct bytes body)
{
	struct request *q = f->waiting;

	/* Below 200 an answer is none: the peer would wait for another. */
	if (head->status < 200 || head->status > 599 || head->media >= ARRAY_LEN(media_name))
		return R_FORMAT_RANGE;
	while (q && q->id != id)
		q = q->next;
	/* Its peer may have gone. */
	if (!q)
		return R_OK;
	TRY(blob_append(&q->answer, body.p, body.n));
	q->head = *head;
	resume(f, q);
	return R_OK;
}

void front_expire(struct front *f, uint64_t now)
{
	struct request *next;

	for (struct request *q = f->waiting; q; q = next) {
		next = q->next;
		if (q->deadline > now)
			continue;
		if (refusal_write(R_SERVER_BUSY, "", FRONT_RETRY_S, f->app->json, &q->head, &q->answer) != R_OK)
			q->head = (struct msg_answer){ .status = 500 };
		resume(f, q);
	}
}

void front_resume_all(struct front *f)
{
	while (f->waiting)
		resume(f, f->waiting);
}
