/* SPDX-License-Identifier: Apache-2.0 */
/* A channel with an honest peer, and with one that was taken over. */
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/ipc.h"
#include "unit.h"

enum { PING = 1, BIG = 2, WITH_FD = 3, EXACT = 4 };

static const struct ipc_rule rules[] = {
	{ PING, 0, 16, false },
	{ BIG, 0, 4 << 20, false },
	{ WITH_FD, 0, 16, true },
	{ EXACT, 8, 8, false },
};

struct both {
	struct ipc a, b;
};

static int make_both(void **state)
{
	static struct both c;
	int fds[2];

	if (ipc_pair(fds) != R_OK || ipc_open(&c.a, fds[0], rules, ARRAY_LEN(rules)) != R_OK ||
	    ipc_open(&c.b, fds[1], rules, ARRAY_LEN(rules)) != R_OK)
		return -1;
	*state = &c;
	return 0;
}

static int close_both(void **state)
{
	struct both *c = *state;

	ipc_close(&c->a);
	ipc_close(&c->b);
	return 0;
}

static enum reason send_text(struct ipc *c, uint32_t type, uint64_t id, const char *text)
{
	struct bytes piece = bytes_str(text);

	return ipc_send(c, type, id, &piece, 1, -1);
}

static void test_message(void **state)
{
	struct both *c = *state;
	const struct bytes pieces[] = { bytes_str("he"), BYTES_NONE, bytes_str("llo") };
	struct ipc_message m;
	bool have;

	assert_ok(ipc_receive(&c->b, &m, &have));
	assert_false(have);
	assert_ok(ipc_send(&c->a, PING, 0x0123456789abcdef, pieces, 3, -1));
	assert_ok(send_text(&c->a, EXACT, 2, "12345678"));
	assert_ok(ipc_receive(&c->b, &m, &have));
	assert_true(have);
	assert_int_equal(m.type, PING);
	assert_true(m.id == 0x0123456789abcdef);
	assert_bytes(m.body, "hello", 5);
	assert_int_equal(m.fd, -1);
	assert_ok(ipc_wait(&c->b, 1000, &m));
	assert_int_equal(m.type, EXACT);
	assert_bytes(m.body, "12345678", 8);
	assert_ok(ipc_receive(&c->b, &m, &have));
	assert_false(have);
	/* the other way */
	assert_ok(ipc_send(&c->b, PING, 3, NULL, 0, -1));
	assert_ok(ipc_wait(&c->a, 1000, &m));
	assert_int_equal(m.body.n, 0);
	assert_int_equal(m.id, 3);
}

static void test_descriptor(void **state)
{
	struct both *c = *state;
	struct ipc_message m;
	char text[4];
	int p[2];

	assert_int_equal(pipe(p), 0);
	assert_ok(send_text(&c->a, PING, 1, "before"));
	assert_ok(ipc_send(&c->a, WITH_FD, 2, NULL, 0, p[0]));
	assert_ok(send_text(&c->a, PING, 3, "after"));
	close(p[0]);
	assert_ok(ipc_wait(&c->b, 1000, &m));
	assert_int_equal(m.fd, -1);
	assert_ok(ipc_wait(&c->b, 1000, &m));
	assert_int_equal(m.type, WITH_FD);
	assert_true(m.fd >= 0);
	assert_int_equal(fcntl(m.fd, F_GETFD), FD_CLOEXEC);
	assert_int_equal(write(p[1], "abc", 3), 3);
	assert_int_equal(read(m.fd, text, 4), 3);
	close(m.fd);
	close(p[1]);
	assert_ok(ipc_wait(&c->b, 1000, &m));
	assert_int_equal(m.fd, -1);
	assert_bytes(m.body, "after", 5);
}

/* More than the socket holds: it waits in the queue, in order. */
static void test_slow_peer(void **state)
{
	struct both *c = *state;
	struct ipc_message m;
	size_t n = 3 << 20;
	uint8_t *big = malloc(n);
	struct bytes piece = { big, n };
	bool have = false;

	assert_non_null(big);
	for (size_t i = 0; i < n; i++)
		big[i] = (uint8_t)(i * 31 >> 3);
	assert_int_equal(ipc_events(&c->a), POLLIN);
	assert_ok(ipc_send(&c->a, BIG, 1, &piece, 1, -1));
	assert_ok(send_text(&c->a, PING, 2, "behind"));
	assert_int_equal(ipc_events(&c->a), POLLIN | POLLOUT);
	while (!have) {
		assert_ok(ipc_receive(&c->b, &m, &have));
		assert_ok(ipc_flush(&c->a));
	}
	assert_bytes(m.body, big, n);
	assert_ok(ipc_wait(&c->b, 1000, &m));
	assert_bytes(m.body, "behind", 6);
	assert_int_equal(ipc_events(&c->a), POLLIN);
	free(big);
}

