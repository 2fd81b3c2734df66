/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the root process and its net child say to each other over ipc.h: one
 * request, one answer. Every answer but verdict and manifest is one struct of
 * fixed size; the root process checks each length and range again, because a
 * child that was taken over sends what it likes.
 */
#ifndef BOOTGATE_NODE_NET_MESSAGE_H
#define BOOTGATE_NODE_NET_MESSAGE_H

#include "base/bytes.h"
#include "base/limits.h"
#include "format/protocol.h"

/* The descriptor that the child finds its channel at. */
#define NET_CHILD_FD 3
#define NET_TEXT_MAX 200u

enum net_request_type {
	NET_SETUP = 1,		/* struct net_setup, then the CA's PEM */
	NET_CHALLENGE,		/* struct net_request, then the message; so are */
	NET_ENROL,
	NET_ATTEST,
	NET_RECEIPT,
	NET_FAILURE,
	NET_MANIFEST,		/* struct net_request, then the digest */
	NET_FETCH,		/* struct net_request, struct net_fetch; a pipe's end */
};

enum net_answer_type {
	NET_FAILED = 101,	/* struct net_failed */
	NET_DONE,		/* struct net_done: setup, failure, fetch */
	NET_CHALLENGED,		/* struct net_challenge */
	NET_ENROLLED,		/* struct net_enrolled */
	NET_JUDGED,		/* the verdict's bytes */
	NET_MANIFESTED,		/* the manifest's bytes */
	NET_RECEIVED,		/* the verdict digest that was acknowledged */
};

struct net_setup {
	char server_url[LIMIT_URL];
	char mirror_url[LIMIT_URL];
};

struct net_request {
	uint32_t timeout_ms;
};

struct net_fetch {
	uint8_t sha256[SHA256_LEN];
	uint64_t offset;
};

struct net_done {
	uint64_t bytes;		/* that went through the pipe */
};

struct net_failed {
	uint32_t reason;	/* enum reason */
	uint32_t status;	/* HTTP status, 0: none */
	uint32_t retry_after;	/* seconds, 0: not stated */
	uint32_t code;		/* libcurl's, 0: none; for the log */
	uint32_t restart;	/* fetch: the server cannot resume here */
	char text[NET_TEXT_MAX + 1];	/* the server's words, not trusted */
};

struct net_challenge {
	uint8_t nonce[NONCE_LEN];
	uint32_t lifetime;
	uint32_t enrol;		/* 0 or 1 */
	uint32_t offer;		/* 0 or 1, of a known node that may enrol again */
	uint32_t bank_count;
	uint32_t mask[LIMIT_BANKS];
	uint16_t alg[LIMIT_BANKS];
	uint32_t token_len;
	uint8_t token[LIMIT_TOKEN];
};

#define NET_NAME_MAX 66u	/* algorithm and SHA-512 */
#define NET_ID_OBJECT_MAX 200u
#define NET_SECRET_MAX 520u
struct net_credential {
	uint32_t ek_name_len;
	uint8_t ek_name[NET_NAME_MAX];
	uint32_t id_object_len;
	uint8_t id_object[NET_ID_OBJECT_MAX];
	uint32_t secret_len;
	uint8_t secret[NET_SECRET_MAX];
};

struct net_enrolled {
	struct net_challenge challenge;
	uint32_t token_len;
	uint8_t token[LIMIT_TOKEN];
	uint32_t credential_count;
	struct net_credential credential[LIMIT_EKS];
};

/* What is not checked by its length alone: R_INTERNAL_CHILD. */
enum reason net_challenge_check(const struct net_challenge *m) must_check;
enum reason net_enrolled_check(const struct net_enrolled *m) must_check;
enum reason net_failed_check(const struct net_failed *m) must_check;

#endif
