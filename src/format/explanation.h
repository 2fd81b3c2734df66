/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What appraisal found, decision by decision: the one source of the console
 * text, of the API and of `bootgatectl explain`. CBOR; docs/protocol.md.
 */
#ifndef BOOTGATE_FORMAT_EXPLANATION_H
#define BOOTGATE_FORMAT_EXPLANATION_H

#include "format/protocol.h"

#define FINDINGS_MAX 64u
#define FINDING_TEXT_MAX 200u
#define LIMIT_EXPLANATION (128u << 10)

enum severity {
	SEVERITY_INFO = 0,	/* said, changes nothing */
	SEVERITY_WARN = 1,	/* lowers the vector, does not refuse */
	SEVERITY_HOLD = 2,	/* wait: nothing is proved wrong */
	SEVERITY_REFUSE = 3,
	SEVERITY_MAX,
};

struct finding {
	enum reason reason;
	enum severity severity;
	char component[32];	/* "" where none */
	bool has_event;
	bool gate_log;		/* the event is in the gate log */
	uint32_t event;		/* number in its log, from 0 */
	uint32_t offset;	/* byte offset in its log */
	uint32_t pcr;
	uint32_t type;		/* event type */
	uint16_t bank;		/* of digest */
	uint8_t digest_len;
	uint8_t digest[DIGEST_MAX];
	char observed[FINDING_TEXT_MAX];	/* decoded content, printable */
	char expected[FINDING_TEXT_MAX];
	char nearest[FINDING_TEXT_MAX];		/* nearest variant, how it differs */
};

struct explanation {
	size_t count;
	struct finding finding[FINDINGS_MAX];
	size_t dropped;		/* findings beyond FINDINGS_MAX */
	/* Which variant each component matched. */
	size_t match_count;
	struct {
		char component[32];
		char variant[64];
		uint64_t id;
	} match[64];
};

enum reason explanation_read(struct bytes in, struct explanation *ret) must_check;
enum reason explanation_write(const struct explanation *e, struct blob *ret) must_check;

#endif
