/* SPDX-License-Identifier: Apache-2.0 */
/* Whole files put into place, and the names in a folder. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/text.h"

/* Folder of a path, opened, and where its last part begins. */
static enum reason open_folder(const char *path, const char **ret_base, int *ret)
{
	const char *slash = strrchr(path, '/');
	char folder[PATH_MAX];
	size_t n = slash == NULL ? 0 : (size_t)(slash - path);

	if (n >= sizeof(folder)) {
		errno = ENAMETOOLONG;
		return R_FILE;
	}
	memcpy(folder, path, n);
	folder[n] = '\0';
	*ret_base = slash == NULL ? path : slash + 1;
	if (slash == NULL)
		return fd_open_named(".", O_RDONLY | O_DIRECTORY, ret);
	return fd_open_named(n == 0 ? "/" : folder, O_RDONLY | O_DIRECTORY, ret);
}

static enum reason write_synced(int fd, struct bytes in, mode_t mode)
{
	if (fchmod(fd, mode) != 0)
		return R_FILE;
	if (fd_write_full(fd, in) != R_OK)
		return R_FILE;
	if (fsync(fd) != 0)
		return R_FILE;
	return R_OK;
}

static enum reason place(const char *path, struct bytes in, mode_t mode, unsigned int flags)
{
	_cleanup_fd_ int folder = -1;
	_cleanup_fd_ int fd = -1;
	const char *base;
	uint8_t chance[8];
	char hex[2 * sizeof(chance) + 1];
	char name[sizeof(hex) + 8];
	enum reason r;
	int saved;

	TRY(open_folder(path, &base, &folder));
	if (getrandom(chance, sizeof(chance), 0) != (ssize_t)sizeof(chance))
		return R_FILE;
	hex_encode(BYTES(chance), hex);
	(void)snprintf(name, sizeof(name), ".new-%s", hex);
	fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return R_FILE;
	r = write_synced(fd, in, mode);
	if (r == R_OK && syscall(SYS_renameat2, folder, name, folder, base, flags) != 0)
		r = R_FILE;
	if (r != R_OK) {
		saved = errno;
		(void)unlinkat(folder, name, 0);
		errno = saved;
		return r;
	}
	return fsync(folder) == 0 ? R_OK : R_FILE;
}

/* RENAME_NOREPLACE of linux/fs.h; musl 1.2.3 has neither it nor renameat2 */
enum { NO_REPLACE = 1 };

enum reason fd_write_file(const char *path, struct bytes in, mode_t mode)
{
	return place(path, in, mode, 0);
}

enum reason fd_write_new(const char *path, struct bytes in, mode_t mode)
{
	return place(path, in, mode, NO_REPLACE);
}

enum reason fd_move_file(const char *from, const char *to)
{
	_cleanup_fd_ int folder = -1;
	_cleanup_fd_ int fd = -1;
	const char *base;

	TRY(open_folder(to, &base, &folder));
	TRY(fd_open(from, O_RDONLY, &fd));
	if (fsync(fd) != 0 || rename(from, to) != 0 || fsync(folder) != 0)
		return R_FILE;
	return R_OK;
}

void fd_names_free(struct fd_names *names)
{
	for (size_t i = 0; i < names->n; i++)
		free(names->v[i]);
	free(names->v);
	*names = (struct fd_names){ NULL, 0 };
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static enum reason collect(DIR *d, size_t max, struct fd_names *names)
{
	struct dirent *e;

	while ((errno = 0, e = readdir(d)) != NULL) {
		if (e->d_name[0] == '.')
			continue;
		if (names->n == max)
			return R_FORMAT_TOO_LARGE;
		names->v[names->n] = strdup(e->d_name);
		if (names->v[names->n] == NULL)
			return R_INTERNAL_MEMORY;
		names->n++;
	}
	return errno == 0 ? R_OK : R_FILE;
}

enum reason fd_list_at(int folder, size_t max, struct fd_names *ret)
{
	_cleanup_(fd_names_free) struct fd_names names = { NULL, 0 };
	enum reason r;
	DIR *d;
	int fd;

	names.v = calloc(max + 1, sizeof(*names.v));
	if (names.v == NULL)
		return R_INTERNAL_MEMORY;
	fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	d = fd >= 0 ? fdopendir(fd) : NULL;
	if (d == NULL) {
		if (fd >= 0)
			close(fd);
		return R_FILE;
	}
	r = collect(d, max, &names);
	closedir(d);
	if (r != R_OK)
		return r;
	qsort(names.v, names.n, sizeof(*names.v), compare_names);
	*ret = names;
	names = (struct fd_names){ NULL, 0 };
	return R_OK;
}

enum reason fd_list(const char *folder, size_t max, struct fd_names *ret)
{
	_cleanup_fd_ int fd = -1;

	TRY(fd_open_named(folder, O_RDONLY | O_DIRECTORY, &fd));
	return fd_list_at(fd, max, ret);
}
