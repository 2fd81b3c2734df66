/* SPDX-License-Identifier: Apache-2.0 */
#include <jansson.h>
#include <string.h>

#include "base/cleanup.h"
#include "server/http_status.h"
#include "server/refusal.h"

static enum reason in_json(enum reason r, const char *about, struct blob *ret)
{
	json_t *j = json_pack("{s:{s:s s:s s:s s:s s:s*}}", "error", "class", reason_class_name(reason_class(r)),
			      "reason", reason_name(r), "remedy", reason_remedy(r), "sentence",
			      reason_sentence(r), "about", about[0] ? about : NULL);
	_cleanup_free_ char *text = j ? json_dumps(j, JSON_COMPACT) : NULL;

	json_decref(j);
	return text ? blob_append(ret, text, strlen(text)) : R_INTERNAL_MEMORY;
}

static enum reason as_problem(enum reason r, uint32_t retry_after, struct blob *ret)
{
	struct problem p;

	problem_of(r, retry_after, &p);
	return problem_write(&p, ret);
}

enum reason refusal_write(enum reason r, const char *about, uint32_t retry_after, bool json,
			  struct msg_answer *ret_head, struct blob *ret_body)
{
	blob_reset(ret_body);
	TRY(json ? in_json(r, about, ret_body) : as_problem(r, retry_after, ret_body));
	*ret_head = (struct msg_answer){ .status = http_status(r),
					 .media = json ? MEDIA_JSON : MEDIA_PROBLEM,
					 .retry_after = retry_after, .tail = (uint32_t)ret_body->n };
	return R_OK;
}
