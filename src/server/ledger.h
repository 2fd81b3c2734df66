/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ledger: the only process with the database. It turns messages of the
 * fronts into jobs, hands evidence to a worker, records what came back, and
 * answers. It parses nothing but our own fixed messages and sealed tokens.
 *
 * One loop, one thread. All requests of one turn share a transaction; answers
 * that depend on it wait until it is on the disk.
 */
#ifndef BOOTGATE_SERVER_LEDGER_H
#define BOOTGATE_SERVER_LEDGER_H

#include "base/ipc.h"
#include "crypto/aead.h"
#include "format/token.h"
#include "server/admin_ops.h"
#include "server/msg.h"
#include "server/store.h"

#define LEDGER_JOBS_MAX 256u		/* under way at once; more is server.busy */
#define LEDGER_JOB_BYTES_MAX (192u << 20)
#define LEDGER_WORKERS_MAX 16u
#define JOB_DEADLINE_MS 60000u		/* for a worker to take it */
#define JOB_RUN_MS 30000u		/* for worker and signer to be done with it */
#define HOLD_RETRY 15u			/* seconds until a held node asks again */
#define REFUSED_DOUBLINGS 8u		/* 15 s .. 64 min between refused boots */
#define BUSY_RETRY 2u
#define CLOCK_SKEW 30u			/* seconds by which clocks of replicas may differ */

struct ledger_config {
	const char *database;
	uint8_t token_key[AEAD_KEY_LEN];
	/* The key before it opens what it sealed until then (clock_boot_ms()); 0: there is none. */
	uint8_t token_key_old[AEAD_KEY_LEN];
	uint64_t token_key_old_until;
	uint32_t challenge_lifetime;	/* seconds */
	uint32_t pending_max;		/* nodes that wait for approval */
	uint32_t pending_lifetime;	/* seconds */
	unsigned workers;
	/* Ends of socket pairs, owned by the ledger from now on. */
	int front, admin, signer, supervisor;
};

enum job_kind { JOB_ENROL, JOB_ATTEST, JOB_RECEIPT, JOB_LEARN };

/* One request under way. */
struct job {
	struct job *next;
	uint64_t id;
	enum job_kind kind;
	struct ipc *front;		/* whom to answer */
	uint64_t front_id;
	uint64_t deadline;
	bool sent;			/* a worker has or had it */
	uint64_t refs_version;		/* what it was judged by */
	struct blob body;
	struct msg_session s;
	struct rollout_terms rollout;
	char peer[PEER_TEXT];

	/* attest */
	struct node node;
	bool node_new;
	bool withheld;			/* recorded, and its verdict does not leave */
	struct node_ek ek[LIMIT_EKS];	/* proved in this session */
	struct {
		bool known;
		uint8_t digest[SHA256_LEN];
	} origin[LIMIT_EKS];		/* of each of these */
	size_t ek_count;
	struct pcr_selection implemented;
	bool judged, signed_;
	struct msg_judged facts;
	enum directive signed_directive;
	enum reason refused;		/* why the signer did not sign */
	struct blob explanation, verdict;

	/* receipt */
	struct msg_received received;

	/* learn */
	struct msg_admin admin;
};

struct worker {
	struct ipc ipc;
	struct job *job;		/* NULL: idle */
	unsigned served;
	bool retire;			/* closed as soon as it has no job */
	uint64_t refs_version;
	const struct group_policy *policy;	/* of that version */
};

/* The policy in force for a group, "" for whoever has no other. */
struct group_policy {
	char group[GROUP_MAX];
	struct blob encoded;
	struct policy values;
};

struct policies {
	struct group_policy **list;	/* [0] is that of "" */
	size_t count;
};

/* An answer that waits for the commit of its turn. */
struct answer {
	struct answer *next;
	struct ipc *to;
	uint64_t id;
	struct msg_answer head;
	struct blob body;
};

struct counters {
	uint64_t challenges, enrolments, verdicts[DIRECTIVE_MAX], receipts;
	uint64_t refused, busy, worker_crashes, commits, failures;
};

struct ledger {
	struct ledger_config conf;
	struct store *store;
	struct ipc front, admin, signer, supervisor;
	struct worker worker[LEDGER_WORKERS_MAX];
	struct job *first, *last;
	size_t job_count, job_bytes;
	uint64_t next_id;
	bool in_transaction;
	struct answer *answers, *last_answer;
	/* What workers judge by; version 0 is none yet. */
	struct blob refs;
	struct policies policies;
	uint64_t refs_version;
	bool refs_stale;		/* changed in this turn's transaction, or unreadable */
	bool doomed;			/* this turn's transaction must not be committed */
	uint64_t unproven_until;	/* see audit_unproven() */
	uint64_t next_expiry;		/* see pending_expire() */
	struct msg_release_keys release_keys;	/* what the supervisor saw last */
	uint64_t next_rule_clock;	/* see rules_clock() */
	struct counters count;
};

