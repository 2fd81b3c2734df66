/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A real ledger on a real database. The test plays everybody it talks to:
 * both fronts, workers, signer and supervisor.
 */
#ifndef BOOTGATE_TESTS_LEDGER_KIT_H
#define BOOTGATE_TESTS_LEDGER_KIT_H

#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/proc.h"
#include "format/challenge.h"
#include "server/channel.h"
#include "server/ledger.h"
#include "server/worker.h"
#include "ending.h"
#include "unit.h"

enum { WORKERS = 2, PATIENCE_MS = 30000 };

struct scene {
	char dir[32], path[64];
	struct proc ledger;
	struct ipc front, admin, signer, supervisor, worker[WORKERS];
	uint8_t token_key[AEAD_KEY_LEN], token_key_old[AEAD_KEY_LEN];
	uint64_t token_key_old_until;
	uint64_t last_id;		/* of a front's request */
	uint8_t last_nonce;
	/* Who is on record: enrolled, with an image. */
	struct node node;
	struct stored_manifest image;
	uint8_t body[100];		/* "evidence": nobody here reads it */
};

/* What each of them hears from a ledger. */
static const struct ipc_rule kit_front_rules[] = {
	CHANNEL_RULE(MSG_ANSWER, struct msg_answer, 32u << 20),
};
static const struct ipc_rule kit_signer_rules[] = {
	{ MSG_ANNOUNCE, sizeof(struct msg_announce), sizeof(struct msg_announce), false },
};

/* ---- the database, from outside -------------------------------------------- */

