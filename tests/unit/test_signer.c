/* SPDX-License-Identifier: Apache-2.0 */
/* The signer between a ledger and two workers, of which one lies. */
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "appraise/quote.h"
#include "base/log.h"
#include "base/proc.h"
#include "evidence_kit.h"
#include "format/cose.h"
#include "format/verdict.h"
#include "server/channel.h"
#include "server/msg.h"
#include "server/signer.h"

enum { WORKERS = 2, PATIENCE_MS = 20000 };

static const struct ipc_rule rules[] = { CHANNEL_RULE(MSG_SIGNED, struct msg_signed, LIMIT_VERDICT) };

struct scene {
	struct proc signer;
	struct ipc ledger, supervisor, worker[WORKERS];
	struct private_key *key;
	struct kit *kit;
	uint64_t id;
	struct msg_announce announce;
	struct msg_finding finding;
	struct verdict verdict;
};

static void give_worker(struct scene *s, unsigned i)
{
	int end[2];

	assert_ok(ipc_pair(end));
	assert_ok(ipc_send_wait(&s->supervisor, MSG_WORKER, i, NULL, 0, end[1], PATIENCE_MS));
	close(end[1]);
	ipc_close(&s->worker[i]);
	assert_ok(ipc_open(&s->worker[i], end[0], rules, ARRAY_LEN(rules)));
}

static int begin(void **state)
{
	struct scene *s = calloc(1, sizeof(*s));
	int ledger[2], supervisor[2];

	assert_non_null(s);
	assert_ok(private_key_make(&s->key));
	assert_ok(ipc_pair(ledger));
	assert_ok(ipc_pair(supervisor));
	int keep[] = { ledger[1], supervisor[1] };
	assert_ok(proc_fork(keep, ARRAY_LEN(keep), &s->signer));
	if (s->signer.pid == 0) {
		struct signer_config c = { .ledger = ledger[1], .supervisor = supervisor[1],
					   .workers = WORKERS, .key = s->key };
		enum reason r = signer_run(&c);
		_exit(r == R_INTERNAL_CHILD ? 0 : 1);
	}
	close(ledger[1]);
	close(supervisor[1]);
	assert_ok(ipc_open(&s->ledger, ledger[0], rules, ARRAY_LEN(rules)));
	assert_ok(ipc_open(&s->supervisor, supervisor[0], NULL, 0));
	for (unsigned i = 0; i < WORKERS; i++) {
		s->worker[i] = IPC_NONE;
		give_worker(s, i);
	}
	s->kit = kit_new();
	*state = s;
	return 0;
}

static int end(void **state)
{
	struct scene *s = *state;

	ipc_close(&s->ledger);
	ipc_close(&s->supervisor);
	for (unsigned i = 0; i < WORKERS; i++)
		ipc_close(&s->worker[i]);
	proc_kill(&s->signer);
	kit_free(&s->kit);
	private_key_free(&s->key);
	free(s);
	return 0;
}

/* An announcement, and what an honest worker says of it. */
static void prepare(struct scene *s)
{
	struct kit *k = s->kit;
	struct msg_session *x = &s->announce.s;
	struct verdict *v = &s->verdict;
	struct msg_finding *f = &s->finding;

	kit_make(k);
	memset(&s->announce, 0, sizeof(s->announce));
	memset(f, 0, sizeof(*f));
	memset(v, 0, sizeof(*v));
	s->id++;

	x->session = k->session;
	memset(x->node_id, 0x11, SHA256_LEN);
	assert_ok(sha256(blob_bytes(&k->evidence), x->evidence_digest));
	x->allowed = DIRECTIVE_ADMIT;
	x->has_manifest = true;
	memset(x->manifest_digest, 0x22, SHA256_LEN);
	x->lifetime = 300;
	x->now = 1700000000;
	strcpy(x->node, "n1 (11111111)");
	strcpy(x->basis, "EK list papers");
	s->announce.ak_public_len = (uint32_t)k->ak_public_n;
	memcpy(s->announce.ak_public, k->ak_public, k->ak_public_n);

	f->session = x->session;
	memcpy(f->node_id, x->node_id, SHA256_LEN);
	memcpy(f->evidence_digest, x->evidence_digest, SHA256_LEN);
	assert_ok(sha256(blob_bytes(&k->claims_bytes), f->claims_digest));
	f->attest_len = (uint32_t)k->quote.n;
	memcpy(f->attest, k->quote.p, k->quote.n);
	f->signature_len = (uint32_t)k->signature.n;
	memcpy(f->signature, k->signature.p, k->signature.n);
	f->ak_public_len = (uint32_t)k->ak_public_n;
	memcpy(f->ak_public, k->ak_public, k->ak_public_n);

	v->issued_at = x->now;
	memcpy(v->nonce, k->claims.nonce, NONCE_LEN);
	v->stage = STAGE_GATE;
	memcpy(v->ak_name, x->session.ak_name, AK_NAME_LEN);
	memcpy(v->evidence_digest, x->evidence_digest, SHA256_LEN);
	v->directive = DIRECTIVE_ADMIT;
	v->has_manifest = true;
	memcpy(v->manifest_digest, x->manifest_digest, SHA256_LEN);
	v->lifetime = x->lifetime;
	v->status = EAR_AFFIRMING;
	v->submod_count = 1;
	strcpy(v->submod[0].name, "tpm");
	v->submod[0].status = EAR_AFFIRMING;
	strcpy(v->node, x->node);
	strcpy(v->basis, x->basis);
	strcpy(v->policy, "default");
}

