/* SPDX-License-Identifier: Apache-2.0 */
/* What a folder of certificates and collateral holds, by content. */
#include <errno.h>
#include <fts.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "ctl/ctl.h"
#include "ctl/cvm.h"
#include "format/jview.h"
#include "format/unwrap.h"

#define OBJECTS_MAX 4096u
#define OBJECT_MAX (1u << 20)

static void close_fts(FTS **tree)
{
	if (*tree)
		fts_close(*tree);
}

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
		/* a SEQUENCE with its length in one byte more, or two */
		if (in.n > 1 && (in.p[1] == 0x81 || in.p[1] == 0x82)) {
			enum reason r = chain_pool_add(f->pool, in, &n);

			if (r != R_OK && r != R_FORMAT_TYPE)
				return r;
		}
		in = bytes_of(in.p + n, in.n - n);
	}
	return R_OK;
}

/* Only what is signed is of use: collateral is an object with a signature. */
static bool signed_object(struct bytes json)
{
	static const char *const names[] = { "signature", "tcb_info_signature" };
	struct bytes value;

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (jview_member(json, names[i], &value) == R_OK)
			return true;
	return false;
}

static enum reason take_object(void *context, struct bytes json)
{
	struct cvm_folder *f = context;
	_cleanup_(blob_free) struct blob copy = BLOB(OBJECT_MAX);

	if (!signed_object(json) || json.n > OBJECT_MAX)
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

static enum reason add_file(struct cvm_folder *f, const char *path)
{
	_cleanup_(blob_free) struct blob file = BLOB(0);
	enum reason r = ctl_read_file(path, CVM_EVIDENCE_MAX, &file);

	/* larger ones are something else */
	if (r == R_FORMAT_TOO_LARGE)
		return R_OK;
	TRY(r);
	return cvm_folder_add(f, blob_bytes(&file));
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
	char *const roots[] = { (char *)path, NULL };
	_cleanup_(close_fts) FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, NULL);
	size_t files = 0;
	FTSENT *entry;

	if (!tree)
		return R_FILE;
	while ((errno = 0, entry = fts_read(tree))) {
		if (entry->fts_info == FTS_ERR || entry->fts_info == FTS_DNR || entry->fts_info == FTS_NS) {
			errno = entry->fts_errno;
			return R_FILE;
		}
		if (entry->fts_info != FTS_F)
			continue;
		if (++files > CVM_FILES_MAX)
			return R_FORMAT_TOO_LARGE;
		TRY(add_file(f, entry->fts_accpath));
	}
	return errno ? R_FILE : R_OK;
}
