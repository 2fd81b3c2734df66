/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/ctl.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"

#define CHUNK 65536u

static enum reason read_all(int fd, size_t max, struct blob *to)
{
	_cleanup_free_ uint8_t *chunk = malloc(CHUNK);

	if (!chunk)
		return R_INTERNAL_MEMORY;
	for (;;) {
		ssize_t n = read(fd, chunk, CHUNK);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return R_FILE;
		if (n == 0)
			return R_OK;
		if ((size_t)n > max - to->n)
			return R_FORMAT_TOO_LARGE;
		TRY(blob_append(to, chunk, (size_t)n));
	}
}

enum reason ctl_read_file(const char *path, size_t max, struct blob *ret)
{
	_cleanup_(blob_free) struct blob all = BLOB(max);
	_cleanup_fd_ int fd = -1;
	int in = STDIN_FILENO;

	if (strcmp(path, "-") != 0) {
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			return R_FILE;
		in = fd;
	}
	TRY(read_all(in, max, &all));
	blob_free(ret);
	*ret = all;
	all = BLOB(0);
	return R_OK;
}
