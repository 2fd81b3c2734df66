/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers for messages of msg.h: a fixed struct, then a tail. */
#ifndef BOOTGATE_SERVER_CHANNEL_H
#define BOOTGATE_SERVER_CHANNEL_H

#include <string.h>

#include "base/cleanup.h"
#include "base/ipc.h"

/* An ipc_rule for struct s with a tail of at most tail_max bytes. */
#define CHANNEL_RULE(t, s, tail_max) { (t), sizeof(s), (uint32_t)(sizeof(s) + (tail_max)), false }

/*
 * Copies the struct out of the body and finds the tail, whose length the
 * struct states in its member `tail`: false when the two do not add up.
 */
static inline bool channel_split(const struct ipc_message *m, void *head, size_t n, size_t tail_at,
				 struct bytes *ret)
{
	uint32_t tail;

	if (m->body.n < n)
		return false;
	memcpy(head, m->body.p, n);
	memcpy(&tail, (const uint8_t *)head + tail_at, sizeof(tail));
	if (m->body.n - n != tail)
		return false;
	*ret = bytes_of(m->body.p + n, tail);
	return true;
}
/* A truth value out of a message: any other number than 0 is true. */
static inline void channel_bool(bool *b)
{
	uint8_t v;

	memcpy(&v, b, 1);
	*b = v != 0;
}

#define CHANNEL_SPLIT(m, head, ret) \
	channel_split((m), &(head), sizeof(head), offsetof(__typeof__(head), tail), (ret))

/* Sends struct and tail, waiting until the peer has taken them. */
static inline enum reason must_check channel_send(struct ipc *to, uint32_t type, uint64_t id,
						  const void *head, size_t n, struct bytes tail)
{
	struct bytes piece[] = { bytes_of(head, n), tail };

	return ipc_send_wait(to, type, id, piece, ARRAY_LEN(piece), -1, 30000);
}

#endif
