/* SPDX-License-Identifier: Apache-2.0 */
#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/clock.h"
#include "base/log.h"
#include "server/channel.h"
#include "server/front.h"
#include "server/http_status.h"

enum progress {
	READING,	/* body is coming */
	WAITING,	/* the ledger has it, the connection is suspended */
	ANSWERED,	/* answer is here */
	DONE,		/* answer was queued */
};

struct request {
	struct front *front;
	struct MHD_Connection *connection;
	enum progress progress;
	enum reason refused;		/* of what was read */
	struct blob body;
	uint64_t id, deadline;		/* first of the body, then of the answer */
	struct msg_answer head;
	struct blob answer;
	struct request *next;		/* in the list of those that wait */
};

struct front {
	const struct front_app *app;
	struct ipc ledger;
	struct MHD_Daemon *daemon[FRONT_SOCKETS];
	int daemon_fd[FRONT_SOCKETS];
	size_t daemon_count;
	struct request *waiting;
	size_t waiting_count;
	size_t body_bytes, body_max;
	uint64_t next_id;
};

static const struct ipc_rule ledger_rules[] = {
	CHANNEL_RULE(MSG_ANSWER, struct msg_answer, 32u << 20),
};

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

/* A refusal of the front itself, in the form that this front's clients read. */
static enum reason refusal_body(const struct front_app *app, enum reason r, struct blob *ret)
{
	struct problem p;

	if (!app->json) {
		problem_of(r, 0, &p);
		return problem_write(&p, ret);
	}
	/* Names, sentences and remedies of reason.def need no escapes in JSON. */
	char text[1024];
	int n = snprintf(text, sizeof(text),
			 "{\"error\":{\"class\":\"%s\",\"reason\":\"%s\",\"remedy\":\"%s\",\"sentence\":\"%s\"}}",
			 reason_class_name(reason_class(r)), reason_name(r), reason_remedy(r),
			 reason_sentence(r));
	return blob_append(ret, text, (size_t)n);
}

static enum MHD_Result refuse(const struct front *f, struct MHD_Connection *c, enum reason r)
{
	_cleanup_(blob_free) struct blob body = BLOB(LIMIT_PROBLEM);
	struct msg_answer a = { .status = http_status(r),
				.media = f->app->json ? MEDIA_JSON : MEDIA_PROBLEM };

	if (reason_class(r) == REASON_TRANSIENT)
		a.retry_after = 2;
	if (refusal_body(f->app, r, &body) != R_OK)
		return MHD_NO;
	return respond(c, &a, blob_bytes(&body));
}

/* ---- one request ------------------------------------------------------------------ */

static const char *query_value(const struct front_request *q, const char *name)
{
	return MHD_lookup_connection_value(q->connection, MHD_GET_ARGUMENT_KIND, name);
}