static void announce(struct scene *s)
{
	struct bytes piece = bytes_of(&s->announce, sizeof(s->announce));

	assert_ok(ipc_send_wait(&s->ledger, MSG_ANNOUNCE, s->id, &piece, 1, -1, PATIENCE_MS));
}

static void find(struct scene *s, unsigned worker)
{
	_cleanup_(blob_free) struct blob payload = BLOB(LIMIT_VERDICT);

	assert_ok(verdict_write(&s->verdict, &payload));
	s->finding.tail = (uint32_t)payload.n;
	assert_ok(channel_send(&s->worker[worker], MSG_FINDING, s->id, &s->finding, sizeof(s->finding),
			       blob_bytes(&payload)));
}

/* What the ledger hears, and whether it is a verdict of this key. */
static enum reason heard(struct scene *s, bool *ret_verdict)
{
	struct ipc_message m;
	struct msg_signed out;
	struct bytes tail;

	assert_ok(ipc_wait(&s->ledger, PATIENCE_MS, &m));
	assert_int_equal(m.id, s->id);
	assert_true(CHANNEL_SPLIT(&m, out, &tail));
	*ret_verdict = tail.n > 0;
	return out.result;
}

static enum reason ask(struct scene *s, bool *ret_verdict)
{
	announce(s);
	find(s, 0);
	return heard(s, ret_verdict);
}

#define assert_unsigned(s, r)                                                 \
	do {                                                                  \
		bool verdict_;                                                \
		assert_reason(r, ask(s, &verdict_));                          \
		assert_false(verdict_);                                       \
	} while (0)
#define assert_mismatch(s) assert_unsigned(s, R_SERVER_MISMATCH)

/* The channel of this worker is closed, and nothing reached the ledger. */
static void assert_thrown_out(struct scene *s, unsigned worker)
{
	struct ipc_message m;
	bool have;

	assert_reason(R_INTERNAL_CHILD, ipc_wait(&s->worker[worker], PATIENCE_MS, &m));
	assert_ok(ipc_receive(&s->ledger, &m, &have));
	assert_false(have);
}

static void assert_still_signs(struct scene *s, unsigned worker)
{
	bool verdict;

	prepare(s);
	s->announce.worker = worker;
	announce(s);
	find(s, worker);
	assert_ok(heard(s, &verdict));
	assert_true(verdict);
}

static void update(struct scene *s)
{
	s->announce.s.has_update = true;
	memset(s->announce.s.update_digest, 0x33, SHA256_LEN);
	s->verdict.directive = DIRECTIVE_UPDATE;
	memset(s->verdict.manifest_digest, 0x33, SHA256_LEN);
}

/* Each directive has its own image, and none is signed that the ledger did not name. */
static void other_image(void **state)
{
	struct scene *s = *state;

	prepare(s);
	update(s);
	s->announce.s.has_update = false;
	assert_mismatch(s);
	/* the host image by `update`, the maintenance image as a host */
	prepare(s);
	update(s);
	memcpy(s->verdict.manifest_digest, s->announce.s.manifest_digest, SHA256_LEN);
	assert_mismatch(s);
	prepare(s);
	update(s);
	s->verdict.directive = DIRECTIVE_ADMIT;
	assert_mismatch(s);
	assert_still_signs(s, 0);
}

