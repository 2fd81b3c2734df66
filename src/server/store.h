/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The database. Only the ledger uses it. A transaction is open from
 * store_begin to store_commit; what is inside reaches the disk (WAL,
 * synchronous=FULL) before store_commit returns, and no answer that depends
 * on it leaves before. PostgreSQL may stand behind the same calls one day.
 */
#ifndef BOOTGATE_SERVER_STORE_H
#define BOOTGATE_SERVER_STORE_H

#include "appraise/appraise.h"
#include "appraise/ek_firmware.h"
#include "format/network.h"
#include "format/protocol.h"

struct store;

#define STORE_SCHEMA 7

/*
 * Opens or makes the database at `path`. R_STORE_NEWER for a newer schema; an older
 * one is migrated in one transaction, after a copy next to the file.
 */
enum reason store_open(const char *path, struct store **ret) must_check;
void store_close(struct store **s);

enum reason store_begin(struct store *s) must_check;
enum reason store_commit(struct store *s) must_check;
void store_rollback(struct store *s);
/* Undoes one request of a shared transaction. */
enum reason store_savepoint(struct store *s) must_check;
enum reason store_release(struct store *s, bool keep) must_check;

enum node_state { NODE_PENDING = 0, NODE_ENROLLED = 1, NODE_REVOKED = 2, NODE_RETIRED = 3, NODE_STATE_MAX };
const char *node_state_name(enum node_state s);

/* Of a group's name, with its NUL. */
#define GROUP_MAX 64u
/* Of a list of endorsement keys, the same. */
#define LIST_NAME_MAX 64u
/* Of a rule's name, the same. */
#define RULE_NAME_MAX 32u

struct node {
	uint8_t id[SHA256_LEN];		/* SHA-256 of the first EK's name */
	uint8_t ak_name[AK_NAME_LEN];
	uint8_t ak_public[LIMIT_TPM_PUBLIC];
	uint32_t ak_public_len;
	enum node_state state;
	char label[64];			/* "" for none */
	char basis[128];		/* "operator uid 0 root", "EK list papers.csv" */
	char group[GROUP_MAX];		/* "" for none */
	char rule[RULE_NAME_MAX];	/* that was matched when it enrolled, "" for none */
	char peer[64];			/* address it enrolled from */
	int64_t created, approved, seen;
	struct pcr_selection implemented;	/* banks of its TPM */
	struct clock_record clock;
	char board[BOARD_MAX];		/* serial number; "": the next one goes on record */
	bool ask_enrol;			/* firmware of the TPM changed: banks again */
	/* SHA-256 over the sorted digests of the certificates in NV that it showed last; zeros: none yet. */
	uint8_t ek_set[SHA256_LEN];
	uint32_t ek_offers;		/* how often it may still enrol again because of them */
	enum directive last_directive;
	char last_reason[64];
	uint64_t verdicts;
	/* See audit_node(): its bucket is empty until then, and what was not listed. */
	int64_t audit_until;
	uint64_t unlisted;
};

enum reason store_node_by_ak(struct store *s, const uint8_t ak_name[AK_NAME_LEN], struct node *ret) must_check;
/* By EK name: every EK of a node is an alias of its record. */
enum reason store_node_by_ek(struct store *s, struct bytes ek_name, struct node *ret) must_check;
/* By id, a unique prefix of its hex (8 or more), or label (retired ones have none here): R_STORE_NOT_FOUND, R_STORE_AMBIGUOUS. */
enum reason store_node_find(struct store *s, const char *name, struct node *ret) must_check;
enum reason store_node_add(struct store *s, const struct node *n) must_check;
enum reason store_node_update(struct store *s, const struct node *n) must_check;
/* Only what an attestation changes: the rest stays, its indexes are left alone. */
enum reason store_node_attested(struct store *s, const struct node *n) must_check;
/* The first that waits and that this rule matched, behind `after` (NULL: of all); R_STORE_NOT_FOUND. */
enum reason store_node_marked(struct store *s, const char *rule, const uint8_t *after, struct node *ret) must_check;
enum reason store_node_count(struct store *s, enum node_state state, uint64_t *ret) must_check;
/* Up to `limit`, in the order of their ids, behind `after` (NULL: from the first). */
enum reason store_node_each(struct store *s, const uint8_t *after, unsigned limit,
			    enum reason (*f)(void *ctx, const struct node *n), void *ctx) must_check;
/* Another one with this label, that is not retired. */
enum reason store_node_labelled(struct store *s, const char *label, const uint8_t but_id[SHA256_LEN],
				uint8_t ret_id[SHA256_LEN]) must_check;
