/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Typed messages between the processes of one program, over a stream socket
 * pair. Each side states in a table which types it accepts and how long each
 * may be; anything else, and every deviation in the header, ends the channel
 * for good. A peer is never trusted to be whole: lengths are checked before
 * anything is allocated.
 *
 * A channel never blocks by itself. A poll loop asks ipc_events() what to
 * wait for and calls ipc_receive() and ipc_flush(); a process that does one
 * thing at a time calls ipc_wait() and ipc_send_wait().
 *
 *	R_INTERNAL_CHILD	the peer is gone, or was silent too long
 *	R_FORMAT_VERSION	not one of our headers
 *	R_FORMAT_TYPE		a type or a descriptor that is not accepted here
 *	R_FORMAT_TRUNCATED	a body shorter than the table says
 *	R_FORMAT_TOO_LARGE	a body longer than the table says
 *	R_FORMAT_MISSING_KEY	the descriptor that belongs to this type is missing
 */
#ifndef BOOTGATE_BASE_IPC_H
#define BOOTGATE_BASE_IPC_H

#include "base/bytes.h"

#define IPC_HEADER_LEN 24u
#define IPC_QUEUE_MAX (16u << 20)	/* bytes that wait for a slow peer */

/* One accepted type; `fd`: exactly one descriptor comes with it. */
struct ipc_rule {
	uint32_t type;
	uint32_t min;
	uint32_t max;
	bool fd;
};

struct ipc_message {
	uint32_t type;
	uint64_t id;		/* the sender's; an answer carries the request's */
	struct bytes body;	/* valid until the next receive on this channel */
	int fd;			/* the receiver's from now on, else -1 */
};

struct ipc_pending;		/* a message that waits to be written */

struct ipc {
	int fd;
	enum reason broken;	/* R_OK while the channel works */
	/* receiving */
	const struct ipc_rule *rules;
	size_t rule_count;
	uint8_t header[IPC_HEADER_LEN];
	size_t header_n;
	const struct ipc_rule *rule;	/* of the header once it is whole */
	uint64_t id;
	struct blob body;
	size_t body_n;
	int in_fd;
	/* sending */
	struct ipc_pending *first, *last;
	size_t queued;
};

#define IPC_NONE ((struct ipc){ .fd = -1, .in_fd = -1 })

/* Two connected ends, close-on-exec. */
enum reason ipc_pair(int ret[2]) must_check;
/* Takes over fd. The table must live as long as the channel. */
enum reason ipc_open(struct ipc *c, int fd, const struct ipc_rule *rules,
		     size_t count) must_check;
void ipc_close(struct ipc *c);

/*
 * Queues one message whose body are `count` pieces, and writes what the peer
 * takes at once. `fd` (-1 for none) is duplicated; the caller keeps its own.
 * R_INTERNAL_TOO_LARGE: too much waits already, nothing was queued.
 */
enum reason ipc_send(struct ipc *c, uint32_t type, uint64_t id,
		     const struct bytes *pieces, size_t count, int fd) must_check;
enum reason ipc_flush(struct ipc *c) must_check;
/* POLLIN, and POLLOUT while something waits; 0 once it is broken. */
short ipc_events(const struct ipc *c);
/* One message if a whole one is there: then *ret_have is true. */
enum reason ipc_receive(struct ipc *c, struct ipc_message *ret, bool *ret_have) must_check;

/* Same with patience, in milliseconds (-1: for ever). */
enum reason ipc_send_wait(struct ipc *c, uint32_t type, uint64_t id,
			  const struct bytes *pieces, size_t count, int fd,
			  int timeout_ms) must_check;
enum reason ipc_wait(struct ipc *c, int timeout_ms, struct ipc_message *ret) must_check;

#endif
