/* SPDX-License-Identifier: Apache-2.0 */
/* POST /v1/challenge and /v1/enrol: request and answer. docs/protocol.md. */
#ifndef BOOTGATE_FORMAT_CHALLENGE_H
#define BOOTGATE_FORMAT_CHALLENGE_H

#include "format/pcr.h"
#include "format/protocol.h"

struct challenge_request {
	enum stage stage;
	uint8_t ak_name[AK_NAME_LEN];
};

enum reason challenge_request_read(struct bytes in, struct challenge_request *ret) must_check;
enum reason challenge_request_write(const struct challenge_request *m, struct blob *ret) must_check;

struct challenge {
	uint8_t nonce[NONCE_LEN];
	struct bytes token;		/* 1..LIMIT_TOKEN, opaque to the gate */
	struct pcr_selection selection;
	bool enrol;			/* this AK is not known: enrol first */
	bool offer;			/* it is, and shows new certificates: enrol, or go on as you are */
	uint32_t lifetime;		/* seconds, 1..3600 */
};

enum reason challenge_read(struct bytes in, struct challenge *ret) must_check;
enum reason challenge_write(const struct challenge *m, struct blob *ret) must_check;

/* One EK that the gate offers. The certificate may be empty. */
struct enrol_ek {
	struct bytes public_area;	/* TPMT_PUBLIC */
	struct bytes certificate;	/* DER, cut to its own length */
};

/*
 * What proves the list of banks: TPMS_CAPABILITY_DATA of TPM_CAP_PCRS, and
 * the session audit attestation that the AK signed (qualifying data of
 * QUOTE_BANKS over the nonce of `token`).
 */
struct enrol_banks {
	struct bytes capability;
	struct bytes attest;
	struct bytes signature;
};

struct enrol_request {
	struct bytes token;
	struct bytes ak_public;		/* TPMT_PUBLIC */
	size_t ek_count;
	struct enrol_ek ek[LIMIT_EKS];
	struct enrol_banks banks;
	struct bytes chain;		/* NV 0x01C00100.. concatenated, may be empty */
};

enum reason enrol_request_read(struct bytes in, struct enrol_request *ret) must_check;
enum reason enrol_request_write(const struct enrol_request *m, struct blob *ret) must_check;

struct enrol_credential {
	struct bytes ek_name;		/* 2 + digest */
	struct bytes id_object;		/* TPM2B_ID_OBJECT, with its size */
	struct bytes secret;		/* TPM2B_ENCRYPTED_SECRET, with its size */
};

/* The challenge inside replaces the first one: it selects the right banks. */
struct enrol_answer {
	struct challenge challenge;	/* enrol is false here */
	struct bytes token;		/* enrolment token, goes up with the proofs */
	size_t credential_count;
	struct enrol_credential credential[LIMIT_EKS];
};

enum reason enrol_answer_read(struct bytes in, struct enrol_answer *ret) must_check;
enum reason enrol_answer_write(const struct enrol_answer *m, struct blob *ret) must_check;

#endif
