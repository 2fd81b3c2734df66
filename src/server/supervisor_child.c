/* SPDX-License-Identifier: Apache-2.0 */
/* What each child does, from its fork to its own main loop. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/jail.h"
#include "base/log.h"
#include "server/channel.h"
#include "server/front.h"
#include "server/signer.h"
#include "server/supervisor_internal.h"
#include "server/worker.h"

const char *const part_name[PART_MAX] = { "ledger", "signer", "node front", "admin front" };

/*
 * A child has the supervisor's memory. What it must not know is wiped before
 * it reads the first byte: with the token key it could enrol any key.
 */
static void forget_keys(struct supervisor *s, bool tls, bool token)
{
	if (tls) {
		blob_free(&s->tls_key);
		blob_free(&s->tls_certificate);
	}
	if (token) {
		blob_free(&s->token_key);
		blob_free(&s->token_key_old);
	}
	/* proc_fork() gave all signals back; a peer that goes away is no reason to end. */
	signal(SIGPIPE, SIG_IGN);
}

static _Noreturn void leave(const char *name, enum reason r)
{
	/* The other side went away: that is how the server stops. */
	if (r != R_OK && r != R_INTERNAL_CHILD)
		log_reason(r, "the %s ends", name);
	_exit(reason_exit(r));
}

static enum reason run_ledger(struct supervisor *s, const int fd[4])
{
	char database[SERVER_PATH_MAX];
	struct jail jail = supervisor_jail(s, JAIL_LEDGER);
	struct ledger_config c = { .database = database, .front = fd[0], .admin = fd[1], .signer = fd[2],
				   .supervisor = fd[3], .workers = s->conf.workers,
				   .challenge_lifetime = s->conf.challenge_lifetime,
				   .pending_max = s->conf.pending_max,
				   .pending_lifetime = s->conf.pending_lifetime };

	memcpy(c.token_key, s->token_key.p, sizeof(c.token_key));
	if (s->token_key_old.n > 0) {
		memcpy(c.token_key_old, s->token_key_old.p, sizeof(c.token_key_old));
		c.token_key_old_until = s->token_key_old_until;
	}
	TRY(server_path(jail.root ? "" : s->state, "bootgate.db", database));
	TRY(jail_enter(&jail));
	return ledger_run(&c);
}

static enum reason run_signer(struct supervisor *s, const int fd[2])
{
	_cleanup_(private_key_free) struct private_key *key = NULL;
	_cleanup_(blob_free) struct blob pem = BLOB(8192);
	char path[SERVER_PATH_MAX];
	struct jail jail = supervisor_jail(s, JAIL_SIGNER);

	TRY(server_path(s->dir, "keys/verdict.key", path));
	TRY(fd_read_file(path, &pem));
	TRY(private_key_from_pem(blob_bytes(&pem), &key));
	struct signer_config c = { .ledger = fd[0], .supervisor = fd[1], .workers = s->conf.workers, .key = key };
	TRY(jail_enter(&jail));
	return signer_run(&c);
}

static enum reason run_front(struct supervisor *s, enum part part, int ledger)
{
	_cleanup_(front_free) struct front *f = NULL;
	struct jail jail = supervisor_jail(s, JAIL_FRONT);
	struct front_config c = { .ledger = ledger, .body_bytes = FRONT_BODY_BYTES };

	if (part == NODE_FRONT) {
		c.app = &front_node_app;
		if (s->listen_tls >= 0)
			c.socket[c.socket_count++] = (struct front_socket){ s->listen_tls, (char *)s->tls_key.p,
									    (char *)s->tls_certificate.p,
									    s->conf.per_address };
		/* All that comes through the proxy has the proxy's address. */
		if (s->listen_plain >= 0)
			c.socket[c.socket_count++] = (struct front_socket){ .fd = s->listen_plain };
	} else {
		c.app = &front_admin_app;
		c.socket[c.socket_count++] = (struct front_socket){ .fd = s->listen_admin };
	}
	TRY(front_open(&c, &f));
	TRY(jail_enter(&jail));
	return front_run(f);
}

static void tell_unusable(void *context, const char *path, enum reason r, size_t count)
{
	(void)context, (void)count;
	if (r != R_OK)
		log_line(LEVEL_DEBUG, "ek-ca/%s holds no certificate and is passed over", path);
}

static enum reason load_cas(const struct supervisor *s, struct cert_store *cas)
{
	char folder[SERVER_PATH_MAX];
	struct cert_folder found;

	TRY(server_path(s->dir, "ek-ca", folder));
	return cert_store_add_folder(cas, folder, tell_unusable, NULL, &found);
}

static enum reason run_worker(struct supervisor *s, const int fd[2])
{
	_cleanup_(cert_store_free) struct cert_store *cas = NULL;
	struct jail jail = supervisor_jail(s, JAIL_WORKER);

	TRY(cert_store_make(&cas));
	TRY(load_cas(s, cas));
	struct worker_config c = { .ledger = fd[0], .signer = fd[1], .cas = cas };
	TRY(jail_enter(&jail));
	return worker_run(&c);
}

_Noreturn void child_part(struct supervisor *s, enum part part, const int *fd)
{
	char name[64];

	snprintf(name, sizeof(name), "bootgated %s", part_name[part]);
	log_set_name(name);
	forget_keys(s, part != NODE_FRONT, part != LEDGER);
	switch (part) {
	case LEDGER:
		leave(part_name[part], run_ledger(s, fd));
	case SIGNER:
		leave(part_name[part], run_signer(s, fd));
	default:
		leave(part_name[part], run_front(s, part, fd[0]));
	}
}

_Noreturn void child_worker(struct supervisor *s, const int fd[2])
{
	log_set_name("bootgated worker");
	forget_keys(s, true, true);
	leave("worker", run_worker(s, fd));
}
