/* SPDX-License-Identifier: Apache-2.0 */
#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"

/* Most files are small: of sysfs, of configuration. */
enum { READ_FIRST = 4 << 10, READ_STEP = 64 << 10 };

static enum reason open_with(const char *path, int flags, int *ret)
{
	int fd;

	do {
		fd = open(path, flags | O_CLOEXEC | O_NOCTTY, 0600);
	} while (fd < 0 && errno == EINTR);
	if (fd < 0)
		return R_FILE;
	*ret = fd;
	return R_OK;
}

enum reason fd_open(const char *path, int flags, int *ret)
{
	return open_with(path, flags | O_NOFOLLOW, ret);
}

enum reason fd_open_named(const char *path, int flags, int *ret)
{
	return open_with(path, flags, ret);
}

static ssize_t read_some(int fd, void *to, size_t n)
{
	ssize_t got;

	do {
		got = read(fd, to, n);
	} while (got < 0 && errno == EINTR);
	return got;
}

enum reason fd_read_all(int fd, struct blob *b)
{
	for (;;) {
		size_t room = b->max - b->n;
		size_t wanted = b->n < READ_FIRST ? READ_FIRST : READ_STEP;
		size_t step = room < wanted ? room : wanted;
		uint8_t *to;
		ssize_t got;

		if (step == 0) {
			/* full: only the end may follow */
			uint8_t more;

			got = read_some(fd, &more, 1);
			if (got < 0)
				return R_INTERNAL_IO;
			return got == 0 ? R_OK : R_FORMAT_TOO_LARGE;
		}
		TRY(blob_extend(b, step, &to));
		got = read_some(fd, to, step);
		b->n -= step - (got > 0 ? (size_t)got : 0);
		if (got < 0)
			return R_INTERNAL_IO;
		if (got == 0)
			return R_OK;
	}
}

static enum reason read_path(const char *path, int flags, struct blob *b)
{
	_cleanup_fd_ int fd = -1;
	enum reason r;

	TRY(open_with(path, O_RDONLY | flags, &fd));
	r = fd_read_all(fd, b);
	return r == R_INTERNAL_IO ? R_FILE : r;
}

enum reason fd_read_file(const char *path, struct blob *b)
{
	return read_path(path, O_NOFOLLOW, b);
}

enum reason fd_read_named(const char *path, struct blob *b)
{
	return read_path(path, 0, b);
}

enum reason fd_write_full(int fd, struct bytes in)
{
	while (in.n > 0) {
		ssize_t put = write(fd, in.p, in.n);

		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return R_INTERNAL_IO;
		in.p += put;
		in.n -= (size_t)put;
	}
	return R_OK;
}

enum reason fd_memfd(const char *name, int *ret)
{
	int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0)
		return R_INTERNAL_IO;
	*ret = fd;
	return R_OK;
}

enum { SEALS = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE };

enum reason fd_seal(int memfd)
{
	return fcntl(memfd, F_ADD_SEALS, SEALS) == 0 ? R_OK : R_INTERNAL_IO;
}

bool fd_is_sealed(int memfd)
{
	int seals = fcntl(memfd, F_GET_SEALS);

	return seals >= 0 && (seals & SEALS) == SEALS;
}

enum reason fd_set_nonblock(int fd, bool on)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0)
		return R_INTERNAL_IO;
	flags = on ? flags | O_NONBLOCK : flags & ~O_NONBLOCK;
	return fcntl(fd, F_SETFL, flags) == 0 ? R_OK : R_INTERNAL_IO;
}

enum reason fd_standard(void)
{
	for (int fd = 0; fd <= 2; fd++) {
		if (fcntl(fd, F_GETFD) >= 0)
			continue;
		/* the lowest free number is this one */
		if (open("/dev/null", fd == 0 ? O_RDONLY : O_WRONLY) != fd)
			return R_INTERNAL_IO;
	}
	return R_OK;
}
