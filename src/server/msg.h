/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The messages between the server's processes. Each is a fixed struct of
 * this file, then `tail` opaque bytes (a request body, an encoded answer)
 * whose length the struct states. The receiver checks the exact length, and
 * by its table that this peer may send this type in this direction.
 *
 *   front (node)  --> ledger   CHALLENGE ENROL ATTEST RECEIPT FAILURE MANIFEST
 *   front (admin) --> ledger   ADMIN
 *   ledger --> front           ANSWER
 *   ledger --> worker          REFS JUDGE ENROLLING RECEIVED CONTINUED LEARN
 *   ledger --> signer          ANNOUNCE
 *   worker --> signer          FINDING
 *   worker --> ledger          JUDGED ENROLLED RECEIPT_OK LEARNED
 *   signer --> ledger          SIGNED
 *   supervisor --> ledger      WORKER RETIRE RELEASE_KEYS
 *   supervisor --> signer      WORKER
 *
 * The id of a message is the front's number of its request, or the ledger's
 * number of the job. All of it is one program on one machine: structs travel
 * as they are.
 */
#ifndef BOOTGATE_SERVER_MSG_H
#define BOOTGATE_SERVER_MSG_H

#include "appraise/appraise.h"
#include "appraise/ek.h"
#include "format/problem.h"
#include "format/protocol.h"

enum msg_type {
	/* front (node) --> ledger */
	MSG_CHALLENGE = 1,
	MSG_ENROL,
	MSG_ATTEST,
	MSG_RECEIPT,
	MSG_FAILURE,
	MSG_MANIFEST,
	/* front (admin) --> ledger */
	MSG_ADMIN = 20,
	/* ledger --> front */
	MSG_ANSWER = 30,
	/* ledger --> worker */
	MSG_REFS = 40,		/* tail: reference set; replaces the old one */
	MSG_POLICY,		/* tail: policy */
	MSG_JUDGE,		/* tail: evidence */
	MSG_ENROLLING,		/* tail: enrol request */
	MSG_RECEIVED,		/* tail: receipt, evidence, verdict, manifest */
	MSG_CONTINUED,		/* tail: continuity evidence */
	MSG_LEARN,		/* tail: evidence */
	/* worker --> ledger */
	MSG_JUDGED = 60,	/* tail: explanation */
	MSG_ENROLLED,		/* tail: ek results */
	MSG_RECEIPT_JUDGED,	/* tail: explanation */
	MSG_LEARNED,		/* tail: reference set */
	/* ledger --> signer */
	MSG_ANNOUNCE = 80,
	/* worker --> signer */
	MSG_FINDING = 90,	/* tail: verdict payload */
	/* signer --> ledger */
	MSG_SIGNED = 100,	/* tail: verdict, COSE_Sign1 */
	/* supervisor --> ledger and signer: a new worker's socket comes with it */
	MSG_WORKER = 120,
	/* supervisor --> ledger: no new work for today's workers, vendor CAs changed */
	MSG_RETIRE,
	/* supervisor --> ledger: private release keys that it can see */
	MSG_RELEASE_KEYS,
};

/* Requests after which a worker ends and a fresh one takes its place. */
#define WORKER_REQUESTS 64u

#define PEER_TEXT 64u		/* address of the peer, printable */

struct msg_challenge {
	struct challenge_request request;
	char peer[PEER_TEXT];
};

/* Token as the front found it in the body; the body is the tail. */
struct msg_token {
	uint16_t len;
	uint8_t bytes[LIMIT_TOKEN];
};

struct msg_enrol {
	struct msg_token token;
	char peer[PEER_TEXT];
	uint32_t tail;
};

struct msg_attest {
	enum stage stage;
	struct msg_token token;
	struct msg_token enrol_token;	/* len 0 unless enrolling */
	uint32_t proof_count;
	struct {
		uint8_t ek_name[2 + DIGEST_MAX];
		uint8_t ek_name_len;
		uint8_t proof[SHA256_LEN];
	} proof[LIMIT_EKS];
	uint8_t ak_name[AK_NAME_LEN];	/* computed from the claims' AK public */
	char peer[PEER_TEXT];
	uint32_t tail;
};

struct msg_receipt {
	uint8_t ak_name[AK_NAME_LEN];
	uint8_t verdict_digest[SHA256_LEN];
	char peer[PEER_TEXT];
	uint32_t tail;
};

struct msg_failure {
	char reason[64];
	char step[32];
	bool has_ak_name;
	uint8_t ak_name[AK_NAME_LEN];
	char peer[PEER_TEXT];
	uint32_t tail;		/* the log */
};

struct msg_manifest {
	uint8_t digest[SHA256_LEN];
};

enum media {
	MEDIA_NONE = 0,		/* no body */
	MEDIA_CBOR,		/* application/cbor */
	MEDIA_COSE,		/* application/cose */
	MEDIA_PROBLEM,		/* application/concise-problem-details+cbor */
	MEDIA_JSON,		/* admin only */
};

struct msg_release_keys {
	uint32_t count;
	char path[512];		/* of one of them, printable, cut where it is longer */
};

