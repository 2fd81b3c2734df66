/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The way to the TPM. Not the TCTIs of tpm2-tss: theirs for the device opens
 * without O_CLOEXEC, keeps errno to itself (so that "busy" and "absent" look
 * alike), gives up when the TPM needs more than a second for a first probe,
 * and is unusable after one failed read.
 */
#include "node/tpm_internal.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"

#define REST_MS 1000			/* longest wait for the rest of an answer */

static enum reason open_device(struct tpm_link *l)
{
	l->fd = open(l->path, O_RDWR | O_CLOEXEC);
	if (l->fd >= 0)
		return R_OK;
	switch (errno) {
	case ENOENT:
	case ENODEV:
	case ENXIO:
		return R_TPM_ABSENT;
	case EBUSY:
		return R_TPM_BUSY;
	default:
		return R_TPM_IO;
	}
}

#ifdef BOOTGATE_TEST
static enum reason open_socket(struct tpm_link *l)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(l->port) };
	int one = 1;

	if (inet_pton(AF_INET, l->host, &to.sin_addr) != 1)
		return R_TPM_ABSENT;
	l->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (l->fd < 0)
		return R_TPM_IO;
	(void)setsockopt(l->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	if (connect(l->fd, (struct sockaddr *)&to, sizeof(to)) != 0) {
		tpm_link_close(l);
		return R_TPM_ABSENT;
	}
	return R_OK;
}
#else
static enum reason open_socket(struct tpm_link *l)
{
	(void)l;
	return R_TPM_ABSENT;
}
#endif

enum reason tpm_link_open(struct tpm_link *l)
{
	return l->path[0] != '\0' ? open_device(l) : open_socket(l);
}

void tpm_link_close(struct tpm_link *l)
{
	int saved = errno;

	if (l->fd >= 0)
		close(l->fd);
	l->fd = -1;
	errno = saved;
}

static enum reason send_command(struct tpm_link *l, struct bytes command)
{
	while (command.n > 0) {
		ssize_t n = l->path[0] != '\0' ? write(l->fd, command.p, command.n)
					       : send(l->fd, command.p, command.n, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return R_TPM_IO;
		command.p += n;
		command.n -= (size_t)n;
	}
	return R_OK;
}

static uint32_t be32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* A device has the whole answer ready at once, a socket gives it in pieces. */
static enum reason receive_answer(struct tpm_link *l, uint8_t *answer, size_t *ret_n)
{
	uint64_t deadline = clock_boot_ms() + (uint64_t)l->answer_ms;
	size_t have = 0;

	for (;;) {
		struct pollfd p = { .fd = l->fd, .events = POLLIN };
		ssize_t n;
		int ready;

		if (have >= TPM_HEADER_LEN) {
			size_t want = be32(answer + 2);

			if (have == want) {
				*ret_n = have;
				return R_OK;
			}
			if (have > want || want > TPM_MESSAGE_MAX)
				return R_TPM_IO;
		}
		if (have > 0 && clock_left_ms(deadline) > REST_MS)
			deadline = clock_boot_ms() + REST_MS;
		ready = poll(&p, 1, clock_left_ms(deadline));
		if (ready < 0 && errno == EINTR)
			continue;
		if (ready <= 0)
			return R_TPM_IO;
		n = read(l->fd, answer + have, TPM_MESSAGE_MAX - have);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return R_TPM_IO;
		have += (size_t)n;
	}
}

/*
 * A device executes inside write(2), with the driver's time-outs: when that
 * fails nothing waits to be read, and the descriptor stays good. After a
 * failed read it does not. A socket is for one command, so that others can
 * look at the simulator in between.
 */
enum reason tpm_link_exchange(struct tpm_link *l, struct bytes command,
			      uint8_t answer[TPM_MESSAGE_MAX], size_t *ret_n)
{
	bool device = l->path[0] != '\0';
	enum reason r;

	if (l->fd < 0)
		TRY(tpm_link_open(l));
	r = send_command(l, command);
	if (r == R_OK) {
		r = receive_answer(l, answer, ret_n);
		if (r != R_OK && device) {
			tpm_link_close(l);
			l->lost++;
		}
	}
	if (!device)
		tpm_link_close(l);
	return r;
}