/* Runs until the supervisor's channel closes. */
enum reason ledger_run(const struct ledger_config *conf) must_check;

/* ---- ledger.c: what the handlers use ----------------------------------- */

int64_t ledger_now(void);
/* Opens this turn's transaction unless it is open. */
enum reason ledger_write(struct ledger *l) must_check;
void answer_body(struct ledger *l, struct ipc *to, uint64_t id, enum media media, struct bytes body);
void answer_json(struct ledger *l, struct ipc *to, uint64_t id, uint16_t status, struct bytes text);
void answer_problem(struct ledger *l, struct ipc *to, uint64_t id, enum reason r, const char *about,
		    uint32_t retry_after);
/* Sends what waited. `bad`: the commit failed, so nothing of it is true. */
void answers_send(struct ledger *l, enum reason bad);
void answers_free(struct ledger *l);
/* The problem of a reason, with the retry-after that its class asks for. */
void answer_refusal(struct ledger *l, struct ipc *to, uint64_t id, enum reason r);
enum reason audit(struct ledger *l, const char *actor, const char *action, struct bytes target,
		  enum reason r, const char *detail) must_check;

/*
 * The same for what a node does by itself: only so many rows in a time, from a
 * bucket of its own. What is not listed is counted in *n, which the caller
 * stores, and told by the next row.
 */
enum reason audit_node(struct ledger *l, struct node *n, const char *action, enum reason r,
		       const char *detail) must_check;
/* The same for what nothing proves, from one bucket for all. */
enum reason audit_unproven(struct ledger *l, const char *actor, const char *action, struct bytes target,
			   enum reason r, const char *detail) must_check;
/* Around what must be recorded as a whole; release keeps it when r is R_OK, and returns r. */
enum reason ledger_savepoint(struct ledger *l) must_check;
enum reason ledger_release(struct ledger *l, enum reason r) must_check;
/* Takes it back though nothing went wrong: a trial. */
enum reason ledger_undo(struct ledger *l) must_check;
/* Closes its channel, which ends it, and fails its job. */
void worker_gone(struct ledger *l, struct worker *w);

/* Takes a copy of the body. R_SERVER_BUSY when too much is under way. */
enum reason job_add(struct ledger *l, enum job_kind kind, struct ipc *front, uint64_t front_id,
		    struct bytes body, struct job **ret) must_check;
struct job *job_find(struct ledger *l, uint64_t id);
void job_remove(struct ledger *l, struct job *j);
/* Answers with the reason and forgets the job. */
void job_fail(struct ledger *l, struct job *j, enum reason r);
/* Those that waited too long: for a worker, or for its answer. */
void jobs_expire(struct ledger *l);
/* Gives waiting jobs to idle workers. */
void job_assign(struct ledger *l);

/* ---- one file a subject --------------------------------------------------- */

/* ledger_session.c */
enum reason session_make(struct ledger *l, enum stage stage, const uint8_t ak_name[AK_NAME_LEN],
			 const uint8_t nonce[NONCE_LEN], const struct pcr_selection *implemented,
			 struct pcr_selection *ret_selection, struct blob *ret_token) must_check;
/* What today's token key sealed, or the one before; R_SESSION_TOKEN for all else. */
enum reason token_open(const struct ledger *l, struct bytes aad, const struct msg_token *token,
		       struct blob *ret_plain) must_check;
enum reason session_open(struct ledger *l, const struct msg_token *token, struct session_token *ret) must_check;
void on_challenge(struct ledger *l, struct ipc *from, uint64_t id, const struct msg_challenge *m);

/* ledger_enrol.c */
void on_enrol(struct ledger *l, struct ipc *from, uint64_t id, const struct msg_enrol *m, struct bytes body);
enum reason enrol_send(struct ledger *l, struct job *j, struct ipc *worker) must_check;
void on_enrolled(struct ledger *l, struct job *j, const struct msg_enrolled *m, struct bytes results);
/* Whether one more may wait for approval, else R_ENROL_FULL. */
enum reason pending_room(struct ledger *l) must_check;
/* Opens the enrolment token of an attest message and checks the proofs. */
enum reason enrol_finish(struct ledger *l, struct job *j, const struct msg_attest *m) must_check;
/* Of a new node, when it is recorded: R_SERVER_BUSY when it would come in otherwise now. */
enum reason enrol_still_true(struct ledger *l, struct job *j) must_check;

