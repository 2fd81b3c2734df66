/* SPDX-License-Identifier: Apache-2.0 */
/* Answers wait for the commit of their turn. */
#include "base/cleanup.h"
#include "base/log.h"
#include "server/ledger.h"
#include "server/refusal.h"

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

void answer_problem(struct ledger *l, struct ipc *to, uint64_t id, enum reason r, const char *about,
		    uint32_t retry_after)
{
	_cleanup_(blob_free) struct blob body = BLOB(LIMIT_PROBLEM);
	struct msg_answer head;

	if (refusal_write(r, about, retry_after, to == &l->admin, &head, &body) != R_OK)
		head = (struct msg_answer){ .status = 500 };
	answer_add(l, to, id, head, blob_bytes(&body));
}

void answer_refusal(struct ledger *l, struct ipc *to, uint64_t id, enum reason r)
{
	uint32_t retry = reason_class(r) == REASON_TRANSIENT ? BUSY_RETRY : 0;

	if (r == R_SERVER_BUSY)
		l->count.busy++;
	else
		l->count.refused++;
	answer_problem(l, to, id, r, "", retry);
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

static enum reason answer_send(const struct answer *a, const struct msg_answer *head, struct bytes tail)
{
	struct bytes piece[] = { bytes_of(head, sizeof(*head)), tail };

	return ipc_send(a->to, MSG_ANSWER, a->id, piece, ARRAY_LEN(piece), -1);
}

static enum reason refusal_send(struct ledger *l, const struct answer *a, enum reason r, uint32_t retry_after)
{
	_cleanup_(blob_free) struct blob body = BLOB(LIMIT_PROBLEM);
	struct msg_answer head;

	TRY(refusal_write(r, "", retry_after, a->to == &l->admin, &head, &body));
	return answer_send(a, &head, blob_bytes(&body));
}

void answers_send(struct ledger *l, enum reason bad)
{
	for (struct answer *a = l->answers; a; a = a->next) {
		enum reason r;

		if (bad != R_OK && a->head.status < 300)
			r = refusal_send(l, a, bad, BUSY_RETRY);
		else
			r = answer_send(a, &a->head, blob_bytes(&a->body));
		/* More than the channel takes: its caller is told, and not left waiting. */
		if (r == R_INTERNAL_TOO_LARGE)
			r = refusal_send(l, a, r, 0);
		if (r != R_OK)
			log_line(LEVEL_WARN, "an answer was dropped: its front does not take it");
	}
	answers_free(l);
}
