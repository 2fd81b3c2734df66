/* SPDX-License-Identifier: Apache-2.0 */
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "gate/gate.h"

#define BLOCK_MS 60000u
#define TICK_MS 1000

/* Label and short id as the server names the node; before that, our key. */
static void show_node(const struct gate *g)
{
	char hex[2 * AK_NAME_LEN + 1];

	if (g->judged && g->attempt.verdict.node[0]) {
		log_info("node %s", g->attempt.verdict.node);
	} else if (g->has_ak) {
		hex_encode(BYTES(g->ak.name), hex);
		log_info("node with key %.12s", hex + 4);
	} else {
		log_info("node not known");
	}
}

static void show_differences(const struct gate *g)
{
	const struct verdict *v = &g->attempt.verdict;

	for (size_t i = 0; g->judged && i < v->reason_count; i++)
		log_info("differs: %s%s%s", v->reason[i].name,
			 v->reason[i].detail[0] ? " " : "", v->reason[i].detail);
}

void gate_show(struct gate *g, const char *state, enum reason r, const char *next,
	       uint64_t ms)
{
	enum reason named;

	log_info("---");
	log_info("state: %s", state);
	/* a newer server may name reasons that we do not know */
	if (reason_find(g->reason_text, &named) && named != R_OK)
		r = named;
	log_info("reason: %s: %s", g->reason_text[0] ? g->reason_text : reason_name(r),
		 reason_sentence(r));
	log_info("to do: %s", reason_remedy(r));
	show_node(g);
	show_differences(g);
	if (g->net && net_last_failure(g->net)->text[0])
		log_info("server says: %s", net_last_failure(g->net)->text);
	if (g->configured && g->config.boot.contact_text[0])
		log_info("contact: %s", g->config.boot.contact_text);
	if (ms == UINT64_MAX)
		log_info("next: %s", next);
	else
		log_info("next: %s in %llu s", next, (unsigned long long)((ms + 999) / 1000));
	console_flush(&g->console);
}

void gate_wait(struct gate *g, const char *state, enum reason r, const char *next, uint64_t ms)
{
	uint64_t start = clock_boot_ms(), end, shown;

	if (ms != UINT64_MAX)
		ms /= g->options.hurry;
	end = ms == UINT64_MAX ? UINT64_MAX : start + ms;
	if (strcmp(state, "waiting") == 0)
		log_info("waiting %s", g->reason_text[0] ? g->reason_text : reason_name(r));
	gate_show(g, state, r, next, ms);
	shown = start;
	for (;;) {
		uint64_t now = clock_boot_ms();
		int left;

		if (now >= end)
			return;
		if (now - shown >= BLOCK_MS / g->options.hurry) {
			gate_show(g, state, r, next, end == UINT64_MAX ? end : end - now);
			shown = now;
		}
		left = clock_left_ms(end);
		poll(NULL, 0, left < 0 || left > TICK_MS ? TICK_MS : left);
		gate_tick(g);
	}
}
