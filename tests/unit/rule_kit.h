/* SPDX-License-Identifier: Apache-2.0 */
/* Rules for new nodes, and nodes that come while they are there. */
#ifndef BOOTGATE_TESTS_RULE_KIT_H
#define BOOTGATE_TESTS_RULE_KIT_H

#include "appraise/ek_trust.h"
#include "ledger_kit.h"

#define INSIDE "10.20.1.1"
#define FRESH "FROM node WHERE label <> 'n1'"
#define HOUR 3600

static inline struct rule rule_make(bool enrols)
{
	struct rule r = { .manufacturer = "IFX", .model = "SLB 9672" };

	memset(r.anchor, 0xa1, sizeof(r.anchor));
	if (!enrols)
		return r;
	r.enrols = true;
	r.expires = (int64_t)time(NULL) + HOUR;
	r.most = 2;
	r.network_count = 2;
	assert_ok(network_read("192.0.2.0/24", &r.network[0]));
	assert_ok(network_read("10.20.0.0/16", &r.network[1]));
	return r;
}

static inline enum reason rule_asked(struct scene *s, const char *name, const struct rule *r, bool dry_run)
{
	struct msg_admin m = admin_make(ADMIN_RULE_ADD, name);

	m.dry_run = dry_run;
	return admin_asks(s, &m, bytes_of(r, sizeof(*r)));
}

static inline void rule_add(struct scene *s, const char *name, bool enrols)
{
	struct rule r = rule_make(enrols);

	assert_ok(rule_asked(s, name, &r, false));
}

static inline enum reason asked(struct scene *s, enum admin_op op, const char *arg, bool dry_run, const char **ret)
{
	static char text[1 << 16];
	struct msg_admin m = admin_make(op, arg);
	struct bytes body;

	m.dry_run = dry_run;
	enum reason r = heard(&s->admin, ASK(s, &s->admin, MSG_ADMIN, &m, BYTES_NONE), &body);
	if (ret) {
		snprintf(text, sizeof(text), "%.*s", (int)body.n, (const char *)body.p);
		*ret = text;
	}
	return r;
}

static inline const uint8_t *origin_of(const char *model)
{
	static uint8_t ret[SHA256_LEN];
	const struct rule r = rule_make(false);

	assert_ok(ek_origin(r.anchor, r.manufacturer, model, ret));
	return ret;
}

static inline struct arrival coming(struct scene *s, uint8_t key, const char *peer)
{
	return arriving_from(s, key, key, true, origin_of("SLB 9672"), peer, 0);
}

static inline void gone(struct scene *s)
{
	sql(s, "DELETE FROM attestation; DELETE FROM evidence; DELETE FROM node_ek; DELETE " FRESH);
	give_worker(s, 0);
}

/* What a worker is told for the verdict of the new node with this key, at a boot that enrols nobody. */
static inline void assert_verdict_says(struct scene *s, uint8_t key, const char *basis, enum directive d)
{
	struct node was = s->node;
	struct msg_judged g;
	struct msg_judge told;
	struct ipc_message m;

	key_make(&s->node, key);
	g = judged_make(s);
	g.directive = d;
	uint64_t id = attest(s);
	assert_ok(ipc_wait(&s->signer, PATIENCE_MS, &m));
	uint64_t job = job_taken(s, 0, MSG_JUDGE, &m);
	memcpy(&told, m.body.p, sizeof(told));
	assert_string_equal(told.s.basis, basis);
	judged(s, 0, job, &g);
	signed_(s, job, d);
	assert_ok(heard(&s->front, id, NULL));
	s->node = was;
}

#endif
