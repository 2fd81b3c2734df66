/* SPDX-License-Identifier: Apache-2.0 */
/* Answers wait for the commit of their turn. */
#include "base/cleanup.h"
#include "base/log.h"
#include "server/http_status.h"
#include "server/ledger.h"

static void answer_add(struct ledger *l, struct ipc *to, uint64_t id, struct msg_answer head,
		       struct bytes body)
{
	struct answer *a = calloc(1, sizeof(*a));

	/* Without memory for an answer the front's own deadline answers. */
	if (!a)
		return;
	a->to = to;
	a->id = id;
	a->head = head;
	a->body = BLOB(body.n);
	if (blob_append(&a->body, body.p, body.n) != R_OK) {
		free(a);
		return;
	}
	a->head.tail = (uint32_t)body.n;
	if (l->last_answer)
		l->last_answer->next = a;
	else
		l->answers = a;
	l->last_answer = a;
}

void answer_body(struct ledger *l, struct ipc *to, uint64_t id, enum media media, struct bytes body)
{
	struct msg_answer head = { .status = body.n > 0 ? 200 : 204, .media = media };

	answer_add(l, to, id, head, body);
}

void answer_json(struct ledger *l, struct ipc *to, uint64_t id, uint16_t status, struct bytes text)
{
	struct msg_answer head = { .status = status, .media = MEDIA_JSON };

	answer_add(l, to, id, head, text);
}

void answer_problem(struct ledger *l, struct ipc *to, uint64_t id, enum reason r, uint32_t retry_after)
{
	_cleanup_(blob_free) struct blob body = BLOB(LIMIT_PROBLEM);
	struct msg_answer head = { .status = http_status(r), .media = MEDIA_PROBLEM,
				   .retry_after = retry_after };
	struct problem p;

	problem_of(r, retry_after, &p);
	if (problem_write(&p, &body) != R_OK)
		blob_reset(&body);
	answer_add(l, to, id, head, blob_bytes(&body));
}

void answer_refusal(struct ledger *l, struct ipc *to, uint64_t id, enum reason r)
{
	uint32_t retry = reason_class(r) == REASON_TRANSIENT ? BUSY_RETRY : 0;

	if (r == R_SERVER_BUSY)
		l->count.busy++;
	else
		l->count.refused++;
	answer_problem(l, to, id, r, retry);
}

void answers_free(struct ledger *l)
{
	while (l->answers) {
		struct answer *a = l->answers;

		l->answers = a->next;
		blob_free(&a->body);
		free(a);
	}
	l->last_answer = NULL;
}

void answers_send(struct ledger *l, enum reason bad)
{
	for (struct answer *a = l->answers; a; a = a->next) {
		_cleanup_(blob_free) struct blob body = BLOB(LIMIT_PROBLEM);
		struct msg_answer head = a->head;
		struct bytes tail = blob_bytes(&a->body);

		if (bad != R_OK && head.status < 300) {
			struct problem p;

			problem_of(bad, BUSY_RETRY, &p);
			if (problem_write(&p, &body) != R_OK)
				blob_reset(&body);
			tail = blob_bytes(&body);
			head = (struct msg_answer){ .status = http_status(bad), .media = MEDIA_PROBLEM,
						    .retry_after = BUSY_RETRY, .tail = (uint32_t)tail.n };
		}
		struct bytes piece[] = { bytes_of(&head, sizeof(head)), tail };
		if (ipc_send(a->to, MSG_ANSWER, a->id, piece, ARRAY_LEN(piece), -1) != R_OK)
			log_line(LEVEL_WARN, "an answer was dropped: its front does not take it");
	}
	answers_free(l);
}