static void test_queue_ceiling(void **state)
{
	struct both *c = *state;
	size_t n = 4 << 20;
	uint8_t *big = calloc(1, n);
	const struct bytes pieces[] = { { big, n }, { big, n }, { big, n }, { big, n } };

	/* more than fits at all */
	assert_reason(R_INTERNAL_TOO_LARGE, ipc_send(&c->a, BIG, 1, pieces, 4, -1));
	assert_int_equal(c->a.queued, 0);
	for (int i = 0; i < 3; i++)
		assert_ok(ipc_send(&c->a, BIG, 1, pieces, 1, -1));
	assert_reason(R_INTERNAL_TOO_LARGE, ipc_send(&c->a, BIG, 1, pieces, 2, -1));
	/* the channel works on */
	assert_ok(send_text(&c->a, PING, 2, "x"));
	free(big);
}

static void test_send_wait(void **state)
{
	struct both *c = *state;
	size_t n = 3 << 20;
	uint8_t *big = calloc(1, n);
	struct bytes piece = { big, n };
	struct ipc_message m;
	pid_t child = fork();
	int status;

	if (child == 0) {
		enum reason r = ipc_wait(&c->b, 5000, &m);

		_exit(r == R_OK && m.body.n == n ? 0 : 1);
	}
	assert_ok(ipc_send_wait(&c->a, BIG, 1, &piece, 1, -1, 5000));
	assert_int_equal(c->a.queued, 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	/* nobody reads any more */
	assert_reason(R_INTERNAL_CHILD, ipc_send_wait(&c->a, BIG, 1, &piece, 1, -1, 50));
	free(big);
}

static void test_silence(void **state)
{
	struct both *c = *state;
	uint64_t start = clock_boot_ms();
	struct ipc_message m;

	assert_reason(R_INTERNAL_CHILD, ipc_wait(&c->b, 50, &m));
	assert_in_range(clock_boot_ms() - start, 45, 5000);
	/* and it stays so */
	assert_reason(R_INTERNAL_CHILD, send_text(&c->b, PING, 1, "x"));
	assert_int_equal(ipc_events(&c->b), 0);
}

static void test_peer_gone(void **state)
{
	struct both *c = *state;
	struct ipc_message m;
	bool have;

	assert_ok(send_text(&c->a, PING, 1, "last words"));
	ipc_close(&c->a);
	/* what it said before counts */
	assert_ok(ipc_receive(&c->b, &m, &have));
	assert_true(have);
	assert_bytes(m.body, "last words", 10);
	assert_reason(R_INTERNAL_CHILD, ipc_receive(&c->b, &m, &have));
	assert_false(have);
	/* no SIGPIPE */
	assert_reason(R_INTERNAL_CHILD, send_text(&c->b, PING, 1, "x"));
	assert_reason(R_INTERNAL_CHILD, ipc_flush(&c->b));
	/* closed channels say so, and can be closed again */
	assert_reason(R_INTERNAL_CHILD, send_text(&c->a, PING, 1, "x"));
	assert_reason(R_INTERNAL_CHILD, ipc_receive(&c->a, &m, &have));
	ipc_close(&c->a);
}

static void test_gone_while_sending(void **state)
{
	struct both *c = *state;

	ipc_close(&c->b);
	assert_reason(R_INTERNAL_CHILD, send_text(&c->a, PING, 1, "x"));
	assert_int_equal(ipc_events(&c->a), 0);
}

/* What a peer that was taken over can write. */
static size_t header(uint8_t to[IPC_HEADER_LEN], uint32_t magic, uint32_t type, uint32_t length,
		     uint32_t fds)
{
	_cleanup_(blob_free) struct blob b = BLOB(IPC_HEADER_LEN);

	assert_ok(blob_le32(&b, magic));
	assert_ok(blob_le32(&b, type));
	assert_ok(blob_le64(&b, 7));
	assert_ok(blob_le32(&b, length));
	assert_ok(blob_le32(&b, fds));
	memcpy(to, b.p, IPC_HEADER_LEN);
	return IPC_HEADER_LEN;
}

static void send_raw(int fd, const void *p, size_t n, const int *fds, size_t count)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(8 * sizeof(int))];
	} control;
	struct iovec part = { (void *)(uintptr_t)p, n };
	struct msghdr m = { .msg_iov = &part, .msg_iovlen = 1 };

	memset(&control, 0, sizeof(control));
	if (count > 0) {
		m.msg_control = &control;
		m.msg_controllen = CMSG_SPACE(count * sizeof(int));
		control.header.cmsg_level = SOL_SOCKET;
		control.header.cmsg_type = SCM_RIGHTS;
		control.header.cmsg_len = CMSG_LEN(count * sizeof(int));
		memcpy(CMSG_DATA(&control.header), fds, count * sizeof(int));
	}
	assert_int_equal(sendmsg(fd, &m, 0), n);
}