static inline void sql(struct scene *s, const char *text)
{
	sqlite3 *db;

	assert_int_equal(sqlite3_open(s->path, &db), SQLITE_OK);
	sqlite3_busy_timeout(db, PATIENCE_MS);
	assert_int_equal(sqlite3_exec(db, text, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

/* First column of the first row, as text; "" where there is none. */
static inline const char *value(struct scene *s, const char *text)
{
	static char ret[256];
	sqlite3_stmt *st;
	sqlite3 *db;

	assert_int_equal(sqlite3_open(s->path, &db), SQLITE_OK);
	sqlite3_busy_timeout(db, PATIENCE_MS);
	assert_int_equal(sqlite3_prepare_v2(db, text, -1, &st, NULL), SQLITE_OK);
	ret[0] = '\0';
	if (sqlite3_step(st) == SQLITE_ROW)
		snprintf(ret, sizeof(ret), "%s", (const char *)sqlite3_column_text(st, 0));
	sqlite3_finalize(st);
	sqlite3_close(db);
	return ret;
}

#define assert_value(s, want, text) assert_string_equal(value(s, text), want)
/* Nobody was attested, enrolled or acknowledged. */
static inline void assert_nothing_recorded(struct scene *s)
{
	assert_value(s, "0", "SELECT count(*) FROM attestation");
	assert_value(s, "0", "SELECT count(*) FROM evidence");
	assert_value(s, "0", "SELECT count(*) FROM receipt");
	assert_value(s, "1", "SELECT count(*) FROM node");
	assert_value(s, "0", "SELECT verdicts FROM node");
}

/* ---- beginning and end ------------------------------------------------------- */

/* `size` bytes of an AK and the name that belongs to them. */
static inline void key_make(struct node *n, uint8_t seed)
{
	static const uint8_t alg[2] = { 0, ALG_SHA256 };

	n->ak_public_len = 90;
	memset(n->ak_public, seed, n->ak_public_len);
	memcpy(n->ak_name, alg, sizeof(alg));
	assert_ok(sha256(bytes_of(n->ak_public, n->ak_public_len), n->ak_name + 2));
}

static inline void database_make(struct scene *s)
{
	struct store *store;
	struct bytes manifest = bytes_str("a manifest");

	s->node = (struct node){ .state = NODE_ENROLLED, .created = 1, .approved = 2, .label = "n1",
				 .basis = "operator uid 0" };
	memset(s->node.id, 0x11, sizeof(s->node.id));
	key_make(&s->node, 1);
	assert_ok(pcr_selection_add(&s->node.implemented, ALG_SHA256, PCR_ALL));
	s->image = (struct stored_manifest){ .line = "host", .version = "1", .security_version = 1 };
	assert_ok(sha256(manifest, s->image.digest));
	assert_ok(store_open(s->path, &store));
	assert_ok(store_begin(store));
	assert_ok(store_node_add(store, &s->node));
	assert_ok(store_manifest_add(store, &s->image, manifest));
	assert_ok(store_select(store, "*", PURPOSE_HOST, s->image.digest));
	assert_ok(store_commit(store));
	store_close(&store);
}

static inline void give_worker(struct scene *s, unsigned i)
{
	int end[2];

	assert_ok(ipc_pair(end));
	assert_ok(ipc_send_wait(&s->supervisor, MSG_WORKER, i, NULL, 0, end[1], PATIENCE_MS));
	close(end[1]);
	ipc_close(&s->worker[i]);
	assert_ok(ipc_open(&s->worker[i], end[0], worker_hears, ARRAY_LEN(worker_hears)));
}

static inline void assert_serves(struct scene *s);

static inline void ledger_start(struct scene *s)
{
	int front[2], admin[2], signer[2], supervisor[2];

	ending_expected();
	assert_ok(ipc_pair(front));
	assert_ok(ipc_pair(admin));
	assert_ok(ipc_pair(signer));
	assert_ok(ipc_pair(supervisor));
	int keep[] = { front[1], admin[1], signer[1], supervisor[1] };
	assert_ok(proc_fork(keep, ARRAY_LEN(keep), &s->ledger));
	if (s->ledger.pid == 0) {
		struct ledger_config c = { .database = s->path, .challenge_lifetime = 120, .pending_max = 1, .pending_lifetime = 7200,
					   .token_key_old_until = s->token_key_old_until, .workers = WORKERS, .front = keep[0], .admin = keep[1],
					   .signer = keep[2], .supervisor = keep[3] };

		memcpy(c.token_key, s->token_key, sizeof(c.token_key));
		memcpy(c.token_key_old, s->token_key_old, sizeof(c.token_key_old));
		ending_tell(ledger_run(&c));
	}
	for (size_t i = 0; i < ARRAY_LEN(keep); i++)
		close(keep[i]);
	assert_ok(ipc_open(&s->front, front[0], kit_front_rules, ARRAY_LEN(kit_front_rules)));
	assert_ok(ipc_open(&s->admin, admin[0], kit_front_rules, ARRAY_LEN(kit_front_rules)));
	assert_ok(ipc_open(&s->signer, signer[0], kit_signer_rules, ARRAY_LEN(kit_signer_rules)));
	assert_ok(ipc_open(&s->supervisor, supervisor[0], NULL, 0));
	for (unsigned i = 0; i < WORKERS; i++) {
		s->worker[i] = IPC_NONE;
		give_worker(s, i);
	}
	/* The database is open: nobody opens it at the same time. */
	assert_serves(s);
}

static inline void ledger_stop(struct scene *s)
{
	ipc_close(&s->front);
	ipc_close(&s->admin);
	ipc_close(&s->signer);
	ipc_close(&s->supervisor);
	for (unsigned i = 0; i < WORKERS; i++)
		ipc_close(&s->worker[i]);
	proc_kill(&s->ledger);
}

static inline int begin(void **state)
{
	struct scene *s = calloc(1, sizeof(*s));

	assert_non_null(s);
	strcpy(s->dir, "/tmp/ledger-XXXXXX");
	assert_non_null(mkdtemp(s->dir));
	snprintf(s->path, sizeof(s->path), "%s/db", s->dir);
	memset(s->token_key, 7, sizeof(s->token_key));
	memset(s->body, 'e', sizeof(s->body));
	database_make(s);
	ledger_start(s);
	*state = s;
	return 0;
}

static inline int end(void **state)
{
	struct scene *s = *state;
	char command[64];

	ledger_stop(s);
	snprintf(command, sizeof(command), "rm -rf %s", s->dir);
	assert_int_equal(system(command), 0);
	free(s);
	return 0;
}

/* Between the two the ledger sleeps: what is sent is one turn's work. */
static inline void freeze(struct scene *s)
{
	int status;

	assert_int_equal(kill(s->ledger.pid, SIGSTOP), 0);
	assert_int_equal(waitpid(s->ledger.pid, &status, WUNTRACED), s->ledger.pid);
	assert_true(WIFSTOPPED(status));
}
static inline void thaw(struct scene *s)
{
	assert_int_equal(kill(s->ledger.pid, SIGCONT), 0);
}

/* It ended for this reason; the next one starts on the same database. */
static inline void assert_ended(struct scene *s, enum reason r)
{
	assert_reason(r, ending_of(&s->ledger, PATIENCE_MS));
	ledger_stop(s);
	ledger_start(s);
}

/* ---- fronts -------------------------------------------------------------------- */

/* `head` states the length of the tail itself. */
static inline uint64_t ask(struct scene *s, struct ipc *from, uint32_t type, const void *head, size_t n,
			   struct bytes tail)
{
	assert_ok(channel_send(from, type, ++s->last_id, head, n, tail));
	return s->last_id;
}
#define ASK(s, from, type, m, tail_bytes)                                              \
	((m)->tail = (uint32_t)(tail_bytes).n, ask(s, from, type, m, sizeof(*(m)), tail_bytes))

/* The answer to this request: its reason, and its body (until the next one). */
static inline enum reason heard(struct ipc *at, uint64_t id, struct bytes *ret_body)
{
	struct ipc_message m;
	struct msg_answer a;
	struct problem p;
	struct bytes body;
	enum reason r = R_OK;

	assert_ok(ipc_wait(at, PATIENCE_MS, &m));
	assert_int_equal(m.id, id);
	assert_true(CHANNEL_SPLIT(&m, a, &body));
	if (ret_body)
		*ret_body = body;
	if (a.media == MEDIA_PROBLEM) {
		assert_ok(problem_read(body, &p));
		assert_true(reason_find(p.reason, &r));
		assert_true(a.status >= 400);
	} else if (a.status >= 400) {
		char name[64] = "", *at_reason;
		char *text = strndup((const char *)body.p, body.n);

		assert_non_null(text);
		at_reason = strstr(text, "\"reason\":\"");
		assert_non_null(at_reason);
		assert_int_equal(sscanf(at_reason, "\"reason\":\"%63[^\"]", name), 1);
		free(text);
		assert_true(reason_find(name, &r));
	}
	return r;
}

static inline void assert_silence(struct ipc *at)
{
	struct ipc_message m;
	bool have;

	assert_ok(ipc_receive(at, &m, &have));
	assert_false(have);
}

static inline struct msg_failure failure_make(void)
{
	return (struct msg_failure){ .reason = "net.no-carrier", .step = "network", .peer = "192.0.2.1" };
}

/* Every channel but workers and signer still serves. */
static inline void assert_serves(struct scene *s)
{
	struct msg_challenge c = { .peer = "192.0.2.1" };
	struct msg_admin a = { .op = ADMIN_STATUS, .actor = "uid 0" };

	memcpy(c.request.ak_name, s->node.ak_name, AK_NAME_LEN);
	assert_ok(heard(&s->front, ask(s, &s->front, MSG_CHALLENGE, &c, sizeof(c), BYTES_NONE), NULL));
	assert_ok(heard(&s->admin, ASK(s, &s->admin, MSG_ADMIN, &a, BYTES_NONE), NULL));
}

static inline struct msg_admin admin_make(enum admin_op op, const char *arg0)
{
	struct msg_admin m = { .op = op, .actor = "uid 0", .reason = "test" };

	snprintf(m.arg[0], sizeof(m.arg[0]), "%s", arg0);
	return m;
}

/* ---- sessions -------------------------------------------------------------------- */

static inline void seal(struct scene *s, const char *aad, const struct blob *plain, struct msg_token *ret)
{
	_cleanup_(blob_free) struct blob sealed = BLOB(LIMIT_TOKEN);

	assert_ok(aead_seal(s->token_key, bytes_str(aad), blob_bytes(plain), &sealed));
	memset(ret, 0, sizeof(*ret));
	ret->len = (uint16_t)sealed.n;
	memcpy(ret->bytes, sealed.p, sealed.n);
}

static inline void token_seal(struct scene *s, const struct session_token *t, struct msg_token *ret)
{
	_cleanup_(blob_free) struct blob plain = BLOB(LIMIT_TOKEN);

	assert_ok(session_token_write(t, &plain));
	seal(s, TOKEN_AAD_SESSION, &plain, ret);
}

static inline struct session_token session_make_new(struct scene *s, const uint8_t ak_name[AK_NAME_LEN])
{
	struct session_token t = { .issued = (uint64_t)time(NULL), .stage = STAGE_GATE };

	memset(t.nonce, ++s->last_nonce, sizeof(t.nonce));
	memcpy(t.ak_name, ak_name, AK_NAME_LEN);
	assert_ok(pcr_selection_add(&t.selection, ALG_SHA256, 0xfbff));
	return t;
}

/* What a front makes of the evidence of the node on record, in a new session. */
static inline struct msg_attest attest_make(struct scene *s)
{
	struct session_token t = session_make_new(s, s->node.ak_name);
	struct msg_attest m = { .stage = STAGE_GATE, .peer = "192.0.2.1" };

	token_seal(s, &t, &m.token);
	memcpy(m.ak_name, t.ak_name, AK_NAME_LEN);
	/* Other evidence each time. */
	s->body[0] = s->last_nonce;
	return m;
}

static inline uint64_t attest(struct scene *s)
{
	struct msg_attest m = attest_make(s);

	return ASK(s, &s->front, MSG_ATTEST, &m, BYTES(s->body));
}

/* The second half of an enrolment: a new AK, and one EK whose credential came back. */
static inline struct msg_attest enrolling_make(struct scene *s, struct enrol_token *t, uint8_t ak,
					       const uint8_t proof[SHA256_LEN])
{
	_cleanup_(blob_free) struct blob plain = BLOB(LIMIT_TOKEN);
	struct msg_attest m = { .stage = STAGE_GATE, .proof_count = 1 };
	struct node fresh = { 0 };

	key_make(&fresh, ak);
	struct session_token session = session_make_new(s, fresh.ak_name);
	token_seal(s, &session, &m.token);
	memcpy(m.ak_name, fresh.ak_name, AK_NAME_LEN);
	*t = (struct enrol_token){ .issued = session.issued, .ek_count = 1 };
	memcpy(t->nonce, session.nonce, NONCE_LEN);
	memcpy(t->ak_name, fresh.ak_name, AK_NAME_LEN);
	assert_ok(pcr_selection_add(&t->implemented, ALG_SHA256, PCR_ALL));
	t->ek[0].name[1] = ALG_SHA256;
	t->ek[0].name_len = 34;
	assert_ok(sha256(bytes_of(proof, SHA256_LEN), t->ek[0].proof_digest));
	assert_ok(enrol_token_write(t, &plain));
	seal(s, TOKEN_AAD_ENROL, &plain, &m.enrol_token);
	memcpy(m.proof[0].ek_name, t->ek[0].name, 34);
	m.proof[0].ek_name_len = 34;
	memcpy(m.proof[0].proof, proof, SHA256_LEN);
	return m;
}

static inline void seal_again(struct scene *s, const struct enrol_token *t, struct msg_attest *m)
{
	_cleanup_(blob_free) struct blob plain = BLOB(LIMIT_TOKEN);

	assert_ok(enrol_token_write(t, &plain));
	seal(s, TOKEN_AAD_ENROL, &plain, &m->enrol_token);
}

/* ---- worker and signer -------------------------------------------------------------- */

/* The next job of this worker; what it judges by is passed over. */
static inline uint64_t job_taken(struct scene *s, unsigned worker, uint32_t type, struct ipc_message *ret)
{
	do
		assert_ok(ipc_wait(&s->worker[worker], PATIENCE_MS, ret));
	while (ret->type == MSG_REFS || ret->type == MSG_POLICY);
	assert_int_equal(ret->type, type);
	return ret->id;
}

/* Worker 0 has evidence to judge, and the signer knows. */
static inline uint64_t judging_by(struct scene *s, unsigned worker)
{
	struct ipc_message m;
	struct msg_announce a;

	assert_ok(ipc_wait(&s->signer, PATIENCE_MS, &m));
	memcpy(&a, m.body.p, sizeof(a));
	assert_int_equal(a.worker, worker);
	uint64_t id = m.id;
	assert_int_equal(job_taken(s, worker, MSG_JUDGE, &m), id);
	return id;
}
static inline uint64_t judging(struct scene *s)
{
	return judging_by(s, 0);
}

static inline struct msg_judged judged_make(struct scene *s)
{
	struct msg_judged g = { .directive = DIRECTIVE_ADMIT, .ak_public_len = s->node.ak_public_len,
				.record = { .clock = { .known = true, .clock = 9, .firmware_version = 5 } } };
	uint8_t pcr[DIGEST_MAX] = { 4 };

	memcpy(g.ak_public, s->node.ak_public, g.ak_public_len);
	assert_ok(pcr_values_set(&g.values, ALG_SHA256, 4, pcr));
	return g;
}

static inline void say(struct scene *s, unsigned worker, uint32_t type, uint64_t id, const void *head, size_t n,
		       struct bytes tail)
{
	assert_ok(channel_send(&s->worker[worker], type, id, head, n, tail));
}

static inline void judged(struct scene *s, unsigned worker, uint64_t id, struct msg_judged *g)
{
	struct bytes words = bytes_str("words");

	g->tail = (uint32_t)words.n;
	say(s, worker, MSG_JUDGED, id, g, sizeof(*g), words);
}

/* A verdict of its own for each job. */
static inline void signed_(struct scene *s, uint64_t id, enum directive d)
{
	struct msg_signed m = { .directive = d };
	char verdict[32];

	snprintf(verdict, sizeof(verdict), "verdict %llu", (unsigned long long)id);
	m.tail = (uint32_t)strlen(verdict);
	assert_ok(channel_send(&s->signer, MSG_SIGNED, id, &m, sizeof(m), bytes_str(verdict)));
}

/* A new node, from its evidence to what it is answered. */
struct arrival {
	uint64_t asked, job;
	struct msg_judged g;
};

/* Evidence of a new node with this AK and EK is with the worker; `origin` may be NULL. */
static inline struct arrival arriving_from(struct scene *s, uint8_t ak, uint8_t ek, bool certificate,
					   const uint8_t *origin, const char *peer, unsigned worker)
{
	struct arrival a = { .g = judged_make(s) };
	const uint8_t proof[SHA256_LEN] = { 9 };
	struct enrol_token t;
	struct msg_attest m = enrolling_make(s, &t, ak, proof);
	struct node fresh = { 0 };

	t.ek[0].name[2] = m.proof[0].ek_name[2] = ek;
	t.ek[0].has_certificate = certificate;
	t.ek[0].has_origin = origin != NULL;
	if (origin)
		memcpy(t.ek[0].origin, origin, SHA256_LEN);
	snprintf(m.peer, sizeof(m.peer), "%s", peer);
	seal_again(s, &t, &m);
	key_make(&fresh, ak);
	memcpy(a.g.ak_public, fresh.ak_public, fresh.ak_public_len);
	s->body[0] = s->last_nonce;
	a.asked = ASK(s, &s->front, MSG_ATTEST, &m, BYTES(s->body));
	a.job = judging_by(s, worker);
	return a;
}

static inline struct arrival arriving(struct scene *s, uint8_t ak, uint8_t ek, bool certificate)
{
	return arriving_from(s, ak, ek, certificate, NULL, "", 0);
}

static inline enum reason arrived(struct scene *s, struct arrival *a, enum directive d)
{
	a->g.directive = d;
	judged(s, 0, a->job, &a->g);
	signed_(s, a->job, d);
	return heard(&s->front, a->asked, NULL);
}

/* An attestation from beginning to end, all of them honest. */
static inline void admitted(struct scene *s)
{
	uint64_t asked = attest(s), job = judging(s);
	struct msg_judged g = judged_make(s);
	struct bytes verdict;

	judged(s, 0, job, &g);
	signed_(s, job, DIRECTIVE_ADMIT);
	assert_ok(heard(&s->front, asked, &verdict));
	assert_true(verdict.n > 8 && memcmp(verdict.p, "verdict ", 8) == 0);
}

/* The verdict of a known node, as this worker finds. */
static inline enum reason judged_as(struct scene *s, struct msg_judged *g)
{
	uint64_t asked = attest(s), job = judging(s);

	judged(s, 0, job, g);
	signed_(s, job, g->directive);
	return heard(&s->front, asked, NULL);
}

/* Its channel is closed, its job failed; the other worker's job is not touched. */
static inline void assert_worker_thrown_out(struct scene *s, uint64_t asked)
{
	struct ipc_message m;

	assert_reason(R_SERVER_WORKER, heard(&s->front, asked, NULL));
	do
		m.type = MSG_REFS;
	while (ipc_wait(&s->worker[0], PATIENCE_MS, &m) == R_OK);
	assert_reason(R_INTERNAL_CHILD, s->worker[0].broken);
	assert_nothing_recorded(s);
	give_worker(s, 0);
}

static inline enum reason admin_asks(struct scene *s, struct msg_admin *m, struct bytes tail)
{
	return heard(&s->admin, ASK(s, &s->admin, MSG_ADMIN, m, tail), NULL);
}

#endif