static void signs_what_was_announced(void **state)
{
	struct scene *s = *state;

	assert_still_signs(s, 0);
	assert_still_signs(s, 1);
	/* Worse than allowed is the worker's to say. */
	bool verdict;
	prepare(s);
	s->verdict.directive = DIRECTIVE_REFUSE;
	s->verdict.has_manifest = false;
	assert_ok(ask(s, &verdict));
	assert_true(verdict);
	/* The maintenance image, where the ledger named one. */
	prepare(s);
	update(s);
	assert_ok(ask(s, &verdict));
	assert_true(verdict);
	/* A key that is not on record yet is the one that is named. */
	prepare(s);
	s->announce.ak_public_len = 0;
	assert_ok(ask(s, &verdict));
	assert_true(verdict);
}

static void other_session(void **state)
{
	struct scene *s = *state;

	prepare(s);
	s->finding.session.stage = STAGE_HOST;
	assert_mismatch(s);
	prepare(s);
	s->finding.session.nonce[0] ^= 1;
	assert_mismatch(s);
	prepare(s);
	s->finding.session.ak_name[5] ^= 1;
	assert_mismatch(s);
	prepare(s);
	s->finding.session.selection.bank[0].mask ^= 1;
	assert_mismatch(s);
	prepare(s);
	s->finding.session.selection.count = SIZE_MAX;
	assert_mismatch(s);
	prepare(s);
	s->finding.node_id[31] ^= 1;
	assert_mismatch(s);
	prepare(s);
	s->finding.evidence_digest[0] ^= 1;
	assert_mismatch(s);
}

static void other_quote(void **state)
{
	struct scene *s = *state;

	/* of other claims, of an older challenge */
	prepare(s);
	s->finding.claims_digest[0] ^= 1;
	assert_mismatch(s);
	prepare(s);
	s->announce.s.session.nonce[0] ^= 1;
	s->finding.session.nonce[0] ^= 1;
	assert_mismatch(s);
	/* of other registers */
	prepare(s);
	s->announce.s.session.selection.bank[0].mask ^= PCR_MASK(7);
	s->finding.session.selection = s->announce.s.session.selection;
	assert_mismatch(s);
	/* not signed at all */
	prepare(s);
	s->finding.signature[s->finding.signature_len - 1] ^= 1;
	assert_unsigned(s, R_QUOTE_SIGNATURE);
	prepare(s);
	s->finding.attest[s->finding.attest_len - 1] ^= 1;
	assert_unsigned(s, R_QUOTE_SIGNATURE);
	/* as continuity */
	prepare(s);
	s->announce.s.session.stage = s->finding.session.stage = s->verdict.stage = STAGE_HOST;
	s->verdict.has_manifest = false;
	assert_mismatch(s);
}

static void other_key(void **state)
{
	struct scene *s = *state;
	struct kit *other = kit_new();

	/* The quote holds, but under another AK than the one on record or named. */
	for (int recorded = 0; recorded < 2; recorded++) {
		struct kit *mine = s->kit;

		s->kit = other;
		prepare(s);
		s->kit = mine;
		memcpy(s->announce.s.session.ak_name, mine->session.ak_name, AK_NAME_LEN);
		s->finding.session = s->announce.s.session;
		memcpy(s->verdict.ak_name, mine->session.ak_name, AK_NAME_LEN);
		s->announce.ak_public_len = recorded ? (uint32_t)mine->ak_public_n : 0;
		memcpy(s->announce.ak_public, mine->ak_public, mine->ak_public_n);
		assert_mismatch(s);
	}
	kit_free(&other);
}

static void lengths_out_of_range(void **state)
{
	struct scene *s = *state;

	prepare(s);
	s->finding.attest_len = UINT32_MAX;
	assert_mismatch(s);
	prepare(s);
	s->finding.signature_len = sizeof(s->finding.signature) + 1;
	assert_mismatch(s);
	prepare(s);
	s->finding.ak_public_len = sizeof(s->finding.ak_public) + 1;
	assert_mismatch(s);
}

