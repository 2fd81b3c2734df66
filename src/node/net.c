/* SPDX-License-Identifier: Apache-2.0 */
#include "node/net.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/ipc.h"
#include "base/log.h"
#include "base/proc.h"
#include "node/net_root.h"

#define CALL_MS 30000u
#define ATTEST_MS 60000u
#define FAILURE_MS 10000u
#define SETUP_MS 5000u
/*
 * The child has a deadline of its own; ours is later, so it fires only when
 * the child hangs (its resolver cannot be interrupted) or lies.
 */
#define GRACE_MS 5000u
/* No byte of an artifact for so long: the child's own limit is lower. */
#define SILENCE_MS 90000u
#define TICK_MS 1000
#define PIPE_SIZE (1 << 20)
#define CHUNK (256u << 10)

struct net {
	struct proc proc;
	struct ipc ipc;
	uint64_t next_id;
	struct net_setup setup;
	struct blob ca;
	struct net_failed failed;
	uint64_t wait_ms;
	unsigned hurry;
	void (*tick)(void *ctx);
	void *ctx;
};

/* What the child may send at all; call() checks that it is what was asked. */
static const struct ipc_rule rules[] = {
	{ NET_FAILED, sizeof(struct net_failed), sizeof(struct net_failed), false },
	{ NET_DONE, sizeof(struct net_done), sizeof(struct net_done), false },
	{ NET_CHALLENGED, sizeof(struct net_challenge), sizeof(struct net_challenge), false },
	{ NET_ENROLLED, sizeof(struct net_enrolled), sizeof(struct net_enrolled), false },
	{ NET_JUDGED, 1, LIMIT_VERDICT, false },
	{ NET_MANIFESTED, 1, LIMIT_MANIFEST, false },
	{ NET_RECEIVED, SHA256_LEN, SHA256_LEN, false },
};

/*
 * A fresh program image: nothing of the root process' memory, not even its
 * layout, is in the child.
 */
static _Noreturn void become_child(int fd)
{
	static char name[] = "bootgate", command[] = "net-child";
	char *const argv[] = { name, command, NULL };
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0 || dup2(null, 2) < 0)
		_exit(1);
	/* dup2 to itself would leave close-on-exec set */
	if (fd == NET_CHILD_FD ? fcntl(fd, F_SETFD, 0) < 0 : dup2(fd, NET_CHILD_FD) < 0)
		_exit(1);
	execve("/proc/self/exe", argv, environ);
	_exit(1);
}

static enum reason spawn(struct net *n)
{
	int ends[2];
	enum reason r;

	TRY(ipc_pair(ends));
	r = proc_fork(&ends[1], 1, &n->proc);
	if (r == R_OK && n->proc.pid == 0)
		become_child(ends[1]);
	close(ends[1]);
	if (r != R_OK) {
		close(ends[0]);
		return r;
	}
	return ipc_open(&n->ipc, ends[0], rules, ARRAY_LEN(rules));
}

enum reason net_start(void (*tick)(void *ctx), void *ctx, struct net **ret)
{
	struct net *n = calloc(1, sizeof(*n));
	enum reason r;

	if (!n)
		return R_INTERNAL_MEMORY;
	*n = (struct net){
		.proc = PROC_NONE,
		.ipc = IPC_NONE,
		.next_id = 1,
		.hurry = 1,
		.ca = BLOB(LIMIT_CONF),
		.tick = tick,
		.ctx = ctx,
	};
	r = net_root_make();
#ifdef BOOTGATE_TEST
	if (geteuid() != 0)
		r = R_OK;
#endif
	if (r == R_OK)
		r = spawn(n);
	if (r != R_OK) {
		net_stop(&n);
		return r;
	}
	*ret = n;
	return R_OK;
}

static void end_child(struct net *n)
{
	proc_kill(&n->proc);
	ipc_close(&n->ipc);
}

void net_stop(struct net **net)
{
	if (!*net)
		return;
	end_child(*net);
	blob_free(&(*net)->ca);
	free(*net);
	*net = NULL;
}

/* Waits in short pieces, so that the watchdog sees that we live. */
static enum reason wait_answer(struct net *n, uint64_t deadline, struct ipc_message *ret)
{
	for (;;) {
		struct pollfd p = { n->ipc.fd, ipc_events(&n->ipc), 0 };
		int left = clock_left_ms(deadline);
		bool have;

		TRY(ipc_receive(&n->ipc, ret, &have));
		if (have)
			return R_OK;
		TRY(ipc_flush(&n->ipc));
		if (left == 0)
			return R_NET_TIMEOUT;
		p.events = ipc_events(&n->ipc);
		if (poll(&p, 1, left < TICK_MS ? left : TICK_MS) == 0 && n->tick)
			n->tick(n->ctx);
	}
}

