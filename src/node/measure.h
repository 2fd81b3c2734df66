/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The gate's own log and the registers it describes (PCR_FACTS, PCR_DECISION):
 * an event is appended to the log first, then extended into every active bank;
 * a failed extend is final for this boot, only the cap can follow.
 */
#ifndef BOOTGATE_NODE_MEASURE_H
#define BOOTGATE_NODE_MEASURE_H

#include "base/bytes.h"
#include "format/pcr.h"
#include "node/tpm.h"

struct measure {
	struct tpm *tpm;
	struct tpm_banks banks;
	struct blob log;		/* TCG crypto-agile, header included */
	enum reason failed;		/* of the first event that did not get in */
	bool capped;
};

/*
 * Starts the log. R_TPM_REGISTER_USED unless PCR 8, 14 (and 15) are at reset
 * in every active bank.
 */
enum reason measure_begin(struct measure *m, struct tpm *tpm) must_check;
void measure_free(struct measure *m);
/* The fact of this tag (facts.h), its text escaped; NULL is written as `unavailable`. */
enum reason measure_fact(struct measure *m, uint32_t tag, const char *text) must_check;
/*
 * The cap of both registers: the fixed event (R_OK) or `failed: <reason>`.
 * Done once; later calls do nothing.
 */
enum reason measure_cap(struct measure *m, enum reason why) must_check;

#endif
