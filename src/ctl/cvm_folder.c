/* SPDX-License-Identifier: Apache-2.0 */
/* What a folder of certificates and collateral holds, by content. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "ctl/client.h"
#include "ctl/ctl.h"
#include "ctl/cvm.h"
#include "format/tdx.h"
#include "format/unwrap.h"

#define OBJECTS_MAX 4096u

void cvm_folder_free(struct cvm_folder *f)
{
	chain_pool_free(&f->pool);
	for (size_t i = 0; i < f->objects; i++)
		blob_free(&f->object[i]);
	free(f->object);
	f->object = NULL;
	f->objects = 0;
}

/* Certificates and lists stand anywhere: in tables, reports, other envelopes. */
static enum reason take_binary(void *context, struct bytes in)
{
	struct cvm_folder *f = context;

	while (in.n > 0) {
		const uint8_t *at = memchr(in.p, 0x30, in.n);
		size_t n = 1;

		if (!at)
			break;
		in = bytes_of(at, in.n - (size_t)(at - in.p));
		/* a SEQUENCE with its length in one byte more, two, or three */
		if (in.n > 1 && in.p[1] >= 0x81 && in.p[1] <= 0x83) {
			enum reason r = chain_pool_add(f->pool, in, &n);

			if (r != R_OK && r != R_FORMAT_TYPE)
				return r;
		}
		in = bytes_of(in.p + n, in.n - n);
	}
	return R_OK;
}

static enum reason take_object(void *context, struct bytes json)
{
	struct cvm_folder *f = context;
	_cleanup_(blob_free) struct blob copy = BLOB(json.n);

	if (!tdx_is_collateral(json))
		return R_OK;
	if (f->objects == OBJECTS_MAX)
		return R_FORMAT_TOO_LARGE;
	if (!f->object)
		f->object = calloc(OBJECTS_MAX, sizeof(*f->object));
	if (!f->object)
		return R_INTERNAL_MEMORY;
	TRY(blob_append(&copy, json.p, json.n));
	f->object[f->objects++] = copy;
	copy = BLOB(0);
	return R_OK;
}

enum reason cvm_folder_add(struct cvm_folder *f, struct bytes file)
{
	const struct unwrap_sink sink = { take_binary, take_object, f };

	return unwrap(file, &sink);
}

/* What is wrong is said with the file's own name. */
static enum reason add_file(struct cvm_folder *f, const char *path)
{
	_cleanup_(blob_free) struct blob file = BLOB(0);
	enum reason r = ctl_read_file(path, CVM_EVIDENCE_MAX, &file);

	/* something else, most likely */
	if (r == R_FORMAT_TOO_LARGE) {
		char shown[CTL_SHOWN_MAX];

		fprintf(stderr, "bootgatectl: %s: larger than %u MiB, not looked into\n",
			ctl_shown(path, shown), CVM_EVIDENCE_MAX >> 20);
		return R_OK;
	}
	if (r == R_OK)
		r = cvm_folder_add(f, blob_bytes(&file));
	if (r != R_OK)
		(void)ctl_refused(r, path);
	return r;
}

enum reason cvm_folder_make(struct cvm_folder *ret)
{
	struct cvm_folder f = { 0 };

	TRY(chain_pool_make(&f.pool));
	*ret = f;
	return R_OK;
}

enum reason cvm_folder_read(struct cvm_folder *f, const char *path)
{
	_cleanup_(fd_names_free) struct fd_names names = { NULL, 0 };
	struct stat st;
	enum reason r;

	if (stat(path, &st) == 0 && !S_ISDIR(st.st_mode))
		return add_file(f, path);
	r = fd_list_tree(path, CVM_FILES_MAX, &names);
	if (r == R_FILE)
		r = ctl_file_error(path);
	if (r != R_OK) {
		(void)ctl_refused(r, path);
		return r;
	}
	for (size_t i = 0; i < names.n; i++)
		TRY(add_file(f, names.v[i]));
	return R_OK;
}