/* One request, and the one answer that is due: `type`, or NET_FAILED. */
static enum reason exchange(struct net *n, uint32_t request, const struct bytes *pieces,
			    size_t count, unsigned timeout_ms, uint32_t type,
			    struct ipc_message *ret)
{
	uint64_t id = n->next_id++, start = clock_boot_ms();
	enum reason r;

	n->failed = (struct net_failed){ 0 };
	TRY(ipc_send(&n->ipc, request, id, pieces, count, -1));
	r = wait_answer(n, start + timeout_ms + GRACE_MS / n->hurry, ret);
	n->wait_ms += clock_boot_ms() - start;
	if (r == R_NET_TIMEOUT)
		return r;
	if (r != R_OK || ret->id != id || (ret->type != type && ret->type != NET_FAILED))
		return R_INTERNAL_CHILD;
	return R_OK;
}

static enum reason failed_of(struct net *n, const struct ipc_message *m)
{
	memcpy(&n->failed, m->body.p, sizeof(n->failed));
	if (net_failed_check(&n->failed)) {
		n->failed = (struct net_failed){ 0 };
		return R_INTERNAL_CHILD;
	}
	/* these words reach a console: only what is harmless there */
	for (char *p = n->failed.text; *p; p++)
		if (*p < 0x20 || *p > 0x7e)
			*p = '?';
	if (n->failed.status || n->failed.code)
		log_info("%s: status %u, code %u", reason_name((enum reason)n->failed.reason),
			 (unsigned)n->failed.status, (unsigned)n->failed.code);
	return (enum reason)n->failed.reason;
}

static enum reason send_setup(struct net *n)
{
	struct bytes pieces[] = { bytes_of(&n->setup, sizeof(n->setup)), blob_bytes(&n->ca) };
	struct ipc_message m;

	TRY(exchange(n, NET_SETUP, pieces, 2, SETUP_MS, NET_DONE, &m));
	return m.type == NET_DONE ? R_OK : failed_of(n, &m);
}

/* A new child in place of one that hangs, lies or is gone. */
static enum reason replace(struct net *n)
{
	log_warn("net child is replaced");
	end_child(n);
	TRY(spawn(n));
	return send_setup(n);
}

static enum reason call(struct net *n, uint32_t request, const struct bytes *pieces,
			size_t count, unsigned timeout_ms, uint32_t type,
			struct ipc_message *ret)
{
	enum reason r = exchange(n, request, pieces, count, timeout_ms, type, ret);

	if (r == R_OK && ret->type == NET_FAILED)
		r = failed_of(n, ret);
	else if (r == R_OK)
		return R_OK;
	if (r == R_INTERNAL_CHILD || n->failed.reason == 0)
		if (replace(n))
			return R_INTERNAL_CHILD;
	return r;
}

static enum reason post(struct net *n, uint32_t request, struct bytes body,
			unsigned timeout_ms, uint32_t type, struct ipc_message *ret)
{
	struct net_request head = { timeout_ms };
	struct bytes pieces[] = { bytes_of(&head, sizeof(head)), body };

	return call(n, request, pieces, 2, timeout_ms, type, ret);
}

enum reason net_setup(struct net *n, const char *server_url, const char *mirror_url,
		      struct bytes ca)
{
	if (strlen(server_url) >= LIMIT_URL || strlen(mirror_url) >= LIMIT_URL)
		return R_CONF_VALUE;
	memset(&n->setup, 0, sizeof(n->setup));
	snprintf(n->setup.server_url, LIMIT_URL, "%s", server_url);
	snprintf(n->setup.mirror_url, LIMIT_URL, "%s", mirror_url);
	blob_reset(&n->ca);
	TRY(blob_append(&n->ca, ca.p, ca.n));
	return send_setup(n);
}

enum reason net_challenge(struct net *n, struct bytes request, struct net_challenge *ret)
{
	struct net_challenge out;
	struct ipc_message m;

	TRY(post(n, NET_CHALLENGE, request, CALL_MS / n->hurry, NET_CHALLENGED, &m));
	memcpy(&out, m.body.p, sizeof(out));
	TRY(net_challenge_check(&out));
	*ret = out;
	return R_OK;
}

enum reason net_enrol(struct net *n, struct bytes request, struct net_enrolled *ret)
{
	struct ipc_message m;

	TRY(post(n, NET_ENROL, request, ATTEST_MS / n->hurry, NET_ENROLLED, &m));
	memcpy(ret, m.body.p, sizeof(*ret));
	return net_enrolled_check(ret);
}

enum reason net_attest(struct net *n, struct bytes evidence, struct blob *ret)
{
	struct ipc_message m;

	TRY(post(n, NET_ATTEST, evidence, ATTEST_MS / n->hurry, NET_JUDGED, &m));
	return blob_append(ret, m.body.p, m.body.n);
}

