/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An artifact on its way into memory: a memfd with NUL-filled room in front,
 * hashed while it is written, and never looked at before size and digest are
 * those of the signed manifest.
 */
#ifndef BOOTGATE_GATE_ARTIFACT_H
#define BOOTGATE_GATE_ARTIFACT_H

#include "base/bytes.h"
#include "crypto/digest.h"
#include "format/manifest.h"

struct artifact_file {
	int fd;				/* -1: nothing yet */
	uint64_t room;			/* bytes in front of the artifact */
	struct artifact want;
	uint64_t have;			/* bytes of it that were written and hashed */
	struct digest *digest;
	bool complete;			/* size and digest fit */
	bool resumed;			/* pieces of several transfers */
};
#define ARTIFACT_NONE ((struct artifact_file){ .fd = -1 })

/*
 * Begins. When the same artifact is there already, whole or in part, it is
 * kept, so that a slow mirror is not asked twice.
 */
enum reason artifact_begin(struct artifact_file *f, const char *name,
			   const struct artifact *want, uint64_t room) must_check;
/* Takes the next bytes: R_IMAGE_SIZE for more than there should be. */
enum reason artifact_take(void *file, struct bytes piece) must_check;
/* The transfer is over: R_IMAGE_SIZE, R_IMAGE_DIGEST. */
enum reason artifact_end(struct artifact_file *f) must_check;
/* Back to the first byte. */
enum reason artifact_restart(struct artifact_file *f) must_check;
/* Fills the room; nobody can change it afterwards. */
enum reason artifact_seal(struct artifact_file *f, struct bytes front) must_check;
void artifact_drop(struct artifact_file *f);

#endif
