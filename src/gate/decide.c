/* SPDX-License-Identifier: Apache-2.0 */
/* Step 12, end, and 13: the decision in PCR 14, and the receipt for it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "crypto/random.h"
#include "format/evidence.h"
#include "gate/gate.h"
#include "node/sysfs.h"

/* The receipt's own time, whatever is left of the verdict's. */
#define RECEIPT_MS 120000u
#define RECEIPT_TRY_MS 10000u
#define LOAD_DISABLED "/proc/sys/kernel/kexec_load_disabled"

/* What is loaded now is the last that this kernel ever loads. */
static enum reason close_kexec(const struct gate *g)
{
	if (sysfs_write(g->options.root, LOAD_DISABLED, "1\n"))
		return log_reason_errno(R_BOOT_KEXEC_LOAD, LOAD_DISABLED);
	return R_OK;
}

static enum reason measure_decision(struct gate *g)
{
	const struct attempt *a = &g->attempt;
	char hex[2 * SHA256_LEN + 1];
	struct decision d;

	TRY(gate_decision(g, &d));
	g->decided = true;
	for (size_t i = 0; i < DECISION_EVENTS; i++)
		TRY(measure_fact(&g->measure, fact_tag(d.event[i].fact), d.event[i].hex));
	/* the hand-over holds a promise; this is where it is kept */
	if (!bytes_equal(blob_bytes(&g->measure.log), blob_bytes(&a->planned_log)))
		return log_reason(R_INTERNAL, "the gate log is not the one handed over");
	hex_encode(BYTES(a->handover_digest), hex);
	return measure_fact(&g->measure, fact_tag(FACT_HANDOVER), hex);
}

static enum reason write_claims(struct gate *g, const struct pcr_values *values,
				struct blob *ret)
{
	_cleanup_free_ struct receipt *m = calloc(1, sizeof(*m));

	if (!m)
		return R_INTERNAL_MEMORY;
	memcpy(m->verdict_digest, g->attempt.verdict_digest, SHA256_LEN);
	memcpy(m->ak_name, g->ak.name, AK_NAME_LEN);
	m->gate_log = blob_bytes(&g->measure.log);
	m->values = *values;
	return receipt_write(m, ret);
}

static enum reason make_receipt(struct gate *g, struct blob *ret)
{
	const struct quoted q = { QUOTE_RECEIPT, g->attempt.verdict_digest, write_claims };

	return gate_quote(g, &q, ret);
}

/* The same bytes until they are acknowledged: there is no second decision. */
static enum reason send_receipt(struct gate *g, struct bytes receipt)
{
	uint64_t deadline = clock_boot_ms() + RECEIPT_MS / g->options.hurry;
	struct backoff backoff = { 0 };

	for (;;) {
		uint8_t acknowledged[SHA256_LEN];
		uint32_t random = 0;
		uint64_t delay;
		int left;
		enum reason r = net_receipt(g->net, receipt, RECEIPT_TRY_MS / g->options.hurry,
					    acknowledged);

		if (r == R_OK && memcmp(acknowledged, g->attempt.verdict_digest,
					SHA256_LEN) == 0)
			return R_OK;
		if (r == R_OK)
			r = R_NET_ANSWER;
		if (random_bytes(&random, sizeof(random)))
			random = 0;
		delay = backoff_next(&backoff, 0, random);
		left = clock_left_ms(deadline);
		if ((uint64_t)left <= delay / g->options.hurry)
			return log_reason(R_BOOT_RECEIPT, "last: %s", reason_name(r));
		gate_wait(g, "waiting", r, "receipt", delay);
	}
}

enum reason gate_decide(struct gate *g)
{
	_cleanup_(blob_free) struct blob receipt = BLOB(LIMIT_RECEIPT);

	TRY(close_kexec(g));
	TRY(measure_decision(g));
	gate_step(g, "measured");
	TRY(make_receipt(g, &receipt));
	gate_step(g, "receipt");
	return send_receipt(g, blob_bytes(&receipt));
}
