/* SPDX-License-Identifier: Apache-2.0 */
/* The end of a boot that does not go on: show, cap, report, wait, reset. */
#include <linux/reboot.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "format/problem.h"
#include "gate/gate.h"
#include "gate/reset.h"

/* For the report: bringing the network up, and sending. */
#define REPORT_MS 120000u
#define REPORT_PAUSE_MS 2000u
#define DELAY_DEFAULT_S 60u

static const char *shown_reason(const struct gate *g, enum reason r)
{
	return g->reason_text[0] ? g->reason_text : reason_name(r);
}

/* A refusal that cannot be capped must not be followed by anything else. */
static void cap(struct gate *g, enum reason r)
{
	if (g->measuring && measure_cap(&g->measure, r))
		log_error("the registers could not be capped");
}

static enum reason write_failure(const struct gate *g, enum reason r, struct blob *ret)
{
	_cleanup_(blob_free) struct blob kept = BLOB(LIMIT_FAILURE_LOG + 1);
	struct failure m = { .has_ak_name = g->has_ak };

	TRY(log_kept(&kept));
	snprintf(m.reason, sizeof(m.reason), "%s", shown_reason(g, r));
	snprintf(m.step, sizeof(m.step), "%s", g->step);
	m.log = blob_bytes(&kept);
	if (m.log.n > LIMIT_FAILURE_LOG)
		m.log = bytes_of(m.log.p + m.log.n - LIMIT_FAILURE_LOG, LIMIT_FAILURE_LOG);
	if (g->has_ak)
		memcpy(m.ak_name, g->ak.name, AK_NAME_LEN);
	return failure_write(&m, ret);
}

/* What the server cannot be told stays on the console. */
static void report(struct gate *g, enum reason r)
{
	_cleanup_(blob_free) struct blob b = BLOB(LIMIT_FAILURE);
	uint64_t deadline = clock_boot_ms() + REPORT_MS / g->options.hurry;
	enum reason sent;

	if (!g->net_ready || write_failure(g, r, &b))
		return;
	do {
		sent = network_wait(g, deadline);
		if (sent == R_OK)
			sent = net_failure(g->net, blob_bytes(&b));
		if (sent == R_OK || reason_class(sent) != REASON_TRANSIENT)
			break;
		for (int i = 0; i < 4; i++) {
			usleep(REPORT_PAUSE_MS * 250 / g->options.hurry);
			gate_tick(g);
		}
	} while (clock_left_ms(deadline) > 0);
	if (sent == R_OK)
		log_info("reported to the server");
	else
		log_warn("not reported: %s", reason_name(sent));
}

static void finish(struct gate *g, enum reason r)
{
	const struct verdict *v = &g->attempt.verdict;
	bool broken = reason_class(r) == REASON_BROKEN || reason_class(r) == REASON_USAGE;
	enum fail_action action = FAIL_REBOOT;
	uint32_t delay = DELAY_DEFAULT_S;
	const char *next = "reboot";

	if (g->configured) {
		action = broken ? g->config.boot.fail_broken : g->config.boot.fail_refused;
		delay = g->config.boot.fail_delay;
	}
	/* the server knows how often it was refused before; this boot does not */
	if (g->judged && v->directive == DIRECTIVE_REFUSE)
		delay = backoff_reset(delay, v->retry_after);
	/* a decision without its boot: there is no waiting in this state */
	if (g->decided && action == FAIL_WAIT)
		action = FAIL_REBOOT;
	if (action == FAIL_POWEROFF)
		next = "power off";
	if (action == FAIL_WAIT)
		next = "waits for an operator";
	gate_wait(g, broken ? "broken" : "refused", r, next,
		  action == FAIL_WAIT ? UINT64_MAX : (uint64_t)delay * 1000);
	tpm_close(&g->tpm);
	console_close(&g->console);
	gate_reboot(action == FAIL_POWEROFF ? LINUX_REBOOT_CMD_POWER_OFF :
					      LINUX_REBOOT_CMD_RESTART);
}

int gate_fail(struct gate *g, enum reason r)
{
	if (r == R_OK)
		r = R_INTERNAL;
	/* first of all: whatever is slow or fails from here on, nothing boots */
	cap(g, r);
	log_error("failed %s", shown_reason(g, r));
	gate_show(g, "failed", r, g->net_ready ? "a report to the server" : "reset",
		  UINT64_MAX);
	report(g, r);
	finish(g, r);
	return reason_exit(r);
}
