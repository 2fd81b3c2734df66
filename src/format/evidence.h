/* SPDX-License-Identifier: Apache-2.0 */
/*
 * POST /v1/attest and /v1/receipt: [claims, quote, signature], three byte
 * strings. The claims are one deterministic map. docs/protocol.md.
 */
#ifndef BOOTGATE_FORMAT_EVIDENCE_H
#define BOOTGATE_FORMAT_EVIDENCE_H

#include "format/pcr.h"
#include "format/protocol.h"

struct evidence {
	struct bytes claims;		/* as received: what the quote is bound to */
	struct bytes quote;		/* TPMS_ATTEST */
	struct bytes signature;		/* TPMT_SIGNATURE */
};

enum reason evidence_read(struct bytes in, struct evidence *ret) must_check;
enum reason evidence_write(const struct evidence *m, struct blob *ret) must_check;

struct enrol_proof_item {
	struct bytes ek_name;
	uint8_t proof[SHA256_LEN];
};

#define LIMIT_DEVICES 32u
struct device_evidence {
	struct bytes kind;		/* text, area.detail grammar */
	struct bytes data;
};

/* Claims of the attest quote (stage gate) and of continuity (stage host). */
struct claims {
	enum stage stage;
	struct bytes token;
	uint8_t nonce[NONCE_LEN];	/* the gate's (or the host's) own */
	struct bytes ak_public;		/* TPMT_PUBLIC */
	size_t ek_digest_count;		/* SHA-256 of the certificates in NV */
	uint8_t ek_digest[LIMIT_EKS][SHA256_LEN];
	struct bytes firmware_log;
	struct bytes gate_log;
	struct pcr_values values;
	struct bytes report;		/* see report.h */
	size_t device_count;
	struct device_evidence device[LIMIT_DEVICES];
	struct bytes enrol_token;	/* empty unless enrolling */
	size_t proof_count;
	struct enrol_proof_item proof[LIMIT_EKS];
	bool has_cnf;			/* stage host: the key of this boot */
	uint8_t cnf_x[32], cnf_y[32];	/* P-256 */
};

/*
 * The PCR values are written for `selection` in its order; an inactive bank
 * has none. The reader takes them as they come and checks lengths only:
 * whether they fit the quote is appraisal.
 */
enum reason claims_read(struct bytes in, struct claims *ret) must_check;
enum reason claims_write(const struct claims *m, struct blob *ret) must_check;

/* Claims of the receipt quote. */
struct receipt {
	uint8_t verdict_digest[SHA256_LEN];
	uint8_t ak_name[AK_NAME_LEN];
	struct bytes gate_log;		/* complete, without cap */
	struct pcr_values values;
};

enum reason receipt_read(struct bytes in, struct receipt *ret) must_check;
enum reason receipt_write(const struct receipt *m, struct blob *ret) must_check;

/* Answer to a receipt: the digest of the verdict it acknowledges. */
enum reason receipt_ack_read(struct bytes in, uint8_t ret[SHA256_LEN]) must_check;
enum reason receipt_ack_write(const uint8_t verdict_digest[SHA256_LEN], struct blob *ret) must_check;

#endif