/* 0x31504742 is the magic number. */
static void test_hostile_headers(void **state)
{
	static const struct {
		uint32_t magic, type, length, fds;
		enum reason want;
	} bad[] = {
		{ 0x31504743, PING, 0, 0, R_FORMAT_VERSION },
		{ 0, PING, 0, 0, R_FORMAT_VERSION },
		{ 0x31504742, PING, 0, 2, R_FORMAT_VERSION },
		{ 0x31504742, 0, 0, 0, R_FORMAT_TYPE },
		{ 0x31504742, 77, 0, 0, R_FORMAT_TYPE },
		{ 0x31504742, PING, 17, 0, R_FORMAT_TOO_LARGE },
		{ 0x31504742, PING, UINT32_MAX, 0, R_FORMAT_TOO_LARGE },
		{ 0x31504742, BIG, (4 << 20) + 1, 0, R_FORMAT_TOO_LARGE },
		{ 0x31504742, EXACT, 7, 0, R_FORMAT_TRUNCATED },
		{ 0x31504742, EXACT, 9, 0, R_FORMAT_TOO_LARGE },
		/* a descriptor announced that did not come, or is not wanted */
		{ 0x31504742, WITH_FD, 0, 1, R_FORMAT_MISSING_KEY },
		{ 0x31504742, WITH_FD, 0, 0, R_FORMAT_MISSING_KEY },
		{ 0x31504742, PING, 0, 1, R_FORMAT_TYPE },
	};

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		uint8_t wire[IPC_HEADER_LEN];
		struct ipc_message m;
		struct both *c;
		bool have;

		assert_int_equal(make_both(state), 0);
		c = *state;
		header(wire, bad[i].magic, bad[i].type, bad[i].length, bad[i].fds);
		send_raw(c->a.fd, wire, sizeof(wire), NULL, 0);
		assert_reason(bad[i].want, ipc_receive(&c->b, &m, &have));
		assert_false(have);
		/* there is no way back into step */
		assert_reason(bad[i].want, ipc_receive(&c->b, &m, &have));
		assert_reason(bad[i].want, send_text(&c->b, PING, 1, "x"));
		assert_reason(bad[i].want, ipc_flush(&c->b));
		assert_int_equal(close_both(state), 0);
	}
	assert_int_equal(make_both(state), 0);
}

static int open_descriptors(void)
{
	struct fd_names names = { NULL, 0 };
	int n;

	assert_ok(fd_list("/proc/self/fd", 10000, &names));
	n = (int)names.n;
	fd_names_free(&names);
	return n;
}

/* Unwanted descriptors do not pile up. */
static void test_hostile_descriptors(void **state)
{
	static const struct {
		uint32_t type, announced;
		size_t count;
		bool in_body;
		enum reason want;
	} bad[] = {
		{ PING, 0, 1, false, R_FORMAT_TYPE },
		{ WITH_FD, 1, 2, false, R_FORMAT_TYPE },
		{ WITH_FD, 1, 8, false, R_FORMAT_TYPE },
		{ WITH_FD, 0, 1, true, R_FORMAT_MISSING_KEY },
		{ PING, 0, 1, true, R_FORMAT_TYPE },
	};
	int fds[8] = { 0, 0, 0, 0, 0, 0, 0, 0 };
	int before = 0;

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		uint8_t wire[IPC_HEADER_LEN];
		struct ipc_message m;
		struct both *c;
		bool have;

		assert_int_equal(close_both(state), 0);
		if (i == 0)
			before = open_descriptors();
		assert_int_equal(open_descriptors(), before);
		assert_int_equal(make_both(state), 0);
		c = *state;
		header(wire, 0x31504742, bad[i].type, 4, bad[i].announced);
		send_raw(c->a.fd, wire, sizeof(wire), fds, bad[i].in_body ? 0 : bad[i].count);
		send_raw(c->a.fd, "body", 4, fds, bad[i].in_body ? bad[i].count : 0);
		assert_reason(bad[i].want, ipc_receive(&c->b, &m, &have));
	}
	assert_int_equal(close_both(state), 0);
	assert_int_equal(open_descriptors(), before);
	assert_int_equal(make_both(state), 0);
}

