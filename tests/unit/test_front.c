/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Both fronts between HTTP clients and a ledger that is taken over: what is
 * no answer ends the front, what is one changes nothing but its own response.
 * And what a front owes its clients by itself: denial, and its budget.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "base/proc.h"
#include "ending.h"
#include "format/challenge.h"
#include "server/channel.h"
#include "server/front.h"
#include "unit.h"

enum { PATIENCE_MS = 30000, BUDGET = 64 << 10, RESPONSE_MAX = 16 << 10 };

static const struct ipc_rule front_rules[] = {
	CHANNEL_RULE(MSG_CHALLENGE, struct msg_challenge, 0),
	CHANNEL_RULE(MSG_FAILURE, struct msg_failure, LIMIT_FAILURE_LOG),
	CHANNEL_RULE(MSG_ADMIN, struct msg_admin, LIMIT_REFERENCE_SET),
};

struct scene {
	const struct front_app *app;
	struct proc front;
	struct ipc ledger;
	struct sockaddr_in at;
	char response[RESPONSE_MAX];	/* head, NUL, body, NUL */
	struct bytes body;
};

static void front_start(struct scene *s)
{
	socklen_t n = sizeof(s->at);
	int ledger[2], fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	assert_true(fd >= 0);
	s->at = (struct sockaddr_in){ .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	assert_int_equal(bind(fd, (struct sockaddr *)&s->at, sizeof(s->at)), 0);
	assert_int_equal(listen(fd, 64), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&s->at, &n), 0);
	ending_expected();
	assert_ok(ipc_pair(ledger));
	int keep[] = { ledger[1], fd };
	assert_ok(proc_fork(keep, ARRAY_LEN(keep), &s->front));
	if (s->front.pid == 0) {
		struct front_config c = { .app = s->app, .ledger = keep[0], .socket_count = 1,
					  .socket = { { .fd = keep[1] } }, .body_bytes = BUDGET };
		struct front *f = NULL;

		signal(SIGPIPE, SIG_IGN);
		enum reason r = front_open(&c, &f);
		ending_tell(r == R_OK ? front_run(f) : r);
	}
	close(keep[0]);
	close(keep[1]);
	assert_ok(ipc_open(&s->ledger, ledger[0], front_rules, ARRAY_LEN(front_rules)));
}

static void front_stop(struct scene *s)
{
	ipc_close(&s->ledger);
	proc_kill(&s->front);
}

static int begin_as(void **state, const struct front_app *app)
{
	struct scene *s = calloc(1, sizeof(*s));

	assert_non_null(s);
	s->app = app;
	front_start(s);
	*state = s;
	return 0;
}

static int begin(void **state)
{
	return begin_as(state, &front_node_app);
}
static int begin_admin(void **state)
{
	return begin_as(state, &front_admin_app);
}

static int end(void **state)
{
	struct scene *s = *state;

	front_stop(s);
	free(s);
	return 0;
}

static void assert_ended(struct scene *s, enum reason r)
{
	assert_reason(r, ending_of(&s->front, PATIENCE_MS));
	front_stop(s);
	front_start(s);
}

/* ---- client ------------------------------------------------------------------- */

static int dial(struct scene *s)
{
	struct timeval patience = { PATIENCE_MS / 1000, 0 };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)), 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&s->at, sizeof(s->at)), 0);
	return fd;
}

/* All of the head, and `n` of the `length` bytes of the body. */
static int ask_part(struct scene *s, const char *what, size_t length, const void *body, size_t n)
{
	char head[256];
	int fd = dial(s);
	int len = snprintf(head, sizeof(head), "%s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
			   "Content-Length: %zu\r\n\r\n", what, length);

	assert_int_equal(send(fd, head, (size_t)len, MSG_NOSIGNAL), len);
	assert_int_equal(send(fd, body, n, MSG_NOSIGNAL), n);
	return fd;
}

static int challenge(struct scene *s)
{
	_cleanup_(blob_free) struct blob body = BLOB(LIMIT_CHALLENGE);
	const struct challenge_request r = { .stage = STAGE_GATE };

	assert_ok(challenge_request_write(&r, &body));
	return ask_part(s, "POST /v1/challenge", body.n, body.p, body.n);
}

/* Reads to the end: status, and where the body begins. 0: no response at all. */
static unsigned response(struct scene *s, int fd, const char **ret_body)
{
	unsigned status = 0;
	size_t have = 0;
	ssize_t n;

	while ((n = recv(fd, s->response + have, RESPONSE_MAX - 1 - have, 0)) > 0)
		have += (size_t)n;
	close(fd);
	s->response[have] = '\0';
	sscanf(s->response, "HTTP/1.1 %u", &status);
	char *body = strstr(s->response, "\r\n\r\n");
	if (body) {
		body[2] = '\0';
		body += 4;
		s->body = bytes_of(body, have - (size_t)(body - s->response));
	}
	if (ret_body)
		*ret_body = body;
	return status;
}