static void other_verdict(void **state)
{
	struct scene *s = *state;

	prepare(s);
	s->announce.s.allowed = DIRECTIVE_HOLD;
	assert_mismatch(s);
	prepare(s);
	s->verdict.manifest_digest[0] ^= 1;
	assert_mismatch(s);
	prepare(s);
	s->announce.s.has_manifest = false;
	assert_mismatch(s);
	prepare(s);
	s->verdict.lifetime++;
	assert_mismatch(s);
	prepare(s);
	s->verdict.issued_at++;
	assert_mismatch(s);
	prepare(s);
	s->verdict.ak_name[5] ^= 1;
	assert_mismatch(s);
	prepare(s);
	s->verdict.evidence_digest[0] ^= 1;
	assert_mismatch(s);
	prepare(s);
	s->verdict.stage = STAGE_HOST;
	s->verdict.has_manifest = false;
	assert_mismatch(s);
	prepare(s);
	strcpy(s->verdict.node, "n2 (22222222)");
	assert_mismatch(s);
	prepare(s);
	strcpy(s->verdict.basis, "operator uid 0");
	assert_mismatch(s);
	prepare(s);
	s->verdict.parameter_count = 1;
	strcpy(s->verdict.parameter[0].name, "root");
	strcpy(s->verdict.parameter[0].value, "1");
	assert_mismatch(s);
}

static void another_workers_job(void **state)
{
	struct scene *s = *state;
	bool verdict;

	prepare(s);
	s->announce.worker = 1;
	announce(s);
	find(s, 0);
	assert_thrown_out(s, 0);
	/* Whose job it is can still finish it. */
	find(s, 1);
	assert_ok(heard(s, &verdict));
	assert_true(verdict);
	/* A job that is no more, or never was. */
	find(s, 1);
	assert_thrown_out(s, 1);
	give_worker(s, 0);
	assert_still_signs(s, 0);
}

/* A worker ends with findings that nobody read yet; its successor's socket comes at once. */
static void last_words_count(void **state)
{
	struct scene *s = *state;
	enum { FINDINGS = 3 };
	bool verdict;

	for (int i = 0; i < 20; i++) {
		assert_int_equal(kill(s->signer.pid, SIGSTOP), 0);
		for (int j = 0; j < FINDINGS; j++) {
			prepare(s);
			announce(s);
			find(s, 0);
		}
		give_worker(s, 0);
		assert_int_equal(kill(s->signer.pid, SIGCONT), 0);
		s->id -= FINDINGS;
		for (int j = 0; j < FINDINGS; j++) {
			s->id++;
			assert_ok(heard(s, &verdict));
			assert_true(verdict);
		}
	}
}

static void wrong_lengths_end_the_channel(void **state)
{
	struct scene *s = *state;
	struct bytes piece = bytes_of(&s->finding, sizeof(s->finding));

	/* a byte missing; the tail longer than the struct says; another type */
	prepare(s);
	piece.n--;
	assert_ok(ipc_send(&s->worker[0], MSG_FINDING, s->id, &piece, 1, -1));
	assert_thrown_out(s, 0);
	give_worker(s, 0);
	piece.n++;
	s->finding.tail = 1;
	assert_ok(ipc_send(&s->worker[0], MSG_FINDING, s->id, &piece, 1, -1));
	assert_thrown_out(s, 0);
	give_worker(s, 0);
	struct bytes announcement = bytes_of(&s->announce, sizeof(s->announce));
	assert_ok(ipc_send(&s->worker[0], MSG_ANNOUNCE, s->id, &announcement, 1, -1));
	assert_thrown_out(s, 0);
	assert_still_signs(s, 1);
}

static void assert_ends(struct scene *s)
{
	struct proc_end e;

	announce(s);
	assert_ok(proc_wait(&s->signer, PATIENCE_MS, &e));
	assert_int_equal(e.signal, 0);
	assert_int_equal(e.code, 1);
}

static void announcement_with_too_many_banks(void **state)
{
	struct scene *s = *state;

	prepare(s);
	s->announce.s.session.selection.count = LIMIT_BANKS + 1;
	assert_ends(s);
}

static void announcement_with_too_long_a_key(void **state)
{
	struct scene *s = *state;

	prepare(s);
	s->announce.ak_public_len = LIMIT_TPM_PUBLIC + 1;
	assert_ends(s);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
#define SCENE(f) cmocka_unit_test_setup_teardown(f, begin, end)
		SCENE(other_image),
		SCENE(signs_what_was_announced),
		SCENE(other_session),
		SCENE(other_quote),
		SCENE(other_key),
		SCENE(lengths_out_of_range),
		SCENE(other_verdict),
		SCENE(another_workers_job),
		SCENE(last_words_count),
		SCENE(wrong_lengths_end_the_channel),
		SCENE(announcement_with_too_many_banks),
		SCENE(announcement_with_too_long_a_key),
	};

	log_set_sinks(NULL, 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
