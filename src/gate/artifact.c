/* SPDX-License-Identifier: Apache-2.0 */
#include "gate/artifact.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/limits.h"
#include "base/log.h"

static enum reason write_at(int fd, struct bytes in, uint64_t offset)
{
	while (in.n > 0) {
		ssize_t n = pwrite(fd, in.p, in.n, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && (errno == ENOSPC || errno == ENOMEM))
			return R_IMAGE_MEMORY;
		if (n <= 0)
			return log_reason_errno(R_INTERNAL_IO, "artifact");
		in = bytes_of(in.p + n, in.n - (size_t)n);
		offset += (uint64_t)n;
	}
	return R_OK;
}

void artifact_drop(struct artifact_file *f)
{
	digest_free(&f->digest);
	cleanup_fd(&f->fd);
	*f = ARTIFACT_NONE;
}

static bool same(const struct artifact *a, const struct artifact *b)
{
	return a->size == b->size && memcmp(a->sha256, b->sha256, SHA256_LEN) == 0;
}

enum reason artifact_begin(struct artifact_file *f, const char *name,
			   const struct artifact *want, uint64_t room)
{
	if (want->size == 0 || want->size > LIMIT_ARTIFACT || room > LIMIT_ARTIFACT)
		return R_IMAGE_SIZE;
	/* a sealed one has another hand-over in front: that one is of no use */
	if (f->fd >= 0 && same(&f->want, want) && f->room == room && !fd_is_sealed(f->fd))
		return R_OK;
	artifact_drop(f);
	TRY(fd_memfd(name, &f->fd));
	f->room = room;
	f->want = *want;
	return artifact_restart(f);
}

enum reason artifact_restart(struct artifact_file *f)
{
	digest_free(&f->digest);
	f->have = 0;
	f->complete = false;
	f->resumed = false;
	if (ftruncate(f->fd, (off_t)f->room) < 0)
		return log_reason_errno(R_INTERNAL_IO, "artifact");
	return digest_begin(ALG_SHA256, &f->digest);
}

enum reason artifact_take(void *file, struct bytes piece)
{
	struct artifact_file *f = file;

	if (f->complete || piece.n > f->want.size - f->have)
		return log_reason(R_IMAGE_SIZE, "more than %llu bytes",
				  (unsigned long long)f->want.size);
	TRY(write_at(f->fd, piece, f->room + f->have));
	TRY(digest_update(f->digest, piece));
	f->have += piece.n;
	return R_OK;
}

enum reason artifact_end(struct artifact_file *f)
{
	uint8_t digest[DIGEST_MAX];

	if (f->complete)
		return R_OK;
	if (f->have != f->want.size)
		return log_reason(R_IMAGE_SIZE, "%llu of %llu bytes",
				  (unsigned long long)f->have, (unsigned long long)f->want.size);
	TRY(digest_end(f->digest, digest));
	if (memcmp(digest, f->want.sha256, SHA256_LEN) != 0)
		return R_IMAGE_DIGEST;
	f->complete = true;
	return R_OK;
}

enum reason artifact_seal(struct artifact_file *f, struct bytes front)
{
	if (!f->complete || front.n > f->room)
		return R_INTERNAL;
	TRY(write_at(f->fd, front, 0));
	return fd_seal(f->fd);
}
