/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/ctl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/text.h"

#define CHUNK 65536u

enum reason ctl_file_error(const char *path)
{
	char shown[CTL_SHOWN_MAX];

	fprintf(stderr, "bootgatectl: %s: %s: %m\n", ctl_shown(path, shown), reason_name(R_FILE));
	return R_FILE;
}

const char *ctl_shown(const char *name, char ret[CTL_SHOWN_MAX])
{
	(void)text_escape(bytes_str(name), ret, CTL_SHOWN_MAX);
	return ret;
}

enum reason ctl_path(const char *folder, const char *name, char *ret, size_t n)
{
	if (snprintf(ret, n, "%s/%s", folder, name) < (int)n)
		return R_OK;
	errno = ENAMETOOLONG;
	return ctl_file_error(folder);
}

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
			return ctl_file_error(path);
		in = fd;
	}
	enum reason r = read_all(in, max, &all);
	if (r == R_FILE)
		return ctl_file_error(path);
	TRY(r);
	blob_free(ret);
	*ret = all;
	all = BLOB(0);
	return R_OK;
}

enum reason ctl_write_file(const char *path, struct bytes content)
{
	enum reason r = fd_write_file(path, content, 0644);

	return r == R_FILE ? ctl_file_error(path) : r;
}
