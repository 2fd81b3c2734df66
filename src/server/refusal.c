/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "base/cleanup.h"
#include "server/http_status.h"
#include "server/refusal.h"

static enum reason in_json(enum reason r, struct blob *ret)
{
	char text[1024];
	/* Names, sentences and remedies of reason.def need no escapes in JSON. */
	int n = snprintf(text, sizeof(text),
			 "{\"error\":{\"class\":\"%s\",\"reason\":\"%s\",\"remedy\":\"%s\",\"sentence\":\"%s\"}}",
			 reason_class_name(reason_class(r)), reason_name(r), reason_remedy(r),
			 reason_sentence(r));

	return blob_append(ret, text, (size_t)n);
}

static enum reason as_problem(enum reason r, uint32_t retry_after, struct blob *ret)
{
	struct problem p;

	problem_of(r, retry_after, &p);
	return problem_write(&p, ret);
}

enum reason refusal_write(enum reason r, uint32_t retry_after, bool json, struct msg_answer *ret_head,
			  struct blob *ret_body)
{
	blob_reset(ret_body);
	TRY(json ? in_json(r, ret_body) : as_problem(r, retry_after, ret_body));
	*ret_head = (struct msg_answer){ .status = http_status(r),
					 .media = json ? MEDIA_JSON : MEDIA_PROBLEM,
					 .retry_after = retry_after, .tail = (uint32_t)ret_body->n };
	return R_OK;
}
