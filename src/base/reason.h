/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one list of reasons: what every function that can refuse returns.
 *
 * R_OK is 0; everything else is a named refusal out of reason.def. The same
 * name (`area.detail`) stands on the console, on the wire, in the audit, in
 * metrics, in the docs and in the tests.
 */
#ifndef BOOTGATE_BASE_REASON_H
#define BOOTGATE_BASE_REASON_H

#include <stdbool.h>

/*
 * Both define access(2)'s R_OK as 4. They are read here, before it is undone,
 * so that no later include brings it back. Use F_OK, or open the file.
 */
#include <fcntl.h>
#include <unistd.h>
#undef R_OK

enum reason {
	R_OK = 0,
#define REASON(symbol, name, class, sentence, remedy) symbol,
#include "base/reason.def"
#undef REASON
	R_MAX
};

/*
 * What the one that meets the reason does next: `transient` is tried again,
 * `refused` is a judgement, `broken` is this machine or this program,
 * `usage` is a mistake of the caller (command line, configuration).
 */
enum reason_class {
	REASON_TRANSIENT,
	REASON_REFUSED,
	REASON_BROKEN,
	REASON_USAGE,
};

#define must_check __attribute__((warn_unused_result))

/* Of any name, with its NUL. */
#define REASON_NAME_MAX 64u

/* "quote.nonce"; "ok" for R_OK. Never NULL. */
const char *reason_name(enum reason r);
/* One sentence for people. */
const char *reason_sentence(enum reason r);
/* What to do about it. */
const char *reason_remedy(enum reason r);
enum reason_class reason_class(enum reason r);
/* "transient", "refused", "broken", "usage" */
const char *reason_class_name(enum reason_class c);
/* The reason with this name; false where there is none. */
bool reason_find(const char *name, enum reason *ret);
/* Exit code of design section "Command grammar": 0, 1, 2, 3 or 75. */
int reason_exit(enum reason r);

#endif
