/* SPDX-License-Identifier: Apache-2.0 */
/* A boot from the first to the last step, in the order of design section 1. */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "crypto/init.h"
#include "crypto/random.h"
#include "gate/gate.h"

void gate_tick(void *gate)
{
	struct gate *g = gate;

	watchdog_feed(&g->watchdog);
	console_flush(&g->console);
}

void gate_step(struct gate *g, const char *name)
{
	g->step = name;
	console_say(&g->console, "step %s", name);
	watchdog_feed(&g->watchdog);
}

/* The watchdog before everything else; then the child, before anything is parsed. */
static enum reason start(struct gate *g)
{
	enum reason r;

	g->step = "start";
	g->start_ms = clock_boot_ms();
	log_keep();
	console_open(&g->console, g->options.root);
	console_say(&g->console, "bootgate " BOOTGATE_VERSION);
	r = watchdog_start(g->options.root, GATE_WATCHDOG_SECONDS, &g->watchdog);
	if (r != R_OK)
		log_warn("%s: %s", reason_name(r), reason_sentence(r));
	TRY(net_start(gate_tick, g, &g->net));
	net_hurry(g->net, g->options.hurry);
	return crypto_init();
}

/* Steps 6 to 12, once. */
static enum reason attempt(struct gate *g)
{
	struct attempt *a = &g->attempt;

	attempt_reset(a);
	g->reason_text[0] = 0;
	TRY(network_wait(g, UINT64_MAX));
	TRY(gate_challenge(g));
	TRY(gate_enrol(g));
	TRY(gate_attest(g));
	TRY(gate_image(g));
	return gate_load(g);
}

/* Until the server decides, for ever. */
static enum reason attempts(struct gate *g)
{
	for (;;) {
		enum reason r = attempt(g);
		uint32_t random = 0;

		if (r == R_OK || !g->attempt.wait)
			return r;
		if (random_bytes(&random, sizeof(random)))
			random = 0;
		gate_wait(g, "waiting", r, "another try",
			  backoff_next(&g->backoff, g->attempt.retry_after, random));
	}
}

static void gate_free(struct gate *g)
{
	attempt_reset(&g->attempt);
	artifact_drop(&g->kernel);
	artifact_drop(&g->initrd);
	measure_free(&g->measure);
	tpm_close(&g->tpm);
	network_stop(g);
	net_stop(&g->net);
	config_free(&g->config);
	blob_free(&g->firmware_log);
	blob_free(&g->report);
	console_close(&g->console);
	free(g);
}

static struct gate *gate_make(const struct options *o)
{
	struct gate *g = calloc(1, sizeof(*g));

	if (!g)
		return NULL;
	g->options = *o;
	g->watchdog = WATCHDOG_NONE;
	g->network = (struct network){ .script = PROC_NONE, .out = -1 };
	g->kernel = ARTIFACT_NONE;
	g->initrd = ARTIFACT_NONE;
	g->firmware_log = BLOB(LIMIT_FIRMWARE_LOG);
	g->report = BLOB(LIMIT_REPORT);
	attempt_reset(&g->attempt);
	return g;
}

int gate_run(const struct options *o)
{
	struct gate *g = gate_make(o);
	enum reason r;
	int code = 1;

	if (!g)
		return reason_exit(R_INTERNAL_MEMORY);
	r = start(g);
	if (r == R_OK)
		r = gate_prepare(g);
	if (r == R_OK)
		r = attempts(g);
	if (r == R_OK)
		r = gate_decide(g);
	if (r == R_OK)
		r = gate_jump(g, &code);
	if (r != R_OK)
		code = gate_fail(g, r);
	gate_free(g);
	return code;
}
