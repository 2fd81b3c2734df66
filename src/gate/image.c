/* SPDX-License-Identifier: Apache-2.0 */
/* Step 11: the signed manifest, and the artifacts that it names. */
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "crypto/random.h"
#include "gate/gate.h"
#include "node/hardware.h"

/* For the kernel's own work while it copies the image, and for ours. */
#define MEMORY_MARGIN (64ull << 20)
/* Room in front of the initrd; a multiple of the page, so of cpio's 4 too. */
#define ROOM LIMIT_HANDOVER

static enum reason fetch_manifest(struct gate *g)
{
	struct attempt *a = &g->attempt;
	uint8_t digest[SHA256_LEN];
	enum reason r;

	r = net_manifest(g->net, a->verdict.manifest_digest, &a->manifest_bytes);
	if (r != R_OK)
		return gate_net_reason(g, r);
	TRY(sha256(blob_bytes(&a->manifest_bytes), digest));
	if (memcmp(digest, a->verdict.manifest_digest, SHA256_LEN) != 0)
		return R_MANIFEST_DIGEST;
	return R_OK;
}

/* One purpose for each directive: a maintenance image never runs as a host. */
static enum reason check_purpose(const struct verdict *v, const struct manifest *m)
{
	enum purpose fits = v->directive == DIRECTIVE_UPDATE ? PURPOSE_MAINTENANCE :
							       PURPOSE_HOST;

	if (m->purpose != fits)
		return log_reason(R_MANIFEST_PURPOSE, "%s, for directive %s",
				  purpose_name(m->purpose), directive_name(v->directive));
	return R_OK;
}

static enum reason verify_manifest(struct gate *g)
{
	struct attempt *a = &g->attempt;
	const struct boot_conf *c = &g->config.boot;
	const struct manifest *m = &a->manifest;
	struct bytes payload;
	uint32_t floor;
	size_t valid;

	TRY(cose_sign_verify(blob_bytes(&a->manifest_bytes), COSE_AAD_MANIFEST,
			     &g->config.release_keys, c->release_threshold, &payload, &valid));
	TRY(manifest_read(payload, &a->manifest));
	TRY(check_purpose(&a->verdict, m));
	if (!boot_conf_floor(c, m->line, &floor))
		return log_reason(R_MANIFEST_FLOOR, "%s has no floor here, other lines have one",
				  m->line);
	if (m->security_version < floor)
		return log_reason(R_MANIFEST_FLOOR, "%s %s: %u, at least %u", m->line,
				  m->version, (unsigned)m->security_version, (unsigned)floor);
	log_info("image %s %s, security version %u, %zu release signatures", m->line,
		 m->version, (unsigned)m->security_version, valid);
	return R_OK;
}

/*
 * Our copy, the kernel's copy, and what the host needs to unpack. What is
 * here already counts as available.
 */
static enum reason check_memory(const struct gate *g)
{
	const struct manifest *m = &g->attempt.manifest;
	uint64_t image = m->kernel.size + m->initrd.size;
	uint64_t need, available;

	if (m->memory > UINT64_MAX / 4)
		return R_IMAGE_MEMORY;
	need = 2 * image + m->memory + MEMORY_MARGIN;
	TRY(memory_available(g->options.root, &available));
	available += g->kernel.have + g->initrd.have;
	if (available < need)
		return log_reason(R_IMAGE_MEMORY, "%llu MiB needed, %llu MiB available",
				  (unsigned long long)(need >> 20),
				  (unsigned long long)(available >> 20));
	return R_OK;
}

static const char *parameter_value(void *ctx, const char *name)
{
	const struct verdict *v = ctx;

	for (size_t i = 0; i < v->parameter_count; i++)
		if (strcmp(v->parameter[i].name, name) == 0)
			return v->parameter[i].value;
	return NULL;
}

/* One transfer, from where the last one ended. */
static enum reason transfer(struct gate *g, struct artifact_file *f)
{
	enum reason r;

	if (f->have == f->want.size)
		return artifact_end(f);
	f->resumed = f->resumed || f->have > 0;
	r = net_fetch(g->net, f->want.sha256, f->have, artifact_take, f);
	if (r != R_OK && net_last_failure(g->net)->restart)
		TRY(artifact_restart(f));
	if (r != R_OK)
		return gate_net_reason(g, r);
	r = artifact_end(f);
	/* pieces of several transfers may be of several files: once from scratch */
	if (r == R_IMAGE_DIGEST && f->resumed) {
		TRY(artifact_restart(f));
		return R_NET_CUT;
	}
	return r;
}

static enum reason fetch_artifact(struct gate *g, struct artifact_file *f, const char *name,
				  const struct artifact *want, uint64_t room)
{
	struct backoff backoff = { 0 };

	TRY(artifact_begin(f, name, want, room));
	while (!f->complete) {
		uint64_t before = f->have;
		uint32_t random = 0;
		enum reason r = transfer(g, f);

		if (r == R_OK)
			break;
		if (reason_class(r) != REASON_TRANSIENT)
			return log_reason(r, "%s", name);
		/* what is there stays: the next verdict goes on from here */
		if (gate_expired(&g->attempt)) {
			g->attempt.wait = true;
			return r;
		}
		if (f->have > before)
			backoff.tries = 0;
		if (random_bytes(&random, sizeof(random)))
			random = 0;
		gate_wait(g, "waiting", r, "download",
			  backoff_next(&backoff, g->attempt.retry_after, random));
		g->attempt.wait = false;
		g->attempt.retry_after = 0;
		TRY(network_wait(g, UINT64_MAX));
	}
	log_info("%s %llu bytes", name, (unsigned long long)f->want.size);
	return R_OK;
}

enum reason gate_image(struct gate *g)
{
	struct attempt *a = &g->attempt;

	gate_step(g, "fetch");
	TRY(fetch_manifest(g));
	TRY(verify_manifest(g));
	TRY(manifest_cmdline(&a->manifest, parameter_value, &a->verdict, a->cmdline));
	TRY(check_memory(g));
	TRY(fetch_artifact(g, &g->kernel, "kernel", &a->manifest.kernel, 0));
	return fetch_artifact(g, &g->initrd, "initrd", &a->manifest.initrd, ROOM);
}