/* The header's value; NULL where there is none. */
static const char *header(struct scene *s, const char *name)
{
	static char value[128];
	const char *at = strcasestr(s->response, name);

	if (!at)
		return NULL;
	assert_int_equal(sscanf(at + strlen(name), ": %127[^\r]", value), 1);
	return value;
}

static unsigned headers(struct scene *s)
{
	unsigned n = 0;

	for (const char *p = s->response; (p = strstr(p, "\r\n")); p += 2)
		n++;
	return n - 1;
}

/* ---- ledger --------------------------------------------------------------------- */

static uint64_t asked(struct scene *s, uint32_t type)
{
	struct ipc_message m;

	assert_ok(ipc_wait(&s->ledger, PATIENCE_MS, &m));
	assert_int_equal(m.type, type);
	return m.id;
}

static void answer(struct scene *s, uint64_t id, struct msg_answer a, const char *body)
{
	a.tail = (uint32_t)strlen(body);
	assert_ok(channel_send(&s->ledger, MSG_ANSWER, id, &a, sizeof(a), bytes_str(body)));
}

static void assert_serves(struct scene *s)
{
	const char *body;
	int client = challenge(s);

	answer(s, asked(s, MSG_CHALLENGE), (struct msg_answer){ .status = 200, .media = MEDIA_CBOR }, "good");
	assert_int_equal(response(s, client, &body), 200);
	assert_string_equal(body, "good");
	assert_string_equal(header(s, "Content-Type"), "application/cbor");
}

/* ---- answers that are none ---------------------------------------------------------- */

static void out_of_form(void **state)
{
	static const struct {
		uint32_t type;
		uint32_t len;		/* as the header says */
		uint32_t fds;
		uint32_t tail;
		enum reason ends;
	} d[] = {
		{ MSG_ADMIN, sizeof(struct msg_admin), 0, 0, R_FORMAT_TYPE },
		{ MSG_CHALLENGE, sizeof(struct msg_challenge), 0, 0, R_FORMAT_TYPE },
		{ MSG_JUDGE, sizeof(struct msg_judge), 0, 0, R_FORMAT_TYPE },
		{ MSG_WORKER, 0, 0, 0, R_FORMAT_TYPE },
		{ MSG_ANSWER, sizeof(struct msg_answer) - 1, 0, 0, R_FORMAT_TRUNCATED },
		{ MSG_ANSWER, sizeof(struct msg_answer) + (32u << 20) + 1, 0, 0, R_FORMAT_TOO_LARGE },
		{ MSG_ANSWER, UINT32_MAX, 0, 0, R_FORMAT_TOO_LARGE },
		{ MSG_ANSWER, sizeof(struct msg_answer), 0, 1, R_FORMAT_TRUNCATED },
		{ MSG_ANSWER, sizeof(struct msg_answer) + 1, 0, UINT32_MAX, R_FORMAT_TRUNCATED },
		{ MSG_ANSWER, sizeof(struct msg_answer), 1, 0, R_FORMAT_TYPE },
	};
	struct scene *s = *state;

	for (size_t i = 0; i < ARRAY_LEN(d); i++) {
		struct {
			uint32_t magic, type;
			uint64_t id;
			uint32_t len, fds;
			struct msg_answer a;
			uint8_t more;
		} m = { .magic = 0x31504742, .type = d[i].type, .len = d[i].len, .fds = d[i].fds,
			.a = { .status = 200, .tail = d[i].tail } };
		int client = challenge(s);

		m.id = asked(s, MSG_CHALLENGE);
		size_t n = offsetof(__typeof__(m), a) + (d[i].len <= sizeof(m.a) + 1 ? d[i].len : 0);
		assert_int_equal(write(s->ledger.fd, &m, n), n);
		assert_ended(s, d[i].ends);
		assert_int_equal(response(s, client, NULL), 0);
	}
	assert_int_equal(write(s->ledger.fd, "HTTP/1.1 200 OK\r\nX-Evil: 1\r\n\r\n", 30), 30);
	assert_ended(s, R_FORMAT_VERSION);
	assert_serves(s);
}

static void out_of_range(void **state)
{
	static const struct msg_answer a[] = {
		{ .status = 0 },
		{ .status = 99 },
		{ .status = 100 },
		{ .status = 101 },
		{ .status = 199 },
		{ .status = 600 },
		{ .status = UINT16_MAX },
		{ .status = 200, .media = MEDIA_JSON + 1 },
		{ .status = 200, .media = (enum media)UINT32_MAX },
	};
	struct scene *s = *state;

	for (size_t i = 0; i < ARRAY_LEN(a); i++) {
		int client = challenge(s);

		answer(s, asked(s, MSG_CHALLENGE), a[i], "body");
		assert_ended(s, R_FORMAT_RANGE);
		assert_int_equal(response(s, client, NULL), 0);
	}
	assert_serves(s);
}

/* ---- answers to others ------------------------------------------------------------------ */