/* ledger_rule.c */
/* R_OK for a rule that only marks, or may enrol now; else why it does not. */
enum reason rule_in_force(const struct rule *r, int64_t now) must_check;
/* What rules make of a new node that no list knows. */
enum reason node_ruled(struct ledger *l, const struct job *j, struct node *n) must_check;
/* Counts it, in the transaction that adds it: a node that came in by a rule. */
enum reason rule_used(struct ledger *l, const struct node *n) must_check;
/* Rules remember the highest time: a clock that is set back gives them no more of it. Called each turn. */
void rules_clock(struct ledger *l);

/* ledger_alias.c */
/* Whether the next challenge offers to enrol again; after a gate's attestation. */
void alias_offer(struct node *n, const struct job *j);
/* Every EK that proved itself in this session is one of the node on record. */
enum reason alias_record(struct ledger *l, const struct job *j) must_check;

/* ledger_retention.c */
/* Forgets nodes that nobody approved in time; called each turn. */
void pending_expire(struct ledger *l);
/* After an attestation: whoever has a TPM's key must not fill the disk. */
enum reason evidence_trim(struct ledger *l, const struct node *n, const struct attestation *a) must_check;

/* ledger_attest.c */
void on_attest(struct ledger *l, struct ipc *from, uint64_t id, const struct msg_attest *m, struct bytes body);
enum reason attest_send(struct ledger *l, struct job *j, struct ipc *worker) must_check;
void on_judged(struct ledger *l, struct job *j, const struct msg_judged *m, struct bytes explanation);
void on_signed(struct ledger *l, struct job *j, const struct msg_signed *m, struct bytes verdict);

/* ledger_receipt.c */
void on_receipt(struct ledger *l, struct ipc *from, uint64_t id, const struct msg_receipt *m, struct bytes body);
enum reason receipt_send(struct ledger *l, struct job *j, struct ipc *worker) must_check;
void on_receipt_judged(struct ledger *l, struct job *j, const struct msg_receipt_judged *m);
void on_failure(struct ledger *l, struct ipc *from, uint64_t id, const struct msg_failure *m, struct bytes log);
void on_manifest(struct ledger *l, struct ipc *from, uint64_t id, const struct msg_manifest *m);

/* ledger_rollout.c */
bool rollout_is_open(const struct rollout *r);
/* What the rollout of its group allows this node; the image goes into the session. */
enum reason rollout_terms_of(struct ledger *l, const struct node *n, struct rollout_terms *terms,
			     struct msg_session *s) must_check;
/* In the transaction that records: R_SERVER_BUSY when it was judged by other terms. */
enum reason rollout_still_true(struct ledger *l, const struct job *j, const struct node *now) must_check;
/* Whether a worker says of the rollout what it may say. */
bool rollout_judged_sane(const struct job *j, const struct msg_judged *m);
enum reason rollout_record(struct ledger *l, const struct job *j) must_check;
/* At the receipt: R_ROLLOUT_OVER when the `update` of this attestation holds no more. */
enum reason rollout_may_boot(struct ledger *l, const struct node *n, const struct attestation *a) must_check;

/* ledger_admin.c, ledger_refs.c */
void on_admin(struct ledger *l, struct ipc *from, uint64_t id, const struct msg_admin *m, struct bytes body);
enum reason learn_send(struct ledger *l, struct job *j, struct ipc *worker) must_check;
void on_learned(struct ledger *l, struct job *j, const struct msg_learned *m, struct bytes set);
/* Reads active references and policies again, for the workers. */
enum reason refs_load(struct ledger *l) must_check;
/*
 * After a change of them, in its savepoint: what cannot be read again, because
 * it is too many for one, must not be committed. A dry run only asks that.
 */
enum reason refs_changed(struct ledger *l, bool really) must_check;
/* What this job is judged by, unless the worker has it. */
enum reason refs_send(struct ledger *l, struct worker *w, const struct job *j) must_check;

/* ledger_policy.c */
/* R_POLICY_FULL for more than can be in force at once. */
enum reason policies_read(struct ledger *l, struct policies *to) must_check;
void policies_free(struct policies *p);
/* That of the group, else that of all. */
const struct group_policy *policy_of(const struct ledger *l, const char *group);

#endif