/* Byte by byte is as good as at once. */
static void test_dribble(void **state)
{
	struct both *c = *state;
	uint8_t wire[IPC_HEADER_LEN + 4];
	struct ipc_message m;
	bool have;

	header(wire, 0x31504742, PING, 4, 0);
	memcpy(wire + IPC_HEADER_LEN, "body", 4);
	for (unsigned int round = 0; round < 3; round++) {
		for (size_t i = 0; i < sizeof(wire); i++) {
			send_raw(c->a.fd, wire + i, 1, NULL, 0);
			assert_ok(ipc_receive(&c->b, &m, &have));
			assert_int_equal(have, i == sizeof(wire) - 1);
		}
		assert_bytes(m.body, "body", 4);
	}
	/* cut in the middle of a body */
	send_raw(c->a.fd, wire, sizeof(wire) - 1, NULL, 0);
	assert_ok(ipc_receive(&c->b, &m, &have));
	ipc_close(&c->a);
	assert_reason(R_INTERNAL_CHILD, ipc_receive(&c->b, &m, &have));
}

static void test_large_body_is_given_back(void **state)
{
	struct both *c = *state;
	size_t n = 100000;
	uint8_t *big = calloc(1, n);
	struct bytes piece = { big, n };
	struct ipc_message m;

	assert_ok(ipc_send(&c->a, BIG, 1, &piece, 1, -1));
	assert_ok(ipc_wait(&c->b, 1000, &m));
	assert_int_equal(c->b.body.n, n);
	assert_ok(send_text(&c->a, PING, 2, "x"));
	assert_ok(ipc_wait(&c->b, 1000, &m));
	assert_true(c->b.body.cap < n);
	free(big);
}

static void test_no_memory(void **state)
{
	struct both *c = *state;
	struct ipc_message m;
	bool have;

	unit_fail_allocation(0);
	assert_reason(R_INTERNAL_MEMORY, send_text(&c->a, PING, 1, "x"));
	unit_fail_allocation(1);
	assert_reason(R_INTERNAL_MEMORY, send_text(&c->a, PING, 1, "x"));
	/* nothing was sent */
	assert_ok(send_text(&c->a, PING, 2, "x"));
	assert_ok(ipc_wait(&c->b, 1000, &m));
	assert_int_equal(m.id, 2);
	unit_fail_allocation(-1);
	assert_ok(send_text(&c->a, BIG, 3, "0123456789012345678901234567890123456789"
					   "0123456789012345678901234567890123456789"));
	unit_fail_allocation(0);
	assert_reason(R_INTERNAL_MEMORY, ipc_receive(&c->b, &m, &have));
	unit_fail_allocation(-1);
}

static void test_bad_descriptor(void **state)
{
	struct both *c = *state;
	struct ipc nobody;

	assert_reason(R_INTERNAL_IO, ipc_send(&c->a, WITH_FD, 1, NULL, 0, 9999));
	assert_reason(R_INTERNAL_IO, ipc_open(&nobody, -1, rules, ARRAY_LEN(rules)));
}

/* Waiting messages go away with the channel. */
static void test_close_with_queue(void **state)
{
	struct both *c = *state;
	uint8_t *big = calloc(1, 3 << 20);
	struct bytes piece = { big, 3 << 20 };

	assert_ok(ipc_send(&c->a, BIG, 1, &piece, 1, -1));
	assert_ok(ipc_send(&c->a, WITH_FD, 2, NULL, 0, 0));
	free(big);
}

#define with_both(f) cmocka_unit_test_setup_teardown(f, make_both, close_both)

int main(void)
{
	const struct CMUnitTest tests[] = {
		with_both(test_message),
		with_both(test_descriptor),
		with_both(test_slow_peer),
		with_both(test_queue_ceiling),
		with_both(test_send_wait),
		with_both(test_silence),
		with_both(test_peer_gone),
		with_both(test_gone_while_sending),
		with_both(test_hostile_headers),
		with_both(test_hostile_descriptors),
		with_both(test_dribble),
		with_both(test_large_body_is_given_back),
		with_both(test_no_memory),
		with_both(test_bad_descriptor),
		with_both(test_close_with_queue),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
