/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of the supervisor: supervisor.c is the main loop, and the others
 * have a subject each: supervisor_setup.c what is done once before it,
 * supervisor_start.c how processes are started and stopped,
 * supervisor_release.c the release keys that should not be here,
 * supervisor_child.c what each of them does from its fork to its own main
 * loop, and supervisor_jail.c who it is by then.
 */
#ifndef BOOTGATE_SERVER_SUPERVISOR_INTERNAL_H
#define BOOTGATE_SERVER_SUPERVISOR_INTERNAL_H

#include "base/bytes.h"
#include "base/ipc.h"
#include "base/jail.h"
#include "base/proc.h"
#include "server/config.h"
#include "server/ledger.h"

/* All but the workers; in the order of starting. */
enum part { LEDGER, SIGNER, NODE_FRONT, ADMIN_FRONT, PART_MAX };
extern const char *const part_name[PART_MAX];

struct supervisor {
	const char *dir;
	char state[SERVER_PATH_MAX];	/* the ledger's folder */
	struct server_conf conf;
	struct blob tls_key, tls_certificate, token_key;
	struct blob token_key_old;	/* empty where there is none */
	uint64_t token_key_old_until;
	int listen_tls, listen_plain, listen_admin;
	int signals;
	struct proc part[PART_MAX];
	struct ipc ledger, signer;	/* for handing over workers' sockets */
	struct {
		struct proc proc;
		uint64_t started;
		int channel;	/* the worker's end of its channel to the ledger, only to see it hang up */
	} worker[LEDGER_WORKERS_MAX];
};

/* Settings, keys, sockets, signals; the ledger's folder is given to it. */
enum reason supervisor_setup(struct supervisor *s) must_check;
/* Room for every connection that the fronts take; R_SERVER_FILES when it may not be had. */
enum reason supervisor_files(const struct server_conf *c) must_check;
/* One server a folder; the lock goes with the process. */
enum reason supervisor_lock(const char *dir, int *ret) must_check;

/* Looks for private release keys; warns, and has it in the server's status. */
enum reason release_keys_tell(struct supervisor *s) must_check;

enum reason start_all(struct supervisor *s) must_check;
enum reason start_worker(struct supervisor *s, unsigned index) must_check;
/* Closes its channel, so that the ledger sees its end. */
void worker_hang_up(struct supervisor *s, unsigned index);
void stop_all(struct supervisor *s);

/* How a process confines itself; as root, the ledger's folder becomes its "/". */
struct jail supervisor_jail(const struct supervisor *s, enum jail_profile profile);

/*
 * In the child: its whole life. The descriptors are those that start_all()
 * kept open for it.
 */
_Noreturn void child_part(struct supervisor *s, enum part part, const int *fd);
_Noreturn void child_worker(struct supervisor *s, const int fd[2]);

#endif
