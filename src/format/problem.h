/* SPDX-License-Identifier: Apache-2.0 */
/* Error answers (RFC 9290) and the gate's failure message. */
#ifndef BOOTGATE_FORMAT_PROBLEM_H
#define BOOTGATE_FORMAT_PROBLEM_H

#include "format/protocol.h"

struct problem {
	char reason[64];		/* name of reason.def */
	char title[200];		/* its sentence */
	char remedy[200];
	uint32_t retry_after;		/* seconds, 0: not stated */
};

enum reason problem_read(struct bytes in, struct problem *ret) must_check;
enum reason problem_write(const struct problem *m, struct blob *ret) must_check;
/* Filled from reason.def. */
void problem_of(enum reason r, uint32_t retry_after, struct problem *ret);

/* POST /v1/failure: stored as unproven. */
struct failure {
	char reason[64];
	char step[32];
	struct bytes log;		/* at most LIMIT_FAILURE_LOG, the last of it */
	bool has_ak_name;
	uint8_t ak_name[AK_NAME_LEN];
};

enum reason failure_read(struct bytes in, struct failure *ret) must_check;
enum reason failure_write(const struct failure *m, struct blob *ret) must_check;

#endif
