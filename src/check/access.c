/* SPDX-License-Identifier: Apache-2.0 */
#include "check/access.h"

#include <errno.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "check/access_priv.h"
#include "check/record.h"

/* A walk that met a rename is to be done again; not for ever. */
#define AGAIN_MAX 16u

enum reason source_open(const char *folder, struct source *ret)
{
	int fd;

	TRY(fd_open_named(folder ? folder : "/", O_PATH | O_DIRECTORY, &fd));
	*ret = (struct source){ .root = fd, .recorded = folder != NULL };
	return R_OK;
}

void source_close(struct source *s)
{
	if (s->root >= 0)
		close(s->root);
	*s = SOURCE_NONE;
}

enum reason source_fd(const struct source *s, const char *path, int flags, int *ret)
{
	struct open_how how = {
		.flags = (uint64_t)(unsigned)flags | O_CLOEXEC,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};

	/* A pipe in a recorded machine makes nobody wait. */
	if (!(flags & O_PATH))
		how.flags |= O_NOCTTY | O_NONBLOCK;
	for (unsigned i = 0; i < AGAIN_MAX; i++) {
		long fd = syscall(SYS_openat2, s->root, path, &how, sizeof(how));

		if (fd >= 0) {
			*ret = (int)fd;
			return R_OK;
		}
		if (errno != EINTR && errno != EAGAIN)
			break;
	}
	return R_FILE;
}

enum reason source_read_quietly(const struct source *s, const char *path, struct blob *ret)
{
	_cleanup_fd_ int fd = -1;
	struct stat st;
	enum reason r;

	TRY(source_fd(s, path, O_RDONLY, &fd));
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return R_FILE;
	r = fd_read_all(fd, ret);
	return r == R_INTERNAL_IO ? R_FILE : r;
}

enum reason source_read(const struct source *s, const char *path, struct blob *ret)
{
	size_t before = ret->n;

	TRY(source_read_quietly(s, path, ret));
	if (s->record)
		record_file(s->record, path, bytes_of(ret->p + before, ret->n - before));
	return R_OK;
}

enum reason source_line(const struct source *s, const char *path, char *ret, size_t n)
{
	_cleanup_(blob_free) struct blob b = BLOB(SOURCE_FILE_MAX);

	TRY(source_read(s, path, &b));
	return text_line(blob_bytes(&b), ret, n);
}

enum reason source_list(const struct source *s, const char *path, size_t max, struct fd_names *ret)
{
	_cleanup_fd_ int fd = -1;

	TRY(source_fd(s, path, O_RDONLY | O_DIRECTORY, &fd));
	TRY(fd_list_at(fd, max, ret));
	if (s->record)
		record_folder(s->record, s, path, ret);
	return R_OK;
}

bool source_exists(const struct source *s, const char *path)
{
	_cleanup_fd_ int fd = -1;
	struct stat st;

	if (source_fd(s, path, O_PATH, &fd) || fstat(fd, &st) < 0)
		return false;
	if (s->record)
		record_exists(s->record, path, S_ISDIR(st.st_mode));
	return true;
}
