/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Judgement over bytes: evidence, session, node record, references and
 * policy in; findings and vectors out. No I/O, no clock, no database.
 */
#ifndef BOOTGATE_APPRAISE_APPRAISE_H
#define BOOTGATE_APPRAISE_APPRAISE_H

#include "appraise/rollout.h"
#include "format/evidence.h"
#include "format/explanation.h"
#include "format/policy.h"
#include "format/reference.h"
#include "format/tpm.h"
#include "format/verdict.h"

/* What the server knows of this session before it looks at the evidence. */
struct session {
	enum stage stage;
	uint8_t nonce[NONCE_LEN];
	struct pcr_selection selection;	/* asked for */
	uint8_t ak_name[AK_NAME_LEN];
};

/* TPM clock on record from the last quote that verified. */
struct clock_record {
	bool known;
	uint64_t clock;
	uint32_t reset_count;
	uint32_t restart_count;
	uint64_t firmware_version;
};

/* Of a board's serial number as it is recorded, with its NUL. */
#define BOARD_MAX 80u

/* What is on record of the node. */
struct node_record {
	struct clock_record clock;
	char board[BOARD_MAX];		/* "" until it is known, and after an approval */
};

struct quote_checked {
	struct tpm_attest attest;	/* views into the evidence */
	struct claims claims;		/* large: allocate it */
	uint8_t claims_digest[SHA256_LEN];
};

/*
 * The fixed checks of a quote in the fixed order (docs/protocol.md, "What the
 * server checks"). Decodes the claims too. Any reason but R_OK: nothing of
 * this evidence is authentic, and nothing else of it may be looked at.
 */
enum reason quote_check(struct bytes evidence, enum quote_domain domain,
			const struct session *session, struct quote_checked *ret) must_check;
/* The parts of it that need no claims: for the signer and for offline use. */
enum reason quote_signature_check(struct bytes ak_public, struct bytes attest,
				  struct bytes signature) must_check;

/* Findings over authentic evidence of stage gate. Large: allocate it. */
struct appraisal {
	struct explanation explanation;
	size_t submod_count;
	struct verdict_submod submod[VERDICT_SUBMODS_MAX];
	int8_t status;
	enum directive directive;	/* no image chosen here */
	enum rollout_seen rollout;
	struct node_record record;	/* what there is to record now */
};

/*
 * R_OK whatever was found; another reason only when judging itself failed
 * (memory, cryptography), and then nothing was judged. `rollout` may be NULL.
 */
enum reason appraise(const struct quote_checked *q, const struct session *session,
		     const struct node_record *record, const struct reference_set *refs,
		     const struct policy *policy, const struct rollout_terms *rollout,
		     struct appraisal *ret) must_check;

/*
 * Whether a serial number tells boards apart: false for what vendors forgot
 * to fill in ("Default string", zeros), and for none.
 */
bool board_is_one(const char *serial);

/* What the server adds to a finding to make a verdict of it. */
struct verdict_context {
	const struct session *session;
	const struct quote_checked *quote;
	const struct appraisal *appraisal;
	const struct policy *policy;
	uint8_t evidence_digest[SHA256_LEN];
	/* The best that node state and image choice allow, and why not better. */
	enum directive allowed;
	enum reason allowed_reason;	/* R_OK with DIRECTIVE_ADMIT */
	const char *allowed_detail;
	/* The host image, taken only with admit; the maintenance image, only with update. */
	bool has_manifest, has_update;
	uint8_t manifest_digest[SHA256_LEN];
	uint8_t update_digest[SHA256_LEN];
	uint32_t lifetime;		/* 0: the policy's */
	uint32_t retry_after;		/* of a refusal: refused_after */
	uint32_t refused_after;
	const char *node, *basis;
	uint64_t now;
};
/* The directive is the worse of appraisal and `allowed`; `parameter` stays empty. */
enum reason verdict_build(const struct verdict_context *x, struct verdict *ret) must_check;

/* Receipt: same state as at attest, PCR 14 holds the decision and no cap. */
struct receipt_expected {
	struct session session;		/* nonce is not used */
	uint8_t verdict_digest[SHA256_LEN];
	uint8_t manifest_digest[SHA256_LEN];
	struct artifact_digests {
		uint8_t kernel[SHA256_LEN];
		uint8_t initrd[SHA256_LEN];
	} image;
	/* The quoted state at attest: registers other than 14 must be equal. */
	const struct pcr_values *values;
	uint32_t reset_count, restart_count;
	struct bytes ak_public;
	/*
	 * The bytes that the hand-over was made of, as sent at attest and
	 * answered: its event in PCR 14 is computed again from them. Without
	 * (evidence.n = 0) only the form of that event is checked.
	 */
	struct bytes evidence, verdict, manifest;
};
/*
 * R_OK, or the first reason; `ret` has it with details. `ret_values`, when it
 * is not NULL, gets the quoted registers: what continuity starts from.
 */
enum reason receipt_check(struct bytes evidence, const struct receipt_expected *x,
			  struct explanation *ret, struct pcr_values *ret_values) must_check;

/* Continuity: PCR 0-8 and 14 equal to the receipt plus the cap. */
struct continuity_expected {
	struct session session;
	const struct pcr_values *receipt_values;
	uint32_t reset_count, restart_count;
};
enum reason continuity_check(struct bytes evidence, const struct continuity_expected *x,
			     struct quote_checked *ret) must_check;
/* What continuity_check with R_OK says: the TPM is known, the state is the admitted one. */
void continuity_appraise(const struct quote_checked *q, struct appraisal *ret);

/*
 * Splits authentic logs into components and makes one staged variant of
 * each, as `source`. Refused is what the policy would refuse whatever the
 * references say.
 */
enum reason component_learn(const struct quote_checked *q, const char *source,
			    const struct policy *policy, struct reference_set *ret) must_check;

#endif
