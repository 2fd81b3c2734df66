/* SPDX-License-Identifier: Apache-2.0 */
/* Step 12: the hand-over in front of the initrd, and loading both. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/text.h"
#include "format/handover.h"
#include "gate/gate.h"
#include "gate/kexec.h"

/*
 * The decision's events before the hand-over's own, in the order of
 * facts.def. The command line's digest is over its characters, without NUL.
 */
enum reason gate_decision(const struct gate *g, struct decision *ret)
{
	const struct attempt *a = &g->attempt;
	uint8_t cmdline[SHA256_LEN];
	struct decision d = { {
		{ .fact = FACT_VERDICT },
		{ .fact = FACT_MANIFEST },
		{ .fact = FACT_KERNEL },
		{ .fact = FACT_INITRD },
		{ .fact = FACT_CMDLINE },
	} };
	const uint8_t *digest[DECISION_EVENTS] = {
		a->verdict_digest,
		a->verdict.manifest_digest,
		a->manifest.kernel.sha256,
		a->manifest.initrd.sha256,
		cmdline,
	};

	TRY(sha256(bytes_str(a->cmdline), cmdline));
	for (size_t i = 0; i < DECISION_EVENTS; i++)
		hex_encode(bytes_of(digest[i], SHA256_LEN), d.event[i].hex);
	*ret = d;
	return R_OK;
}

/* The log as it will be once these events are extended: after the load. */
static enum reason plan_log(struct gate *g)
{
	struct eventlog_writer w = { .log = BLOB(LIMIT_GATE_LOG) };
	const struct tpm_banks *banks = &g->measure.banks;
	struct decision d;
	enum reason r;

	TRY(gate_decision(g, &d));
	w.bank_count = banks->active_count;
	memcpy(w.bank, banks->active, sizeof(w.bank));
	r = blob_append(&w.log, g->measure.log.p, g->measure.log.n);
	for (size_t i = 0; r == R_OK && i < DECISION_EVENTS; i++) {
		struct pcr_digests digests;

		r = fact_write(&w, d.event[i].fact, bytes_str(d.event[i].hex), &digests);
	}
	if (r == R_OK) {
		blob_free(&g->attempt.planned_log);
		g->attempt.planned_log = w.log;
		w.log = BLOB(0);
	}
	blob_free(&w.log);
	return r;
}

static enum reason make_handover(struct gate *g)
{
	struct attempt *a = &g->attempt;
	struct handover h;

	TRY(plan_log(g));
	h = (struct handover){
		.firmware_log = blob_bytes(&g->firmware_log),
		.gate_log = blob_bytes(&a->planned_log),
		.evidence = blob_bytes(&a->evidence),
		.verdict = blob_bytes(&a->verdict_bytes),
		.manifest = blob_bytes(&a->manifest_bytes),
		.report = blob_bytes(&g->report),
	};
	TRY(handover_write(&h, &a->handover));
	return sha256(blob_bytes(&a->handover), a->handover_digest);
}

#ifdef BOOTGATE_TEST
static enum reason copy_out(const char *folder, const char *name, int fd)
{
	_cleanup_fd_ int out = -1;
	char path[600], piece[65536];
	ssize_t n;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	TRY(fd_open_named(path, O_WRONLY | O_CREAT | O_TRUNC, &out));
	if (lseek(fd, 0, SEEK_SET) < 0)
		return R_INTERNAL_IO;
	while ((n = read(fd, piece, sizeof(piece))) > 0)
		TRY(fd_write_full(out, bytes_of(piece, (size_t)n)));
	return n < 0 ? R_INTERNAL_IO : R_OK;
}

/* In place of the system call: what it would have been given. */
static enum reason write_down(const struct options *o, int kernel, int initrd,
			      const char *cmdline)
{
	char path[600];

	TRY(copy_out(o->kexec_dir, "kernel", kernel));
	TRY(copy_out(o->kexec_dir, "initrd", initrd));
	snprintf(path, sizeof(path), "%s/cmdline", o->kexec_dir);
	return fd_write_file(path, bytes_str(cmdline), 0644);
}
#endif

static enum reason load(struct gate *g)
{
	const char *cmdline = g->attempt.cmdline;

#ifdef BOOTGATE_TEST
	if (g->options.kexec_dir)
		return write_down(&g->options, g->kernel.fd, g->initrd.fd, cmdline);
#endif
	return kexec_load_files(g->kernel.fd, g->initrd.fd, cmdline);
}

static void unload(const struct gate *g)
{
#ifdef BOOTGATE_TEST
	if (g->options.kexec_dir)
		return;
#endif
	(void)g;
	kexec_unload();
}

static enum reason check_lifetime(struct gate *g)
{
	if (!gate_expired(&g->attempt))
		return R_OK;
	g->attempt.wait = true;
	return R_VERDICT_EXPIRED;
}

enum reason gate_load(struct gate *g)
{
	enum reason r;

	TRY(check_lifetime(g));
	gate_step(g, "load");
	TRY(make_handover(g));
	TRY(artifact_seal(&g->kernel, BYTES_NONE));
	TRY(artifact_seal(&g->initrd, blob_bytes(&g->attempt.handover)));
	TRY(load(g));
	gate_tick(g);
	/* the last look at the clock before PCR 14 */
	r = check_lifetime(g);
	if (r != R_OK)
		unload(g);
	return r;
}
