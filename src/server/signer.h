/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The signer: holds the verdict key. It signs what a worker found only when
 * the quote's signature holds under the AK, and when session, nonce, node, AK
 * and evidence digest equal what the ledger announced; never a directive
 * better than the ledger allows.
 */
#ifndef BOOTGATE_SERVER_SIGNER_H
#define BOOTGATE_SERVER_SIGNER_H

#include "crypto/sign.h"

struct signer_config {
	int ledger, supervisor;			/* taken over */
	unsigned workers;
	const struct private_key *key;
};

enum reason signer_run(const struct signer_config *conf) must_check;

#endif
