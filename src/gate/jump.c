/* SPDX-License-Identifier: Apache-2.0 */
/* Step 14. After this the machine is the host's. */
#include <errno.h>
#include <linux/reboot.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "gate/gate.h"
#include "gate/reset.h"
#include "node/hardware.h"
#include "node/sysfs.h"

#define LOCKDOWN "/sys/kernel/security/lockdown"

/*
 * Only after the load: before it, lockdown would refuse every kernel that no
 * key ring knows. Already raised, or not built in, is as good.
 */
static void raise_lockdown(const struct gate *g)
{
	char now[64];

	if (sysfs_line(g->options.root, LOCKDOWN, now, sizeof(now)) ||
	    strstr(now, "[none]") == NULL)
		return;
	if (sysfs_write(g->options.root, LOCKDOWN, "integrity"))
		log_warn("lockdown: %s", strerror(errno));
}

static enum reason close_tpm(struct gate *g)
{
	bool was_open;

	TRY(measure_cap(&g->measure, R_OK));
	raise_lockdown(g);
	TRY(tpm_close_platform(g->tpm, &was_open));
	if (was_open)
		log_info("the platform hierarchy was open: closed");
	measure_free(&g->measure);
	g->measuring = false;
	tpm_close(&g->tpm);
	return R_OK;
}

enum reason gate_jump(struct gate *g, int *ret_exit)
{
	gate_step(g, "kexec");
	TRY(close_tpm(g));
	net_stop(&g->net);
	g->net_ready = false;
	network_stop(g);
	watchdog_feed(&g->watchdog);
#ifdef BOOTGATE_TEST
	/* the ports of a test machine stay up, too */
	if (g->options.kexec_dir && !getenv("BOOTGATE_TEST_JUMP")) {
		console_say(&g->console, "jump");
		*ret_exit = 0;
		return R_OK;
	}
#else
	nics_down();
#endif
	console_close(&g->console);
	sync();
	gate_reboot(LINUX_REBOOT_CMD_KEXEC);
	/* still here: the registers are capped, there is only the way back */
	console_open(&g->console, g->options.root);
	*ret_exit = 1;
	return log_reason_errno(R_BOOT_JUMP, "reboot");
}