/*
 * The one other node on this board that was let in and is not retired: who
 * waits only says so. Of several R_STORE_NOT_FOUND: the number is nobody's.
 */
enum reason store_node_on_board(struct store *s, const char *board, const uint8_t but_id[SHA256_LEN],
				uint8_t ret_id[SHA256_LEN]) must_check;
/* Apart from the rest of an attestation, for it seldom changes and is indexed. */
enum reason store_node_board(struct store *s, const struct node *n) must_check;
struct node_ek {
	uint8_t name[2 + DIGEST_MAX];
	uint32_t name_len;
	bool has_certificate;
	uint8_t certificate_digest[SHA256_LEN];
	uint8_t spki_digest[SHA256_LEN];
};
enum reason store_node_ek_add(struct store *s, const uint8_t node_id[SHA256_LEN], const struct node_ek *ek) must_check;
enum reason store_node_ek(struct store *s, struct bytes name, struct node_ek *ret) must_check;
enum reason store_node_ek_each(struct store *s, const uint8_t node_id[SHA256_LEN],
			       enum reason (*f)(void *ctx, const struct node_ek *ek), void *ctx) must_check;

/*
 * The last time that proved keys did not agree with this node's record: its EK
 * with another AK, or its AK with an EK of `other`.
 */
struct node_conflict {
	bool has_other;
	uint8_t other[SHA256_LEN];
	uint8_t ak_name[AK_NAME_LEN];	/* that was shown */
	char peer[64];
	int64_t time;
	uint64_t count;			/* filled in */
};
enum reason store_conflict_add(struct store *s, const uint8_t id[SHA256_LEN], const struct node_conflict *c) must_check;
enum reason store_conflict_of(struct store *s, const uint8_t id[SHA256_LEN], struct node_conflict *ret) must_check;
enum reason store_conflict_clear(struct store *s, const uint8_t id[SHA256_LEN]) must_check;

/* One node took another's place; the images chosen for the old one go with it. */
struct rebound {
	int64_t time;
	uint8_t old_id[SHA256_LEN], new_id[SHA256_LEN];
};
enum reason store_rebind(struct store *s, const struct rebound *r) must_check;
/* Those that this node had a part in. */
enum reason store_rebound_each(struct store *s, const uint8_t id[SHA256_LEN],
			       enum reason (*f)(void *ctx, const struct rebound *r), void *ctx) must_check;

/* EKs that came another way: delivery papers, bulk list. Any field may be empty. */
struct listed_ek {
	uint8_t certificate_digest[SHA256_LEN];
	uint8_t spki_digest[SHA256_LEN];
	uint8_t name[2 + DIGEST_MAX];
	uint32_t name_len;
	bool has_certificate, has_spki;
	char label[64];
	char group[GROUP_MAX];
	char list[LIST_NAME_MAX];
	uint32_t line;			/* in that list */
};
/* R_STORE_EXISTS when one of its keys is listed already. */
enum reason store_listed_add(struct store *s, const struct listed_ek *e) must_check;
/*
 * What this list has for certificate, key or name, all of it for none. How many
 * there are; R_STORE_NOT_FOUND for none. They stay unless `really`.
 */
enum reason store_listed_remove(struct store *s, const char *list, struct bytes key, bool really,
				uint64_t *ret) must_check;
/* Any entry that has one of these keys. */
enum reason store_listed_like(struct store *s, const struct listed_ek *e, struct listed_ek *ret) must_check;
/* What is listed of this EK; R_STORE_AMBIGUOUS for entries that contradict each other. */
enum reason store_listed_find(struct store *s, const struct node_ek *ek, struct listed_ek *ret) must_check;

/*
 * Rules (store_rule.c): what becomes of new nodes whose EK certificate leads to
 * this root, and is of this model of TPM. They are marked, or come in.
 */
#define RULE_NETWORKS_MAX 8u
struct rule {
	char name[RULE_NAME_MAX];
	uint8_t anchor[SHA256_LEN];
	char manufacturer[EK_MANUFACTURER_MAX];
	char model[40];
	char group[GROUP_MAX];		/* "" for none */
	bool enrols;
	/* only of those that enrol */
	int64_t expires;
	uint64_t most;
	struct network network[RULE_NETWORKS_MAX];
	uint32_t network_count;
	/* filled in: how many came in by it, the highest time that it has seen, who waits with its mark */
	uint64_t used;
	int64_t latest;
	uint64_t waiting;
};
/* R_STORE_EXISTS. `origin`: see ek_origin(). */
enum reason store_rule_add(struct store *s, const struct rule *r, const uint8_t origin[SHA256_LEN],
			   int64_t now) must_check;