static void for_nobody_and_twice(void **state)
{
	const struct msg_answer good = { .status = 200, .media = MEDIA_CBOR }, bad = { .status = 500 };
	struct scene *s = *state;
	const char *body;
	int first = challenge(s);
	uint64_t id = asked(s, MSG_CHALLENGE);
	int second = challenge(s);
	uint64_t other = asked(s, MSG_CHALLENGE);

	answer(s, 0, bad, "nobody's");
	answer(s, other + 1, bad, "nobody's yet");
	answer(s, UINT64_MAX, bad, "nobody's");
	answer(s, id, good, "first");
	answer(s, id, bad, "again");
	assert_int_equal(response(s, first, &body), 200);
	assert_string_equal(body, "first");
	answer(s, id, bad, "and again");
	answer(s, other, good, "second");
	assert_int_equal(response(s, second, &body), 200);
	assert_string_equal(body, "second");

	/* whose client went away meanwhile */
	first = challenge(s);
	id = asked(s, MSG_CHALLENGE);
	close(first);
	answer(s, id, good, "late");
	assert_serves(s);
}

/* Nothing that the ledger says becomes a header but three numbers. */
static void no_header_out_of_a_body(void **state)
{
	static const char evil[] = "\r\nX-Evil: 1\r\nContent-Length: 0\r\n\r\nHTTP/1.1 200 OK\r\n\r\n";
	struct scene *s = *state;
	const char *body;
	char length[16];
	int client = challenge(s);

	answer(s, asked(s, MSG_CHALLENGE),
	       (struct msg_answer){ .status = 503, .media = MEDIA_PROBLEM, .retry_after = UINT32_MAX }, evil);
	assert_int_equal(response(s, client, &body), 503);
	assert_string_equal(body, evil);
	snprintf(length, sizeof(length), "%zu", strlen(evil));
	assert_string_equal(header(s, "Content-Length"), length);
	assert_string_equal(header(s, "Retry-After"), "4294967295");
	assert_string_equal(header(s, "Content-Type"), "application/concise-problem-details+cbor");
	assert_string_equal(header(s, "Cache-Control"), "no-store");
	assert_null(header(s, "X-Evil"));
	/* these, Date and Connection */
	assert_int_equal(headers(s), 6);
}

/* ---- by itself ------------------------------------------------------------------------------ */

static enum reason told(const struct scene *s)
{
	struct problem p;
	enum reason r;

	assert_ok(problem_read(s->body, &p));
	assert_true(reason_find(p.reason, &r));
	return r;
}

/*
 * Peers that send half of a body and wait use up what there is for bodies:
 * the next one hears "busy", small requests go on, and what they held comes
 * back when they go.
 */
static void half_bodies(void **state)
{
	enum { PEERS = 8, EACH = BUDGET / PEERS - 200, LENGTH = 20000 };
	static const uint8_t zeros[LENGTH];
	struct scene *s = *state;
	int peer[PEERS];

	for (size_t i = 0; i < PEERS; i++)
		peer[i] = ask_part(s, "POST /v1/failure", LENGTH, zeros, EACH);
	/* They were all read: this one comes behind them. */
	assert_serves(s);
	int late = ask_part(s, "POST /v1/failure", LENGTH, zeros, LENGTH);
	assert_int_equal(response(s, late, NULL), 503);
	assert_reason(R_SERVER_BUSY, told(s));
	assert_string_equal(header(s, "Retry-After"), "2");
	assert_serves(s);
	for (size_t i = 0; i < PEERS; i++)
		close(peer[i]);
	/* Read in full, and found to be nothing; their end may be seen a little later. */
	unsigned status = 503;
	for (size_t i = 0; i < 1000 && status == 503; i++) {
		late = ask_part(s, "POST /v1/failure", LENGTH, zeros, LENGTH);
		status = response(s, late, NULL);
	}
	assert_reason(R_FORMAT_TYPE, told(s));
	assert_serves(s);
}

/* Who asks is known on a Unix socket only. */
static void denied(void **state)
{
	struct scene *s = *state;
	struct ipc_message m;
	const char *body;
	bool have;

	assert_int_equal(response(s, ask_part(s, "GET /v1/admin/status", 0, "", 0), &body), 403);
	assert_non_null(strstr(body, "\"reason\":\"server.denied\""));
	assert_int_equal(response(s, ask_part(s, "POST /v1/admin/node/n1/approve", 2, "{}", 2), &body), 403);
	assert_non_null(strstr(body, "\"reason\":\"server.denied\""));
	assert_ok(ipc_receive(&s->ledger, &m, &have));
	assert_false(have);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
#define SCENE(f) cmocka_unit_test_setup_teardown(f, begin, end)
		SCENE(out_of_form),
		SCENE(out_of_range),
		SCENE(for_nobody_and_twice),
		SCENE(no_header_out_of_a_body),
		SCENE(half_bodies),
		cmocka_unit_test_setup_teardown(denied, begin_admin, end),
	};

	log_set_sinks(NULL, 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
