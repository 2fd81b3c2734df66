/* SPDX-License-Identifier: Apache-2.0 */
/* Before the first message: configuration, TPM, facts, PCR 8. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "gate/gate.h"
#include "node/sysfs.h"

/* Drivers are loaded before we start; a slow one gets this long. */
#define TPM_WAIT_MS 10000u

static enum reason prepare_config(struct gate *g)
{
	const struct boot_conf *c = &g->config.boot;

	TRY(config_read(g->options.config, &g->config));
	g->configured = true;
	if (c->console_device[0])
		console_add(&g->console, g->options.root, c->console_device);
	TRY(net_setup(g->net, c->server_url, c->mirror_url, blob_bytes(&g->config.server_ca)));
	g->net_ready = true;
	return R_OK;
}

static enum reason prepare_tpm(struct gate *g, struct tpm_facts *ret)
{
	gate_step(g, "tpm");
	TRY(tpm_open(g->options.tpm, TPM_WAIT_MS / g->options.hurry, &g->tpm));
	TRY(tpm_facts(g->tpm, ret));
	/* refuses registers that are in use before anything else is done */
	TRY(measure_begin(&g->measure, g->tpm));
	g->measuring = true;
	TRY(tpm_ak(g->tpm, &g->ak));
	g->has_ak = true;
	return tpm_ek_digests(g->tpm, g->ek_digest, &g->ek_digest_count);
}

/* A machine whose firmware left no log is for the server to judge. */
static enum reason read_firmware_log(struct gate *g)
{
	enum reason r = sysfs_read(g->options.root, FIRMWARE_LOG, &g->firmware_log);

	if (r == R_FILE && errno == ENOENT) {
		log_warn("there is no firmware log");
		return R_OK;
	}
	return r;
}

static enum reason measure_facts(struct gate *g)
{
	gate_step(g, "measure");
	for (size_t i = 0; i < g->facts.count; i++) {
		const struct fact_text *f = &g->facts.item[i];

		TRY(measure_fact(&g->measure, fact_tag(f->fact), f->known ? f->text : NULL));
	}
	return R_OK;
}

enum reason gate_prepare(struct gate *g)
{
	struct tpm_facts facts;

	TRY(prepare_config(g));
	/* from here on a port comes up while we go on */
	TRY(network_start(g));
	TRY(prepare_tpm(g, &facts));
	gate_step(g, "collect");
	TRY(read_firmware_log(g));
	TRY(collect(&g->options, &g->config, &facts, &g->watchdog, &g->facts, &g->report));
	return measure_facts(g);
}
