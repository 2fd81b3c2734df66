/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <poll.h>
#include <string.h>

#include "appraise/quote.h"
#include "base/log.h"
#include "crypto/digest.h"
#include "server/channel.h"
#include "server/msg.h"
#include "server/signer.h"

#define SIGNER_WORKERS_MAX 16u
#define ANNOUNCED_MAX 256u	/* as many as the ledger has jobs */

struct announced {
	bool used;
	uint64_t id;
	struct msg_announce what;
};

struct signer {
	struct ipc ledger, supervisor, worker[SIGNER_WORKERS_MAX];
	unsigned workers;
	const struct private_key *key;
	uint8_t key_id[KEY_ID_LEN];
	struct announced announced[ANNOUNCED_MAX];
	size_t next;			/* the oldest is overwritten: its job is gone */
};

static const struct ipc_rule ledger_rules[] = {
	{ MSG_ANNOUNCE, sizeof(struct msg_announce), sizeof(struct msg_announce), false },
};
static const struct ipc_rule worker_rules[] = {
	CHANNEL_RULE(MSG_FINDING, struct msg_finding, LIMIT_VERDICT),
};
static const struct ipc_rule supervisor_rules[] = {
	{ MSG_WORKER, 0, 0, true },
};

/* Nor is the ledger believed: whatever counts or chooses is in range from here on. */
static enum reason announce(struct signer *s, const struct ipc_message *m)
{
	struct announced *a = &s->announced[s->next++ % ANNOUNCED_MAX];
	struct msg_session *x = &a->what.s;

	a->used = false;
	memcpy(&a->what, m->body.p, sizeof(a->what));
	if (a->what.worker >= s->workers || a->what.ak_public_len > sizeof(a->what.ak_public) ||
	    x->session.stage >= STAGE_MAX || x->session.selection.count > LIMIT_BANKS ||
	    x->allowed >= DIRECTIVE_MAX)
		return R_FORMAT_RANGE;
	channel_bool(&x->has_manifest);
	channel_bool(&x->has_update);
	x->node[sizeof(x->node) - 1] = x->basis[sizeof(x->basis) - 1] = '\0';
	a->id = m->id;
	a->used = true;
	return R_OK;
}

static enum reason take_announcements(struct signer *s)
{
	struct ipc_message m;
	bool have;

	for (;;) {
		TRY(ipc_receive(&s->ledger, &m, &have));
		if (!have)
			return R_OK;
		TRY(announce(s, &m));
	}
}

static struct announced *announced_find(struct signer *s, uint64_t id)
{
	for (size_t i = 0; i < ANNOUNCED_MAX; i++)
		if (s->announced[i].used && s->announced[i].id == id)
			return &s->announced[i];
	return NULL;
}

static bool same_session(const struct msg_finding *f, const struct msg_session *s)
{
	return f->session.stage == s->session.stage &&
	       memcmp(f->session.nonce, s->session.nonce, NONCE_LEN) == 0 &&
	       memcmp(f->session.ak_name, s->session.ak_name, AK_NAME_LEN) == 0 &&
	       pcr_selection_equal(&f->session.selection, &s->session.selection) &&
	       memcmp(f->node_id, s->node_id, SHA256_LEN) == 0 &&
	       memcmp(f->evidence_digest, s->evidence_digest, SHA256_LEN) == 0;
}

/* The AK is the one on record, or, before there is a record, the one named. */
static enum reason ak_check(const struct msg_announce *a, struct bytes ak)
{
	struct tpm_public public_area;
	struct tpm_name name;

	if (a->ak_public_len > 0 && !bytes_equal(ak, bytes_of(a->ak_public, a->ak_public_len)))
		return R_SERVER_MISMATCH;
	TRY(tpm_public_read(ak, &public_area));
	TRY(tpm_name_of(&public_area, &name));
	return bytes_equal(tpm_name_bytes(&name), BYTES(a->s.session.ak_name)) ? R_OK : R_SERVER_MISMATCH;
}

