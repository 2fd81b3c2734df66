/* SPDX-License-Identifier: Apache-2.0 */
#include "gate/guard.h"

#include <errno.h>
#include <linux/reboot.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "format/eventlog.h"
#include "gate/reset.h"

#define TPM_WAIT_MS 2000u
#define PAUSE_S 10u

/* measure_begin refuses registers that are in use; here they are. */
static enum reason cap(const struct options *o)
{
	struct measure m = { 0 };
	struct eventlog_writer w;
	struct tpm *tpm = NULL;
	enum reason r = tpm_open(o->tpm, TPM_WAIT_MS, &tpm);

	if (r == R_OK)
		r = tpm_banks(tpm, &m.banks);
	if (r == R_OK)
		r = eventlog_writer_begin(m.banks.active, m.banks.active_count,
					  LIMIT_GATE_LOG, &w);
	if (r == R_OK) {
		m.tpm = tpm;
		m.log = w.log;
		r = measure_cap(&m, R_INTERNAL);
		measure_free(&m);
	}
	tpm_close(&tpm);
	return r;
}

static int unexpected_end(const struct options *o, const struct proc_end *end)
{
	struct console console;
	enum reason r;

	console_open(&console, o->root);
	console_say(&console, "failed %s", reason_name(R_INTERNAL));
	console_say(&console, "the gate ended by itself (code %d, signal %d)", end->code,
		    end->signal);
	r = cap(o);
	if (r == R_TPM_ABSENT)
		console_say(&console, "no TPM to cap; reset in %u s", PAUSE_S);
	else if (r != R_OK)
		console_say(&console, "not capped: %s; reset in %u s", reason_name(r), PAUSE_S);
	else
		console_say(&console, "capped; reset in %u s", PAUSE_S);
	console_close(&console);
	if (o->hurry == 1)
		sleep(PAUSE_S);
	gate_reboot(LINUX_REBOOT_CMD_RESTART);
	return reason_exit(R_INTERNAL);
}

/* Orphans are ours when we are process 1. True once the gate itself ended. */
static bool reap(pid_t gate, struct proc_end *ret)
{
	bool ended = false;
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid != gate)
			continue;
		ended = true;
		*ret = (struct proc_end){
			.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1,
			.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0,
		};
	}
	return ended;
}

int guard_run(const struct options *o)
{
	static const int watched[] = { SIGCHLD, SIGTERM, SIGINT, SIGHUP, SIGQUIT,
				       SIGUSR1, SIGUSR2, SIGALRM, SIGPIPE };
	struct proc gate = PROC_NONE;
	struct proc_end end = { -1, 0 };
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < ARRAY_LEN(watched); i++)
		sigaddset(&set, watched[i]);
	/* nothing ends the guard: whoever wants to end the gate gets a reset */
	sigprocmask(SIG_BLOCK, &set, NULL);
	if (proc_fork(NULL, 0, &gate))
		return unexpected_end(o, &end);
	if (gate.pid == 0) {
		signal(SIGPIPE, SIG_IGN);
		_exit(gate_run(o));
	}
	for (;;) {
		int s = sigwaitinfo(&set, NULL);

		if (s == SIGCHLD && reap(gate.pid, &end))
			break;
		if (s == SIGTERM || s == SIGINT || s == SIGHUP || s == SIGQUIT)
			kill(gate.pid, SIGKILL);
	}
#ifdef BOOTGATE_TEST
	/* in tests an orderly end is an end */
	if (end.code >= 0)
		return end.code;
#endif
	return unexpected_end(o, &end);
}
