/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The verdict: a COSE_Sign1 over an EAR (draft-ietf-rats-ear) as CWT claims
 * set, with our private claims. docs/protocol.md has the labels in one table.
 */
#ifndef BOOTGATE_FORMAT_VERDICT_H
#define BOOTGATE_FORMAT_VERDICT_H

#include "format/cose.h"
#include "format/protocol.h"

/* Trust tiers and claims of AR4SI (draft-ietf-rats-ar4si section 2.3). */
#define EAR_NONE 0
#define EAR_AFFIRMING 2
#define EAR_WARNING 32
#define EAR_CONTRAINDICATED 96

enum ar4si {
	AR4SI_INSTANCE_IDENTITY = 0,
	AR4SI_CONFIGURATION,
	AR4SI_EXECUTABLES,
	AR4SI_FILE_SYSTEM,
	AR4SI_HARDWARE,
	AR4SI_RUNTIME_OPAQUE,
	AR4SI_STORAGE_OPAQUE,
	AR4SI_SOURCED_DATA,
	AR4SI_MAX,
};

/* eat_profile; a verdict of another profile is R_FORMAT_VERSION. */
#define VERDICT_PROFILE "tag:bootgate,2026:gate-verdict-1"
#define VERDICT_DEVELOPER "bootgate"

#define VERDICT_SUBMODS_MAX 24u
#define VERDICT_REASONS_MAX 16u
#define VERDICT_PARAMETERS_MAX 8u
#define VERDICT_TEXT_MAX 200u
#define VERDICT_NAME_MAX 32u

struct verdict_submod {
	char name[VERDICT_NAME_MAX];	/* "firmware" "gate" "gpu0" ... */
	int8_t status;			/* EAR_* */
	int8_t vector[AR4SI_MAX];	/* 0: no claim, not sent */
};

struct verdict_reason {
	char name[64];			/* a name of reason.def, or a newer server's */
	char detail[VERDICT_TEXT_MAX];	/* printable ASCII: what differed */
};

struct verdict_parameter {
	char name[VERDICT_NAME_MAX];
	char value[VERDICT_TEXT_MAX];
};

struct verdict {
	uint64_t issued_at;		/* server's clock, seconds since 1970 */
	uint8_t nonce[NONCE_LEN];	/* the gate's */
	enum stage stage;
	uint8_t ak_name[AK_NAME_LEN];
	uint8_t evidence_digest[SHA256_LEN];	/* SHA-256 of the POST body */
	enum directive directive;
	bool has_manifest;		/* exactly with admit and update at stage gate */
	uint8_t manifest_digest[SHA256_LEN];	/* SHA-256 of the COSE_Sign file */
	uint32_t lifetime;		/* seconds from sending the challenge request */
	uint32_t retry_after;		/* seconds; 0: the gate's own schedule */
	int8_t status;			/* never better than the worst submod */
	size_t submod_count;		/* at least 1 */
	struct verdict_submod submod[VERDICT_SUBMODS_MAX];
	size_t reason_count;
	struct verdict_reason reason[VERDICT_REASONS_MAX];
	size_t parameter_count;
	struct verdict_parameter parameter[VERDICT_PARAMETERS_MAX];
	char node[VERDICT_TEXT_MAX];	/* label and short id, for the console */
	char basis[VERDICT_TEXT_MAX];	/* how it was enrolled */
	char policy[VERDICT_TEXT_MAX];	/* policy id, version and hash; not empty */
	char build[64];			/* ear.verifier-id: this build when left empty */
	char developer[64];		/* same: VERDICT_DEVELOPER when left empty */
};

/*
 * Payload only: signing and verifying is cose.h. R_FORMAT_RANGE also for
 * members that contradict each other: a status better than that of a submod,
 * a submod's better than a claim of its vector, a manifest where none may be.
 */
enum reason verdict_read(struct bytes payload, struct verdict *ret) must_check;
enum reason verdict_write(const struct verdict *m, struct blob *ret) must_check;

#endif