/* R_RULE_UNKNOWN. */
enum reason store_rule_get(struct store *s, const char *name, struct rule *ret) must_check;
/* With the marks of those that wait: a rule of the same name that is made later begins with none. R_RULE_UNKNOWN. */
enum reason store_rule_remove(struct store *s, const char *name) must_check;
/* Of this origin, or all (NULL): those that enrol come first, then by name. */
enum reason store_rule_each(struct store *s, const uint8_t *origin,
			    enum reason (*f)(void *ctx, const struct rule *r), void *ctx) must_check;
/* One more came in by it. R_RULE_EXHAUSTED. */
enum reason store_rule_use(struct store *s, const char *name, int64_t now) must_check;
/* Whether a rule that has not ended has not seen this time yet. */
enum reason store_rule_behind(struct store *s, int64_t now, bool *ret) must_check;
enum reason store_rule_seen(struct store *s, int64_t now) must_check;

/* Groups of nodes (store_group.c). A name is checked by whoever makes it. */
struct node_group {
	char name[GROUP_MAX];
	int64_t created;
	uint64_t nodes, listed, rules;	/* that are in it, or name it */
};
/* R_STORE_EXISTS for one that is there. */
enum reason store_group_add(struct store *s, const char *name, int64_t now) must_check;
/* R_GROUP_UNKNOWN; "" stands for no group and is always there. */
enum reason store_group_known(struct store *s, const char *name) must_check;
/* With its policy and its choice of images. R_GROUP_UNKNOWN, R_GROUP_USED while something is in it. */
enum reason store_group_remove(struct store *s, const char *name) must_check;
enum reason store_group_each(struct store *s, enum reason (*f)(void *ctx, const struct node_group *g),
			     void *ctx) must_check;

/*
 * Attestation: the nonce is recorded with the evidence digest in the
 * transaction that records the verdict. R_SESSION_REPLAYED when the nonce
 * stands there with other evidence; with the same, the stored one is given.
 */
struct attestation {
	uint8_t nonce[NONCE_LEN];
	uint8_t evidence_digest[SHA256_LEN];
	uint8_t node_id[SHA256_LEN];
	uint8_t ak_name[AK_NAME_LEN];
	enum stage stage;
	int64_t time;
	enum directive directive;
	char reason[64];
	struct bytes verdict;		/* views: valid until the next call */
	uint8_t verdict_digest[SHA256_LEN];
	bool has_manifest;
	uint8_t manifest_digest[SHA256_LEN];
	struct bytes explanation;
	struct pcr_values values;
	struct clock_record clock;
	struct pcr_selection selection;
	bool receipt;			/* a receipt is stored */
	struct pcr_values receipt_values;
};
enum reason store_attestation_add(struct store *s, const struct attestation *a, struct bytes evidence) must_check;
enum reason store_attestation_by_nonce(struct store *s, const uint8_t nonce[NONCE_LEN], struct attestation *ret) must_check;
enum reason store_attestation_by_verdict(struct store *s, const uint8_t digest[SHA256_LEN], struct attestation *ret) must_check;
/* The n-th newest of a node, 0 the newest. */
enum reason store_attestation_of_node(struct store *s, const uint8_t node_id[SHA256_LEN], unsigned n, struct attestation *ret) must_check;
/* The newest by a gate, whatever the host has asked for since. */
enum reason store_attestation_of_boot(struct store *s, const uint8_t node_id[SHA256_LEN], struct attestation *ret) must_check;
/* How many of the newest by a gate were refused, up to the first that was not; at most `most`. */
enum reason store_refused_in_a_row(struct store *s, const uint8_t node_id[SHA256_LEN], unsigned most,
				   unsigned *ret) must_check;
enum reason store_evidence(struct store *s, const uint8_t digest[SHA256_LEN], struct blob *ret) must_check;
enum reason store_receipt_add(struct store *s, const uint8_t verdict_digest[SHA256_LEN],
			      int64_t time,
			      const struct pcr_values *values, struct bytes body) must_check;

/*
 * What is kept (store_retention.c). Called after each attestation of a node:
 * of the same stage and directive the newest `keep` stay as they are, of the
 * rest neither evidence nor explanation, and nothing at all once it is older
 * than `since`. The newest with a receipt is never touched.
 */