/* Signature, nonce binding and selection of the quote itself. */
static enum reason quote_again(const struct msg_finding *f, const struct msg_announce *a)
{
	struct bytes attest = bytes_of(f->attest, f->attest_len);
	struct bytes ak = bytes_of(f->ak_public, f->ak_public_len);
	enum quote_domain domain = f->session.stage == STAGE_GATE ? QUOTE_EVIDENCE : QUOTE_CONTINUITY;
	uint8_t expected[SHA256_LEN];
	struct tpm_attest q;

	TRY(ak_check(a, ak));
	TRY(quote_signature_check(ak, attest, bytes_of(f->signature, f->signature_len)));
	TRY(tpm_quote_read(attest, &q));
	if (quote_selection_check(&a->s.session.selection, &q.selection) != R_OK)
		return R_SERVER_MISMATCH;
	TRY(quote_qualifying_digest(domain, a->s.session.nonce, f->claims_digest, expected));
	return bytes_equal_secret(q.extra, BYTES(expected)) ? R_OK : R_SERVER_MISMATCH;
}

/* The payload says what the ledger announced and no more than it allows. */
static enum reason payload_check(struct bytes payload, const struct msg_session *s, enum directive *ret)
{
	_cleanup_free_ struct verdict *v = calloc(1, sizeof(*v));

	if (!v)
		return R_INTERNAL_MEMORY;
	TRY(verdict_read(payload, v));
	if (v->stage != s->session.stage || memcmp(v->ak_name, s->session.ak_name, AK_NAME_LEN) != 0 ||
	    memcmp(v->evidence_digest, s->evidence_digest, SHA256_LEN) != 0 || v->directive < s->allowed ||
	    v->lifetime > s->lifetime || v->issued_at != s->now)
		return R_SERVER_MISMATCH;
	/* Each directive has its own image, and none is given where the ledger named none. */
	bool update = v->directive == DIRECTIVE_UPDATE;
	const uint8_t *image = update ? s->update_digest : s->manifest_digest;
	if ((update || v->has_manifest) &&
	    (!(update ? s->has_update : s->has_manifest) || memcmp(v->manifest_digest, image, SHA256_LEN) != 0))
		return R_SERVER_MISMATCH;
	/* Who it is and why it is known; and nothing for a command line that nobody chose. */
	if (strcmp(v->node, s->node) != 0 || strcmp(v->basis, s->basis) != 0 || v->parameter_count > 0)
		return R_SERVER_MISMATCH;
	*ret = v->directive;
	return R_OK;
}

static enum reason sign_digest(void *ctx, const uint8_t digest[SHA256_LEN], uint8_t ret[ES256_LEN])
{
	return es256_sign(ctx, digest, ret);
}

static enum reason judge_finding(const struct signer *s, const struct msg_announce *a,
				 const struct msg_finding *f, struct bytes payload, struct msg_signed *out,
				 struct blob *ret)
{
	if (f->attest_len > sizeof(f->attest) || f->signature_len > sizeof(f->signature) ||
	    f->ak_public_len > sizeof(f->ak_public) || !same_session(f, &a->s))
		return R_SERVER_MISMATCH;
	TRY(quote_again(f, a));
	TRY(payload_check(payload, &a->s, &out->directive));

	struct cose_signer signer = { .sign = sign_digest, .ctx = (void *)(uintptr_t)s->key };
	memcpy(signer.id, s->key_id, KEY_ID_LEN);
	return cose_sign1_write(payload, COSE_AAD_VERDICT, &signer, ret);
}

static enum reason from_worker(struct signer *s, unsigned worker, const struct ipc_message *m)
{
	_cleanup_(blob_free) struct blob verdict = BLOB(LIMIT_VERDICT);
	struct msg_signed out = { 0 };
	struct msg_finding f;
	struct bytes payload;

	if (!CHANNEL_SPLIT(m, f, &payload))
		return R_FORMAT_TRUNCATED;
	struct announced *a = announced_find(s, m->id);
	/* A worker that speaks of another's job must not be able to spoil it. */
	if (!a || a->what.worker != worker)
		return log_reason(R_SERVER_MISMATCH, "worker %u has no job %llu", worker,
				  (unsigned long long)m->id);
	/* One finding for one announcement. */
	a->used = false;
	out.result = judge_finding(s, &a->what, &f, payload, &out, &verdict);
	if (out.result != R_OK) {
		log_reason(out.result, "finding %llu is not signed", (unsigned long long)m->id);
		blob_reset(&verdict);
	}
	out.tail = (uint32_t)verdict.n;
	return channel_send(&s->ledger, MSG_SIGNED, m->id, &out, sizeof(out), blob_bytes(&verdict));
}

