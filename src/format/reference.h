/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reference values: variants of components, as the database stores them, as
 * the worker gets them, and as they are exported. CBOR; docs/protocol.md.
 */
#ifndef BOOTGATE_FORMAT_REFERENCE_H
#define BOOTGATE_FORMAT_REFERENCE_H

#include "format/pcr.h"
#include "format/protocol.h"

#define REFERENCE_TEXT_MAX 128u
#define REFERENCE_EVENT_TEXT_MAX 200u
#define REFERENCE_EVENTS_MAX 2048u	/* of one variant */
#define REFERENCE_SET_MAX 512u		/* variants handed to a worker */
#define LIMIT_REFERENCE (1u << 20)	/* one variant, encoded */
#define LIMIT_REFERENCE_SET (16u << 20)

/* Life of a variant (design section 6). Only active and retiring match. */
enum variant_state {
	VARIANT_STAGED = 0,
	VARIANT_ACTIVE = 1,
	VARIANT_RETIRING = 2,
	VARIANT_REVOKED = 3,
	VARIANT_STATE_MAX,
};
const char *variant_state_name(enum variant_state s);

struct reference_event {
	uint8_t pcr;
	uint32_t type;
	size_t digest_count;
	struct {
		uint16_t alg;
		struct bytes digest;
	} digest[LIMIT_BANKS];
	struct bytes text;		/* decoded content, for people only */
};

struct reference_variant {
	uint64_t id;			/* of the database; 0 in exports */
	char component[REFERENCE_TEXT_MAX];
	char name[REFERENCE_TEXT_MAX];
	char version[REFERENCE_TEXT_MAX];
	uint32_t security_version;
	char source[REFERENCE_TEXT_MAX];	/* "learned from NODE boot N" */
	enum variant_state state;
	size_t event_count;
	struct reference_event *event;	/* owned; freed by reference_variant_free */
};

/* The views of `ret` point into `in`, which must outlive it. */
enum reason reference_variant_read(struct bytes in, struct reference_variant *ret) must_check;
enum reason reference_variant_write(const struct reference_variant *v, struct blob *ret) must_check;
void reference_variant_free(struct reference_variant *v);

struct reference_set {
	size_t count;
	struct reference_variant *variant;	/* owned */
};
/* A sequence of encoded variants in one array. */
enum reason reference_set_read(struct bytes in, struct reference_set *ret) must_check;
enum reason reference_set_write(const struct reference_set *s, struct blob *ret) must_check;
void reference_set_free(struct reference_set *s);

#endif