struct retention {
	enum stage stage;
	enum directive directive;
	unsigned keep;
	int64_t since;
};
enum reason store_attestation_trim(struct store *s, const uint8_t id[SHA256_LEN], const struct retention *k) must_check;
/* A node that waits for approval and was not seen since then. No other: R_STORE_NOT_FOUND. */
enum reason store_pending_stale(struct store *s, int64_t since, uint8_t ret_id[SHA256_LEN]) must_check;
/* Forgets it with all that it sent. */
enum reason store_pending_forget(struct store *s, const uint8_t id[SHA256_LEN]) must_check;

/* Reference variants. */
enum reason store_variant_add(struct store *s, const struct reference_variant *v, uint64_t *ret_id) must_check;
/* State and security version of the one with this id; the rest stays as it was written. */
enum reason store_variant_change(struct store *s, const struct reference_variant *v) must_check;
enum reason store_variant_get(struct store *s, uint64_t id, struct blob *ret) must_check;
enum reason store_variant_each(struct store *s, bool live_only,
			       enum reason (*f)(void *ctx, struct bytes encoded), void *ctx) must_check;

/* Manifests, and which image a node gets. */
struct stored_manifest {
	uint8_t digest[SHA256_LEN];
	char line[64], version[64];
	enum purpose purpose;
	uint32_t security_version;
	int64_t added;
	uint8_t kernel[SHA256_LEN], initrd[SHA256_LEN];
};
enum reason store_manifest_add(struct store *s, const struct stored_manifest *m, struct bytes body) must_check;
enum reason store_manifest_body(struct store *s, const uint8_t digest[SHA256_LEN], struct blob *ret) must_check;
enum reason store_manifest_get(struct store *s, const uint8_t digest[SHA256_LEN], struct stored_manifest *ret) must_check;
/* By hex digest, a unique prefix of it (8 or more), or LINE:VERSION. */
enum reason store_manifest_find(struct store *s, const char *name, struct stored_manifest *ret) must_check;
enum reason store_manifest_each(struct store *s, enum reason (*f)(void *ctx, const struct stored_manifest *m), void *ctx) must_check;
/* Whose choice it is: "*", "group:NAME", or a node id in hex. */
#define TARGET_ALL "*"
#define TARGET_GROUP "group:"
#define TARGET_MAX (sizeof(TARGET_GROUP) + GROUP_MAX)
enum reason store_select(struct store *s, const char *target, enum purpose p, const uint8_t digest[SHA256_LEN]) must_check;
/* Takes this choice back: R_STORE_NOT_FOUND when it is not the one of `target`. */
enum reason store_unselect(struct store *s, const char *target, enum purpose p, const uint8_t digest[SHA256_LEN]) must_check;
/* The node's own choice, else that of its group, else the one for all; ret_target (may be NULL) says which. */
enum reason store_selected(struct store *s, const struct node *n, enum purpose p, uint8_t ret[SHA256_LEN],
			   char ret_target[TARGET_MAX]) must_check;
/* All for whom it is chosen. */
enum reason store_selected_each(struct store *s, const uint8_t digest[SHA256_LEN],
				enum reason (*f)(void *ctx, const char *target), void *ctx) must_check;

/* Policy: versions are kept, the newest of a group ("" for all others) is in force. Empty: it has none any more. */
enum reason store_policy_add(struct store *s, const char *group, struct bytes policy) must_check;
enum reason store_policy_each(struct store *s,
			      enum reason (*f)(void *ctx, const char *group, struct bytes policy),
			      void *ctx) must_check;

/*
 * Rollouts (store_rollout.c): from the older variants of some components to new
 * ones, for the nodes of a group. The one that was started last is the group's.
 */
enum rollout_state {
	ROLLOUT_CREATED = 0,
	ROLLOUT_RUNNING = 1,
	ROLLOUT_PAUSED = 2,
	ROLLOUT_STOPPED = 3,
	ROLLOUT_DONE = 4,
	ROLLOUT_STATE_MAX,
};

