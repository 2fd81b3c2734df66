/* SPDX-License-Identifier: Apache-2.0 */
#include "base/ipc.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fd.h"

/*
 * header: magic u32, type u32, id u64, length u32, descriptors u32 (0 or 1);
 * little-endian. Both ends are one machine, but a header is read like any
 * other received bytes.
 */
static const uint32_t ipc_magic = 0x31504742; /* "BGP1" */

enum {
	BODY_KEEP = 64 << 10,	/* a larger body is given back after use */
	FDS_MAX = 4,		/* room for more than the one that is allowed */
};

struct ipc_pending {
	struct ipc_pending *next;
	int fd;
	size_t done;
	size_t n;
	uint8_t data[];
};

enum reason ipc_pair(int ret[2])
{
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0)
		return R_INTERNAL_IO;
	ret[0] = fds[0];
	ret[1] = fds[1];
	return R_OK;
}

enum reason ipc_open(struct ipc *c, int fd, const struct ipc_rule *rules, size_t count)
{
	uint32_t max = 0;

	TRY(fd_set_nonblock(fd, true));
	for (size_t i = 0; i < count; i++)
		max = rules[i].max > max ? rules[i].max : max;
	*c = IPC_NONE;
	c->fd = fd;
	c->rules = rules;
	c->rule_count = count;
	c->body = BLOB(max);
	return R_OK;
}

static void drop_first(struct ipc *c)
{
	struct ipc_pending *p = c->first;

	c->first = p->next;
	if (c->first == NULL)
		c->last = NULL;
	c->queued -= p->n;
	cleanup_fd(&p->fd);
	explicit_bzero(p->data, p->n);
	free(p);
}

void ipc_close(struct ipc *c)
{
	while (c->first != NULL)
		drop_first(c);
	blob_free(&c->body);
	cleanup_fd(&c->in_fd);
	cleanup_fd(&c->fd);
	*c = IPC_NONE;
	c->broken = R_INTERNAL_CHILD;
}

static enum reason fail(struct ipc *c, enum reason r)
{
	c->broken = r;
	return r;
}

static enum reason make_pending(uint32_t type, uint64_t id, const struct bytes *pieces,
				size_t count, int fd, struct ipc_pending **ret)
{
	struct ipc_pending *p;
	struct blob header = BLOB(IPC_HEADER_LEN);
	size_t n = 0;
	size_t at = IPC_HEADER_LEN;
	enum reason r = R_OK;

	for (size_t i = 0; i < count; i++) {
		if (pieces[i].n > IPC_QUEUE_MAX - n)
			return R_INTERNAL_TOO_LARGE;
		n += pieces[i].n;
	}
	p = malloc(sizeof(*p) + IPC_HEADER_LEN + n);
	if (p == NULL)
		return R_INTERNAL_MEMORY;
	*p = (struct ipc_pending){ .fd = -1, .n = IPC_HEADER_LEN + n };
	if (fd >= 0) {
		p->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
		if (p->fd < 0)
			r = R_INTERNAL_IO;
	}
	if (r == R_OK)
		r = blob_le32(&header, ipc_magic);
	if (r == R_OK)
		r = blob_le32(&header, type);
	if (r == R_OK)
		r = blob_le64(&header, id);
	if (r == R_OK)
		r = blob_le32(&header, (uint32_t)n);
	if (r == R_OK)
		r = blob_le32(&header, fd >= 0 ? 1 : 0);
	if (r != R_OK) {
		blob_free(&header);
		cleanup_fd(&p->fd);
		free(p);
		return r;
	}
	memcpy(p->data, header.p, IPC_HEADER_LEN);
	blob_free(&header);
	for (size_t i = 0; i < count; i++) {
		if (pieces[i].n > 0)
			memcpy(p->data + at, pieces[i].p, pieces[i].n);
		at += pieces[i].n;
	}
	*ret = p;
	return R_OK;
}

