/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of the access layer and its recorder. */
#ifndef BOOTGATE_CHECK_ACCESS_PRIV_H
#define BOOTGATE_CHECK_ACCESS_PRIV_H

#include "check/access.h"

/* Never leaves the root; R_FILE. */
enum reason source_fd(const struct source *s, const char *path, int flags, int *ret) must_check;
/* source_read of which the recorder is not told. */
enum reason source_read_quietly(const struct source *s, const char *path,
				struct blob *ret) must_check;

/* Where a recorded machine has them. */
#define MSR_TEXT "/dev/cpu/%u/msr.txt"
#define CPUID_TEXT "/dev/cpu/cpuid.txt"
/* One line each, its newline included; a register that does not exist is NULL. */
#define REGISTER_LINE_MAX 96u
void msr_line(uint32_t msr, const uint64_t *value, char ret[REGISTER_LINE_MAX]);
void cpuid_line(uint32_t leaf, uint32_t subleaf, const struct cpuid *v,
		char ret[REGISTER_LINE_MAX]);

#endif
