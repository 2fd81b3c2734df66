/* SPDX-License-Identifier: Apache-2.0 */
/* Every file below a folder. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/fd.h"

struct tree {
	struct fd_names *files, folders;
	size_t max;
};

static enum reason add(struct fd_names *to, size_t max, const char *path)
{
	char **longer;

	if (to->n == max)
		return R_FORMAT_TOO_LARGE;
	longer = realloc(to->v, (to->n + 1) * sizeof(*to->v));
	if (longer == NULL)
		return R_INTERNAL_MEMORY;
	to->v = longer;
	to->v[to->n] = strdup(path);
	if (to->v[to->n] == NULL)
		return R_INTERNAL_MEMORY;
	to->n++;
	return R_OK;
}

/* One folder's own files, and its folders for later: no recursion. */
static enum reason look_into(struct tree *t, const char *folder)
{
	_cleanup_(fd_names_free) struct fd_names names = { NULL, 0 };
	char path[PATH_MAX];
	struct stat st;

	TRY(fd_list(folder, t->max, &names));
	for (size_t i = 0; i < names.n; i++) {
		if (snprintf(path, sizeof(path), "%s/%s", folder, names.v[i]) >= (int)sizeof(path)) {
			errno = ENAMETOOLONG;
			return R_FILE;
		}
		/* A link to a folder could lead in circles: it is no folder here. */
		if (lstat(path, &st) == 0 && S_ISDIR(st.st_mode))
			TRY(add(&t->folders, t->max, path));
		else if (stat(path, &st) == 0 && S_ISREG(st.st_mode))
			TRY(add(t->files, t->max, path));
	}
	return R_OK;
}

enum reason fd_list_tree(const char *folder, size_t max, struct fd_names *ret)
{
	_cleanup_(fd_names_free) struct fd_names files = { NULL, 0 };
	struct tree t = { &files, { NULL, 0 }, max };
	enum reason r = look_into(&t, folder);

	for (size_t i = 0; r == R_OK && i < t.folders.n; i++)
		r = look_into(&t, t.folders.v[i]);
	fd_names_free(&t.folders);
	if (r != R_OK)
		return r;
	*ret = files;
	files = (struct fd_names){ NULL, 0 };
	return R_OK;
}
