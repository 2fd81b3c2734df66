/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TLS and HTTP for both fronts. A front takes a whole request, turns it into
 * one message for the ledger, and gives the ledger's answer back. It has no
 * database and no keys but its TLS key. The node front and the admin front
 * are two processes that differ in their `struct front_app`.
 */
#ifndef BOOTGATE_SERVER_FRONT_H
#define BOOTGATE_SERVER_FRONT_H

#include "server/msg.h"

#define FRONT_PENDING_MAX 512u		/* requests at the ledger at once */
#define FRONT_CONNECTIONS 4096u
#define FRONT_IDLE_S 30u		/* for the head of a request, handshake included */
#define FRONT_BODY_MS 60000u		/* for all of a body, however busily it trickles */
#define FRONT_BODY_BYTES ((size_t)512 << 20)	/* front_config.body_bytes of a server */
#define FRONT_ANSWER_MS 75000u		/* longer than the ledger's own deadline */
#define FRONT_RETRY_S 2u
#define FRONT_SOCKETS 4u

/* A request as the app sees it. */
struct front_request {
	const char *method, *path;
	struct bytes body;
	char peer[PEER_TEXT];		/* address of the peer, or who it is */
	uint32_t uid, gid;		/* Unix sockets only */
	bool has_uid;
	/* Value of a query argument, NULL where there is none. */
	const char *(*query)(const struct front_request *q, const char *name);
	void *connection;
	char *about;			/* ABOUT_MAX: what a refusal of this is about, if that can be said */
};

struct front_app {
	const char *name;
	bool json;			/* problems in JSON, not CBOR */
	/*
	 * Most bytes of body that this route takes; 0 with R_SERVER_ROUTE for
	 * a route that is none of ours. Called before any body is read.
	 */
	enum reason (*limit)(const char *method, const char *path, size_t *ret);
	/* Message for the ledger: its type, and struct and tail in one blob. */
	enum reason (*message)(const struct front_request *q, uint32_t *ret_type, struct blob *ret);
	/* Answered here, without the ledger: true, and the text. May be NULL. */
	bool (*local)(const char *method, const char *path, const char **ret_text);
	size_t message_max;
};

struct front_socket {
	int fd;				/* listening; taken over */
	const char *tls_key, *tls_certificate;	/* PEM; both NULL: no TLS */
	uint32_t per_address;		/* connections of one address at once, 0: any number */
};

struct front_config {
	const struct front_app *app;
	int ledger;			/* taken over */
	struct front_socket socket[FRONT_SOCKETS];
	size_t socket_count;
	size_t body_bytes;		/* of all bodies that are coming in */
};

struct front;
/* Two steps, so that keys are loaded before the process is confined. */
enum reason front_open(const struct front_config *conf, struct front **ret) must_check;
/* Returns when the ledger is gone. */
enum reason front_run(struct front *f) must_check;
void front_free(struct front **f);

extern const struct front_app front_node_app;
extern const struct front_app front_admin_app;

#endif
