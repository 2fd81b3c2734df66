/* SPDX-License-Identifier: Apache-2.0 */
/* The machine that checks are about: where to read, and its processors. */
#ifndef BOOTGATE_CHECK_MACHINE_H
#define BOOTGATE_CHECK_MACHINE_H

#include "check/access.h"

enum vendor { VENDOR_UNKNOWN, VENDOR_OTHER, VENDOR_AMD, VENDOR_INTEL };

#define MACHINE_CPUS_MAX 4096u
struct machine {
	struct source source;
	enum vendor vendor;
	char vendor_text[13];
	bool known;			/* the three numbers are there */
	uint32_t family, model, stepping;
	unsigned cpus;			/* online ones; 0: not known */
	uint16_t cpu[MACHINE_CPUS_MAX];
};

/* NULL: this one. What cannot be read stays unknown; R_FILE: no such folder. */
enum reason machine_open(const char *folder, struct machine *ret) must_check;
void machine_close(struct machine *m);
/* Reads its processors (again). */
void machine_identify(struct machine *m);

/* `0-3,8`: numbers below MACHINE_CPUS_MAX, ascending. R_FORMAT_TEXT, R_FORMAT_RANGE. */
enum reason cpu_list_read(const char *text, uint16_t ret[MACHINE_CPUS_MAX],
			  unsigned *ret_n) must_check;

#endif