/* One finding; false when there is none. */
static bool pump_worker(struct signer *s, unsigned worker)
{
	struct ipc_message m;
	bool have;
	enum reason r = ipc_receive(&s->worker[worker], &m, &have);

	if (r == R_OK && have)
		r = from_worker(s, worker, &m);
	if (r == R_OK)
		return have;
	/* A worker that ended or talks nonsense; the supervisor brings another. */
	ipc_close(&s->worker[worker]);
	s->worker[worker] = IPC_NONE;
	return false;
}

static enum reason new_worker(struct signer *s, const struct ipc_message *m)
{
	if (m->id >= s->workers) {
		close(m->fd);
		return R_FORMAT_RANGE;
	}
	/* What the old one said was said: as many findings as it had requests may be waiting here. */
	TRY(take_announcements(s));
	for (unsigned i = 0; i < WORKER_REQUESTS && s->worker[m->id].fd >= 0; i++)
		if (!pump_worker(s, (unsigned)m->id))
			break;
	ipc_close(&s->worker[m->id]);
	return ipc_open(&s->worker[m->id], m->fd, worker_rules, ARRAY_LEN(worker_rules));
}

/*
 * Announcements first: the ledger sends one before it hands the evidence to
 * a worker, so it is always here before the worker's finding.
 */
static enum reason turn(struct signer *s)
{
	struct pollfd fds[2 + SIGNER_WORKERS_MAX];
	struct ipc_message m;
	bool have;
	nfds_t n = 0;

	fds[n++] = (struct pollfd){ s->ledger.fd, POLLIN, 0 };
	fds[n++] = (struct pollfd){ s->supervisor.fd, POLLIN, 0 };
	for (unsigned i = 0; i < s->workers; i++)
		fds[n++] = (struct pollfd){ s->worker[i].fd, POLLIN, 0 };
	if (poll(fds, n, -1) < 0)
		return errno == EINTR ? R_OK : R_INTERNAL_IO;

	TRY(take_announcements(s));
	for (have = true; have;) {
		TRY(ipc_receive(&s->supervisor, &m, &have));
		if (have)
			TRY(new_worker(s, &m));
	}
	for (unsigned i = 0; i < s->workers; i++)
		if (s->worker[i].fd >= 0 && fds[2 + i].revents)
			pump_worker(s, i);
	return s->ledger.broken;
}

static void signer_free(struct signer **s)
{
	if (!*s)
		return;
	ipc_close(&(*s)->ledger);
	ipc_close(&(*s)->supervisor);
	for (size_t i = 0; i < SIGNER_WORKERS_MAX; i++)
		ipc_close(&(*s)->worker[i]);
	free(*s);
}

enum reason signer_run(const struct signer_config *conf)
{
	_cleanup_(signer_free) struct signer *s = calloc(1, sizeof(*s));
	struct ec_public public_key;

	if (!s)
		return R_INTERNAL_MEMORY;
	s->ledger = s->supervisor = IPC_NONE;
	for (size_t i = 0; i < SIGNER_WORKERS_MAX; i++)
		s->worker[i] = IPC_NONE;
	if (conf->workers > SIGNER_WORKERS_MAX)
		return R_CONF_VALUE;
	s->workers = conf->workers;
	s->key = conf->key;
	TRY(private_key_public(conf->key, &public_key));
	TRY(ec_public_id(&public_key, s->key_id));
	TRY(ipc_open(&s->ledger, conf->ledger, ledger_rules, ARRAY_LEN(ledger_rules)));
	TRY(ipc_open(&s->supervisor, conf->supervisor, supervisor_rules, ARRAY_LEN(supervisor_rules)));
	for (;;)
		TRY(turn(s));
}
