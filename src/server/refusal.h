/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOOTGATE_SERVER_REFUSAL_H
#define BOOTGATE_SERVER_REFUSAL_H

#include "server/msg.h"

/* The answer that says no: in JSON to operators, with what is meant by it (`about`, "" for none), as a problem to gates. */
enum reason refusal_write(enum reason r, const char *about, uint32_t retry_after, bool json,
			  struct msg_answer *ret_head, struct blob *ret_body) must_check;

#endif
