/* SPDX-License-Identifier: Apache-2.0 */
/* Sockets and the loop. What happens to one request is in front_request.c. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "server/channel.h"
#include "server/front_internal.h"

/*
 * Runs of the HTTP server in one turn. It says "again at once" while a
 * request moves, but also for as long as a TLS handshake waits for its peer:
 * so after these the loop waits for a descriptor, or this long.
 */
#define TURN_RUNS 8u
#define STALL_MS 100

static const struct ipc_rule ledger_rules[] = {
	CHANNEL_RULE(MSG_ANSWER, struct msg_answer, 32u << 20),
};

/* ---- opening ------------------------------------------------------------------------------ */

static void log_mhd(void *cls, const char *format, va_list args)
{
	char text[256];

	(void)cls;
	vsnprintf(text, sizeof(text), format, args);
	text[strcspn(text, "\n")] = '\0';
	log_line(LEVEL_DEBUG, "http: %s", text);
}

static enum reason listener_open(struct front *f, const struct front_socket *s)
{
	struct listener *l = &f->listener[f->listener_count];
	unsigned flags = MHD_USE_EPOLL | MHD_USE_ERROR_LOG | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ITC;
	struct MHD_OptionItem tls[] = {
		{ MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)(uintptr_t)s->tls_key },
		{ MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)(uintptr_t)s->tls_certificate },
		{ MHD_OPTION_HTTPS_PRIORITIES, 0,
		  (void *)(uintptr_t)"SECURE128:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:-RSA:%NO_TICKETS" },
		{ MHD_OPTION_END, 0, NULL },
	};
	struct MHD_OptionItem none[] = { { MHD_OPTION_END, 0, NULL } };

	if (s->tls_key)
		flags |= MHD_USE_TLS;
	*l = (struct listener){ .front = f, .busy = true };
	l->mhd = MHD_start_daemon(
		flags, 0, NULL, NULL, front_on_request, l,
		MHD_OPTION_EXTERNAL_LOGGER, log_mhd, NULL,
		MHD_OPTION_LISTEN_SOCKET, s->fd,
		MHD_OPTION_CONNECTION_LIMIT, FRONT_CONNECTIONS,
		MHD_OPTION_PER_IP_CONNECTION_LIMIT, (unsigned)s->per_address,
		MHD_OPTION_CONNECTION_TIMEOUT, FRONT_IDLE_S,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)(16u << 10),
		MHD_OPTION_NOTIFY_COMPLETED, front_on_completed, l,
		MHD_OPTION_NOTIFY_CONNECTION, front_on_connection, l,
		MHD_OPTION_ARRAY, s->tls_key ? tls : none,
		MHD_OPTION_END);
	if (!l->mhd)
		return log_reason(R_INTERNAL_IO, "the %s front cannot start its HTTP server", f->app->name);
	f->listener_count++;
	const union MHD_DaemonInfo *info = MHD_get_daemon_info(l->mhd, MHD_DAEMON_INFO_EPOLL_FD);
	if (!info)
		return R_INTERNAL_IO;
	l->fd = info->epoll_fd;
	return R_OK;
}

enum reason front_open(const struct front_config *conf, struct front **ret)
{
	_cleanup_(front_free) struct front *f = calloc(1, sizeof(*f));

	if (!f)
		return R_INTERNAL_MEMORY;
	f->app = conf->app;
	f->body_max = conf->body_bytes;
	f->ledger = IPC_NONE;
	TRY(ipc_open(&f->ledger, conf->ledger, ledger_rules, ARRAY_LEN(ledger_rules)));
	for (size_t i = 0; i < conf->socket_count; i++)
		TRY(listener_open(f, &conf->socket[i]));
	*ret = take_ptr(f);
	return R_OK;
}

void front_free(struct front **f)
{
	if (!*f)
		return;
	front_resume_all(*f);
	for (size_t i = 0; i < (*f)->listener_count; i++)
		MHD_stop_daemon((*f)->listener[i].mhd);
	ipc_close(&(*f)->ledger);
	free(*f);
	*f = NULL;
}

/* ---- the loop ---------------------------------------------------------------------------- */

static enum reason take_answers(struct front *f)
{
	struct ipc_message m;
	bool have;

	for (;;) {
		struct msg_answer head;
		struct bytes body;

		TRY(ipc_receive(&f->ledger, &m, &have));
		if (!have)
			return ipc_flush(&f->ledger);
		if (!CHANNEL_SPLIT(&m, head, &body))
			return R_FORMAT_TRUNCATED;
		TRY(front_answer(f, m.id, &head, body));
	}
}

static enum reason serve(struct listener *l)
{
	MHD_UNSIGNED_LONG_LONG ms;

	l->busy = true;
	for (unsigned i = 0; i < TURN_RUNS && l->busy; i++) {
		if (MHD_run(l->mhd) != MHD_YES)
			return R_INTERNAL_IO;
		l->busy = MHD_get_timeout(l->mhd, &ms) == MHD_YES && ms == 0;
	}
	return R_OK;
}

static int wait_of(const struct front *f)
{
	bool busy = false;

	for (size_t i = 0; i < f->listener_count; i++)
		busy = busy || f->listener[i].busy;
	if (!busy)
		return 1000;
	return f->progress ? 0 : STALL_MS;
}

static enum reason turn(struct front *f)
{
	struct pollfd fds[1 + FRONT_SOCKETS];
	nfds_t n = 0;

	fds[n++] = (struct pollfd){ f->ledger.fd, ipc_events(&f->ledger), 0 };
	for (size_t i = 0; i < f->listener_count; i++)
		fds[n++] = (struct pollfd){ f->listener[i].fd, POLLIN, 0 };
	if (poll(fds, n, wait_of(f)) < 0)
		return errno == EINTR ? R_OK : R_INTERNAL_IO;
	if (fds[0].revents)
		TRY(take_answers(f));

	uint64_t now = clock_boot_ms();
	bool second = now >= f->next_second;
	if (second) {
		f->next_second = now + 1000;
		front_expire(f, now);
		front_cut_silent(f, now);
	}
	f->progress = false;
	for (size_t i = 0; i < f->listener_count; i++)
		if (second || fds[1 + i].revents || f->listener[i].busy)
			TRY(serve(&f->listener[i]));
	return R_OK;
}

enum reason front_run(struct front *f)
{
	for (;;)
		TRY(turn(f));
}