enum reason ipc_send(struct ipc *c, uint32_t type, uint64_t id, const struct bytes *pieces,
		     size_t count, int fd)
{
	struct ipc_pending *p;

	if (c->broken != R_OK)
		return c->broken;
	TRY(make_pending(type, id, pieces, count, fd, &p));
	if (p->n > IPC_QUEUE_MAX - c->queued) {
		cleanup_fd(&p->fd);
		free(p);
		return R_INTERNAL_TOO_LARGE;
	}
	if (c->last == NULL)
		c->first = p;
	else
		c->last->next = p;
	c->last = p;
	c->queued += p->n;
	return ipc_flush(c);
}

/* The descriptor travels with the first byte. */
static ssize_t send_some(int fd, struct ipc_pending *p)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec part = {
		.iov_base = p->data + p->done,
		.iov_len = p->n - p->done,
	};
	struct msghdr m = { .msg_iov = &part, .msg_iovlen = 1 };
	ssize_t put;

	if (p->fd >= 0 && p->done == 0) {
		memset(&control, 0, sizeof(control));
		control.header.cmsg_level = SOL_SOCKET;
		control.header.cmsg_type = SCM_RIGHTS;
		control.header.cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(&control.header), &p->fd, sizeof(int));
		m.msg_control = &control;
		m.msg_controllen = sizeof(control.room);
	}
	do {
		put = sendmsg(fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
	} while (put < 0 && errno == EINTR);
	return put;
}

enum reason ipc_flush(struct ipc *c)
{
	if (c->broken != R_OK)
		return c->broken;
	while (c->first != NULL) {
		ssize_t put = send_some(c->fd, c->first);

		if (put < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			return R_OK;
		if (put < 0)
			return fail(c, R_INTERNAL_CHILD);
		c->first->done += (size_t)put;
		if (c->first->done == c->first->n)
			drop_first(c);
	}
	return R_OK;
}

short ipc_events(const struct ipc *c)
{
	if (c->broken != R_OK)
		return 0;
	return c->first != NULL ? POLLIN | POLLOUT : POLLIN;
}

/*
 * Takes over what came with the bytes: one descriptor is kept, more are
 * closed and the message is refused. The kernel puts all of them into one
 * control message, and sends no other unless asked.
 */
static bool take_fds(struct ipc *c, struct msghdr *m)
{
	struct cmsghdr *h = CMSG_FIRSTHDR(m);
	bool good = (m->msg_flags & MSG_CTRUNC) == 0;
	size_t count;

	if (h == NULL || h->cmsg_level != SOL_SOCKET || h->cmsg_type != SCM_RIGHTS)
		return good;
	count = (h->cmsg_len - CMSG_LEN(0)) / sizeof(int);
	for (size_t i = 0; i < count; i++) {
		int fd;

		memcpy(&fd, CMSG_DATA(h) + i * sizeof(int), sizeof(int));
		if (c->in_fd < 0) {
			c->in_fd = fd;
		} else {
			close(fd);
			good = false;
		}
	}
	return good;
}

/* Reads up to n bytes; *ret_n is 0 when there are none now. */
static enum reason receive_some(struct ipc *c, uint8_t *to, size_t n, size_t *ret_n)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(FDS_MAX * sizeof(int))];
	} control;
	struct iovec part = { .iov_base = to, .iov_len = n };
	struct msghdr m = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control.room),
	};
	ssize_t got;

	do {
		got = recvmsg(c->fd, &m, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
	} while (got < 0 && errno == EINTR);
	*ret_n = 0;
	if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
		return R_OK;
	if (got <= 0)
		return fail(c, R_INTERNAL_CHILD);
	if (!take_fds(c, &m))
		return fail(c, R_FORMAT_TYPE);
	*ret_n = (size_t)got;
	return R_OK;
}

static enum reason check_header(struct ipc *c)
{
	struct cursor in = cursor_of(BYTES(c->header));
	uint32_t magic, type, length, fds;
	uint8_t *room;