struct rollout {
	int64_t id;
	char name[ROLLOUT_NAME_MAX];
	char group[GROUP_MAX];		/* "" once the group is gone */
	enum rollout_state state;
	uint8_t manifest[SHA256_LEN];	/* maintenance image */
	uint32_t failures;		/* it stops at so many nodes */
	uint32_t tries;			/* of one node: boots with `update` */
	uint32_t at_once;		/* nodes that are on their way */
	size_t new_count;
	uint64_t new_id[ROLLOUT_NEW_MAX];
	int64_t created, changed;
};
/* R_STORE_EXISTS for a name that is taken. */
enum reason store_rollout_add(struct store *s, const struct rollout *r) must_check;
enum reason store_rollout_find(struct store *s, const char *name, struct rollout *ret) must_check;
enum reason store_rollout_of(struct store *s, const char *group, struct rollout *ret) must_check;
enum reason store_rollout_each(struct store *s, enum reason (*f)(void *ctx, const struct rollout *r),
			       void *ctx) must_check;
enum reason store_rollout_state(struct store *s, int64_t id, enum rollout_state state, int64_t now) must_check;
/* Running, the last of its group; of each node only what is updated is known still. */
enum reason store_rollout_start(struct store *s, int64_t id, int64_t now) must_check;

enum progress_state {
	PROGRESS_WAITING = 0,
	PROGRESS_UPDATING = 1,	/* `update` was answered, and it has not come back */
	PROGRESS_UPDATED = 2,	/* admitted with what is brought */
	PROGRESS_FAILED = 3,
	PROGRESS_MAX,
};

struct progress {
	enum progress_state state;
	uint32_t tries;
	uint32_t reset_count;		/* of the TPM in the boot that was the last try */
	int64_t time;
	char reason[64];		/* of a failure */
};
/* Of a node that nothing is known of: waiting. */
enum reason store_progress(struct store *s, int64_t rollout, const uint8_t node[SHA256_LEN],
			   struct progress *ret) must_check;
enum reason store_progress_set(struct store *s, int64_t rollout, const uint8_t node[SHA256_LEN],
			       const struct progress *p) must_check;
/* An operator's word: as if the rollout had never met the node. */
enum reason store_progress_forget(struct store *s, int64_t rollout, const uint8_t node[SHA256_LEN]) must_check;

struct node_progress {
	uint8_t id[SHA256_LEN];
	char label[64];
	enum directive last_directive;
	int64_t seen;
	struct progress p;
};
/* Enrolled nodes that are in its group now. */
enum reason store_progress_each(struct store *s, const struct rollout *r,
				enum reason (*f)(void *ctx, const struct node_progress *n), void *ctx) must_check;
enum reason store_progress_count(struct store *s, const struct rollout *r, uint64_t ret[PROGRESS_MAX]) must_check;

/* Variants in force that this node may not come back to; R_POLICY_FULL for more than `max`. */
enum reason store_retired(struct store *s, const uint8_t node[SHA256_LEN], uint64_t *ret, size_t max,
			  size_t *ret_count) must_check;
/* The node was seen with what this rollout brings. */
enum reason store_retire(struct store *s, int64_t rollout, const uint8_t node[SHA256_LEN]) must_check;

/* Failures that gates report: unproven, capped in number. */
struct stored_failure {
	int64_t time;
	char peer[64], reason[64], step[32];
	bool has_ak_name;
	uint8_t ak_name[AK_NAME_LEN];
	struct bytes log;
};
enum reason store_failure_add(struct store *s, const struct stored_failure *f) must_check;
enum reason store_failure_each(struct store *s, unsigned newest,
			       enum reason (*f)(void *ctx, const struct stored_failure *f), void *ctx) must_check;

/*
 * Audit: a hash chain. hash = SHA-256(previous hash || canonical row), as
 * docs/protocol.md says. Written in the transaction of what it tells.
 */
#define AUDIT_DETAIL_MAX 720
struct audit_row {
	uint64_t number;
	int64_t time;
	char actor[64];			/* "gate", "uid 0 root" */
	char action[32];		/* "node.approve", "verdict" */
	char target[2 * EK_NAME_MAX + 1];	/* in hex: id of a node, key that was listed ... */
	char reason[64];		/* reason name, or "" */
	char detail[AUDIT_DETAIL_MAX];	/* of an operator: what was changed, and the reason given */
	uint8_t hash[SHA256_LEN];
};
/* number and hash are filled in. */
enum reason store_audit_add(struct store *s, struct audit_row *row) must_check;
enum reason store_audit_each(struct store *s, uint64_t from, unsigned limit,
			     enum reason (*f)(void *ctx, const struct audit_row *row), void *ctx) must_check;
/* Walks the whole chain. R_AUDIT_CHAIN at the first row that does not fit. */
/* At most `limit` rows from this one on; how many there were. Whole when each slice is. */
enum reason store_audit_verify(struct store *s, uint64_t from, unsigned limit, uint64_t *ret_rows) must_check;

#endif