static void peer_of(struct MHD_Connection *c, struct front_request *q)
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct sockaddr_storage a = { 0 };
	socklen_t n = sizeof(a);

	snprintf(q->peer, sizeof(q->peer), "unknown");
	if (!info || getpeername(info->connect_fd, (struct sockaddr *)&a, &n) != 0)
		return;
	if (a.ss_family == AF_INET) {
		inet_ntop(AF_INET, &((struct sockaddr_in *)&a)->sin_addr, q->peer, sizeof(q->peer));
	} else if (a.ss_family == AF_INET6) {
		inet_ntop(AF_INET6, &((struct sockaddr_in6 *)&a)->sin6_addr, q->peer, sizeof(q->peer));
	} else if (a.ss_family == AF_UNIX) {
		struct ucred cred;
		socklen_t len = sizeof(cred);

		if (getsockopt(info->connect_fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) != 0)
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

static enum reason hand_on(struct front *f, struct request *q, const char *method, const char *path)
{
	_cleanup_(blob_free) struct blob message = BLOB(f->app->message_max);
	struct front_request r = { .method = method, .path = path, .body = blob_bytes(&q->body),
				   .query = query_value, .connection = q->connection };
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

static enum MHD_Result begin(struct front *f, struct MHD_Connection *c, const char *method, const char *path,
			     void **con_cls)
{
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
		return refuse(f, c, r);

	struct request *q = calloc(1, sizeof(*q));
	if (!q)
		return MHD_NO;
	q->front = f;
	q->connection = c;
	q->deadline = clock_boot_ms() + FRONT_BODY_MS;
	q->body = BLOB(limit);
	q->answer = BLOB(32u << 20);
	*con_cls = q;
	return MHD_YES;
}

static enum MHD_Result on_request(void *cls, struct MHD_Connection *c, const char *path, const char *method,
				  const char *version, const char *data, size_t *data_n, void **con_cls)
{
	struct front *f = cls;
	struct request *q = *con_cls;

	(void)version;
	if (!q)
		return begin(f, c, method, path, con_cls);
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
		enum reason r = q->refused != R_OK ? q->refused : hand_on(f, q, method, path);

		if (r == R_OK)
			return MHD_YES;
		q->progress = DONE;
		return refuse(f, c, r);
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

static void on_completed(void *cls, struct MHD_Connection *c, void **con_cls, enum MHD_RequestTerminationCode why)
{
	struct request *q = *con_cls;

	(void)cls;
	(void)c;
	(void)why;
	if (!q)
		return;
	waiting_remove(q->front, q);
	body_drop(q->front, q);
	blob_free(&q->answer);
	free(q);
	*con_cls = NULL;
}

/* ---- the ledger's answers ------------------------------------------------------------ */

static void resume(struct front *f, struct request *q)
{
	waiting_remove(f, q);
	q->progress = ANSWERED;
	MHD_resume_connection(q->connection);
}

static enum reason on_answer(struct front *f, const struct ipc_message *m)
{
	struct msg_answer head;
	struct bytes body;
	struct request *q = f->waiting;

	if (!CHANNEL_SPLIT(m, head, &body))
		return R_FORMAT_TRUNCATED;
	/* Below 200 an answer is none: the peer would wait for another. */
	if (head.status < 200 || head.status > 599 || head.media >= ARRAY_LEN(media_name))
		return R_FORMAT_RANGE;
	while (q && q->id != m->id)
		q = q->next;
	/* Its peer may have gone. */
	if (!q)
		return R_OK;
	TRY(blob_append(&q->answer, body.p, body.n));
	q->head = head;
	resume(f, q);
	return R_OK;
}

static void expire(struct front *f)
{
	uint64_t now = clock_boot_ms();
	struct request *next;

	for (struct request *q = f->waiting; q; q = next) {
		next = q->next;
		if (q->deadline > now)
			continue;
		q->head = (struct msg_answer){ .status = http_status(R_SERVER_BUSY),
					       .media = f->app->json ? MEDIA_JSON : MEDIA_PROBLEM,
					       .retry_after = 2 };
		if (refusal_body(f->app, R_SERVER_BUSY, &q->answer) != R_OK)
			blob_reset(&q->answer);
		resume(f, q);
	}
}

/* ---- the loop ---------------------------------------------------------------------------- */

static void log_mhd(void *cls, const char *format, va_list args)
{
	char text[256];

	(void)cls;
	vsnprintf(text, sizeof(text), format, args);
	text[strcspn(text, "\n")] = '\0';
	log_line(LEVEL_DEBUG, "http: %s", text);
}

static enum reason daemon_open(struct front *f, const struct front_socket *s)
{
	unsigned flags = MHD_USE_EPOLL | MHD_USE_ERROR_LOG | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ITC;
	struct MHD_OptionItem tls[] = {
		{ MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)(uintptr_t)s->tls_key },
		{ MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)(uintptr_t)s->tls_certificate },
		{ MHD_OPTION_HTTPS_PRIORITIES, 0,
		  (void *)(uintptr_t)"SECURE128:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:-RSA:%NO_TICKETS" },
		{ MHD_OPTION_END, 0, NULL },
	};
	struct MHD_OptionItem none[] = { { MHD_OPTION_END, 0, NULL } };

	if (s->tls_key)
		flags |= MHD_USE_TLS;
	struct MHD_Daemon *d = MHD_start_daemon(
		flags, 0, NULL, NULL, on_request, f,
		MHD_OPTION_EXTERNAL_LOGGER, log_mhd, NULL,
		MHD_OPTION_LISTEN_SOCKET, s->fd,
		MHD_OPTION_CONNECTION_LIMIT, FRONT_CONNECTIONS,
		MHD_OPTION_CONNECTION_TIMEOUT, FRONT_IDLE_S,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)(16u << 10),
		MHD_OPTION_NOTIFY_COMPLETED, on_completed, NULL,
		MHD_OPTION_ARRAY, s->tls_key ? tls : none,
		MHD_OPTION_END);
	if (!d)
		return log_reason(R_INTERNAL_IO, "the %s front cannot start its HTTP server", f->app->name);
	const union MHD_DaemonInfo *info = MHD_get_daemon_info(d, MHD_DAEMON_INFO_EPOLL_FD);
	f->daemon[f->daemon_count] = d;
	f->daemon_fd[f->daemon_count] = info ? info->epoll_fd : -1;
	f->daemon_count++;
	return info ? R_OK : R_INTERNAL_IO;
}