enum reason net_manifest(struct net *n, const uint8_t digest[SHA256_LEN], struct blob *ret)
{
	struct ipc_message m;

	TRY(post(n, NET_MANIFEST, bytes_of(digest, SHA256_LEN), CALL_MS / n->hurry, NET_MANIFESTED, &m));
	return blob_append(ret, m.body.p, m.body.n);
}

enum reason net_receipt(struct net *n, struct bytes receipt, unsigned timeout_ms,
			uint8_t ret[SHA256_LEN])
{
	struct ipc_message m;

	TRY(post(n, NET_RECEIPT, receipt, timeout_ms, NET_RECEIVED, &m));
	memcpy(ret, m.body.p, SHA256_LEN);
	return R_OK;
}

enum reason net_failure(struct net *n, struct bytes failure)
{
	struct ipc_message m;

	return post(n, NET_FAILURE, failure, FAILURE_MS / n->hurry, NET_DONE, &m);
}

/* Everything that comes out of the pipe, until its other end is closed. */
static enum reason drain(struct net *n, int fd,
			 enum reason (*take)(void *ctx, struct bytes piece), void *ctx)
{
	_cleanup_free_ uint8_t *chunk = malloc(CHUNK);
	uint64_t deadline = clock_boot_ms() + SILENCE_MS / n->hurry;

	if (!chunk)
		return R_INTERNAL_MEMORY;
	for (;;) {
		struct pollfd p = { fd, POLLIN, 0 };
		ssize_t got;

		if (poll(&p, 1, TICK_MS) <= 0) {
			if (n->tick)
				n->tick(n->ctx);
			if (clock_left_ms(deadline) == 0)
				return R_NET_STALLED;
			continue;
		}
		got = read(fd, chunk, CHUNK);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return R_INTERNAL_IO;
		if (got == 0)
			return R_OK;
		TRY(take(ctx, bytes_of(chunk, (size_t)got)));
		deadline = clock_boot_ms() + SILENCE_MS / n->hurry;
		if (n->tick)
			n->tick(n->ctx);
	}
}

static enum reason start_fetch(struct net *n, const uint8_t digest[SHA256_LEN],
			       uint64_t offset, int *ret_fd, uint64_t *ret_id)
{
	struct net_request head = { 0 };
	struct net_fetch fetch = { .offset = offset };
	struct bytes pieces[] = { bytes_of(&head, sizeof(head)), bytes_of(&fetch, sizeof(fetch)) };
	int ends[2];
	enum reason r;

	memcpy(fetch.sha256, digest, SHA256_LEN);
	if (pipe2(ends, O_CLOEXEC) < 0)
		return R_INTERNAL_IO;
	fcntl(ends[0], F_SETPIPE_SZ, PIPE_SIZE);	/* faster, not needed */
	*ret_id = n->next_id++;
	n->failed = (struct net_failed){ 0 };
	r = ipc_send_wait(&n->ipc, NET_FETCH, *ret_id, pieces, 2, ends[1], (int)SETUP_MS);
	close(ends[1]);
	if (r != R_OK) {
		close(ends[0]);
		return R_INTERNAL_CHILD;
	}
	*ret_fd = ends[0];
	return R_OK;
}

static enum reason end_fetch(struct net *n, uint64_t id)
{
	struct ipc_message m;
	enum reason r = wait_answer(n, clock_boot_ms() + GRACE_MS / n->hurry, &m);

	if (r == R_NET_TIMEOUT)
		return R_NET_STALLED;
	if (r != R_OK || m.id != id || (m.type != NET_DONE && m.type != NET_FAILED))
		return R_INTERNAL_CHILD;
	return m.type == NET_DONE ? R_OK : failed_of(n, &m);
}

enum reason net_fetch(struct net *n, const uint8_t digest[SHA256_LEN], uint64_t offset,
		      enum reason (*take)(void *ctx, struct bytes piece), void *ctx)
{
	uint64_t id, start = clock_boot_ms();
	enum reason r, told;
	int fd;

	TRY(start_fetch(n, digest, offset, &fd, &id));
	r = drain(n, fd, take, ctx);
	close(fd);
	told = r == R_NET_STALLED ? r : end_fetch(n, id);
	n->wait_ms += clock_boot_ms() - start;
	if (told == R_INTERNAL_CHILD || (told != R_OK && n->failed.reason == 0))
		if (replace(n))
			return R_INTERNAL_CHILD;
	/* when we closed the pipe, the child's complaint about it is no news */
	return r != R_OK ? r : told;
}

const struct net_failed *net_last_failure(const struct net *n)
{
	return &n->failed;
}

void net_hurry(struct net *net, unsigned n)
{
	net->hurry = n;
}

uint64_t net_wait_ms(const struct net *n)
{
	return n->wait_ms;
}
