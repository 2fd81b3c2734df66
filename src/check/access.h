/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where checks read: this machine, or one that was recorded into a folder.
 * Files have the same paths in both, and nothing outside of the folder is
 * reached, whatever its links say. MSRs and CPUID stand in a recorded machine
 * as text (docs/checks.md).
 *
 * Read-only, but for what a recorder that listens writes into its own folder.
 */
#ifndef BOOTGATE_CHECK_ACCESS_H
#define BOOTGATE_CHECK_ACCESS_H

#include "base/bytes.h"
#include "base/fd.h"

#define SOURCE_PATH_MAX 256u
#define SOURCE_FILE_MAX (4u << 20)

struct record;
struct source {
	int root;
	bool recorded;
	struct record *record;	/* told of everything that is read; NULL: nobody */
};
#define SOURCE_NONE ((struct source){ -1, false, NULL })
/* NULL: this machine. R_FILE. */
enum reason source_open(const char *folder, struct source *ret) must_check;
void source_close(struct source *s);

/* A regular file, whole: R_FILE when it is not there, or is no such file. */
enum reason source_read(const struct source *s, const char *path, struct blob *ret) must_check;
/* Its first line. */
enum reason source_line(const struct source *s, const char *path, char *ret, size_t n) must_check;
/* Names in a folder, sorted. */
enum reason source_list(const struct source *s, const char *path, size_t max,
			struct fd_names *ret) must_check;
bool source_exists(const struct source *s, const char *path);

/* R_CHECK_NOT_IMPLEMENTED when the processor refused; R_FILE when nobody was asked. */
enum reason source_msr(const struct source *s, unsigned cpu, uint32_t msr, uint64_t *ret) must_check;
struct cpuid {
	uint32_t a, b, c, d;
};
enum reason source_cpuid(const struct source *s, uint32_t leaf, uint32_t subleaf,
			 struct cpuid *ret) must_check;

#endif
