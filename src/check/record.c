/* SPDX-License-Identifier: Apache-2.0 */
#include "check/record.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "check/access_priv.h"

enum reason record_open(const char *folder, bool anonymous, struct record *ret)
{
	struct record r = { .to = SOURCE_NONE, .anonymous = anonymous };

	if (mkdir(folder, 0700) < 0)
		return R_FILE;
	TRY(source_open(folder, &r.to));
	*ret = r;
	return R_OK;
}

enum reason record_close(struct record *r)
{
	source_close(&r->to);
	return r->failed;
}

/* Paths begin with a slash; the folder is new and ours, so it has no links. */
static enum reason make_folders(const struct record *r, const char *path)
{
	char part[SOURCE_PATH_MAX];

	for (const char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		size_t n = (size_t)(slash - path) - 1;

		if (n >= sizeof(part))
			return R_INTERNAL_TOO_LARGE;
		memcpy(part, path + 1, n);
		part[n] = 0;
		if (mkdirat(r->to.root, part, 0700) < 0 && errno != EEXIST)
			return R_FILE;
	}
	return R_OK;
}

static enum reason write_file(const struct record *r, const char *path, int flags,
			      struct bytes content)
{
	_cleanup_fd_ int fd = -1;

	TRY(make_folders(r, path));
	fd = openat(r->to.root, path + 1, flags | O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC,
		    0600);
	if (fd < 0)
		return R_FILE;
	return fd_write_full(fd, content);
}

static void note(struct record *r, enum reason result)
{
	if (r->failed == R_OK)
		r->failed = result;
}

void record_file(struct record *r, const char *path, struct bytes content)
{
	_cleanup_(blob_free) struct blob copy = BLOB(SOURCE_FILE_MAX);

	if (!r->anonymous) {
		note(r, write_file(r, path, O_TRUNC, content));
		return;
	}
	if (blob_append(&copy, content.p, content.n))
		note(r, R_INTERNAL_MEMORY);
	else if (record_hide(path, &copy))
		note(r, write_file(r, path, O_TRUNC, blob_bytes(&copy)));
}

static enum reason make_folder(const struct record *r, const char *path)
{
	TRY(make_folders(r, path));
	if (mkdirat(r->to.root, path + 1, 0700) < 0 && errno != EEXIST)
		return R_FILE;
	return R_OK;
}

void record_exists(struct record *r, const char *path, bool folder)
{
	note(r, folder ? make_folder(r, path) : write_file(r, path, 0, BYTES_NONE));
}

/* Its folders, also those that lie behind links; files come when they are read. */
void record_folder(struct record *r, const struct source *from, const char *path,
		   const struct fd_names *names)
{
	note(r, make_folder(r, path));
	for (size_t i = 0; i < names->n; i++) {
		_cleanup_fd_ int fd = -1;
		char one[SOURCE_PATH_MAX];
		int n = snprintf(one, sizeof(one), "%s/%s", path, names->v[i]);

		if (n < 0 || (size_t)n >= sizeof(one))
			note(r, R_INTERNAL_TOO_LARGE);
		else if (source_fd(from, one, O_PATH | O_DIRECTORY, &fd) == R_OK)
			note(r, make_folder(r, one));
	}
}

void record_register(struct record *r, const char *path, const char *line)
{
	_cleanup_(blob_free) struct blob there = BLOB(SOURCE_FILE_MAX);

	if (source_read_quietly(&r->to, path, &there) == R_OK &&
	    memmem(there.p, there.n, line, strlen(line)))
		return;
	note(r, write_file(r, path, O_APPEND, bytes_str(line)));
}
