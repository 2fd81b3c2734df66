/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hand-over: an uncompressed cpio (newc) in front of the signed initrd,
 * deterministic: members in fixed order below /.extra/bootgate/, inode
 * numbers from 1, mode 0400, owner and time 0. Whoever has the members can
 * make it again, byte for byte, and so its event in PCR 14.
 */
#ifndef BOOTGATE_FORMAT_HANDOVER_H
#define BOOTGATE_FORMAT_HANDOVER_H

#include "base/bytes.h"
#include "base/limits.h"

struct handover {
	struct bytes firmware_log;	/* firmware.log */
	struct bytes gate_log;		/* gate.log: up to, and without, the hand-over's own event */
	struct bytes evidence;		/* evidence.cbor */
	struct bytes verdict;		/* verdict.cose */
	struct bytes manifest;		/* manifest.cose */
	struct bytes report;		/* report.cbor */
};

/* Size of the archive for members of these sizes. */
size_t handover_size(const struct handover *h);
/* Padded with NUL to a multiple of 512. */
enum reason handover_write(const struct handover *h, struct blob *ret) must_check;
/* Exactly what handover_write makes; anything else is refused. */
enum reason handover_read(struct bytes in, struct handover *ret) must_check;

#endif