/* To the front that asked; the tail is the body. */
struct msg_answer {
	uint16_t status;	/* HTTP */
	enum media media;
	uint32_t retry_after;	/* seconds, 0: no header */
	uint32_t tail;
};

/*
 * One admin request. The admin front turned route and JSON into this; which
 * arguments an operation takes stands in admin_ops.def.
 */
#define ADMIN_ARGS 8u
#define ADMIN_ARG_MAX 256u
#define ABOUT_MAX 256u		/* what a refusal is about */
struct msg_admin {
	uint32_t op;			/* enum admin_op */
	char actor[64];			/* who asks: "uid 0 root", "cn alice" */
	bool dry_run;
	char reason[200];
	char arg[ADMIN_ARGS][ADMIN_ARG_MAX];
	uint32_t tail;			/* manifest, reference set, policy, EK list */
};

/* What the ledger knows of a session when it hands the evidence on. */
struct msg_session {
	struct session session;
	uint8_t session_token[SHA256_LEN];	/* SHA-256 of the token: claims must carry it */
	uint8_t node_id[SHA256_LEN];
	uint8_t evidence_digest[SHA256_LEN];
	struct node_record record;
	bool banks_proved;		/* this session enrols: the list of banks is fresh */
	/* The best the ledger allows: node state, image choice, conflicts. */
	enum directive allowed;
	enum reason allowed_reason;	/* why not better; R_OK with admit */
	char allowed_detail[VERDICT_TEXT_MAX];
	bool has_manifest;
	uint8_t manifest_digest[SHA256_LEN];
	/* `update` may be answered, and this maintenance image goes with it. */
	bool has_update;
	uint8_t update_digest[SHA256_LEN];
	uint32_t lifetime;
	uint32_t retry_after;		/* seconds, of a hold */
	uint32_t refused_after;		/* seconds, of a refusal: more with each in a row */
	char node[VERDICT_TEXT_MAX];
	char basis[VERDICT_TEXT_MAX];
	uint64_t now;
};

struct msg_judge {
	struct msg_session s;
	struct rollout_terms rollout;
	uint32_t tail;
};

/* Result of appraisal, for the record. `quote` other than R_OK: no verdict. */
struct msg_judged {
	enum reason quote;
	enum directive directive;
	enum reason reason;		/* the first that the verdict gives; R_OK: admitted */
	enum rollout_seen rollout;
	struct node_record record;
	uint8_t ek_set[SHA256_LEN];	/* see struct node; of the quoted claims */
	struct pcr_values values;
	uint32_t ak_public_len;
	uint8_t ak_public[LIMIT_TPM_PUBLIC];
	uint32_t tail;
};

struct msg_announce {
	struct msg_session s;
	uint32_t worker;		/* which has the evidence: no other may speak of it */
	uint32_t ak_public_len;		/* 0: not on record yet */
	uint8_t ak_public[LIMIT_TPM_PUBLIC];
};

/* What the signer needs to check the quote by itself. */
struct msg_finding {
	struct session session;
	uint8_t node_id[SHA256_LEN];
	uint8_t evidence_digest[SHA256_LEN];
	uint8_t claims_digest[SHA256_LEN];
	uint32_t attest_len, signature_len, ak_public_len;
	uint8_t attest[LIMIT_TPM_ATTEST];
	uint8_t signature[LIMIT_TPM_SIGNATURE];
	uint8_t ak_public[LIMIT_TPM_PUBLIC];
	uint32_t tail;
};

struct msg_signed {
	enum reason result;		/* R_SERVER_MISMATCH: nothing was signed */
	enum directive directive;	/* of what was signed */
	uint32_t tail;
};

struct msg_enrolling {
	uint8_t session_nonce[NONCE_LEN];
	uint8_t new_nonce[NONCE_LEN];
	uint8_t ak_name[AK_NAME_LEN];
	uint32_t tail;
};

struct msg_enrolled {
	enum reason result;
	struct pcr_selection implemented;
	uint32_t count;			/* struct ek_result each, in the tail */
	uint32_t tail;
};

struct msg_received {
	struct session session;
	uint8_t verdict_digest[SHA256_LEN];
	uint8_t manifest_digest[SHA256_LEN];
	uint8_t kernel[SHA256_LEN], initrd[SHA256_LEN];
	struct pcr_values values;
	uint32_t reset_count, restart_count;
	uint32_t ak_public_len;
	uint8_t ak_public[LIMIT_TPM_PUBLIC];
	/* In the tail, one after the other: receipt, then what the hand-over was made of. */
	uint32_t receipt_len, evidence_len, verdict_len, manifest_len;
	uint32_t tail;
};

struct msg_receipt_judged {
	enum reason result;
	struct pcr_values values;
	uint32_t tail;
};

struct msg_continued {
	struct msg_session s;
	struct pcr_values receipt_values;
	uint32_t reset_count, restart_count;
	uint32_t tail;
};

struct msg_learn {
	struct session session;
	char source[REFERENCE_TEXT_MAX];
	uint32_t tail;
};

struct msg_learned {
	enum reason result;
	uint32_t tail;
};

#endif
