/* SPDX-License-Identifier: Apache-2.0 */
#include "node/sysfs.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/text.h"

enum reason sysfs_path(char ret[SYSFS_PATH_MAX], const char *root, const char *format, ...)
{
	int n = snprintf(ret, SYSFS_PATH_MAX, "%s", root);
	va_list args;
	int written;

	if (n < 0 || (size_t)n >= SYSFS_PATH_MAX)
		return R_INTERNAL_TOO_LARGE;
	va_start(args, format);
	written = vsnprintf(ret + n, SYSFS_PATH_MAX - (size_t)n, format, args);
	va_end(args);
	if (written < 0 || (size_t)written >= SYSFS_PATH_MAX - (size_t)n)
		return R_INTERNAL_TOO_LARGE;
	return R_OK;
}

enum reason sysfs_read(const char *root, const char *path, struct blob *ret)
{
	char full[SYSFS_PATH_MAX];

	TRY(sysfs_path(full, root, "%s", path));
	return fd_read_file(full, ret);
}

enum reason sysfs_line(const char *root, const char *path, char *ret, size_t n)
{
	_cleanup_(blob_free) struct blob b = BLOB(4096);

	TRY(sysfs_read(root, path, &b));
	return text_line(blob_bytes(&b), ret, n);
}

enum reason sysfs_write(const char *root, const char *path, const char *text)
{
	_cleanup_fd_ int fd = -1;
	char full[SYSFS_PATH_MAX];

	TRY(sysfs_path(full, root, "%s", path));
	TRY(fd_open(full, O_WRONLY, &fd));
	return fd_write_full(fd, bytes_str(text));
}