	TRY(cursor_le32(&in, &magic));
	TRY(cursor_le32(&in, &type));
	TRY(cursor_le64(&in, &c->id));
	TRY(cursor_le32(&in, &length));
	TRY(cursor_le32(&in, &fds));
	if (magic != ipc_magic || fds > 1)
		return R_FORMAT_VERSION;
	for (size_t i = 0; i < c->rule_count && c->rule == NULL; i++) {
		if (c->rules[i].type == type)
			c->rule = &c->rules[i];
	}
	if (c->rule == NULL)
		return R_FORMAT_TYPE;
	if (length < c->rule->min)
		return R_FORMAT_TRUNCATED;
	if (length > c->rule->max)
		return R_FORMAT_TOO_LARGE;
	if (c->rule->fd && (fds == 0 || c->in_fd < 0))
		return R_FORMAT_MISSING_KEY;
	if (!c->rule->fd && (fds != 0 || c->in_fd >= 0))
		return R_FORMAT_TYPE;
	c->body.n = 0;
	c->body_n = 0;
	return blob_extend(&c->body, length, &room);
}

/* Forgets the body that the last call handed out. */
static void begin_message(struct ipc *c)
{
	if (c->body.cap > BODY_KEEP)
		blob_free(&c->body);
	else if (c->body.n > 0)
		blob_reset(&c->body);
}

static enum reason read_header(struct ipc *c)
{
	while (c->header_n < IPC_HEADER_LEN) {
		size_t got;

		if (c->header_n == 0)
			begin_message(c);
		TRY(receive_some(c, c->header + c->header_n, IPC_HEADER_LEN - c->header_n,
				 &got));
		if (got == 0)
			return R_OK;
		c->header_n += got;
	}
	if (c->rule == NULL) {
		enum reason r = check_header(c);

		if (r != R_OK)
			return fail(c, r);
	}
	return R_OK;
}

enum reason ipc_receive(struct ipc *c, struct ipc_message *ret, bool *ret_have)
{
	*ret_have = false;
	if (c->broken != R_OK)
		return c->broken;
	TRY(read_header(c));
	if (c->rule == NULL)
		return R_OK;
	while (c->body_n < c->body.n) {
		int before = c->in_fd;
		size_t got;

		TRY(receive_some(c, c->body.p + c->body_n, c->body.n - c->body_n, &got));
		if (c->in_fd != before)
			return fail(c, R_FORMAT_TYPE);
		if (got == 0)
			return R_OK;
		c->body_n += got;
	}
	*ret = (struct ipc_message){
		.type = c->rule->type,
		.id = c->id,
		.body = blob_bytes(&c->body),
		.fd = take_fd(c->in_fd),
	};
	c->rule = NULL;
	c->header_n = 0;
	*ret_have = true;
	return R_OK;
}

/* Until one of `events`, or the peer's end, or the deadline. */
static enum reason wait_for(struct ipc *c, short events, uint64_t deadline)
{
	struct pollfd p = { .fd = c->fd, .events = events };
	int n;

	do {
		n = poll(&p, 1, clock_left_ms(deadline));
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return fail(c, R_INTERNAL_IO);
	return n == 0 ? fail(c, R_INTERNAL_CHILD) : R_OK;
}

static uint64_t deadline_of(int timeout_ms)
{
	return timeout_ms < 0 ? UINT64_MAX : clock_boot_ms() + (unsigned int)timeout_ms;
}

enum reason ipc_send_wait(struct ipc *c, uint32_t type, uint64_t id,
			  const struct bytes *pieces, size_t count, int fd, int timeout_ms)
{
	uint64_t deadline = deadline_of(timeout_ms);

	TRY(ipc_send(c, type, id, pieces, count, fd));
	while (c->first != NULL) {
		TRY(wait_for(c, POLLOUT, deadline));
		TRY(ipc_flush(c));
	}
	return R_OK;
}

enum reason ipc_wait(struct ipc *c, int timeout_ms, struct ipc_message *ret)
{
	uint64_t deadline = deadline_of(timeout_ms);
	bool have;

	for (;;) {
		TRY(ipc_receive(c, ret, &have));
		if (have)
			return R_OK;
		TRY(wait_for(c, POLLIN, deadline));
	}
}