enum reason front_open(const struct front_config *conf, struct front **ret)
{
	_cleanup_(front_free) struct front *f = calloc(1, sizeof(*f));

	if (!f)
		return R_INTERNAL_MEMORY;
	f->app = conf->app;
	f->body_max = conf->body_bytes;
	f->ledger = IPC_NONE;
	TRY(ipc_open(&f->ledger, conf->ledger, ledger_rules, ARRAY_LEN(ledger_rules)));
	for (size_t i = 0; i < conf->socket_count; i++)
		TRY(daemon_open(f, &conf->socket[i]));
	*ret = take_ptr(f);
	return R_OK;
}

void front_free(struct front **f)
{
	if (!*f)
		return;
	while ((*f)->waiting)
		resume(*f, (*f)->waiting);
	for (size_t i = 0; i < (*f)->daemon_count; i++)
		MHD_stop_daemon((*f)->daemon[i]);
	ipc_close(&(*f)->ledger);
	free(*f);
	*f = NULL;
}

static int timeout_of(const struct front *f)
{
	MHD_UNSIGNED_LONG_LONG shortest = 1000;

	for (size_t i = 0; i < f->daemon_count; i++) {
		MHD_UNSIGNED_LONG_LONG ms;

		if (MHD_get_timeout(f->daemon[i], &ms) == MHD_YES && ms < shortest)
			shortest = ms;
	}
	return (int)shortest;
}

static enum reason turn(struct front *f)
{
	struct pollfd fds[1 + FRONT_SOCKETS];
	struct ipc_message m;
	bool have = true;
	nfds_t n = 0;

	fds[n++] = (struct pollfd){ f->ledger.fd, ipc_events(&f->ledger), 0 };
	for (size_t i = 0; i < f->daemon_count; i++)
		fds[n++] = (struct pollfd){ f->daemon_fd[i], POLLIN, 0 };
	if (poll(fds, n, timeout_of(f)) < 0 && errno != EINTR)
		return R_INTERNAL_IO;
	while (have) {
		TRY(ipc_receive(&f->ledger, &m, &have));
		if (have)
			TRY(on_answer(f, &m));
	}
	TRY(ipc_flush(&f->ledger));
	expire(f);
	for (size_t i = 0; i < f->daemon_count; i++)
		if (MHD_run(f->daemon[i]) != MHD_YES)
			return R_INTERNAL_IO;
	return R_OK;
}

enum reason front_run(struct front *f)
{
	for (;;)
		TRY(turn(f));
}
