/* SPDX-License-Identifier: Apache-2.0 */
/* What front.c, the loop, and front_request.c, one request, share. */
#ifndef BOOTGATE_SERVER_FRONT_INTERNAL_H
#define BOOTGATE_SERVER_FRONT_INTERNAL_H

#include <microhttpd.h>

#include "base/ipc.h"
#include "server/front.h"

enum progress {
	READING,	/* body is coming */
	WAITING,	/* the ledger has it, the connection is suspended */
	ANSWERED,	/* answer is here */
	DONE,		/* answer was queued */
};

/* One socket that listens, with its HTTP server. */
struct listener {
	struct front *front;
	struct MHD_Daemon *mhd;
	int fd;				/* readable when the HTTP server has work */
	bool busy;			/* it has work that no descriptor tells */
};

struct request {
	struct listener *from;
	struct MHD_Connection *connection;
	enum progress progress;
	enum reason refused;		/* of what was read */
	struct blob body;
	uint64_t id, deadline;		/* first of the body, then of the answer */
	struct msg_answer head;
	struct blob answer;
	struct request *next;		/* in the list of those that wait */
};

/* A connection, from accept to close. */
struct peer {
	struct peer *next, **at;
	int fd;
	bool asked;			/* a request is under way, which has its own deadlines */
	uint64_t deadline;		/* until then the head of the next one must be here */
};

struct front {
	const struct front_app *app;
	struct ipc ledger;
	struct listener listener[FRONT_SOCKETS];
	size_t listener_count;
	struct peer *peers;
	struct request *waiting;
	size_t waiting_count;
	size_t body_bytes, body_max;
	uint64_t next_id;
	uint64_t next_second;		/* when deadlines are looked at again */
	bool progress;			/* a request moved in this turn */
};

/* ---- front_request.c: callbacks of libmicrohttpd; cls is the listener ---- */

enum MHD_Result front_on_request(void *cls, struct MHD_Connection *c, const char *path, const char *method,
				 const char *version, const char *data, size_t *data_n, void **con_cls);
void front_on_completed(void *cls, struct MHD_Connection *c, void **con_cls,
			enum MHD_RequestTerminationCode why);
void front_on_connection(void *cls, struct MHD_Connection *c, void **socket_context,
			 enum MHD_ConnectionNotificationCode what);

/* Gives a request that waits its answer; front_expire() does it for those that waited too long. */
enum reason front_answer(struct front *f, uint64_t id, const struct msg_answer *head, struct bytes body) must_check;
void front_expire(struct front *f, uint64_t now);
/* Cuts off peers that connected, or were answered, and then did not send the head of a request in time. */
void front_cut_silent(struct front *f, uint64_t now);
/* Lets go of all that waits: MHD_stop_daemon() must not see suspended connections. */
void front_resume_all(struct front *f);

#endif
