/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The host validation report: facts that differ from machine to machine and
 * so never go into a register (serials, MACs, slots), and check results. It
 * is bound through the claims.
 */
#ifndef BOOTGATE_FORMAT_REPORT_H
#define BOOTGATE_FORMAT_REPORT_H

#include "base/bytes.h"
#include "base/limits.h"

#define REPORT_FACTS_MAX 512u
#define REPORT_CHECKS_MAX 256u

/*
 * The gate kernel's own command line. Firmware has measured it already, its
 * digest only: this is the text to compare with. A cut one proves nothing.
 */
#define REPORT_COMMAND_LINE "kernel.command-line"
#define REPORT_BOARD_SERIAL "board.serial"

struct report_fact {
	struct bytes name;		/* area.detail */
	struct bytes value;		/* printable ASCII, escaped */
};

enum check_result {
	CHECK_PASS = 0,
	CHECK_FAIL,
	CHECK_WARN,
	CHECK_SKIP,
	CHECK_UNKNOWN,
	CHECK_RESULT_MAX,
};

struct report_check {
	struct bytes id;		/* area.detail */
	enum check_result result;
	struct bytes observed;
	struct bytes expected;
};

struct report {
	size_t fact_count;
	struct report_fact fact[REPORT_FACTS_MAX];
	size_t check_count;
	struct report_check check[REPORT_CHECKS_MAX];
};

enum reason report_read(struct bytes in, struct report *ret) must_check;
enum reason report_write(const struct report *m, struct blob *ret) must_check;
const char *check_result_name(enum check_result r);

#endif
