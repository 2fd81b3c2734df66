/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The checks of a machine: check.def has them all, in the order in which they
 * run. Each is one function that looks at one thing and says what it found.
 *
 * Nothing is changed, initialised or loaded. A source that is missing makes a
 * check `unknown`, never `pass`.
 */
#ifndef BOOTGATE_CHECK_CHECK_H
#define BOOTGATE_CHECK_CHECK_H

#include "check/machine.h"
#include "format/report.h"

/*
 * Where a check can be done. The gate's kernel has no host code of SNP and
 * TDX, so as not to start either before the jump: what needs it is of the host
 * image, which can do all the others too.
 */
enum check_stage { STAGE_GATE, STAGE_HOST };

/* On which processors it means something. */
enum check_scope { SCOPE_ANY, SCOPE_AMD, SCOPE_INTEL };

#define CHECK_OBSERVED 200u
struct finding {
	enum check_result result;
	char observed[CHECK_OBSERVED];	/* printable ASCII */
};

struct check {
	const char *id;			/* area.detail, like a reason's name */
	const char *parents;		/* ids with blanks between, each earlier in the table */
	enum check_stage stage;
	enum check_scope scope;
	const char *title;
	const char *source;
	const char *expected;
	const char *remedy;		/* the setting or the firmware that mends it */
	void (*run)(const struct machine *m, struct finding *f);
};

enum {
#define CHECK(function, ...) CHECK_AT_##function,
#include "check/check.def"
#undef CHECK
	CHECK_COUNT
};
extern const struct check checks[CHECK_COUNT];

/*
 * All of them. A parent that failed or was skipped makes its children `skip`,
 * one that is unknown makes them `unknown`.
 */
void check_run(const struct machine *m, enum check_stage stage,
	       struct finding ret[CHECK_COUNT]);
/* Lets every check that fits this machine look, whatever its parents say: for a recorder. */
void check_read_all(const struct machine *m);

struct check_summary {
	unsigned by_result[CHECK_RESULT_MAX];
};
struct check_summary check_count(const struct finding findings[CHECK_COUNT]);
/* R_CHECK_FAILED when one failed, R_CHECK_NO_SOURCE when none could be judged. */
enum reason check_verdict(const struct check_summary *s) must_check;

/* To standard output. */
void check_print_table(const struct finding findings[CHECK_COUNT], bool colours);
void check_print_json(const struct machine *m, enum check_stage stage,
		      const struct finding findings[CHECK_COUNT]);

#endif
