/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The worker: parses and judges what nobody trusts. It has two channels and
 * nothing else: no files, no network, no clock of consequence. One request
 * at a time; it ends after WORKER_REQUESTS and is replaced.
 */
#ifndef BOOTGATE_SERVER_WORKER_H
#define BOOTGATE_SERVER_WORKER_H

#include "base/ipc.h"
#include "crypto/cert.h"

struct worker_config {
	int ledger, signer;		/* taken over */
	const struct cert_store *cas;	/* vendor CAs, read before confinement */
};

/* What it takes from the ledger. */
#define WORKER_HEARS 7u
extern const struct ipc_rule worker_hears[WORKER_HEARS];

/* Returns when the ledger is gone or the worker has served its time. */
enum reason worker_run(const struct worker_config *conf) must_check;

#endif
