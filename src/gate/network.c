/* SPDX-License-Identifier: Apache-2.0 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "crypto/random.h"
#include "gate/gate.h"
#include "gate/network_user.h"
#include "node/net_root.h"
#include "node/sysfs.h"

#define SCRIPT "/lib/bootgate/network"
#define FOLDER "/run/bootgate-network"
#define DNS_LINE "net: dns "
/* So many calls in a row that found no way: a lease may have run out. */
#define FAILURES_MOST 6u
#define LINES_PER_TICK 64u

static _Noreturn void become_script(const struct gate *g, const char *path, const char *folder,
				    int out)
{
	const struct boot_conf *c = &g->config.boot;
	char method[64], address[128], gateway[128], dns[128], timeout[64];
	char search[] = "PATH=/bin:/sbin:/usr/bin:/usr/sbin", name[SYSFS_PATH_MAX];
	char where[SYSFS_PATH_MAX + 16];
	char *const argv[] = { name, NULL };
	char *const env[] = { search, where, method, address, gateway, dns, timeout, NULL };

	snprintf(name, sizeof(name), "%s", path);
	snprintf(where, sizeof(where), "NET_FOLDER=%s", folder);
	snprintf(method, sizeof(method), "NET_METHOD=%s", c->net_method);
	snprintf(address, sizeof(address), "NET_ADDRESS=%s", c->net_address);
	snprintf(gateway, sizeof(gateway), "NET_GATEWAY=%s", c->net_gateway);
	snprintf(dns, sizeof(dns), "NET_DNS=%s", c->net_dns);
	snprintf(timeout, sizeof(timeout), "NET_CARRIER_TIMEOUT=%u",
		 (unsigned)c->net_carrier_timeout);
	if (dup2(out, STDOUT_FILENO) >= 0 && dup2(out, STDERR_FILENO) >= 0 &&
	    network_user_become() == R_OK)
		execve(path, argv, env);
	_exit(127);
}

static enum reason start_script(struct gate *g)
{
	struct network *n = &g->network;
	char path[SYSFS_PATH_MAX], folder[SYSFS_PATH_MAX];
	enum reason r;
	int ends[2];

	TRY(sysfs_path(path, g->options.root, SCRIPT));
	TRY(sysfs_path(folder, g->options.root, FOLDER));
	TRY(network_user_folder(folder));
	if (pipe2(ends, O_CLOEXEC) < 0)
		return R_INTERNAL_IO;
	r = proc_fork(&ends[1], 1, &n->script);
	if (r == R_OK && n->script.pid == 0)
		become_script(g, path, folder, ends[1]);
	close(ends[1]);
	if (r != R_OK) {
		close(ends[0]);
		return r;
	}
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	n->out = ends[0];
	n->line_n = 0;
	n->carrier = false;
	n->dns_count = 0;
	return R_OK;
}

enum reason network_start(struct gate *g)
{
	gate_step(g, "network");
	g->network = (struct network){ .script = PROC_NONE, .out = -1 };
	if (g->options.no_network_setup) {
		g->network.up = true;
		return R_OK;
	}
	return start_script(g);
}

static void end_script(struct network *n)
{
	proc_kill(&n->script);
	cleanup_fd(&n->out);
	n->out = -1;
}

void network_stop(struct gate *g)
{
	end_script(&g->network);
}

/* "net: dns ADDRESS": what is no address is a line like any other. */
static void take_dns(struct network *n)
{
	if (strncmp(n->line, DNS_LINE, strlen(DNS_LINE)) == 0 && n->dns_count < NET_DNS_MAX &&
	    inet_pton(AF_INET, n->line + strlen(DNS_LINE), &n->dns[n->dns_count]) == 1)
		n->dns_count++;
}

static void take_line(struct network *n)
{
	n->line[n->line_n] = 0;
	n->line_n = 0;
	if (n->line[0] == 0)
		return;
	take_dns(n);
	/* "net: PORT carrier", and not "net: PORT no carrier" */
	if (strstr(n->line, " carrier") && !strstr(n->line, " no carrier"))
		n->carrier = true;
	log_info("%s", n->line);
}

/* Status lines of the script go to the console, long ones cut. */
static void read_lines(struct network *n)
{
	char piece[256];
	ssize_t got;

	while ((got = read(n->out, piece, sizeof(piece))) > 0) {
		for (ssize_t i = 0; i < got; i++) {
			if (piece[i] == '\n')
				take_line(n);
			else if (n->line_n < sizeof(n->line) - 1)
				n->line[n->line_n++] = piece[i];
		}
	}
}

/* True once the script has ended; then *ret says how. */
static bool script_ended(struct network *n, struct proc_end *ret)
{
	if (proc_wait(&n->script, 0, ret))
		return false;
	read_lines(n);
	end_script(n);
	return true;
}

static uint64_t next_delay(struct gate *g, uint32_t retry_after)
{
	uint32_t random = 0;

	if (random_bytes(&random, sizeof(random)))
		random = 0;
	return backoff_next(&g->network.backoff, retry_after, random);
}

enum reason network_wait(struct gate *g, uint64_t deadline_ms)
{
	struct network *n = &g->network;

	while (!n->up) {
		struct pollfd p[2] = { { n->out, POLLIN, 0 }, { n->script.pidfd, POLLIN, 0 } };
		struct proc_end end;
		enum reason r;

		if (clock_left_ms(deadline_ms) == 0)
			return n->carrier ? R_NET_ADDRESS : R_NET_CARRIER;
		poll(p, 2, 1000);
		read_lines(n);
		gate_tick(g);
		if (!script_ended(n, &end))
			continue;
		if (end.code == 0) {
			TRY(net_root_resolv(n->dns, n->dns_count));
			n->up = true;
			n->failures = 0;
			n->backoff.tries = 0;
			return R_OK;
		}
		if (end.code != 75)
			return log_reason(R_INTERNAL_CHILD, "%s ended with %d", SCRIPT, end.code);
		r = n->carrier ? R_NET_ADDRESS : R_NET_CARRIER;
		gate_wait(g, "waiting", r, "network set-up", next_delay(g, 0));
		TRY(start_script(g));
	}
	return R_OK;
}

void network_failed(struct gate *g)
{
	struct network *n = &g->network;

	if (g->options.no_network_setup || ++n->failures < FAILURES_MOST)
		return;
	n->up = false;
	n->failures = 0;
	if (start_script(g))
		log_warn("%s cannot be started", SCRIPT);
}
